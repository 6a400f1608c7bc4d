//! Links and pictures written as tags. Private-use characters, which Markdown treats as letters and no block keeps, mark their
//! content.

use super::{LineKind, Preparer, REMOVED_BLOCK};
use crate::block::MarkKind;
use crate::jsx::{Tag, Target};
use crate::lines::split_container_prefix;
use text::marks::{ADDRESS, LINK, LINK_END, PICTURE, PICTURE_END};

/// The longest address in bytes; longer ones are dropped.
const MAX_ADDRESS_BYTES: usize = 2_048;

#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Marked<'a> {
    Text(&'a str),
    Begin(MarkKind),
    /// The end of the last open link or picture.
    EndLink,
    EndPicture,
}

/// Splits prepared text into pieces.
pub(in super::super) fn marked_pieces(text: &str) -> impl Iterator<Item = Marked<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if !is_mark(first) {
            let (text, after) = rest.split_at(rest.find(is_mark).unwrap_or(rest.len()));
            rest = after;
            return Some(Marked::Text(text));
        }
        rest = &rest[first.len_utf8()..];
        match first {
            LINK_END => return Some(Marked::EndLink),
            PICTURE_END => return Some(Marked::EndPicture),
            _ => {}
        }
        let end = rest.find(|c| plain(c).is_none()).unwrap_or(rest.len());
        let address = rest[..end].chars().filter_map(plain).collect();
        rest = &rest[end..];
        Some(Marked::Begin(match first {
            LINK => MarkKind::Link(vec![address]),
            _ => MarkKind::Picture(address),
        }))
    })
}

fn is_mark(c: char) -> bool {
    matches!(c, LINK | PICTURE | LINK_END | PICTURE_END)
}

fn plain(private: char) -> Option<char> {
    let code = u32::from(private).checked_sub(u32::from(*ADDRESS.start()))?;
    char::from_u32(code).filter(|_| ADDRESS.contains(&private))
}

/// Encodes an address in private-use characters; `None` if it is empty, too long, or has characters above U+FFEF.
fn private(address: &str) -> Option<String> {
    let address = address.trim();
    if address.is_empty() || address.len() > MAX_ADDRESS_BYTES {
        return None;
    }
    let first = u32::from(*ADDRESS.start());
    address
        .chars()
        .map(|c| char::from_u32(first + u32::from(c)).filter(|private| ADDRESS.contains(private)))
        .collect()
}

/// Marks the alternative text of a tag's picture with its address. Returns the prose of other tags unchanged.
pub(super) fn marked_prose(tag: &Tag<'_>, prose: String) -> String {
    let address = match &tag.target {
        Some(Target::Picture(address)) if !prose.is_empty() => private(address),
        _ => None,
    };
    match address {
        Some(address) => format!("{PICTURE}{address}{prose}{PICTURE_END}"),
        None => prose,
    }
}

fn is_inline(first: char, text: &str) -> bool {
    match first {
        '*' => text
            .trim_start_matches('*')
            .starts_with(char::is_alphanumeric),
        '"' | '\'' | '“' | '‘' | '(' | '!' | '`' | '\\' => true,
        _ => first.is_alphanumeric() || is_mark(first),
    }
}

impl Preparer<'_> {
    /// Begins or ends a link if the tag does. The mark is written with the next text, so that a line with only tags stays empty.
    pub(super) fn link_tag(&mut self, tag: &Tag<'_>) {
        if tag.closing && matches!(tag.name, "a" | "Link") {
            let is_open = std::mem::take(&mut self.in_link);
            self.waiting_mark.clear();
            if is_open && self.at_line_start() {
                self.waiting_mark.push(LINK_END);
            } else if is_open {
                let text = self.current.trim_end_matches([' ', '_']).len();
                self.current.insert(text, LINK_END);
            }
        } else if let Some(Target::Link(address)) = &tag.target
            && !tag.self_closing
            && let Some(address) = private(address)
        {
            self.waiting_mark = format!("{LINK}{address}");
        }
    }

    /// Writes the pending mark if it can precede this text, and returns the remaining text. Syntax that begins a block at the start of
    /// a line must stay in front of the mark; elsewhere only underscores must, because a letter before them changes their meaning.
    pub(super) fn write_mark_before<'t>(&mut self, text: &'t str) -> &'t str {
        if self.waiting_mark.is_empty() || self.kind == LineKind::Heading {
            return text;
        }
        let at_start = self.at_line_start();
        let start = if at_start {
            split_container_prefix(text).0.len()
        } else {
            text.len() - text.trim_start_matches([' ', '\t', '_']).len()
        };
        let (before, after) = text.split_at(start);
        let Some(first) = after.chars().next().filter(|_| after != REMOVED_BLOCK) else {
            return text;
        };
        let mark = std::mem::take(&mut self.waiting_mark);
        if !at_start || is_inline(first, after) {
            self.current.push_str(before);
            self.current.push_str(&mark);
            self.in_link = mark.starts_with(LINK);
            return after;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_was_written() {
        let address = private(" ./ä_b(*c*).md#d ").unwrap_or_default();
        let text = format!("a {LINK}{address}b{PICTURE}{address}c{PICTURE_END}{LINK_END}d");
        let pieces: Vec<Marked<'_>> = marked_pieces(&text).collect();
        let address = "./ä_b(*c*).md#d".to_owned();
        let expected = [
            Marked::Text("a "),
            Marked::Begin(MarkKind::Link(vec![address.clone()])),
            Marked::Text("b"),
            Marked::Begin(MarkKind::Picture(address)),
            Marked::Text("c"),
            Marked::EndPicture,
            Marked::EndLink,
            Marked::Text("d"),
        ];
        assert_eq!(pieces, expected);
        assert_eq!(private("/🤖"), None);
        assert_eq!(private(&"/a".repeat(MAX_ADDRESS_BYTES)), None);
    }
}
