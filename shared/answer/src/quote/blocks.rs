//! Splits a section's text into blocks that can be quoted: headings, paragraphs, list items, tables, pieces of code.

mod code;
mod tidy;
mod unmarked;

use std::ops::Range;

use book::{Mark, MarkKind, escaped, heading, marked_text, marker_length, table};
use text::{SENTENCE_ENDS, introduces, split};

use super::Passage;
use crate::retrieve::PATH_SEPARATOR;

use code::{code, pieces};
pub(crate) use tidy::is_admonition_name;

/// The separator of the cells of a row.
const CELL_SEPARATOR: &str = " | ";
/// Marks that end a sentence or an introducing line.
const ENDS: [char; 17] = [
    '.', '!', '?', '…', ')', '"', '”', '’', '。', '！', '？', '۔', ':', '：', ',', '，', '、',
];
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// The lines that a tree of files is drawn with.
const BRANCHES: [&str; 2] = ["├─", "└─"];
/// The longest line without an end mark, in characters, that can be a label of the next block.
const LABEL_CHARACTERS: usize = 60;
/// The most words of a label that says nothing on its own.
const LABEL_WORDS: usize = 3;

/// A block of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuotableBlock {
    pub(super) kind: BlockKind,
    /// The book's text; its lines are compared with the question.
    pub(super) text: String,
    /// Code verbatim, other blocks as Markdown; list items without their marker.
    pub(super) markdown: String,
    /// The labels of the tabs whose panels hold the block, outer ones first.
    pub(super) labels: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// The heading of a subsection.
    Heading,
    Paragraph,
    ListItem {
        /// The marker with its indentation; empty for later paragraphs of an item.
        marker: String,
    },
    Table,
    /// A picture, with its alternative text.
    Picture,
    Code(Code),
}

/// A code block, or a piece of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) language: String,
    /// The title above the code, or an empty string.
    pub(super) title: String,
    /// The index of this piece, and the number of pieces.
    pub(super) piece: usize,
    pub(super) pieces: usize,
    /// The lines before a piece that open the blocks around it.
    pub(super) opening: String,
    /// The lines after the piece that close these blocks.
    pub(super) closing: String,
}

impl QuotableBlock {
    fn paragraph(text: &str, markdown: String) -> Self {
        Self {
            kind: BlockKind::Paragraph,
            text: text.to_owned(),
            markdown,
            labels: Vec::new(),
        }
    }

    pub(super) fn heading(text: &str) -> Self {
        Self {
            kind: BlockKind::Heading,
            text: text.to_owned(),
            markdown: heading(text),
            labels: Vec::new(),
        }
    }

    /// Returns the line with the labels of the tabs around the block; `None` outside of tabs.
    pub(super) fn label_line(&self) -> Option<Self> {
        let text = self.labels.join(PATH_SEPARATOR);
        (!text.is_empty()).then(|| Self::paragraph(&text, format!("**{}**", escaped(&text))))
    }

    /// True for the first block below the label of its tab.
    pub(super) fn is_labelled_by(&self, before: &Self) -> bool {
        self.labels.last() == Some(&before.text)
    }

    pub(super) fn words(&self) -> usize {
        split(&self.text).count()
    }

    pub(super) fn is_heading(&self) -> bool {
        self.kind == BlockKind::Heading
    }

    pub(super) fn is_code(&self) -> bool {
        matches!(self.kind, BlockKind::Code(_))
    }

    /// Returns the number of lines of code, or of a table's rows including its head.
    pub(super) fn lines(&self) -> usize {
        match self.kind {
            BlockKind::Code(_) => self.markdown.lines().count(),
            _ => self.text.lines().count(),
        }
    }

    /// Returns the text without the fences of code.
    pub(super) fn plain(&self) -> &str {
        match self.kind {
            BlockKind::Code(_) => &self.markdown,
            _ => &self.text,
        }
    }

    /// Returns the plain text; of a table with more than `most` rows, only the head and the row with the highest value.
    pub(super) fn brief(&self, most: usize, value: impl Fn(&str) -> f32) -> String {
        let rows: Vec<&str> = self.plain().lines().collect();
        let best = (1..rows.len())
            .rev()
            .max_by(|a, b| value(rows[*a]).total_cmp(&value(rows[*b])));
        match best {
            Some(best) if self.kind == BlockKind::Table && rows.len() > most => {
                format!("{}\n{}", rows[0], rows[best])
            }
            _ => self.plain().to_owned(),
        }
    }

    /// True for the source of a diagram that the site renders as an image.
    pub(super) fn is_mermaid(&self) -> bool {
        matches!(&self.kind, BlockKind::Code(code) if code.language == "mermaid")
    }

    /// True for the source of a diagram, which the site renders as an image, and for a tree of files.
    pub(super) fn is_diagram(&self) -> bool {
        let mut branches = BRANCHES.iter();
        self.is_mermaid() || self.is_code() && branches.any(|branch| self.markdown.contains(branch))
    }

    /// True for a block that begins with a question which the section answers: `**Q: May I?**`, or a paragraph that is only a question. If all of it is
    /// bold, sentences may lead to the question.
    pub(super) fn asks(&self) -> bool {
        let is_prose = self.kind == BlockKind::Paragraph || self.has_marker();
        let bold = self.markdown.strip_prefix("**");
        let bold = bold.and_then(|rest| rest.split_once("**"));
        let is_label = bold.is_some_and(|(_, after)| after.is_empty());
        let asked = bold.map_or(&*self.markdown, |(bold, _)| bold).trim_end();
        is_prose
            && asked.ends_with(QUESTION_MARKS)
            && (is_label || !asked.trim_end_matches(QUESTION_MARKS).contains(". "))
    }

    /// True for the summary of the details that begin with the next block.
    pub(super) fn is_summary_of(&self, next: &Self) -> bool {
        let is_bold = self.markdown.starts_with("**") && self.markdown.ends_with("**");
        is_bold && next.is_labelled_by(self)
    }

    /// True for a paragraph of whole sentences outside of tabs.
    pub(super) fn is_prose(&self) -> bool {
        self.kind == BlockKind::Paragraph
            && self.labels.is_empty()
            && self.text.trim_end().ends_with(SENTENCE_ENDS)
    }

    /// True for a paragraph with the name of an admonition above it.
    pub(super) fn is_note(&self) -> bool {
        self.text.lines().next().is_some_and(is_admonition_name)
    }

    /// True for a paragraph that ends in a colon.
    pub(super) fn ends_in_colon(&self) -> bool {
        self.kind == BlockKind::Paragraph && introduces(&self.text)
    }

    /// True for a short line that is not a sentence, such as a title.
    fn is_short_line(&self) -> bool {
        self.kind == BlockKind::Paragraph && is_short_line(&self.text)
    }

    /// Returns a block that marks where a list was cut.
    pub(super) fn cut(mark: &str) -> Self {
        Self::paragraph(mark, mark.to_owned())
    }

    pub(super) fn is_item(&self) -> bool {
        matches!(self.kind, BlockKind::ListItem { .. })
    }

    /// True for the first block of a list item.
    pub(super) fn has_marker(&self) -> bool {
        matches!(&self.kind, BlockKind::ListItem { marker } if !marker.is_empty())
    }

    /// True for a block that a label can introduce.
    pub(super) fn is_led(&self) -> bool {
        self.is_item() || self.is_code() || self.kind == BlockKind::Table
    }

    /// True for a short line that may be a title: no end mark, no lower-case beginning (which would continue a sentence), no inline markup.
    pub(super) fn is_title(&self) -> bool {
        self.is_short_line()
            && !self.text.starts_with(char::is_lowercase)
            && !self.markdown.contains(['*', '_', '`', '$', '[', '\\', '<'])
    }

    /// True for a paragraph that is a single link.
    pub(super) fn is_link(&self) -> bool {
        self.kind == BlockKind::Paragraph && tidy::is_link(&self.markdown)
    }

    /// True for a paragraph that introduces the next block.
    pub(super) fn leads(&self) -> bool {
        self.ends_in_colon() || self.is_short_line()
    }

    /// True for a short line that says nothing without the next block.
    pub(super) fn is_label(&self) -> bool {
        self.is_short_line()
            && self.text.split_whitespace().count() <= LABEL_WORDS
            && !self.text.contains(':')
            && !self.markdown.contains(['`', '$'])
    }

    /// True if a block is never quoted without the previous one.
    pub(super) fn belongs_to(&self, before: &Self) -> bool {
        if before.is_heading() || before.leads() || self.is_labelled_by(before) {
            return true;
        }
        let after_paragraph = before.kind == BlockKind::Paragraph;
        match self.kind {
            BlockKind::ListItem { .. } => {
                after_paragraph || matches!(before.kind, BlockKind::ListItem { .. })
            }
            BlockKind::Table => after_paragraph,
            BlockKind::Code(_) => !before.is_code(),
            BlockKind::Heading | BlockKind::Paragraph | BlockKind::Picture => false,
        }
    }

    /// True for the next piece of the same code block.
    pub(super) fn continues(&self, before: &Self) -> bool {
        match (&before.kind, &self.kind) {
            (BlockKind::Code(before), BlockKind::Code(code)) => {
                code.piece > 0 && code.piece == before.piece + 1
            }
            _ => false,
        }
    }
}

/// True for a short line that is not a sentence.
pub(crate) fn is_short_line(text: &str) -> bool {
    let text = text.trim_end();
    text.chars().count() <= LABEL_CHARACTERS
        && !text.contains('\n')
        && !text.ends_with(ENDS)
        && !text.ends_with('$')
}

/// Returns the tidied blocks of a passage; none for a heading without text.
pub(super) fn blocks_of(passage: &Passage<'_>) -> Vec<QuotableBlock> {
    if passage.candidate.is_bare_heading() {
        return Vec::new();
    }
    let chunk = &passage.candidate.chunk;
    let blocks = read(&chunk.text, &chunk.marks);
    blocks.into_iter().flat_map(pieces).collect()
}

/// Reads the blocks of a text from its marks.
fn read(text: &str, marks: &[Mark]) -> Vec<QuotableBlock> {
    let unmarked = if marks.is_empty() {
        unmarked::blocks_of(text)
    } else {
        Vec::new()
    };
    let marks = if marks.is_empty() { &unmarked } else { marks };
    let marks = marks.iter().filter(|mark| text.get(mark.range()).is_some());
    let (inline, others): (Vec<Mark>, Vec<Mark>) = marks.cloned().partition(Mark::is_inline);
    let (stretches, panels): (Vec<Mark>, Vec<Mark>) = others.into_iter().partition(Mark::is_block);
    let reader = SectionReader { text, inline };
    let mut blocks = Vec::new();
    let mut end = 0;
    for mark in stretches {
        let is_next_line = text.get(end..mark.start) == Some("\n");
        let mut block = reader.block(&mark);
        block.labels = labels_at(&panels, mark.start);
        // A text of only invisible characters shows nothing.
        if !block.markdown.is_empty() {
            tidy::push(&mut blocks, block, is_next_line);
        }
        end = mark.end;
    }
    tidy::close_section(&mut blocks);
    blocks
}

/// Returns the labels of the tabs whose panels hold a place.
fn labels_at(panels: &[Mark], at: usize) -> Vec<String> {
    let around = panels.iter().filter(|panel| panel.range().contains(&at));
    let labels = around.filter_map(|panel| match &panel.kind {
        MarkKind::Panel(label) => Some(label.clone()),
        _ => None,
    });
    labels.collect()
}

struct SectionReader<'a> {
    text: &'a str,
    /// Inline marks, sorted by start.
    inline: Vec<Mark>,
}

impl<'a> SectionReader<'a> {
    fn block(&self, mark: &Mark) -> QuotableBlock {
        let stretch = trimmed(self.text, mark.range());
        let text = self.slice(&stretch);
        match mark.kind {
            MarkKind::Heading => QuotableBlock::heading(text),
            MarkKind::Fence => code(text),
            MarkKind::Paragraph if self.is_picture(&stretch) => QuotableBlock {
                kind: BlockKind::Picture,
                text: text.to_owned(),
                markdown: self.markdown(stretch),
                labels: Vec::new(),
            },
            // An admonition's name is written in bold.
            MarkKind::Paragraph if tidy::is_admonition_name(text) => {
                let marks: Vec<Mark> = marks_in(&self.inline, &stretch)
                    .iter()
                    .filter(|mark| !matches!(mark.kind, MarkKind::Strong | MarkKind::Emphasis))
                    .cloned()
                    .collect();
                QuotableBlock::paragraph(text, marked_text(self.text, &marks, stretch))
            }
            MarkKind::Table if text.contains('\n') => QuotableBlock {
                kind: BlockKind::Table,
                text: text.to_owned(),
                markdown: self.table(stretch),
                labels: Vec::new(),
            },
            MarkKind::ListItem => {
                // The indentation belongs to the marker.
                let text = self.slice(&mark.range()).trim_end();
                let body = mark.start + marker_length(text)..stretch.end;
                let marker = self.slice(&(mark.start..body.start)).to_owned();
                // A task list box is GitHub syntax, and plain text elsewhere.
                let boxed = ["[ ] ", "[x] "];
                let boxed = boxed
                    .iter()
                    .find(|boxed| self.slice(&body).starts_with(**boxed));
                let boxed = boxed.map_or("", |boxed| boxed);
                let body = body.start + boxed.len()..body.end;
                QuotableBlock {
                    kind: BlockKind::ListItem { marker },
                    text: text.to_owned(),
                    markdown: boxed.to_owned() + &self.markdown(body),
                    labels: Vec::new(),
                }
            }
            _ => QuotableBlock::paragraph(text, self.prose(stretch)),
        }
    }

    fn slice(&self, stretch: &Range<usize>) -> &'a str {
        self.text.get(stretch.clone()).unwrap_or_default()
    }

    fn markdown(&self, stretch: Range<usize>) -> String {
        marked_text(self.text, marks_in(&self.inline, &stretch), stretch)
    }

    /// True if a paragraph is a single picture.
    fn is_picture(&self, stretch: &Range<usize>) -> bool {
        let mut marks = marks_in(&self.inline, stretch).iter();
        marks.any(|mark| matches!(mark.kind, MarkKind::Picture(_)) && mark.range() == *stretch)
    }

    /// Returns a paragraph's Markdown; multi-line formulas become separate blocks.
    fn prose(&self, stretch: Range<usize>) -> String {
        let mut parts = Vec::new();
        let mut at = stretch.start;
        for formula in marks_in(&self.inline, &stretch) {
            let shown = self.slice(&formula.range());
            let is_formula = formula.kind == MarkKind::Formula && shown.starts_with("$$");
            let is_block = is_formula && shown.contains('\n');
            if is_block && formula.start >= at && formula.end <= stretch.end {
                parts.push(self.markdown(at..formula.start));
                parts.push(self.markdown(formula.range()));
                at = formula.end;
            }
        }
        parts.push(self.markdown(at..stretch.end));
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    fn table(&self, stretch: Range<usize>) -> String {
        let rows = split_at(self.text, stretch, "\n").into_iter();
        let rows = rows.map(|row| {
            let cells = split_at(self.text, row, CELL_SEPARATOR);
            self.whole_cells(cells)
        });
        table(self.text, &self.inline, &rows.collect::<Vec<_>>())
    }

    /// True if a stretch ends inside inline code, a formula or a link.
    fn holds_cut(&self, stretch: &Range<usize>) -> bool {
        let mut marks = marks_in(&self.inline, stretch).iter();
        marks.any(|mark| mark.end > stretch.end)
    }

    /// Rejoins cells that were split inside inline code, a formula or a link.
    fn whole_cells(&self, cells: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let mut whole: Vec<Range<usize>> = Vec::new();
        for cell in cells {
            match whole.last_mut() {
                Some(last) if self.holds_cut(last) => last.end = cell.end,
                _ => whole.push(cell),
            }
        }
        whole
    }
}

/// Removes spaces at both ends of a stretch.
fn trimmed(text: &str, stretch: Range<usize>) -> Range<usize> {
    let part = text.get(stretch.clone()).unwrap_or_default();
    let start = stretch.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// Returns the marks that begin in a stretch. `marks` are sorted by start.
fn marks_in<'a>(marks: &'a [Mark], stretch: &Range<usize>) -> &'a [Mark] {
    let from = marks.partition_point(|mark| mark.start < stretch.start);
    let to = marks.partition_point(|mark| mark.start < stretch.end);
    marks.get(from..to).unwrap_or_default()
}

/// Splits a stretch at a separator.
fn split_at(text: &str, stretch: Range<usize>, separator: &str) -> Vec<Range<usize>> {
    let mut start = stretch.start;
    let parts = text.get(stretch).unwrap_or_default().split(separator);
    let ranges = parts.map(|part| {
        let range = start..start + part.len();
        start = range.end + separator.len();
        range
    });
    ranges.collect()
}

#[cfg(test)]
mod tests;
