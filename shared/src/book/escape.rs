//! Writes the book's text as Markdown that shows exactly this text in every renderer of `CommonMark` and of GitHub's dialect.

mod formula;
pub(crate) mod href;
mod model;
mod pieces;

use std::ops::Range;

use super::block::Mark;
use super::hidden::visible;

pub(crate) use model::{fence_info, heading_text};
pub(crate) use pieces::{Piece, Pieces, Wrap};

/// The level of headings within an answer.
const HEADING_IN_ANSWER: u8 = 4;

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
    let pieces = Pieces::of(text, &marks, stretch).settled().0;
    if let [Piece::Formula(alone)] = &*pieces {
        return formula::block(alone);
    }
    let mut writer = Writer::default();
    writer.write(&pieces);
    writer.markdown.trim_end().to_owned()
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
    let info = fence_info(language, title);
    format!("{fence}{info}\n{code}\n{fence}")
}

/// Writes plain text as a heading within an answer; nothing if nothing of it is visible.
#[must_use]
pub fn heading(text: &str) -> String {
    heading_of(HEADING_IN_ANSWER, text)
}

/// As [`heading`], of a level from 1 to 6.
pub(crate) fn heading_of(level: u8, text: &str) -> String {
    let text = visible(&text.replace('\n', " "));
    let pieces = Pieces::of(text.trim(), &[], 0..text.trim().len())
        .settled()
        .0;
    let mut writer = Writer::default();
    // Nothing behind the marks of a heading begins a block, but further marks would be its end.
    if !text.trim().starts_with('#') {
        writer.place = Place::Inside;
    }
    writer.write(&pieces);
    let text = writer.markdown;
    if text.is_empty() {
        return text;
    }
    let marks = "#".repeat(usize::from(level));
    format!("{marks} {}", heading_text(&text))
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
    let shown = visible(text.get(stretch.clone()).unwrap_or_default());
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
        let column = self.column(depth);
        self.open.push((depth, column + mark.len()));
        format!("{}{mark}", " ".repeat(column))
    }

    /// The column of a block with this indentation: that of the text of the item it stands in.
    pub(crate) fn column(&mut self, depth: usize) -> usize {
        while self.open.last().is_some_and(|(above, _)| *above >= depth) {
            self.open.pop();
        }
        self.open.last().map_or(0, |(_, column)| *column)
    }
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
pub(crate) enum Place {
    /// Nothing stands on the line.
    #[default]
    Start,
    /// After digits alone.
    Number,
    /// After anything else.
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
    fn write(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Prose(text) => self.prose(text),
                Piece::Code(code) => self.inside(&code_span(code)),
                Piece::Formula(formula) => self.inside(&formula::inline(formula)),
                Piece::Markup(markdown) => {
                    self.inside(markdown);
                    if markdown.ends_with('\n') {
                        self.place = Place::Start;
                    }
                }
                Piece::Picture { alt, href } => {
                    let mut words = Pieces::default();
                    words.push_prose(alt);
                    self.bracketed("![", &words.0, href);
                }
                Piece::Wrapped(Wrap::Link { href }, inner) => {
                    self.bracketed("[", &inner.0, href);
                }
                Piece::Wrapped(Wrap::Emphasis(mark), inner) => {
                    self.inside(mark);
                    self.write(&inner.0);
                    self.inside(mark);
                }
            }
        }
    }

    fn bracketed(&mut self, bracket: &str, pieces: &[Piece], href: &str) {
        // With it the bracket would open a picture.
        if self.markdown.ends_with('!') {
            self.markdown.pop();
            self.markdown.push_str("\\!");
        }
        self.inside(bracket);
        self.place = Place::Bracket;
        self.write(pieces);
        self.inside(&format!("]({href})"));
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
