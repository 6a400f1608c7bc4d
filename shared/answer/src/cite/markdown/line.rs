//! Classifies a line of Markdown by its beginning.

/// The most digits of a list item's number.
const MAX_ITEM_DIGITS: usize = 9;
const MIN_FENCE: usize = 3;
const MAX_LEVEL: usize = 6;
/// Columns of a tab.
const TAB: usize = 4;

/// The kind of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// Unknown until more of the line is read.
    Undecided,
    Blank,
    /// Text from this byte on.
    Text(usize),
    /// A list item: its marker, and where its content begins.
    Item {
        marker: String,
        content: usize,
    },
    Fence(Fence),
    Heading {
        level: usize,
        text: String,
    },
    Rule,
    /// A line of a quote, without the quote mark.
    Quote(String),
    Row,
}

/// A line that opens a code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    /// The fence's characters.
    pub(super) marks: String,
    pub(super) info: String,
}

impl Fence {
    /// True if a line closes the code block.
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim_matches([' ', '\t']);
        line.len() >= self.marks.len() && line.chars().all(|c| self.marks.starts_with(c))
    }
}

/// The blocks that are open before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Before {
    /// True if a paragraph is open.
    pub(super) paragraph: bool,
    /// True if a list is open.
    pub(super) list: bool,
}

/// Returns the columns of white space at the beginning of a line.
pub(super) fn indentation(line: &str) -> usize {
    let spaces = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    spaces.fold(0, |column, c| match c {
        '\t' => (column / TAB + 1) * TAB,
        _ => column + 1,
    })
}

impl Line {
    /// Classifies the part of a line read so far.
    pub(super) fn read(line: &str, has_ended: bool, before: Before) -> Self {
        let text = line.trim_start_matches([' ', '\t']);
        let start = line.len() - text.len();
        let Some(first) = text.chars().next() else {
            return if has_ended {
                Self::Blank
            } else {
                Self::Undecided
            };
        };
        if decides_at_end(text, first) {
            return if has_ended {
                whole(text, first).unwrap_or(Self::Text(start))
            } else {
                Self::Undecided
            };
        }
        match first {
            '-' | '*' | '+' => item(line, start, 1, "- "),
            '0'..='9' => number(line, start, before, has_ended),
            _ => Self::Text(start),
        }
    }
}

/// True if the kind of a line that begins like this depends on all of it.
fn decides_at_end(text: &str, first: char) -> bool {
    match first {
        '-' | '*' | '_' | '+' => is_only(text, first),
        '`' | '~' if text.len() < MIN_FENCE => is_only(text, first),
        '`' | '~' => run(text, first) >= MIN_FENCE,
        _ => matches!(first, '#' | '>' | '|'),
    }
}

/// Classifies a whole line whose kind depends on all of it; `None` for text.
fn whole(text: &str, first: char) -> Option<Line> {
    match first {
        '#' => heading(text),
        '`' | '~' => fence(text, first),
        '>' => {
            let quoted = text[1..].strip_prefix(' ').unwrap_or(&text[1..]);
            Some(Line::Quote(quoted.to_owned()))
        }
        '|' => Some(Line::Row),
        '+' => None,
        _ => (text.matches(first).count() >= MIN_FENCE).then_some(Line::Rule),
    }
}

fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}

fn is_only(text: &str, mark: char) -> bool {
    text.chars().all(|c| c == mark || c == ' ' || c == '\t')
}

/// Returns a list item whose marker has `mark` bytes, or text.
fn item(line: &str, start: usize, mark: usize, written: &str) -> Line {
    let behind = &line[start + mark..];
    let content = behind.trim_start_matches([' ', '\t']);
    if content.len() == behind.len() {
        return Line::Text(start);
    }
    Line::Item {
        marker: format!("{}{written}", " ".repeat(indentation(line))),
        content: line.len() - content.len(),
    }
}

/// Reads a numbered item. Inside a paragraph outside lists, only `1.` begins a list.
fn number(line: &str, start: usize, before: Before, has_ended: bool) -> Line {
    let text = &line[start..];
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = text[..digits].trim_start_matches('0');
    let behind = &text[digits..];
    let may_begin =
        digits <= MAX_ITEM_DIGITS && (!before.paragraph || before.list || number == "1");
    if !may_begin {
        return Line::Text(start);
    }
    match behind.chars().next() {
        None if !has_ended => Line::Undecided,
        Some('.' | ')') if behind[1..].trim_start_matches([' ', '\t']).is_empty() && !has_ended => {
            Line::Undecided
        }
        Some('.' | ')') if !behind[1..].trim().is_empty() => {
            let number = if number.is_empty() { "0" } else { number };
            item(line, start, digits + 1, &format!("{number}. "))
        }
        _ => Line::Text(start),
    }
}

fn heading(text: &str) -> Option<Line> {
    let level = run(text, '#');
    let behind = &text[level..];
    let is_heading = level <= MAX_LEVEL && (behind.is_empty() || behind.starts_with([' ', '\t']));
    let content = behind.trim();
    let open = content.trim_end_matches('#');
    let content = if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        content
    };
    is_heading.then(|| Line::Heading {
        level,
        text: content.to_owned(),
    })
}

fn fence(text: &str, mark: char) -> Option<Line> {
    let (marks, info) = text.split_at(run(text, mark));
    let is_fence = marks.len() >= MIN_FENCE && (mark != '`' || !info.contains('`'));
    is_fence.then(|| {
        Line::Fence(Fence {
            marks: marks.to_owned(),
            info: info.trim().to_owned(),
        })
    })
}

/// Removes the fence's indentation from a line of code.
pub(super) fn without_indentation(line: &str, indentation: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    &line[spaces.min(indentation)..]
}

/// Returns the title in a fence's info string.
pub(super) fn title_of(info: &str) -> &str {
    let title = info
        .split_once("title=\"")
        .and_then(|(_, title)| title.split_once('"'));
    title.map_or("", |(title, _)| title)
}
