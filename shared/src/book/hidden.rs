//! Characters that a reader does not see and that act all the same: on terminals, on the order of letters, on what filters match.

/// Marks on one letter; the most that a script in use stacks is four.
const MAX_MARKS: usize = 4;

/// Takes hidden characters out of a text that comes in pieces; terminal sequences go whole, also over pieces.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    sequence: Sequence,
    marks: usize,
}

/// Where a terminal sequence (ECMA-48) stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Sequence {
    #[default]
    None,
    /// After ESC.
    Escape,
    /// Parameters, up to a final byte.
    Control,
    /// A title, a link and the like, up to BEL or ST; not past the line.
    Text,
    /// ESC within it: the first half of ST.
    TextEscape,
}

/// What of a text may be seen.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    Filter::default().push(text, &mut shown);
    shown
}

impl Filter {
    /// Appends what of a piece may be seen. Line separators become `\n`.
    pub(crate) fn push(&mut self, piece: &str, out: &mut String) {
        for c in piece.chars() {
            if self.is_in_sequence(c) {
                continue;
            }
            match c {
                '\u{2028}' | '\u{2029}' => out.push('\n'),
                _ if is_hidden(c) => {}
                _ => {
                    self.marks = if is_mark(c) { self.marks + 1 } else { 0 };
                    if self.marks <= MAX_MARKS {
                        out.push(c);
                    }
                }
            }
        }
    }

    /// Whether a character belongs to a terminal sequence, its beginning and end included.
    fn is_in_sequence(&mut self, c: char) -> bool {
        use Sequence::{Control, Escape, None, Text, TextEscape};
        let state = match (self.sequence, c) {
            (TextEscape, '\\') | (Text, '\u{7}' | '\u{9c}') => {
                self.sequence = None;
                return true;
            }
            (Text, '\u{1b}') => TextEscape,
            (Text, '\n') => None,
            (Text, _) => Text,
            (Control, ' '..='?') => Control,
            (Control, '@'..='~') | (Escape | TextEscape, '0'..='~') => {
                self.sequence = match (self.sequence, c) {
                    (Escape | TextEscape, '[') => Control,
                    (Escape | TextEscape, ']' | 'P' | 'X' | '^' | '_') => Text,
                    _ => None,
                };
                return true;
            }
            (Escape | TextEscape, ' '..='/') => Escape,
            (_, '\u{1b}') => Escape,
            (_, '\u{9b}') => Control,
            (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => Text,
            _ => None,
        };
        self.sequence = state;
        state != None
    }
}

/// Whether a character is a control (but for line feed and tab), turns the order of letters round, or shows nothing.
/// The joiners U+200C and U+200D stay: Urdu and Persian are spelt with them.
pub(crate) fn is_hidden(c: char) -> bool {
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
        // Private use and what is no character; tags and variation selectors of the supplement.
        | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xE0000..=0xE0FFF | 0xF_0000..
    ) || code & 0xFFFE == 0xFFFE
}

/// Whether a character is drawn on the one before: the blocks of combining marks that every letter takes.
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
        Filter::default().push(text, &mut whole);
        let mut filter = Filter::default();
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
