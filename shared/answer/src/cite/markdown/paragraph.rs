//! Reads a paragraph word by word.

use pulldown_cmark::Parser;

/// An unsettled stretch is parsed again once it has grown by this fraction, which keeps the total time about linear.
const RETRY: usize = 8;
/// Characters that may close a construct.
const CLOSING: [char; 7] = ['*', '_', '`', ']', ')', '$', '>'];

#[derive(Debug, Default)]
pub(super) struct Paragraph {
    /// The text not yet written, from the beginning of a word on.
    pub(super) stretch: String,
    /// The length at the last attempt that left a construct open.
    pub(super) tried: usize,
    /// White space after `stretch`, not yet written.
    pub(super) space: String,
    /// What separates `stretch` from the text written before.
    pub(super) joint: &'static str,
    pub(super) has_begun: bool,
}

impl Paragraph {
    /// Adds the white space before a word to the stretch, or to the joint if the stretch is empty.
    pub(super) fn take_space(&mut self) {
        if self.space.is_empty() {
            return;
        }
        let space = self.space.replace('\t', " ");
        let (line, breaks) = match space.split_once('\n') {
            // In code every space counts.
            None => (space.as_str(), " "),
            Some((end, _)) if end.len() > 1 => ("  \n", "\\\n"),
            Some(_) => ("\n", "\n"),
        };
        if !self.stretch.is_empty() {
            self.stretch.push_str(line);
        } else if self.has_begun {
            self.joint = breaks;
        }
        self.space.clear();
    }

    /// True if the last character may close an open construct. Long stretches are checked less often than at each word.
    pub(super) fn may_be_settled(&self) -> bool {
        let may_define =
            !self.has_begun && self.stretch.starts_with('[') && self.stretch.contains("]:");
        let has_grown = self.stretch.len() >= self.tried + self.tried / RETRY;
        let may_close = self.tried == 0 || self.stretch[self.tried..].contains(CLOSING);
        !may_define && has_grown && may_close
    }
}

/// Removes reference definitions from the beginning of a paragraph.
pub(super) fn without_definitions(paragraph: &str) -> &str {
    let mut text = paragraph;
    while text.starts_with('[') {
        let parser = Parser::new(text);
        let mut spans = parser
            .reference_definitions()
            .iter()
            .map(|(_, found)| &found.span);
        let Some(end) = spans.find(|span| span.start == 0).map(|span| span.end) else {
            break;
        };
        text = text[end..].trim_start();
    }
    text
}

/// True for East Asian characters, which have no spaces between words.
pub(super) fn is_east_asian(c: char) -> bool {
    matches!(u32::from(c), 0x3000..=0xd7ff | 0xf900..=0xfaff | 0xff00..=0xffef | 0x2_0000..=0x3_ffff)
}
