//! Writes the book's text as Markdown that shows exactly this text in every renderer of `CommonMark` and of GitHub's dialect.

mod formula;
mod href;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::block::{Mark, MarkKind};
use super::hidden::visible;

/// What GitHub's dialect makes a link of. No escape keeps all of its renderers from that, so an address is written as code.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z0-9+.-]*://[!-~]*|(?i:www)\.[!-~]*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
        .expect("the pattern is a constant")
});

/// Ends an address that a sentence goes on after.
const AFTER_ADDRESS: [char; 15] = [
    '.', ',', ';', ':', '!', '?', '\'', '"', ')', ']', '}', '>', '*', '_', '~',
];

/// Writes plain text, such as a title: nothing in it is markup.
#[must_use]
pub fn escaped(text: &str) -> String {
    marked_text(text, &[], 0..text.len())
}

/// Writes a stretch of a text: inline code, formulas, links, pictures and emphasis stay what they are, and nothing else in it is
/// markup. Lines stay lines of one paragraph; blank lines, indentation and invisible characters are left out.
#[must_use]
pub fn marked_text(text: &str, marks: &[Mark], stretch: Range<usize>) -> String {
    let marks: Vec<&Mark> = marks.iter().filter(|mark| mark.is_inline()).collect();
    Pieces::of(text, &marks, stretch).written()
}

fn shown(text: &str, stretch: Range<usize>) -> String {
    visible(text.get(stretch).unwrap_or_default())
}

/// A fence that is longer than any run of backticks in the code.
#[must_use]
pub fn fence_of(code: &str) -> String {
    let mut fence = "```".to_owned();
    while code.contains(&fence) {
        fence.push('`');
    }
    fence
}

/// Writes a block of code. A language that is more than a name is left out, and so is a title without one.
#[must_use]
pub fn fenced(code: &str, language: &str, title: &str) -> String {
    let code = visible(code);
    let fence = fence_of(&code);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "+-_#.".contains(c);
    let is_known = language.chars().all(is_name);
    let language = if is_known { language } else { "" };
    // What Markdown reads as more than text after a fence.
    let title = visible(title).replace(['`', '"', '\\', '&', '\n'], "");
    let title = if language.is_empty() || title.is_empty() {
        String::new()
    } else {
        format!(" title=\"{title}\"")
    };
    format!("{fence}{language}{title}\n{code}\n{fence}")
}

/// Writes plain text as a heading within an answer; nothing if nothing of it is visible.
#[must_use]
pub fn heading(text: &str) -> String {
    let text = escaped(visible(&text.replace('\n', " ")).trim());
    match text.chars().last() {
        None => text,
        // What ends a heading early, and what some renderers read as its attributes. A lone `#` is escaped already.
        Some(last @ ('#' | '}')) if text != "\\#" => {
            let before = &text[..text.len() - 1];
            format!("#### {before}&#{};", u32::from(last))
        }
        Some(_) => format!("#### {text}"),
    }
}

/// Writes a table of stretches of a text, the header first. Rows have as many cells as the header; further cells are joined to the
/// last.
#[must_use]
pub fn table(text: &str, marks: &[Mark], rows: &[Vec<Range<usize>>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let mut lines = rows.iter().map(|row| {
        let cell = |column: usize| match row.get(column) {
            Some(cell) if column + 1 == columns => {
                table_cell(text, marks, cell.start..row[row.len() - 1].end)
            }
            Some(cell) => table_cell(text, marks, cell.clone()),
            None => String::new(),
        };
        let cells: Vec<String> = (0..columns).map(cell).collect();
        format!("| {} |", cells.join(" | "))
    });
    let header = lines.next().unwrap_or_default();
    let rule = format!("|{}", " --- |".repeat(columns));
    let lines: Vec<String> = [header, rule].into_iter().chain(lines).collect();
    lines.join("\n")
}

/// Writes a cell: a pipe in it does not end it.
fn table_cell(text: &str, marks: &[Mark], stretch: Range<usize>) -> String {
    let shown = text.get(stretch.clone()).unwrap_or_default();
    // In code a pipe is escaped by a backslash, unless another backslash stands before it.
    let is_plain = shown.contains("\\|");
    let cell = marked_text(text, if is_plain { &[] } else { marks }, stretch);
    let starts = cell.strip_prefix("\\|").map(|rest| format!("|{rest}"));
    let pipe = if is_plain { "&#124;" } else { "\\|" };
    starts.unwrap_or(cell).replace('\n', " ").replace('|', pipe)
}

/// The bytes of an item's marker, `- ` or `1. ` with its indentation; 0 without one.
#[must_use]
pub fn marker_length(item: &str) -> usize {
    let marker = item.trim_start_matches(' ');
    let digits = marker.bytes().take_while(u8::is_ascii_digit).count();
    let mark = if digits > 0 { ". " } else { "- " };
    if marker[digits..].starts_with(mark) {
        item.len() - marker.len() + digits + mark.len()
    } else {
        0
    }
}

/// Indents the items of a list as Markdown nests them. If an item's parent is left out, the book's own indentation would make
/// the item a block of code.
#[derive(Debug, Default)]
pub struct ListMarkers {
    /// Of each open item, its indentation in the book and the column of its text.
    open: Vec<(usize, usize)>,
}

impl ListMarkers {
    /// The next item's marker, indented to stand below the items before it.
    pub fn place(&mut self, marker: &str) -> String {
        let mark = marker.trim_start_matches(' ');
        let depth = marker.len() - mark.len();
        while self.open.last().is_some_and(|(above, _)| *above >= depth) {
            self.open.pop();
        }
        let column = self.open.last().map_or(0, |(_, column)| *column);
        self.open.push((depth, column + mark.len()));
        format!("{}{mark}", " ".repeat(column))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Prose(String),
    Code(String),
    Formula(String),
    Picture { alt: String, href: String },
    Wrapped(Wrap, Pieces),
}

/// What stands around pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wrap {
    Link { href: String },
    /// `**` or `*`.
    Emphasis(&'static str),
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Pieces(Vec<Piece>);

impl Pieces {
    /// The pieces of a stretch. Marks stand in the order of their first bytes, outer ones before those in them.
    fn of(text: &str, marks: &[&Mark], stretch: Range<usize>) -> Self {
        let mut pieces = Self::default();
        let mut at = stretch.start;
        let mut rest = marks;
        while let [mark, after @ ..] = rest {
            let (inner, after) = after.split_at(after.partition_point(|at| at.start < mark.end));
            rest = after;
            let (start, end) = (mark.start.max(at), mark.end.min(stretch.end));
            if start < end {
                pieces.push_prose(&shown(text, at..start));
                pieces.push(&mark.kind, text, inner, start..end);
                at = end;
            }
        }
        pieces.push_prose(&shown(text, at..stretch.end));
        pieces
    }

    fn push(&mut self, kind: &MarkKind, text: &str, inner: &[&Mark], stretch: Range<usize>) {
        let wrap = match kind {
            MarkKind::Code => return self.push_code(&shown(text, stretch)),
            MarkKind::Formula => return self.push_formula(shown(text, stretch)),
            MarkKind::Picture(address) => {
                let alt = shown(text, stretch);
                return match href::of(address) {
                    Some(href) if !is_number(&alt) => self.0.push(Piece::Picture { alt, href }),
                    _ => self.push_prose(&alt),
                };
            }
            MarkKind::Link(addresses) => addresses
                .first()
                .and_then(|address| href::of(address))
                .map(|href| Wrap::Link { href }),
            MarkKind::Strong => Some(Wrap::Emphasis("**")),
            MarkKind::Emphasis => Some(Wrap::Emphasis("*")),
            _ => None,
        };
        let pieces = Self::of(text, inner, stretch);
        match wrap {
            Some(wrap) => self.0.push(Piece::Wrapped(wrap, pieces)),
            None => self.0.extend(pieces.0),
        }
    }

    fn push_formula(&mut self, text: String) {
        if formula::is_writable(&text) {
            self.0.push(Piece::Formula(text));
        } else {
            self.push_prose(&text);
        }
    }

    /// Adjacent code spans are written as one: their backticks would run together.
    fn push_code(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Code(before)) => before.push_str(text),
            _ => self.0.push(Piece::Code(text.to_owned())),
        }
    }

    fn push_prose(&mut self, text: &str) {
        let mut from = 0;
        for found in ADDRESS.find_iter(text) {
            let address = found.as_str().trim_end_matches(AFTER_ADDRESS);
            self.push_words(&text[from..found.start()]);
            self.push_code(address);
            from = found.start() + address.len();
        }
        self.push_words(&text[from..]);
    }

    fn push_words(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.push(Piece::Prose(text.to_owned()));
        }
    }

    fn written(self) -> String {
        if let [Piece::Formula(alone)] = &*self.0 {
            return formula::block(alone);
        }
        let mut writer = Writer::default();
        writer.write(&self.0, &[]);
        writer.markdown.trim_end().to_owned()
    }
}

/// True for what reads as the number of a citation in brackets.
fn is_number(text: &str) -> bool {
    let is_part = |c: char| c.is_numeric() || c.is_whitespace() || ",;-–".contains(c);
    text.chars().all(is_part)
}

/// Inline code: within as many backticks as it takes.
fn code_span(code: &str) -> String {
    let code = code.replace('\n', " ");
    let mut ticks = "`".to_owned();
    while code.split(|c| c != '`').any(|run| run == ticks) {
        ticks.push('`');
    }
    // One space at each end is not part of the code.
    let has_tick = code.starts_with('`') || code.ends_with('`');
    let has_spaces = code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty();
    let pad = if has_tick || has_spaces { " " } else { "" };
    format!("{ticks}{pad}{code}{pad}{ticks}")
}

/// Where on a line the writer is: blocks begin at its start.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    /// After digits alone.
    Number,
    Inside,
    /// After the bracket that opens a link or a picture.
    Bracket,
}

#[derive(Debug, Default)]
struct Writer {
    markdown: String,
    place: Place,
}

impl Writer {
    /// Writes pieces that stand within others.
    fn write(&mut self, pieces: &[Piece], within: &[&Wrap]) {
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Prose(text) => self.prose(text),
                Piece::Code(code) => self.inside(&code_span(code)),
                Piece::Formula(formula) => self.inside(&formula::inline(formula)),
                Piece::Picture { alt, href } => {
                    self.open_bracket("![");
                    let mut words = Pieces::default();
                    words.push_prose(alt);
                    self.write(&words.0, &[]);
                    self.inside(&format!("]({href})"));
                }
                Piece::Wrapped(wrap, inner) => {
                    let next = first_character(&pieces[at + 1..]);
                    self.wrapped(wrap, &inner.0, next, within);
                }
            }
        }
    }

    /// Writes pieces within a link or emphasis, or alone if not every renderer would read them so.
    fn wrapped(&mut self, wrap: &Wrap, inner: &[Piece], next: Option<char>, within: &[&Wrap]) {
        let is_link = |wrap: &&Wrap| matches!(wrap, Wrap::Link { .. });
        let is_kept = within.iter().all(|outer| is_link(outer) != is_link(&wrap));
        let within: Vec<&Wrap> = within.iter().copied().chain([wrap]).collect();
        match wrap {
            Wrap::Link { href } if is_kept && is_link_text(inner) => {
                self.open_bracket("[");
                self.write(inner, &within);
                self.inside(&format!("]({href})"));
            }
            Wrap::Emphasis(mark) if is_kept && is_emphasis(inner) && self.parts(next) => {
                self.inside(mark);
                self.write(inner, &within);
                self.inside(mark);
            }
            _ => self.write(inner, &within[..within.len() - 1]),
        }
    }

    /// True if what stands before and what comes next set a mark of emphasis apart.
    fn parts(&self, next: Option<char>) -> bool {
        let parts = |c: char| {
            matches!(c, ' ' | '\n') || (c.is_ascii_punctuation() && !matches!(c, '*' | '_' | '\\'))
        };
        self.markdown.chars().next_back().is_none_or(parts) && next.is_none_or(parts)
    }

    fn open_bracket(&mut self, bracket: &str) {
        // With it the bracket would open a picture.
        if self.markdown.ends_with('!') {
            self.markdown.pop();
            self.markdown.push_str("\\!");
        }
        self.inside(bracket);
        self.place = Place::Bracket;
    }

    /// What is neither prose nor at the start of a block.
    fn inside(&mut self, markdown: &str) {
        // Two formulas side by side would be one of a block.
        if markdown.starts_with('$') && self.markdown.ends_with('$') {
            self.markdown.push(' ');
        }
        self.markdown.push_str(markdown);
        self.place = Place::Inside;
    }

    fn prose(&mut self, text: &str) {
        let mut before = None;
        for (at, c) in text.char_indices() {
            let rest = &text[at + c.len_utf8()..];
            match (c, self.place) {
                ('\n' | ' ' | '\t', Place::Start) => {}
                ('\n', _) => {
                    // Two spaces before it would be a line's end of their own.
                    let length = self.markdown.trim_end_matches([' ', '\t']).len();
                    self.markdown.truncate(length);
                    self.markdown.push('\n');
                    self.place = Place::Start;
                }
                _ => {
                    if is_markup(c, before, rest, self.place) {
                        self.markdown.push('\\');
                    }
                    self.markdown.push(c);
                    let may_be_item = matches!(self.place, Place::Start | Place::Number);
                    let is_number = may_be_item && c.is_ascii_digit();
                    self.place = if is_number {
                        Place::Number
                    } else {
                        Place::Inside
                    };
                }
            }
            before = Some(c);
        }
    }
}

/// True if pieces can be the text of a link: they show something that is no citation's number, and no formula, whose brackets
/// could end it.
fn is_link_text(pieces: &[Piece]) -> bool {
    let shows = |piece: &Piece| match piece {
        Piece::Prose(text) => !is_number(text),
        Piece::Wrapped(_, inner) => is_link_text(&inner.0),
        Piece::Code(_) | Piece::Picture { .. } => true,
        Piece::Formula(_) => false,
    };
    let has_formula = |piece: &Piece| match piece {
        Piece::Wrapped(_, inner) => inner.0.iter().any(is_formula),
        piece => is_formula(piece),
    };
    pieces.iter().any(shows) && !pieces.iter().any(has_formula)
}

fn is_formula(piece: &Piece) -> bool {
    matches!(piece, Piece::Formula(_))
}

/// True if no space or mark at the ends of pieces keeps them from being emphasised.
fn is_emphasis(pieces: &[Piece]) -> bool {
    let last = pieces.last().and_then(|last| match last {
        Piece::Prose(text) => text.chars().next_back(),
        last => first_character(std::slice::from_ref(last)),
    });
    let holds = |c: char| !c.is_whitespace() && !matches!(c, '*' | '_' | '\\' | '~');
    first_character(pieces).is_some_and(holds) && last.is_some_and(holds)
}

/// The character that pieces begin with.
fn first_character(pieces: &[Piece]) -> Option<char> {
    match pieces.first()? {
        Piece::Prose(text) => text.chars().next(),
        Piece::Code(_) => Some('`'),
        Piece::Formula(_) => Some('$'),
        Piece::Picture { .. } | Piece::Wrapped(Wrap::Link { .. }, _) => Some('['),
        Piece::Wrapped(Wrap::Emphasis(_), _) => Some('*'),
    }
}

/// True if a character of prose could be read as markup. The rest is all that follows in the prose: what stands after its end
/// is not known.
fn is_markup(c: char, before: Option<char>, rest: &str, place: Place) -> bool {
    let next = rest.chars().next();
    let starts = place == Place::Start;
    let before_space = next.is_some_and(char::is_whitespace);
    match c {
        '`' | '[' | ']' | '$' => true,
        '\\' => next.is_none_or(|next| next.is_ascii_punctuation() || next.is_whitespace()),
        // Emphasis needs an opening mark, which has no space after it and, of underscores, no letter before it. The text may
        // stand in bold, which a mark without a space before it would end.
        '*' | '~' => starts || !before_space || before.is_none_or(|before| !before.is_whitespace()),
        '<' => !before_space,
        '_' => starts || !(before_space || before.is_some_and(char::is_alphanumeric)),
        '&' => is_reference(rest),
        '#' | '>' | '=' | ':' | '|' => starts,
        '-' | '+' => starts && !next.is_some_and(char::is_alphanumeric),
        '^' => place == Place::Bracket,
        '.' | ')' => place == Place::Number && (next.is_none() || before_space),
        _ => false,
    }
}

/// True if what follows `&` makes a character reference of it.
fn is_reference(rest: &str) -> bool {
    let name = rest.trim_start_matches(|c: char| c == '#' || c.is_ascii_alphanumeric());
    name.len() < rest.len() && name.starts_with(';')
}

#[cfg(test)]
mod tests;
