//! Reads citation markers in a streamed text.

mod code;
mod form;

use self::code::Code;
use self::form::{Form, is_closing, is_opening, may_hold, read_form};

/// The longest marker held back, in bytes: `[Module 12, Chapter 34, Lesson 56]` and `【12:34†source name】` fit.
const MAX_MARKER_BYTES: usize = 64;
/// The longest label held back, in bytes: `(Source: chapter, section)`.
const MAX_LABEL_BYTES: usize = 240;
/// The beginning of labels in a book without lesson numbers. Only bookrag may write labels, so a model's are dropped.
const LABEL: &str = "(Source: ";

/// A piece of cited text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cited {
    /// Text inside sentences.
    Text(String),
    /// Text outside sentences: code, tables, headings, and the space between blocks.
    Other(String),
    /// A marker of a given passage, shown as `[n]`.
    Marker(usize),
}

/// Reads the markers of a streamed text.
///
/// `[1]`, lists and ranges (`[1, 2; 3]`, `[2–4]`), `[^1]`, `[Source 1]`, `［1］` and `【1†source】` become one [`Cited::Marker`] for each given passage.
/// Anything else that looks like a citation (`[99]`, `[٣]`, `[0x1]`, a label such as `[Module 1, Chapter 2, Lesson 3]`) is dropped. Mathematics such
/// as `[0, 1]` and `[-0.5, 2]` stays, and so does Markdown code. At most 64 bytes are held back, or 240 of a `(Source: …)` label.
#[derive(Debug, Default)]
pub struct MarkerReader {
    /// The number of given passages.
    passages: usize,
    code: Code,
    /// Text that may become a marker. Nested brackets in it are already resolved.
    held: String,
    /// Where brackets open in `held`.
    opens: Vec<usize>,
    /// True while the rest of an overlong number is dropped.
    skips: bool,
}

impl MarkerReader {
    /// Creates a reader for passages 1 to `passages`.
    #[must_use]
    pub fn new(passages: usize) -> Self {
        Self {
            passages,
            ..Self::default()
        }
    }

    /// Reads the next piece. Text is held back no longer than a marker needs; markers of unknown passages are dropped.
    pub fn push(&mut self, piece: &str) -> Vec<Cited> {
        let mut out = Out::default();
        for c in piece.chars() {
            self.code.push(c);
            self.read(c, &mut out);
        }
        out.flush();
        out.cited
    }

    /// Returns the text held back at the end, without markers: a marker in brackets that never close is dropped.
    #[must_use]
    pub fn finish(mut self) -> Option<String> {
        let mut out = Out::default();
        self.release(&mut out);
        out.flush();
        let texts = out.cited.into_iter().map(|cited| match cited {
            Cited::Text(text) | Cited::Other(text) => text,
            Cited::Marker(_) => String::new(),
        });
        let held: String = texts.collect();
        (!held.is_empty()).then_some(held)
    }

    fn read(&mut self, c: char, out: &mut Out) {
        if std::mem::take(&mut self.skips) && (c.is_numeric() || is_closing(c)) {
            self.skips = c.is_numeric();
            return;
        }
        if self.code.is_inside() {
            // A number in code marks is read as part of the enclosing marker.
            let in_brackets = !self.opens.is_empty() && !is_opening(c) && !is_closing(c);
            if !in_brackets || !may_hold(&self.held, c) {
                self.release(out);
                out.text.push(c);
                return;
            }
        }
        if self.held.starts_with('(') {
            self.read_label(c, out);
        } else if self.opens.is_empty() {
            self.read_text(c, out);
        } else {
            self.read_marker(c, out);
        }
    }

    fn read_text(&mut self, c: char, out: &mut Out) {
        if is_opening(c) {
            self.opens.push(self.held.len());
            self.held.push(c);
            return;
        }
        self.release(out);
        if c == '\\' || c == '(' {
            self.held.push(c);
        } else {
            out.text.push(c);
        }
    }

    fn read_label(&mut self, c: char, out: &mut Out) {
        let begun = self.held.len() >= LABEL.len();
        if begun && c == ')' {
            self.held.clear();
        } else if (!begun && LABEL[self.held.len()..].starts_with(c))
            || (begun && !is_opening(c) && c != '\n' && self.held.len() < MAX_LABEL_BYTES)
        {
            self.held.push(c);
        } else {
            self.release(out);
            self.read_text(c, out);
        }
    }

    fn read_marker(&mut self, c: char, out: &mut Out) {
        if is_opening(c) {
            self.opens.push(self.held.len());
            self.held.push(c);
        } else if is_closing(c) {
            self.close(c, out);
        } else if may_hold(&self.held, c) {
            self.held.push(c);
        } else {
            self.release(out);
            self.read_text(c, out);
            return;
        }
        if self.held.len() > MAX_MARKER_BYTES {
            let digits = self.held.trim_start_matches(is_opening);
            if !digits.is_empty() && digits.chars().all(char::is_numeric) {
                self.skips = true;
                self.held.clear();
                self.opens.clear();
            } else {
                self.release(out);
            }
        }
    }

    /// Resolves the innermost brackets.
    fn close(&mut self, c: char, out: &mut Out) {
        let from = self.opens.pop().unwrap_or(0);
        match read_form(&self.held[from..], self.passages) {
            Form::Text => {
                self.held.push(c);
                if self.opens.is_empty() {
                    self.release(out);
                }
            }
            Form::Markers(numbers) if self.opens.is_empty() => {
                self.held.truncate(from);
                self.held = self.held.trim_end_matches('\\').to_owned();
                self.release(out);
                out.flush();
                out.cited.extend(numbers.into_iter().map(Cited::Marker));
            }
            // In nested brackets, a space keeps the text on both sides from becoming one number.
            Form::Markers(numbers) => {
                self.held.truncate(from);
                let markers: String = numbers.iter().map(|n| format!("[{n}]")).collect();
                self.held
                    .push_str(if markers.is_empty() { " " } else { &markers });
            }
        }
    }

    /// Writes the held text. Markers that were resolved inside it, now written `[n]`, become citations.
    fn release(&mut self, out: &mut Out) {
        self.opens.clear();
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while let Some(from) = rest.find('[') {
            let digits = rest[from + 1..].find(|c: char| !c.is_ascii_digit());
            let end = from + 1 + digits.unwrap_or(rest.len() - from - 1);
            let number = rest[from + 1..end].parse().unwrap_or(0);
            let is_marker = rest[end..].starts_with(']') && (1..=self.passages).contains(&number);
            if is_marker {
                out.text.push_str(&rest[..from]);
                out.flush();
                out.cited.push(Cited::Marker(number));
                rest = &rest[end + 1..];
            } else {
                out.text.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
        out.text.push_str(rest);
    }
}

/// The output of the current piece.
#[derive(Default)]
struct Out {
    text: String,
    cited: Vec<Cited>,
}

impl Out {
    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.cited.push(Cited::Text(std::mem::take(&mut self.text)));
        }
    }
}

#[cfg(test)]
mod tests;
