//! Rewrites a model's Markdown, keeping only what an answer may contain.

mod inline;
mod line;
mod paragraph;
mod table;

use std::sync::Arc;

use self::inline::{Inline, REMOVED};
use self::line::{Before, Fence, Line, indentation, title_of, without_indentation};
use self::paragraph::{Paragraph, is_east_asian, without_definitions};
use self::table::table;
use super::address::{self, addresses};
use super::allowed::AllowedLinks;
use super::markers::Cited;
use book::{LinePosition, ListMarkers, fence_info, heading_text};
use text::invisible::InvisibleFilter;
use text::marks::{CITATIONS, PROSE};

/// The longest word in bytes; the rest of a longer one is dropped.
const MAX_WORD_BYTES: usize = 2_048;
/// The longest text held until its end, in bytes. Longer lines, quotes, tables and stretches are written in parts.
const MAX_HELD_BYTES: usize = 8_192;
/// Levels of nested quotes that are kept.
const MAX_DEPTH: usize = 4;

/// Rewrites a model's streamed Markdown.
///
/// It keeps paragraphs, headings, lists, quotes, tables, code, formulas, emphasis, line breaks and allowed links. Everything else becomes text,
/// escaped so that every renderer shows it as text. A forbidden link becomes its text, an image its alternative text or a link to it, and a forbidden
/// address becomes `…`, also in code. Definitions, terminal sequences and invisible characters are dropped.
///
/// Words of a paragraph are written immediately unless a construct before them is open. Lines of code, headings, tables and quotes wait for their
/// end. The result does not depend on how the text is split, and rewriting it again changes nothing.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact about the text so far; none excludes another"
)]
pub struct MarkdownWriter {
    allowed: Arc<AllowedLinks>,
    filter: InvisibleFilter,
    /// Number of enclosing quotes.
    depth: usize,
    /// Bytes of the current word.
    word: usize,
    /// The line so far, unless it is paragraph text.
    line: String,
    /// True if the rest of the line is paragraph text.
    in_text: bool,
    block: OpenBlock,
    items: ListMarkers,
    /// True if the block is in a list.
    in_list: bool,
    /// The output column of the block.
    column: usize,
    /// Markers of list items without output yet, and whether they are on this line.
    markers: String,
    has_marker: bool,
    has_begun: bool,
    /// True if the next output needs a blank line before it.
    is_apart: bool,
    written: String,
}

/// The block that is being read.
#[derive(Debug, Default)]
enum OpenBlock {
    #[default]
    None,
    Paragraph(Paragraph),
    Code {
        fence: Fence,
        indentation: usize,
    },
    Table(String),
    Quote(String),
}

impl MarkdownWriter {
    /// Creates a writer that keeps only these links.
    #[must_use]
    pub fn new(allowed: AllowedLinks) -> Self {
        Self::within(Arc::new(allowed), 0)
    }

    fn within(allowed: Arc<AllowedLinks>, depth: usize) -> Self {
        Self {
            allowed,
            filter: InvisibleFilter::default(),
            depth,
            word: 0,
            line: String::new(),
            in_text: false,
            block: OpenBlock::None,
            items: ListMarkers::default(),
            in_list: false,
            column: 0,
            markers: String::new(),
            has_marker: false,
            has_begun: false,
            is_apart: false,
            written: String::new(),
        }
    }

    /// Reads the next piece, without markers; returns the text that can be shown now.
    pub fn push(&mut self, text: &str) -> Vec<Cited> {
        let mut seen = String::with_capacity(text.len());
        self.filter.push(text, &mut seen);
        seen.chars().for_each(|c| self.read(c));
        self.shown()
    }

    /// Reads the marker of a passage; returns the text that can be shown now.
    pub fn marker(&mut self, passage: usize) -> Vec<Cited> {
        if let Some(marker) = marker_char(passage) {
            for c in ['[', marker, ']'] {
                self.read(c);
            }
        }
        self.shown()
    }

    /// Ends the text. Returns what was held back.
    pub fn finish(&mut self) -> Vec<Cited> {
        self.end();
        self.shown()
    }

    fn end(&mut self) {
        if self.in_text || !self.line.is_empty() {
            self.put('\n');
        }
        self.end_block();
    }

    fn shown(&mut self) -> Vec<Cited> {
        let mut shown = Vec::new();
        let mut text = String::new();
        let mut in_prose = false;
        for c in std::mem::take(&mut self.written).chars().chain([PROSE]) {
            let passage = marker_of(c);
            if passage.is_none() && c != PROSE {
                text.push(c);
                continue;
            }
            if !text.is_empty() {
                let text = std::mem::take(&mut text);
                shown.push(if in_prose {
                    Cited::Text(text)
                } else {
                    Cited::Other(text)
                });
            }
            shown.extend(passage.map(Cited::Marker));
            in_prose ^= c == PROSE;
        }
        shown
    }

    fn read(&mut self, c: char) {
        let ends_word = c.is_ascii_whitespace() || is_east_asian(c);
        self.word = if ends_word {
            0
        } else {
            self.word + c.len_utf8()
        };
        if self.word <= MAX_WORD_BYTES {
            self.put(c);
        }
    }

    fn put(&mut self, c: char) {
        let has_ended = c == '\n';
        if self.in_text {
            self.in_text = !has_ended;
            self.text(c);
        } else {
            if !has_ended {
                self.line.push(c);
            }
            self.read_line(has_ended || self.line.len() > MAX_HELD_BYTES);
        }
        self.has_marker &= !has_ended;
    }

    fn read_line(&mut self, has_ended: bool) {
        loop {
            let line = std::mem::take(&mut self.line);
            if let OpenBlock::Code { fence, indentation } = &self.block {
                if !has_ended {
                    self.line = line;
                } else if fence.is_closed_by(&line) {
                    self.end_block();
                } else {
                    let line = without_indentation(&line, *indentation).to_owned();
                    self.code_line(&line);
                }
                return;
            }
            let before = Before {
                paragraph: matches!(self.block, OpenBlock::Paragraph(_)),
                list: self.in_list,
            };
            match Line::read(&line, has_ended, before) {
                Line::Undecided => self.line = line,
                Line::Item { marker, content } => {
                    self.end_block();
                    self.item(&marker);
                    let column = line[..content].chars().count();
                    self.line = format!("{}{}", " ".repeat(column), &line[content..]);
                    continue;
                }
                Line::Text(at) => {
                    self.open_paragraph(indentation(&line));
                    line[at..].chars().for_each(|c| self.text(c));
                    self.in_text = !has_ended;
                    if has_ended {
                        self.text('\n');
                    }
                }
                Line::Blank => {
                    self.end_block();
                    self.is_apart = true;
                }
                other => self.whole_line(&line, other),
            }
            return;
        }
    }

    /// Reads a complete line.
    fn whole_line(&mut self, line: &str, kind: Line) {
        let indentation = indentation(line);
        match (kind, &mut self.block) {
            (Line::Row, OpenBlock::Table(held)) if held.len() < MAX_HELD_BYTES => {
                held.push_str(line);
                held.push('\n');
            }
            (Line::Quote(text), OpenBlock::Quote(held)) if held.len() < MAX_HELD_BYTES => {
                held.push_str(&text);
                held.push('\n');
            }
            (kind, _) => {
                self.end_block();
                self.indent(indentation);
                match kind {
                    Line::Row => self.block = OpenBlock::Table(format!("{}\n", line.trim())),
                    Line::Quote(text) => self.block = OpenBlock::Quote(format!("{text}\n")),
                    Line::Heading { level, text } => self.heading(level, &text),
                    Line::Rule => self.begin("***", false),
                    Line::Fence(fence) => {
                        let language = fence.info.split_whitespace().next().unwrap_or_default();
                        let info = fence_info(language, title_of(&fence.info));
                        self.begin(&format!("{}{info}", fence.marks), self.in_list);
                        self.block = OpenBlock::Code { fence, indentation };
                    }
                    _ => {}
                }
            }
        }
    }

    fn item(&mut self, marker: &str) {
        let placed = self.items.place(marker);
        if self.has_marker {
            self.markers.push_str(placed.trim_start());
        } else {
            self.markers = placed;
        }
        self.has_marker = true;
        self.in_list = true;
        self.column = self.items.column(usize::MAX);
    }

    /// Sets the output column of a block with this indentation, from the list item that contains it.
    fn indent(&mut self, indentation: usize) {
        if self.has_marker {
            return;
        }
        let column = self.items.column(indentation);
        if column != self.column {
            self.markers.clear();
        }
        self.column = column;
        self.in_list = column > 0;
    }

    /// Begins a block. If it `may_follow`, it needs no blank line before it in a list.
    fn begin(&mut self, markdown: &str, may_follow: bool) {
        let follows = !self.is_apart && (may_follow || !self.markers.is_empty());
        if self.has_begun {
            self.written.push_str(if follows { "\n" } else { "\n\n" });
        }
        if self.markers.is_empty() {
            self.written.push_str(&" ".repeat(self.column));
        }
        self.written.push_str(&std::mem::take(&mut self.markers));
        self.has_begun = true;
        self.is_apart = false;
        self.go_on(markdown);
    }

    /// Writes more Markdown of the current block.
    fn go_on(&mut self, markdown: &str) {
        for (at, line) in markdown.split('\n').enumerate() {
            if at > 0 {
                self.written.push('\n');
                if !line.is_empty() {
                    self.written.push_str(&" ".repeat(self.column));
                }
            }
            self.written.push_str(line);
        }
    }

    fn code_line(&mut self, line: &str) {
        let line = without_addresses(&with_plain_markers(line), &self.allowed);
        self.go_on(&format!("\n{line}"));
    }

    fn heading(&mut self, level: usize, text: &str) {
        let markdown = Inline::read(text, &self.allowed).written(LinePosition::Inside);
        let line = markdown.replace("\\\n", " ").replace('\n', " ");
        if !line.is_empty() {
            let marks = "#".repeat(level);
            self.begin(&format!("{marks} {}", heading_text(&line)), false);
        }
    }

    fn end_block(&mut self) {
        match &self.block {
            OpenBlock::None => {}
            OpenBlock::Paragraph(_) => self.settle(true),
            OpenBlock::Code { fence, .. } => self.go_on(&format!("\n{}", fence.marks)),
            OpenBlock::Table(text) => match table(text, &self.allowed) {
                Some(markdown) => {
                    self.begin(&markdown, false);
                    self.is_apart = true;
                }
                None => return self.as_text(),
            },
            OpenBlock::Quote(_) if self.depth == MAX_DEPTH => return self.as_text(),
            OpenBlock::Quote(text) => {
                let mut inner = Self::within(Arc::clone(&self.allowed), self.depth + 1);
                text.chars().for_each(|c| inner.put(c));
                inner.end();
                if !inner.written.is_empty() {
                    let markdown = inner.written.replace('\n', "\n> ").replace("> \n", ">\n");
                    self.begin(&format!("> {markdown}"), false);
                    self.is_apart = true;
                }
            }
        }
        self.block = OpenBlock::None;
    }

    /// Writes a table or quote that turned out to be text.
    fn as_text(&mut self) {
        if let OpenBlock::Table(text) | OpenBlock::Quote(text) = std::mem::take(&mut self.block) {
            self.block = OpenBlock::Paragraph(Paragraph::default());
            text.chars().for_each(|c| self.text(c));
            self.end_block();
        }
    }

    fn open_paragraph(&mut self, indentation: usize) {
        if !matches!(self.block, OpenBlock::Paragraph(_)) {
            self.end_block();
            self.indent(indentation);
            self.block = OpenBlock::Paragraph(Paragraph::default());
        }
    }

    fn text(&mut self, c: char) {
        let OpenBlock::Paragraph(paragraph) = &mut self.block else {
            return;
        };
        if matches!(c, ' ' | '\t' | '\n') {
            let ends_word = paragraph.space.is_empty() && !paragraph.stretch.is_empty();
            paragraph.space.push(c);
            if ends_word {
                self.end_word();
            }
            return;
        }
        paragraph.take_space();
        paragraph.stretch.push(c);
        if is_east_asian(c) {
            self.end_word();
        }
    }

    fn end_word(&mut self) {
        let OpenBlock::Paragraph(paragraph) = &self.block else {
            return;
        };
        let is_full = paragraph.stretch.len() > MAX_HELD_BYTES;
        self.settle(is_full);
    }

    /// Writes the stretch read so far if following text cannot change its parse, or if none follows.
    fn settle(&mut self, is_whole: bool) {
        let OpenBlock::Paragraph(paragraph) = &mut self.block else {
            return;
        };
        if !is_whole && !paragraph.may_be_settled() {
            return;
        }
        if is_whole && !paragraph.has_begun {
            paragraph.stretch = without_definitions(&paragraph.stretch).to_owned();
        }
        let inline = Inline::read(&paragraph.stretch, &self.allowed);
        if !is_whole && !inline.is_settled {
            paragraph.tried = paragraph.stretch.len();
            return;
        }
        paragraph.tried = 0;
        paragraph.stretch.clear();
        let starts = !paragraph.has_begun || paragraph.joint.ends_with('\n');
        let markdown = inline.written(if starts {
            LinePosition::Start
        } else {
            LinePosition::Inside
        });
        if markdown.is_empty() {
            return;
        }
        let joint = std::mem::take(&mut paragraph.joint);
        if std::mem::replace(&mut paragraph.has_begun, true) {
            self.go_on(&format!("{PROSE}{joint}{markdown}{PROSE}"));
        } else {
            self.begin(&format!("{PROSE}{markdown}{PROSE}"), false);
        }
    }
}

/// Replaces forbidden addresses in code by `…`.
fn without_addresses(code: &str, allowed: &AllowedLinks) -> String {
    let mut shown = String::with_capacity(code.len());
    let mut from = 0;
    for range in addresses(code, address::TextKind::Code) {
        if !allowed.has_address(&code[range.clone()]) {
            shown.push_str(&code[from..range.start]);
            shown.push_str(REMOVED);
            from = range.end;
        }
    }
    shown + &code[from..]
}

/// Replaces markers in code by plain text.
fn with_plain_markers(code: &str) -> String {
    let mut plain = String::with_capacity(code.len());
    for c in code.chars() {
        match marker_of(c) {
            Some(passage) => plain.push_str(&passage.to_string()),
            None => plain.push(c),
        }
    }
    plain
}

fn marker_char(passage: usize) -> Option<char> {
    let code = u32::try_from(passage).ok()?;
    char::from_u32(code.checked_add(u32::from(*CITATIONS.start()))?)
        .filter(|c| CITATIONS.contains(c))
}

/// Returns the passage that a private character stands for.
fn marker_of(c: char) -> Option<usize> {
    let passage = u32::from(c).checked_sub(u32::from(*CITATIONS.start()))?;
    CITATIONS.contains(&c).then_some(passage as usize)
}

#[cfg(test)]
mod tests;
