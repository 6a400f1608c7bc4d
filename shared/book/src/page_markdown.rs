//! A page as Markdown, for programs that read it instead of the built page.

use std::ops::Range;

use crate::block::{Block, BlockKind, Mark, MarkKind, Nesting};
use crate::escape::{
    ListMarkers, fence_info, fenced, heading_of, marked_text, marker_length, table,
};
use crate::slug::Slugger;

/// The deepest level of quotes that is written; deeper ones are flattened to it.
const MAX_QUOTES: usize = 8;

const CELL_SEPARATOR: &str = " | ";

/// The language of code that has a title but no usable language, because a title requires one.
const PLAIN_LANGUAGE: &str = "text";

/// Separates two adjacent lists, which would otherwise be numbered as one.
const BETWEEN_LISTS: &str = "<!-- -->";

const BOXES: [&str; 2] = ["[ ] ", "[x] "];

/// Writes the blocks of a page as Markdown that every renderer parses into the same blocks.
///
/// - An admonition becomes a quote that begins with its name and title in bold.
/// - A heading has its id (`## Title {#id}`) only if GitHub would generate another one. Programs that generate ids like GitHub then have
///   those of the built page, and other headings cost no tokens.
/// - Links and pictures have the first address of their marks; [`follow_links`](super::follow_links) replaces those of pages.
#[must_use]
pub fn page_markdown(blocks: &[Block]) -> String {
    let mut writer = PageWriter::default();
    for block in blocks {
        writer.push(block);
    }
    writer.markdown
}

#[derive(Default)]
struct PageWriter {
    markdown: String,
    slugger: Slugger,
    items: ListMarkers,
    /// For each open list, the number of its last item; `None` for bullets.
    numbers: Vec<Option<u64>>,
    /// The nesting of the last block. `quotes` is how many quote levels were written for it.
    nesting: Nesting,
    quotes: usize,
    after_item: bool,
}

#[derive(Clone, Copy)]
struct Quotes {
    all: usize,
    /// Quotes shared with the previous block.
    shared: usize,
}

impl Quotes {
    fn around(block: &Block, before: Nesting) -> Self {
        let Nesting {
            quotes,
            admonitions,
            ..
        } = block.nesting;
        let shared = quotes.min(before.quotes) + admonitions.min(before.admonitions);
        Self {
            all: (quotes + admonitions).min(MAX_QUOTES),
            shared: shared.min(MAX_QUOTES),
        }
    }
}

impl PageWriter {
    fn push(&mut self, block: &Block) {
        let (marker, markdown) = match &block.kind {
            BlockKind::Contents => return self.contents(block),
            BlockKind::ListItem => {
                let length = marker_length(&block.text);
                let (marker, _) = block.text.split_at(length);
                (marker.trim_start(), item(block, length))
            }
            BlockKind::Heading { level, anchor, .. } => {
                ("", self.heading(*level, anchor.as_deref(), &block.text))
            }
            BlockKind::Code { language, title } => {
                ("", code(&block.text, language, title.as_deref()))
            }
            BlockKind::Table => ("", block_table(block)),
            BlockKind::Paragraph if block.names_admonition() => ("", in_bold(&block.text)),
            BlockKind::Paragraph => ("", paragraph(block)),
        };
        if markdown.is_empty() {
            return;
        }
        let mut quotes = Quotes::around(block, self.nesting);
        if block.names_admonition() {
            // Adjacent admonitions are separate quotes.
            quotes.shared = quotes.shared.min(quotes.all.saturating_sub(1));
        }
        if quotes.shared != self.quotes || quotes.shared != quotes.all {
            self.items = ListMarkers::default();
            self.numbers.clear();
        }
        let depth = block.nesting.items;
        if marker.is_empty() {
            self.write_within(depth, quotes, &markdown);
        } else {
            if self.begins_list(depth, marker) {
                self.write_within(depth.saturating_sub(1), quotes, BETWEEN_LISTS);
                quotes.shared = quotes.all;
            }
            // Directly below a paragraph, only the number 1 can begin a list.
            let opens_list = depth > self.nesting.items;
            self.after_item &= !opens_list || marker.starts_with('-') || marker == "1. ";
            let indentation = "  ".repeat(depth.saturating_sub(1));
            let marker = self.items.place(&format!("{indentation}{marker}"));
            self.write(quotes, &marker, &markdown);
            self.after_item = true;
        }
        self.nesting = block.nesting;
    }

    /// Records an item. Returns true if its number begins another list.
    fn begins_list(&mut self, depth: usize, marker: &str) -> bool {
        let number = marker
            .split('.')
            .next()
            .and_then(|digits| digits.parse().ok());
        let before = self.numbers.get(depth.saturating_sub(1)).copied().flatten();
        self.numbers.resize(depth, None);
        if let Some(last) = self.numbers.last_mut() {
            *last = number;
        }
        matches!((before, number), (Some(before), Some(number)) if before.checked_add(1) != Some(number))
    }

    /// Writes a block other than an item's text, at a depth of list items.
    fn write_within(&mut self, depth: usize, quotes: Quotes, markdown: &str) {
        self.numbers.truncate(depth);
        // Each list indents its markers by two.
        let column = self.items.column((2 * depth).saturating_sub(1));
        self.write(quotes, &" ".repeat(column), markdown);
    }

    fn contents(&mut self, block: &Block) {
        self.items = ListMarkers::default();
        for line in block.text.lines() {
            let (marker, title) = line.split_at(marker_length(line));
            let marker = self.items.place(marker);
            let title = marked_text(title, &[], 0..title.len());
            self.write(Quotes::around(block, self.nesting), &marker, &title);
            self.nesting = block.nesting;
            self.after_item = true;
        }
    }

    fn heading(&mut self, level: u8, anchor: Option<&str>, text: &str) -> String {
        let mut heading = heading_of(level, text);
        let made = self.slugger.slug(text);
        let id = anchor.filter(|id| **id != made && !id.contains(['{', '}', ' ', '\n']));
        if let (Some(id), false) = (id, heading.is_empty()) {
            heading.push_str(&format!(" {{#{id}}}"));
        }
        heading
    }

    /// Writes a block after its quote marks and a list marker or indentation. It may share quotes with the previous block.
    fn write(&mut self, quotes: Quotes, marker: &str, markdown: &str) {
        let is_item = !marker.trim().is_empty();
        let is_same = quotes.shared == quotes.all && quotes.all == self.quotes;
        let follows = is_item && self.after_item && is_same;
        if !self.markdown.is_empty() && !follows {
            let marks = quote_marks(quotes.shared);
            self.markdown.push_str(marks.trim_end());
            self.markdown.push('\n');
        }
        let marks = quote_marks(quotes.all);
        let indentation = " ".repeat(marker.chars().count());
        for (number, line) in markdown.lines().enumerate() {
            let indentation = if number == 0 { marker } else { &indentation };
            if line.is_empty() {
                self.markdown.push_str(marks.trim_end());
            } else {
                self.markdown.push_str(&marks);
                self.markdown.push_str(indentation);
                self.markdown.push_str(line);
            }
            self.markdown.push('\n');
        }
        self.quotes = quotes.all;
        self.after_item = false;
    }
}

fn quote_marks(quotes: usize) -> String {
    "> ".repeat(quotes)
}

fn code(code: &str, language: &str, title: Option<&str>) -> String {
    let title = title.unwrap_or_default();
    let is_left_out = !title.is_empty() && fence_info(language, title).is_empty();
    let language = if is_left_out {
        PLAIN_LANGUAGE
    } else {
        language
    };
    fenced(code, language, title)
}

fn in_bold(text: &str) -> String {
    marked_text(
        text,
        &[(MarkKind::Strong, 0, text.len()).into()],
        0..text.len(),
    )
}

/// Writes the text of an item after its marker. GitHub Flavored Markdown reads task boxes as such; others show the same characters.
fn item(block: &Block, marker_length: usize) -> String {
    let text = &block.text[marker_length..];
    let marker = BOXES.iter().find(|marker| text.starts_with(**marker));
    let marker = marker.map_or("", |marker| marker);
    let rest = marker_length + marker.len()..block.text.len();
    format!("{marker}{}", stretch(block, rest))
}

/// Writes a paragraph, with display formulas on separate lines.
fn paragraph(block: &Block) -> String {
    stretch(block, 0..block.text.len())
}

fn stretch(block: &Block, range: Range<usize>) -> String {
    let mut parts = Vec::new();
    let mut at = range.start;
    for mark in &block.marks {
        let is_formula = mark.kind == MarkKind::Formula && mark.start >= at;
        let shown = block.text.get(mark.range()).unwrap_or_default();
        if is_formula && shown.starts_with("$$") && shown.contains('\n') {
            parts.push(marked_text(
                &block.text,
                marks_in(block, at..mark.start),
                at..mark.start,
            ));
            parts.push(marked_text(
                &block.text,
                marks_in(block, mark.range()),
                mark.range(),
            ));
            at = mark.end;
        }
    }
    parts.push(marked_text(
        &block.text,
        marks_in(block, at..range.end),
        at..range.end,
    ));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

fn block_table(block: &Block) -> String {
    let mut start = 0;
    let mut rows = Vec::new();
    for row in block.text.split('\n') {
        let mut cells: Vec<Range<usize>> = Vec::new();
        for cell in row.split(CELL_SEPARATOR) {
            let range = start..start + cell.len();
            start = range.end + CELL_SEPARATOR.len();
            // The cell separator can also occur within inline code or a link.
            match cells.last_mut() {
                Some(last) if is_cut(block, last) => last.end = range.end,
                _ => cells.push(range),
            }
        }
        start = start - CELL_SEPARATOR.len() + "\n".len();
        rows.push(cells);
    }
    table(&block.text, &block.marks, &rows)
}

/// True if a stretch ends inside a mark that began in it.
fn is_cut(block: &Block, stretch: &Range<usize>) -> bool {
    marks_in(block, stretch.clone())
        .iter()
        .any(|mark| mark.end > stretch.end)
}

/// Returns the marks that begin in a stretch. Marks are ordered by first byte.
fn marks_in(block: &Block, stretch: Range<usize>) -> &[Mark] {
    let from = block
        .marks
        .partition_point(|mark| mark.start < stretch.start);
    let to = block.marks.partition_point(|mark| mark.start < stretch.end);
    &block.marks[from..to.max(from)]
}

#[cfg(test)]
mod tests;
