//! Splits a stretch of marked text into prose, code, formulas, links and emphasis.

use std::mem::discriminant;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{formula, href};
use crate::block::{Mark, MarkKind};
use text::invisible::visible;

/// Text that GitHub Flavored Markdown links automatically. No escape prevents that in all of its renderers, so such addresses are
/// written as code.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z0-9+.-]*://[!-~]*|(?i:www)\.[!-~]*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
        .expect("the pattern is a constant")
});

/// Punctuation that does not belong to an address when it stands at its end.
const AFTER_ADDRESS: [char; 15] = [
    '.', ',', ';', ':', '!', '?', '\'', '"', ')', ']', '}', '>', '*', '_', '~',
];

/// A piece of a paragraph.
#[derive(Debug, PartialEq, Eq)]
pub enum MarkdownPiece {
    /// Text, to be escaped.
    Prose(String),
    /// Inline code.
    Code(String),
    /// A formula in TeX.
    Formula(String),
    /// Markdown that is written unchanged.
    Markup(String),
    /// A picture.
    Picture {
        /// What it shows.
        alt: String,
        /// Its address, percent-encoded.
        href: String,
    },
    /// Pieces inside a link or emphasis.
    Wrapped(Wrap, Pieces),
}

/// A link or emphasis around pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrap {
    /// A link.
    Link {
        /// Its address, percent-encoded.
        href: String,
    },
    /// `**` or `*`.
    Emphasis(&'static str),
}

/// The content of a line or paragraph, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pieces(pub(super) Vec<MarkdownPiece>);

impl Pieces {
    /// Splits a stretch into pieces. Marks must be ordered by first byte, outer ones first.
    pub(super) fn new(text: &str, marks: &[&Mark], stretch: Range<usize>) -> Self {
        let mut pieces = Self::default();
        let mut at = stretch.start;
        let mut rest = marks;
        while let [mark, after @ ..] = rest {
            let (inner, after) = after.split_at(after.partition_point(|at| at.start < mark.end));
            rest = after;
            let (start, end) = (mark.start.max(at), mark.end.min(stretch.end));
            if start < end {
                pieces.push_text(&shown(text, at..start));
                pieces.push(&mark.kind, text, inner, start..end);
                at = end;
            }
        }
        pieces.push_text(&shown(text, at..stretch.end));
        pieces
    }

    fn push(&mut self, kind: &MarkKind, text: &str, inner: &[&Mark], stretch: Range<usize>) {
        let wrap = match kind {
            MarkKind::Code => return self.push_code(&shown(text, stretch)),
            MarkKind::Formula => return self.push_formula(shown(text, stretch)),
            MarkKind::Picture(address) => {
                let alt = shown(text, stretch);
                return match href::of(address) {
                    Some(href) if !is_number(&alt) => {
                        self.0.push(MarkdownPiece::Picture { alt, href });
                    }
                    _ => self.push_text(&alt),
                };
            }
            // At the beginning of a block, code with `]:` in a link's text would make it a link reference definition, which is not shown.
            MarkKind::Link(_) if text[stretch.clone()].contains("]:") => None,
            MarkKind::Link(addresses) => addresses
                .first()
                .and_then(|address| href::of(address))
                .map(|href| Wrap::Link { href }),
            MarkKind::Strong => Some(Wrap::Emphasis("**")),
            MarkKind::Emphasis => Some(Wrap::Emphasis("*")),
            _ => None,
        };
        let pieces = Self::new(text, inner, stretch);
        match wrap {
            _ if pieces.0.is_empty() => {}
            Some(wrap) => self.0.push(MarkdownPiece::Wrapped(wrap, pieces)),
            None => self.0.extend(pieces.0),
        }
    }

    /// Adds a formula, or its text if a renderer could read it as something else.
    pub fn push_formula(&mut self, text: String) {
        if formula::is_writable(&text) {
            self.0.push(MarkdownPiece::Formula(text));
        } else {
            self.push_text(&text);
        }
    }

    /// Adds a piece. Merges adjacent prose, and adjacent code.
    pub fn push_piece(&mut self, piece: MarkdownPiece) {
        match piece {
            MarkdownPiece::Prose(text) => self.push_text(&text),
            MarkdownPiece::Code(code) => self.push_code(&code),
            piece => self.0.push(piece),
        }
    }

    /// Adds text. Merges it with preceding text.
    pub fn push_text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(MarkdownPiece::Prose(before)) => before.push_str(text),
            _ => self.0.push(MarkdownPiece::Prose(text.to_owned())),
        }
    }

    /// Adds inline code. Merges it with preceding code, because adjacent backticks would run together.
    pub fn push_code(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(MarkdownPiece::Code(before)) => before.push_str(text),
            _ => self.0.push(MarkdownPiece::Code(text.to_owned())),
        }
    }

    /// Adds prose, with its addresses as code.
    pub(super) fn push_prose(&mut self, text: &str) {
        let mut from = 0;
        for found in ADDRESS.find_iter(text) {
            let address = found.as_str().trim_end_matches(AFTER_ADDRESS);
            self.push_text(&text[from..found.start()]);
            self.push_code(address);
            from = found.start() + address.len();
        }
        self.push_text(&text[from..]);
    }

    /// Keeps only links and emphasis that every renderer reads as such, and turns addresses into code.
    pub(super) fn settled(self) -> Self {
        self.flattened(&[]).with_addresses()
    }

    /// Removes links and emphasis that cannot be kept inside `within`.
    fn flattened(self, within: &[&Wrap]) -> Self {
        let mut flat = Self::default();
        let mut rest = self.0.into_iter().peekable();
        while let Some(piece) = rest.next() {
            let MarkdownPiece::Wrapped(wrap, inner) = piece else {
                flat.push_piece(piece);
                continue;
            };
            let next = rest.peek().map(std::slice::from_ref);
            let next = next.and_then(first_character);
            let nests = within
                .iter()
                .any(|outer| discriminant(*outer) == discriminant(&wrap));
            let is_kept = !nests
                && match wrap {
                    Wrap::Link { .. } => is_link_text(&inner.0),
                    Wrap::Emphasis(_) => is_emphasis(&inner.0) && flat.is_separate(next),
                };
            if is_kept {
                let within: Vec<&Wrap> = within.iter().copied().chain([&wrap]).collect();
                let inner = inner.flattened(&within);
                flat.0.push(MarkdownPiece::Wrapped(wrap, inner));
            } else {
                for piece in inner.flattened(within).0 {
                    flat.push_piece(piece);
                }
            }
        }
        flat
    }

    fn with_addresses(self) -> Self {
        let mut pieces = Self::default();
        for piece in self.0 {
            match piece {
                MarkdownPiece::Prose(text) => pieces.push_prose(&text),
                MarkdownPiece::Wrapped(wrap, inner) => {
                    let inner = inner.with_addresses();
                    pieces.0.push(MarkdownPiece::Wrapped(wrap, inner));
                }
                piece => pieces.push_piece(piece),
            }
        }
        pieces
    }

    /// True if the characters before and after separate a mark of emphasis from its surroundings.
    fn is_separate(&self, next: Option<char>) -> bool {
        let before = self.0.last().and_then(|last| match last {
            MarkdownPiece::Prose(text) => text.chars().next_back(),
            MarkdownPiece::Code(_) => Some('`'),
            MarkdownPiece::Formula(_) => Some('$'),
            MarkdownPiece::Markup(markdown) => markdown.chars().next_back(),
            MarkdownPiece::Picture { .. } | MarkdownPiece::Wrapped(Wrap::Link { .. }, _) => {
                Some(')')
            }
            MarkdownPiece::Wrapped(Wrap::Emphasis(_), _) => Some('*'),
        });
        before.is_none_or(separates) && next.is_none_or(separates)
    }
}

fn separates(c: char) -> bool {
    matches!(c, ' ' | '\n') || (c.is_ascii_punctuation() && !matches!(c, '*' | '_' | '\\'))
}

/// True for text that looks like a citation number in brackets.
fn is_number(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_numeric() || c.is_whitespace() || ",;-–".contains(c))
}

/// True if pieces can be the text of a link: they show something other than a citation number, and none of them can end the link.
fn is_link_text(pieces: &[MarkdownPiece]) -> bool {
    pieces.iter().any(is_text) && !pieces.iter().any(ends_link)
}

/// True for a piece that can be the visible text of a link: neither a formula nor a text that is only a citation number.
fn is_text(piece: &MarkdownPiece) -> bool {
    match piece {
        MarkdownPiece::Prose(text) => !is_number(text),
        MarkdownPiece::Wrapped(_, inner) => is_link_text(&inner.0),
        MarkdownPiece::Code(_) | MarkdownPiece::Markup(_) | MarkdownPiece::Picture { .. } => true,
        MarkdownPiece::Formula(_) => false,
    }
}

/// True for a piece whose brackets could end a link or turn it into a definition.
fn ends_link(piece: &MarkdownPiece) -> bool {
    match piece {
        MarkdownPiece::Formula(_) => true,
        MarkdownPiece::Code(code) => code.contains("]:"),
        MarkdownPiece::Wrapped(_, inner) => inner.0.iter().any(ends_link),
        MarkdownPiece::Prose(_) | MarkdownPiece::Markup(_) | MarkdownPiece::Picture { .. } => false,
    }
}

/// True if pieces neither begin nor end with a character that prevents emphasis.
fn is_emphasis(pieces: &[MarkdownPiece]) -> bool {
    first_character(pieces).is_some_and(can_border_emphasis)
        && last_character(pieces).is_some_and(can_border_emphasis)
}

fn can_border_emphasis(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '*' | '_' | '\\' | '~')
}

/// Returns the first character of the pieces, whether or not a link around them is kept.
fn first_character(pieces: &[MarkdownPiece]) -> Option<char> {
    match pieces.first()? {
        MarkdownPiece::Prose(text) | MarkdownPiece::Markup(text) => text.chars().next(),
        MarkdownPiece::Wrapped(Wrap::Link { .. }, inner) => first_character(&inner.0),
        other => Some(mark_of(other)),
    }
}

fn last_character(pieces: &[MarkdownPiece]) -> Option<char> {
    match pieces.last()? {
        MarkdownPiece::Prose(text) | MarkdownPiece::Markup(text) => text.chars().next_back(),
        MarkdownPiece::Wrapped(Wrap::Link { .. }, inner) => last_character(&inner.0),
        other => Some(mark_of(other)),
    }
}

/// Returns the character that a piece begins and ends with, or an equivalent one.
fn mark_of(piece: &MarkdownPiece) -> char {
    match piece {
        MarkdownPiece::Formula(_) => '$',
        MarkdownPiece::Picture { .. } => '!',
        MarkdownPiece::Wrapped(..) => '*',
        MarkdownPiece::Code(_) | MarkdownPiece::Markup(_) | MarkdownPiece::Prose(_) => '`',
    }
}

fn shown(text: &str, stretch: Range<usize>) -> String {
    visible(text.get(stretch).unwrap_or_default())
}
