//! Parses the inline Markdown of a paragraph and writes it again.

use std::iter::Peekable;
use std::ops::Range;
use std::sync::LazyLock;
use std::vec::IntoIter;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::{marker_of, with_plain_markers, without_addresses};
use crate::cite::address::{self, addresses};
use crate::cite::allowed::AllowedLinks;
use book::{LinePosition, MarkdownPiece, Pieces, Wrap};
use text::invisible::visible;
use text::marks::LINE_GUARD;

/// Replaces an address that was removed.
pub(super) const REMOVED: &str = "…";

/// A number in brackets that is not a marker, because it was written with character references.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[\d{1,9}\]").expect("the pattern is a constant"));

/// A parsed stretch of a paragraph.
pub(super) struct Inline {
    pieces: Pieces,
    /// False if a construct is still open, so that following text may change the parse.
    pub(super) is_settled: bool,
}

impl Inline {
    /// Parses a stretch that begins at the start of a line or after a space. None of its lines begins a block.
    pub(super) fn read(stretch: &str, allowed: &AllowedLinks) -> Self {
        let lines: Vec<String> = stretch
            .lines()
            .map(|line| format!("{LINE_GUARD} {line}"))
            .collect();
        let source = lines.join("\n");
        let events = Parser::new_ext(&source, Options::ENABLE_MATH).into_offset_iter();
        Self::of_events(events, &source, allowed)
    }

    /// Reads the events of a block's content.
    pub(super) fn of_events<'a>(
        events: impl Iterator<Item = (Event<'a>, Range<usize>)>,
        source: &str,
        allowed: &AllowedLinks,
    ) -> Self {
        let mut reader = InlineReader::default();
        for (event, range) in events {
            reader.read(event, source, range);
        }
        for part in &mut reader.parts {
            if let Part::Text(text) = part {
                *text = without_brackets(&without_guards(text));
            }
        }
        let text = text_of(&reader.parts);
        let tree = Tree {
            allowed,
            bare: addresses(&text, address::TextKind::Prose),
            at: 0,
            in_link: false,
            has_marker: false,
        };
        Self {
            pieces: tree.all(reader.parts),
            is_settled: reader.brackets == 0 && !reader.in_target && !reader.is_open,
        }
    }

    /// Returns the Markdown for this place in a line.
    pub(super) fn written(self, place: LinePosition) -> String {
        if place == LinePosition::Start && self.pieces.is_formula() {
            return with_markers_apart(&self.pieces.written(place), place);
        }
        // Escaping depends on the characters around the text, which are white space here.
        let before = if place == LinePosition::Start {
            ""
        } else {
            " "
        };
        let mut pieces = Pieces::default();
        pieces.push_text(before);
        pieces.push_wrapped(None, self.pieces);
        pieces.push_text(" ");
        let markdown = pieces.written(place);
        let markdown = markdown.strip_prefix(before).unwrap_or(&markdown);
        with_markers_apart(markdown, place)
    }
}

#[derive(Debug)]
enum Part {
    /// Text, with a private character for each marker.
    Text(String),
    Code(String),
    Formula(String),
    Break,
    Open(Around),
    Close,
}

#[derive(Debug)]
enum Around {
    Emphasis(&'static str),
    /// The target of a link, or of an image that becomes a link.
    Link(String),
}

#[derive(Debug, Default)]
struct InlineReader {
    parts: Vec<Part>,
    /// Number of open square brackets.
    brackets: usize,
    /// True if a possible link target is open.
    in_target: bool,
    /// True if a mark has no closing mark yet.
    is_open: bool,
    /// Where the previous text ended in the source.
    end: usize,
}

impl InlineReader {
    fn read(&mut self, event: Event<'_>, source: &str, range: Range<usize>) {
        let part = match event {
            Event::Text(text) if source[range.clone()] == *text => {
                self.look_for_open_marks(source, range.clone());
                self.end = range.end;
                return self.text(&text);
            }
            // A character reference can stand for a hidden character.
            Event::Text(text) => return self.text(&visible(&text)),
            Event::SoftBreak => return self.text("\n"),
            Event::InlineHtml(html) | Event::Html(html) => {
                if !is_line_break(&html) {
                    return self.text(&html);
                }
                Part::Break
            }
            Event::HardBreak => Part::Break,
            Event::Code(code) => match with_plain_markers(&without_guards(&code)) {
                // Blank code is not written, and must not join the text on both sides into an address.
                code if code.trim().is_empty() => Part::Text(" ".to_owned()),
                code => Part::Code(code),
            },
            Event::InlineMath(tex) => return self.formula(&format!("${tex}$")),
            Event::DisplayMath(tex) => return self.formula(&format!("$${tex}$$")),
            Event::Start(Tag::Strong) => Part::Open(Around::Emphasis("**")),
            Event::Start(Tag::Emphasis) => Part::Open(Around::Emphasis("*")),
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                ..
            }) if !matches!(link_type, LinkType::Autolink | LinkType::Email) => {
                Part::Open(Around::Link(dest_url.into_string()))
            }
            // An address in angle brackets is handled like a bare address.
            Event::Start(Tag::Link { .. }) => Part::Open(Around::Emphasis("")),
            Event::Start(Tag::Image { dest_url, .. }) => {
                Part::Open(Around::Link(dest_url.into_string()))
            }
            Event::End(TagEnd::Strong | TagEnd::Emphasis | TagEnd::Link | TagEnd::Image) => {
                Part::Close
            }
            _ => return,
        };
        self.parts.push(part);
    }

    fn text(&mut self, text: &str) {
        if let Some(Part::Text(before)) = self.parts.last_mut() {
            before.push_str(text);
        } else {
            self.parts.push(Part::Text(text.to_owned()));
        }
    }

    /// Adds a formula; one that contains an address becomes text.
    fn formula(&mut self, formula: &str) {
        let formula = with_plain_markers(&without_guards(formula));
        if addresses(&formula, address::TextKind::Prose).is_empty() {
            self.parts.push(Part::Formula(formula));
        } else {
            self.text(&formula);
        }
    }

    /// Looks for marks parsed as text because nothing closes them yet.
    fn look_for_open_marks(&mut self, source: &str, range: Range<usize>) {
        for (at, c) in source[range.clone()].char_indices() {
            let at = range.start + at;
            let before = source[..at].chars().next_back();
            let next = source[at + c.len_utf8()..].chars().next();
            if at == range.start && before == Some('\\') && self.end < at {
                // The mark is escaped.
                continue;
            }
            match c {
                '[' => self.brackets += 1,
                ']' => {
                    self.brackets = self.brackets.saturating_sub(1);
                    self.in_target |= next == Some('(');
                }
                ')' => self.in_target = false,
                '`' => self.is_open = true,
                '*' => self.is_open |= !(is_space(before) && is_space(next)),
                '_' => {
                    let is_inert = (is_space(before) && is_space(next))
                        || (is_letter(before) && is_letter(next));
                    self.is_open |= !is_inert;
                }
                '$' => {
                    let is_price = next.is_some_and(|next| next.is_ascii_digit());
                    self.is_open |= !(is_price || is_space(next));
                }
                '\\' => self.is_open |= next.is_none(),
                _ => {}
            }
        }
    }
}

/// True for white space, and at either end of a text.
fn is_space(c: Option<char>) -> bool {
    c.is_none_or(char::is_whitespace)
}

fn is_letter(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

fn is_line_break(html: &str) -> bool {
    let inner = html.trim_matches(['<', '>', '/', ' ']);
    inner.eq_ignore_ascii_case("br")
}

/// Reduces each marker to its character, and removes other text that looks like a marker.
fn without_brackets(text: &str) -> String {
    let markers: Vec<char> = text.chars().filter(|c| marker_of(*c).is_some()).collect();
    let text = NUMBER.replace_all(text, "");
    markers.into_iter().fold(text.into_owned(), |text, marker| {
        text.replace(&format!("[{marker}]"), &marker.to_string())
    })
}

fn without_guards(text: &str) -> String {
    text.replace(&format!("{LINE_GUARD} "), "")
        .replace(LINE_GUARD, "")
}

/// Returns the text of all parts. Emphasis and dropped links do not split an address.
fn text_of(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Open(_) | Part::Close => {}
            Part::Code(_) | Part::Formula(_) | Part::Break => text.push(' '),
        }
    }
    text
}

/// Converts parts to pieces.
struct Tree<'a> {
    allowed: &'a AllowedLinks,
    /// The ranges of bare addresses in the text of all parts.
    bare: Vec<Range<usize>>,
    /// The byte offset reached in the text of all parts.
    at: usize,
    in_link: bool,
    /// True if a marker was read since the link began.
    has_marker: bool,
}

impl Tree<'_> {
    fn all(mut self, parts: Vec<Part>) -> Pieces {
        self.pieces(&mut parts.into_iter().peekable())
    }

    /// Returns the pieces up to the closing part.
    fn pieces(&mut self, parts: &mut Peekable<IntoIter<Part>>) -> Pieces {
        let mut pieces = Pieces::default();
        while let Some(part) = parts.next_if(|part| !matches!(part, Part::Close)) {
            match part {
                Part::Text(text) => {
                    let ends_line = matches!(parts.peek(), None | Some(Part::Break));
                    self.text(&text, ends_line, &mut pieces);
                }
                Part::Code(code) => {
                    self.at += 1;
                    pieces.push_other_code(&without_addresses(&code, self.allowed));
                }
                Part::Formula(formula) => {
                    self.at += 1;
                    pieces.push_formula(formula);
                }
                Part::Break => {
                    self.at += 1;
                    pieces.push_piece(MarkdownPiece::Markup("\\\n".to_owned()));
                }
                Part::Open(Around::Emphasis(mark)) => {
                    let inner = self.pieces(parts);
                    parts.next();
                    pieces.push_wrapped((!mark.is_empty()).then_some(Wrap::Emphasis(mark)), inner);
                }
                Part::Open(Around::Link(target)) => {
                    let href = self.allowed.href(&target).filter(|_| !self.in_link);
                    let outer = (self.in_link, self.has_marker);
                    (self.in_link, self.has_marker) = (outer.0 || href.is_some(), false);
                    let inner = self.pieces(parts);
                    parts.next();
                    // A link around a marker would nest two links.
                    let href = href.filter(|_| !self.has_marker);
                    (self.in_link, self.has_marker) = (outer.0, outer.1 || self.has_marker);
                    pieces.push_wrapped(href.map(|href| Wrap::Link { href }), inner);
                }
                Part::Close => {}
            }
        }
        pieces
    }

    /// Adds text. An allowed address becomes a link, any other is removed.
    fn text(&mut self, text: &str, ends_line: bool, pieces: &mut Pieces) {
        let start = self.at;
        let end = start + text.len();
        self.at = end;
        let mut from = start;
        let mut words = String::new();
        for range in self.bare.clone() {
            if range.end <= from || range.start >= end {
                continue;
            }
            if range.start >= from {
                words.push_str(&text[from - start..range.start - start]);
                let address = text.get(range.start - start..range.end - start);
                match address.filter(|address| self.allowed.has_address(address)) {
                    Some(address) => {
                        self.prose(&std::mem::take(&mut words), false, pieces);
                        self.address(address, pieces);
                    }
                    None => words.push_str(REMOVED),
                }
            }
            from = range.end.min(end);
        }
        words.push_str(&text[from - start..]);
        self.prose(&words, ends_line, pieces);
    }

    fn address(&self, address: &str, pieces: &mut Pieces) {
        match self.allowed.href(address).filter(|_| !self.in_link) {
            Some(href) if href == address => {
                pieces.push_piece(MarkdownPiece::Markup(format!("<{address}>")));
            }
            href => {
                let Some(href) = href else {
                    return pieces.push_other_code(address);
                };
                let mut inner = Pieces::default();
                inner.push_code(address);
                pieces.push_wrapped(Some(Wrap::Link { href }), inner);
            }
        }
    }

    fn prose(&mut self, text: &str, ends_line: bool, pieces: &mut Pieces) {
        self.has_marker |= text.contains(|c| marker_of(c).is_some());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('<') {
            pieces.push_text(before);
            // Escape `<` so that HTML parsers find no tag either.
            let compares =
                after.starts_with(|c: char| c.is_whitespace() || c == '=' || c.is_ascii_digit());
            let is_alone = compares || (after.is_empty() && ends_line);
            let sign = if is_alone { "<" } else { "&lt;" };
            pieces.push_piece(MarkdownPiece::Markup(sign.to_owned()));
            rest = after;
        }
        pieces.push_text(rest);
    }
}

/// Prevents the text beside a marker from turning it into a link, a definition or an image.
fn with_markers_apart(markdown: &str, place: LinePosition) -> String {
    let mut written = String::with_capacity(markdown.len());
    let mut before = if place == LinePosition::Start {
        '\n'
    } else {
        ' '
    };
    let mut starts_line = false;
    for c in markdown.chars() {
        let follows = marker_of(before).is_some();
        if marker_of(c).is_some() {
            starts_line = before == '\n' || (follows && starts_line);
            if before == '!' {
                written.push(' ');
            }
        } else if follows && (c == '(' || (c == ':' && starts_line)) {
            written.push('\\');
        }
        written.push(c);
        before = c;
    }
    written
}
