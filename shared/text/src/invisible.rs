//! Removes invisible characters that still affect terminals, text direction or filters.

/// The most combining marks per letter; no script in use stacks more.
const MAX_MARKS: usize = 4;

/// Removes invisible characters from a text that arrives in pieces, including terminal sequences that span pieces.
#[derive(Debug, Default)]
pub struct InvisibleFilter {
    sequence: Sequence,
    marks: usize,
}

/// The position within a terminal sequence (ECMA-48).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Sequence {
    #[default]
    Outside,
    Escape,
    /// Within parameters, up to a final byte.
    Control,
    /// Within a string such as a title or link, up to BEL, ST or the end of the line.
    Text,
    /// After ESC within such a string: the first half of ST.
    TextEscape,
}

/// Returns the visible part of a text.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    InvisibleFilter::default().push(text, &mut shown);
    shown
}

impl InvisibleFilter {
    /// Appends the visible part of a piece. Line separators become `\n`.
    pub fn push(&mut self, piece: &str, out: &mut String) {
        for c in piece.chars() {
            if self.is_in_sequence(c) {
                continue;
            }
            match c {
                '\u{2028}' | '\u{2029}' => out.push('\n'),
                _ if is_invisible(c) => {}
                _ => {
                    self.marks = if is_mark(c) { self.marks + 1 } else { 0 };
                    if self.marks <= MAX_MARKS {
                        out.push(c);
                    }
                }
            }
        }
    }

    /// Reads the next character. Returns true if it belongs to a terminal sequence; its first and last characters count.
    fn is_in_sequence(&mut self, c: char) -> bool {
        let before = self.sequence;
        self.sequence = before.after(c);
        self.sequence != Sequence::Outside || before.ends_with(c)
    }
}

impl Sequence {
    /// Returns the position after a character.
    fn after(self, c: char) -> Self {
        use Sequence::{Control, Escape, Outside, Text, TextEscape};
        match (self, c) {
            _ if self.ends_with(c) => Outside,
            (Text, '\u{1b}') => TextEscape,
            (Text, '\n') => Outside,
            (Text, _) => Text,
            (Control, ' '..='?') => Control,
            (Escape | TextEscape, ' '..='/') => Escape,
            (Escape | TextEscape, '[') => Control,
            (Escape | TextEscape, ']' | 'P' | 'X' | '^' | '_') => Text,
            (_, '\u{1b}') => Escape,
            (_, '\u{9b}') => Control,
            (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => Text,
            _ => Outside,
        }
    }

    /// True if a character is the last one of the sequence.
    fn ends_with(self, c: char) -> bool {
        match self {
            Self::Outside => false,
            Self::Escape | Self::TextEscape => {
                let begins_another = matches!(c, '[' | ']' | 'P' | 'X' | '^' | '_');
                matches!(c, '0'..='~') && !begins_another
            }
            Self::Control => matches!(c, '@'..='~'),
            Self::Text => matches!(c, '\u{7}' | '\u{9c}'),
        }
    }
}

/// True for a control character other than line feed and tab, for a character that changes the text direction, and for an invisible one. The joiners
/// U+200C and U+200D are kept, because Urdu and Persian spelling needs them.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    if c.is_control() {
        return c != '\n' && c != '\t';
    }
    let code = u32::from(c);
    matches!(
        code,
        // Soft hyphen, grapheme joiner, Hangul fillers, Mongolian vowel separator, zero width space.
        0xAD | 0x34F | 0x115F | 0x1160 | 0x3164 | 0xFFA0 | 0x180E | 0x200B
        // Embeddings and overrides; word joiner, invisible operators, isolates; byte order mark, annotations.
        | 0x202A..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB
        // Private use and noncharacters; tags and supplementary variation selectors.
        | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xE0000..=0xE0FFF | 0xF_0000..
    ) || code & 0xFFFE == 0xFFFE
}

/// True for combining marks of the general blocks, which are drawn on the preceding letter.
fn is_mark(c: char) -> bool {
    matches!(
        u32::from(c),
        0x300..=0x36F | 0x483..=0x489 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(text: &str) -> String {
        let mut whole = String::new();
        InvisibleFilter::default().push(text, &mut whole);
        let mut filter = InvisibleFilter::default();
        let mut parts = String::new();
        for c in text.chars() {
            filter.push(c.encode_utf8(&mut [0; 4]), &mut parts);
        }
        assert_eq!(parts, whole, "{text:?}");
        whole
    }

    #[test]
    fn terminal_sequences_go_whole() {
        let cases = [
            ("a\u{1b}[31;1mb\u{1b}[0m", "ab"),
            ("a\u{9b}2Jb", "ab"),
            ("a\u{1b}]0;title\u{7}b\u{1b}]8;;http://x\u{1b}\\c", "abc"),
            ("a\u{1b}P+q\u{1b}\\b\u{9d}x\u{9c}c", "abc"),
            ("a\u{1b}(Bb\u{1b}\u{1b}[mc", "abc"),
            ("a\u{1b}]never closed\nb\u{1b}[\nc\u{1b}", "a\nb\nc"),
            ("a\u{1b}]x\u{1b}[1my", "ay"),
        ];
        for (text, expected) in cases {
            assert_eq!(filtered(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_shows_nothing_goes_and_what_spells_stays() {
        let hidden = "\0\u{8}\r\u{b}\u{c}\u{7f}\u{85}\u{200b}\u{202e}\u{2066}\u{2069}\u{2060}\u{2064}\u{feff}\u{e0050}\u{e0173}\u{e000}\u{f8ff}\u{fffe}\u{10ffff}\u{3164}\u{ad}";
        assert_eq!(filtered(&format!("a{hidden}b")), "ab");
        let shown = "\n\ta\u{200c}b\u{200d}c روبوٹ می‌کند 👩‍🔧 ❤️ e\u{301} …";
        assert_eq!(filtered(shown), shown);
        assert_eq!(filtered("a\u{2028}b\u{2029}c"), "a\nb\nc");
    }

    #[test]
    fn marks_do_not_pile_up() {
        assert_eq!(
            filtered(&format!("Z{}a\u{301}", "\u{301}".repeat(300))),
            "Z\u{301}\u{301}\u{301}\u{301}a\u{301}"
        );
    }
}
