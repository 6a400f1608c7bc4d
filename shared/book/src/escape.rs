//! Writes the book's text as Markdown that every renderer of `CommonMark` and GitHub Flavored Markdown shows unchanged.

mod formula;
pub mod href;
mod model;
mod pieces;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::block::Mark;
use text::invisible::visible;

pub use model::{fence_info, heading_text};
pub use pieces::{MarkdownPiece, Pieces, Wrap};

const HEADING_IN_ANSWER: u8 = 4;

/// Backticks that open and close code.
const SHORTEST_FENCE: usize = 3;

/// Writes plain text, such as a title, with all markup escaped.
#[must_use]
pub fn escaped(text: &str) -> String {
    marked_text(text, &[], 0..text.len())
}

/// Writes a stretch of text. Keeps inline code, formulas, links, pictures and emphasis, and escapes all other markup. Keeps line
/// breaks, but removes blank lines, indentation and invisible characters.
#[must_use]
pub fn marked_text(text: &str, marks: &[Mark], stretch: Range<usize>) -> String {
    let marks: Vec<&Mark> = marks.iter().filter(|mark| mark.is_inline()).collect();
    let pieces = Pieces::new(text, &marks, stretch).settled().0;
    if let [MarkdownPiece::Formula(alone)] = &*pieces {
        return formula::block(alone);
    }
    let mut writer = Writer::default();
    writer.write(&pieces);
    writer.markdown.trim_end().to_owned()
}

/// Returns a fence longer than any run of backticks in the code.
#[must_use]
pub fn fence_of(code: &str) -> String {
    let longest = backtick_runs(code).max().unwrap_or_default();
    "`".repeat(SHORTEST_FENCE.max(longest + 1))
}

/// Returns the lengths of the runs of backticks, with zeros between them.
fn backtick_runs(code: &str) -> impl Iterator<Item = usize> {
    code.split(|c| c != '`').map(str::len)
}

/// Writes a code block. Drops a language that is more than a name, and a title without a language.
#[must_use]
pub fn fenced(code: &str, language: &str, title: &str) -> String {
    let code = visible(code);
    let fence = fence_of(&code);
    let info = fence_info(language, title);
    format!("{fence}{info}\n{code}\n{fence}")
}

/// Writes plain text as a heading within an answer; empty if no character is visible.
#[must_use]
pub fn heading(text: &str) -> String {
    heading_of(HEADING_IN_ANSWER, text)
}

/// Like [`heading`], with a level from 1 to 6.
pub(crate) fn heading_of(level: u8, text: &str) -> String {
    let text = visible(&text.replace('\n', " "));
    let pieces = Pieces::new(text.trim(), &[], 0..text.trim().len())
        .settled()
        .0;
    let mut writer = Writer::default();
    // Text after a heading's marks cannot begin a block, but further `#` marks could close the heading.
    if !text.trim().starts_with('#') {
        writer.place = LinePosition::Inside;
    }
    writer.write(&pieces);
    let text = writer.markdown;
    if text.is_empty() {
        return text;
    }
    let marks = "#".repeat(usize::from(level));
    format!("{marks} {}", heading_text(&text))
}

/// Writes a table of stretches of a text, the header first. Surplus cells of a row are joined to its last one.
#[must_use]
pub fn table(text: &str, marks: &[Mark], rows: &[Vec<Range<usize>>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let mut lines = rows.iter().map(|row| {
        let cells: Vec<String> = (0..columns)
            .map(|column| match row.get(column) {
                Some(cell) if column + 1 == columns => {
                    table_cell(text, marks, cell.start..row[row.len() - 1].end)
                }
                Some(cell) => table_cell(text, marks, cell.clone()),
                None => String::new(),
            })
            .collect();
        format!("| {} |", cells.join(" | "))
    });
    let header = lines.next().unwrap_or_default();
    let rule = format!("|{}", " --- |".repeat(columns));
    let lines: Vec<String> = [header, rule].into_iter().chain(lines).collect();
    lines.join("\n")
}

fn table_cell(text: &str, marks: &[Mark], stretch: Range<usize>) -> String {
    let shown = visible(text.get(stretch.clone()).unwrap_or_default());
    // Renderers differ in how they read a backslash before a pipe in code, so a cell that has both has no marks.
    if shown.contains("\\|") {
        return plain_cell(&shown);
    }
    let cell = marked_text(text, marks, stretch);
    let starts = cell.strip_prefix("\\|").map(|rest| format!("|{rest}"));
    starts
        .unwrap_or(cell)
        .replace('\n', " ")
        .replace('|', "\\|")
}

/// Writes a cell with character references for its pipes and the backslashes before them.
fn plain_cell(text: &str) -> String {
    let parts: Vec<String> = text.split('|').map(part_of_cell).collect();
    parts.join("&#124;").replace('\n', " ")
}

fn part_of_cell(text: &str) -> String {
    let (space, rest) = text.split_at(text.len() - text.trim_start().len());
    let body = rest.trim_end_matches(|c: char| c == '\\' || c.is_whitespace());
    let end = rest[body.len()..].replace('\\', "&#92;");
    format!("{space}{}{end}", escaped(body))
}

/// Returns the length of an item's marker, `- ` or `1. ` with its indentation; 0 without one.
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

/// Indents list items as Markdown nests them. The book's own indentation would turn an item into code if its parent is left
/// out.
#[derive(Debug, Default)]
pub struct ListMarkers {
    /// For each open item, its indentation in the book and the column of its text.
    open: Vec<(usize, usize)>,
}

impl ListMarkers {
    /// Returns the next item's marker, indented to fit below the previous items.
    pub fn place(&mut self, marker: &str) -> String {
        let mark = marker.trim_start_matches(' ');
        let depth = marker.len() - mark.len();
        let column = self.column(depth);
        self.open.push((depth, column + mark.len()));
        format!("{}{mark}", " ".repeat(column))
    }

    /// Returns the column of a block with this indentation, which is that of the enclosing item's text.
    pub fn column(&mut self, depth: usize) -> usize {
        while self.open.last().is_some_and(|(above, _)| *above >= depth) {
            self.open.pop();
        }
        self.open.last().map_or(0, |(_, column)| *column)
    }
}

fn code_span(code: &str) -> String {
    let code = code.replace('\n', " ");
    let runs: BTreeSet<usize> = backtick_runs(&code).collect();
    let free = (1..=runs.len() + 1).find(|length| !runs.contains(length));
    let ticks = "`".repeat(free.unwrap_or_default());
    // Markdown strips one space at each end.
    let has_tick = code.starts_with('`') || code.ends_with('`');
    let has_spaces = code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty();
    let pad = if has_tick || has_spaces { " " } else { "" };
    format!("{ticks}{pad}{code}{pad}{ticks}")
}

/// A position in a line. Blocks begin at the start.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum LinePosition {
    /// The line is empty.
    #[default]
    Start,
    /// After digits only.
    Number,
    /// After anything else.
    Inside,
    /// After the opening bracket of a link or picture.
    Bracket,
}

#[derive(Debug, Default)]
struct Writer {
    markdown: String,
    place: LinePosition,
}

impl Writer {
    fn write(&mut self, pieces: &[MarkdownPiece]) {
        for piece in pieces {
            match piece {
                MarkdownPiece::Prose(text) => self.prose(text),
                MarkdownPiece::Code(code) => self.inside(&code_span(code)),
                MarkdownPiece::Formula(formula) => self.inside(&formula::inline(formula)),
                MarkdownPiece::Markup(markdown) => {
                    self.inside(markdown);
                    if markdown.ends_with('\n') {
                        self.place = LinePosition::Start;
                    }
                }
                MarkdownPiece::Picture { alt, href } => {
                    let mut words = Pieces::default();
                    words.push_prose(alt);
                    self.bracketed("![", &words.0, href);
                }
                MarkdownPiece::Wrapped(Wrap::Link { href }, inner) => {
                    self.bracketed("[", &inner.0, href);
                }
                MarkdownPiece::Wrapped(Wrap::Emphasis(mark), inner) => {
                    self.inside(mark);
                    self.write(&inner.0);
                    self.inside(mark);
                }
            }
        }
    }

    fn bracketed(&mut self, bracket: &str, pieces: &[MarkdownPiece], href: &str) {
        // Otherwise `!` and the bracket would open a picture.
        if self.markdown.ends_with('!') {
            self.markdown.pop();
            self.markdown.push_str("\\!");
        }
        self.inside(bracket);
        self.place = LinePosition::Bracket;
        self.write(pieces);
        self.inside(&format!("]({href})"));
    }

    /// Writes Markdown that is not prose and does not begin a block.
    fn inside(&mut self, markdown: &str) {
        // Two adjacent formulas would become one display formula.
        if markdown.starts_with('$') && self.markdown.ends_with('$') {
            self.markdown.push(' ');
        }
        self.markdown.push_str(markdown);
        self.place = LinePosition::Inside;
    }

    fn prose(&mut self, text: &str) {
        let mut before = None;
        for (at, c) in text.char_indices() {
            let rest = &text[at + c.len_utf8()..];
            match (c, self.place) {
                ('\n' | ' ' | '\t', LinePosition::Start) => {}
                ('\n', _) => {
                    // Two spaces before a line feed would be a hard line break.
                    let length = self.markdown.trim_end_matches([' ', '\t']).len();
                    self.markdown.truncate(length);
                    self.markdown.push('\n');
                    self.place = LinePosition::Start;
                }
                _ => {
                    if is_markup(c, before, rest, self.place) {
                        self.markdown.push('\\');
                    }
                    self.markdown.push(c);
                    let may_be_item =
                        matches!(self.place, LinePosition::Start | LinePosition::Number);
                    let is_number = may_be_item && c.is_ascii_digit();
                    self.place = if is_number {
                        LinePosition::Number
                    } else {
                        LinePosition::Inside
                    };
                }
            }
            before = Some(c);
        }
    }
}

/// True if a character of prose could be read as markup. `rest` is the remaining prose; the text after that is unknown.
fn is_markup(c: char, before: Option<char>, rest: &str, place: LinePosition) -> bool {
    let next = rest.chars().next();
    let starts = place == LinePosition::Start;
    let before_space = next.is_some_and(char::is_whitespace);
    match c {
        '`' | '[' | ']' | '$' => true,
        '\\' => next.is_none_or(|next| next.is_ascii_punctuation() || next.is_whitespace()),
        // An opening mark of emphasis has no space after it, and an underscore no letter before it. A mark without a space before
        // it could also close bold text around the prose.
        '*' | '~' => starts || !before_space || before.is_none_or(|before| !before.is_whitespace()),
        '<' => !before_space,
        '_' => starts || !(before_space || before.is_some_and(char::is_alphanumeric)),
        '&' => is_reference(rest),
        '#' | '>' | '=' | ':' | '|' => starts,
        '-' | '+' => starts && !next.is_some_and(char::is_alphanumeric),
        '^' => place == LinePosition::Bracket,
        '.' | ')' => place == LinePosition::Number && (next.is_none() || before_space),
        _ => false,
    }
}

/// True if `rest` completes a character reference after `&`.
fn is_reference(rest: &str) -> bool {
    let name = rest.trim_start_matches(|c: char| c == '#' || c.is_ascii_alphanumeric());
    name.len() < rest.len() && name.starts_with(';')
}

#[cfg(test)]
mod tests;
