//! A leaf's text as units that can be quoted: sentences, list items, table rows, code.

mod unmarked;

use std::ops::Range;

use crate::book::{Mark, MarkKind, fenced, marked_text, marker_length};

/// The longest unit, in characters; code is never cut.
const MAX_CHARACTERS: usize = 2_000;

/// What separates the cells of a row.
const CELL_SEPARATOR: &str = " | ";

/// What can be quoted on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) kind: UnitKind,
    /// The text as the book has it: units are compared by it.
    pub(super) text: String,
    /// The marker before a list item.
    pub(super) marker: String,
    /// The text as Markdown, without the marker.
    pub(super) markdown: String,
    /// Which paragraph it stands in: units of one paragraph are read on.
    pub(super) paragraph: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitKind {
    Sentence,
    ListItem,
    TableRow,
    Code,
    /// A formula of several lines, between two of `$$`.
    Formula,
}

/// Cuts a leaf's text in units, in order. The marks say which stretches are blocks, inline code and formulas.
pub(super) fn units_of(text: &str, marks: &[Mark]) -> Vec<Unit> {
    let unmarked = if marks.is_empty() {
        unmarked::blocks_of(text)
    } else {
        Vec::new()
    };
    let marks = if marks.is_empty() { &unmarked } else { marks };
    let (inline, blocks): (Vec<Mark>, Vec<Mark>) = marks.iter().partition(|mark| mark.is_inline());
    let mut cutter = Cutter {
        text,
        inline,
        paragraph: 0,
        units: Vec::new(),
    };
    let mut previous = None;
    for block in blocks {
        let goes_on = block.kind == MarkKind::ListItem && previous == Some(block.kind);
        cutter.paragraph += usize::from(!goes_on);
        cutter.block(block);
        previous = Some(block.kind);
    }
    cutter.units
}

struct Cutter<'a> {
    text: &'a str,
    /// Inline code and formulas, in order.
    inline: Vec<Mark>,
    paragraph: usize,
    units: Vec<Unit>,
}

impl<'a> Cutter<'a> {
    fn block(&mut self, block: Mark) {
        let stretch = block.range();
        match block.kind {
            MarkKind::Fence => self.code(stretch),
            MarkKind::Table => self.table(stretch),
            MarkKind::ListItem => match marker_length(self.slice(&stretch)) {
                0 => self.sentences(stretch),
                length => self.item(stretch, length),
            },
            _ => self.paragraph(stretch),
        }
    }

    fn slice(&self, stretch: &Range<usize>) -> &'a str {
        self.text.get(stretch.clone()).unwrap_or_default()
    }

    fn markdown(&self, stretch: Range<usize>) -> String {
        marked_text(self.text, marks_in(&self.inline, &stretch), stretch)
    }

    fn push(&mut self, kind: UnitKind, text: String, markdown: String) {
        // A text of invisible characters alone shows nothing.
        if !markdown.is_empty() {
            self.units.push(Unit {
                kind,
                text,
                marker: String::new(),
                markdown,
                paragraph: self.paragraph,
            });
        }
    }

    fn code(&mut self, stretch: Range<usize>) {
        let text = self.slice(&stretch);
        let (opening, rest) = text.split_once('\n').unwrap_or((text, ""));
        let language = opening.trim_start_matches('`');
        let fence = &opening[..opening.len() - language.len()];
        let code = rest.strip_suffix(fence).unwrap_or(rest);
        let markdown = fenced(code.strip_suffix('\n').unwrap_or(code), language);
        self.push(UnitKind::Code, text.to_owned(), markdown);
    }

    fn item(&mut self, stretch: Range<usize>, marker: usize) {
        let body = self.clipped(stretch.start + marker..stretch.end);
        let text = self.slice(&(stretch.start..body.end)).to_owned();
        let marker = text[..marker].to_owned();
        self.push(UnitKind::ListItem, text, self.markdown(body));
        if let Some(item) = self.units.last_mut() {
            item.marker = marker;
        }
    }

    /// Rows as they are read aloud: `Code: E42; Meaning: low battery`.
    fn table(&mut self, stretch: Range<usize>) {
        let mut lines = split(self.text, stretch, "\n").into_iter();
        let header = lines.next().unwrap_or_default();
        if lines.len() == 0 {
            self.sentences(header);
            return;
        }
        let header = split(self.text, header, CELL_SEPARATOR);
        for line in lines {
            let cells = split(self.text, line, CELL_SEPARATOR).into_iter();
            let named: Vec<_> = header
                .iter()
                .map(|name| trimmed(self.text, name.clone()))
                .zip(cells.map(|cell| self.clipped(cell)))
                .filter(|(_, cell)| !cell.is_empty())
                .collect();
            let row = |shown: &dyn Fn(Range<usize>) -> String| {
                let cells = named.iter().map(|(name, cell)| {
                    let name = Some(name.clone()).filter(|name| !name.is_empty());
                    let name = name.map(|name| shown(name) + ": ").unwrap_or_default();
                    name + &shown(cell.clone())
                });
                cells.collect::<Vec<_>>().join("; ")
            };
            let text = row(&|part| self.slice(&part).to_owned());
            let markdown = row(&|part| self.markdown(part));
            self.push(UnitKind::TableRow, text, markdown);
        }
    }

    /// A paragraph: formulas of several lines apart, and what stands between them.
    fn paragraph(&mut self, stretch: Range<usize>) {
        let mut at = stretch.start;
        let formulas: Vec<Mark> = marks_in(&self.inline, &stretch)
            .iter()
            .filter(|mark| mark.start >= stretch.start && mark.end <= stretch.end)
            .filter(|mark| mark.kind == MarkKind::Formula)
            .filter(|mark| self.slice(&mark.range()).starts_with("$$"))
            .filter(|mark| self.slice(&mark.range()).contains('\n'))
            .copied()
            .collect();
        for formula in formulas {
            self.sentences(at..formula.start);
            self.paragraph += 1;
            let text = self.slice(&formula.range()).to_owned();
            let markdown = self.markdown(formula.range());
            self.push(UnitKind::Formula, text, markdown);
            self.paragraph += 1;
            at = formula.end;
        }
        self.sentences(at..stretch.end);
    }

    fn sentences(&mut self, stretch: Range<usize>) {
        for sentence in sentences(self.text, stretch, &self.inline) {
            let sentence = self.clipped(sentence);
            let text = self.slice(&sentence).to_owned();
            self.push(UnitKind::Sentence, text, self.markdown(sentence));
        }
    }

    /// A stretch without spaces at its ends, of at most [`MAX_CHARACTERS`].
    fn clipped(&self, stretch: Range<usize>) -> Range<usize> {
        let stretch = trimmed(self.text, stretch);
        let beyond = self.slice(&stretch).char_indices().nth(MAX_CHARACTERS);
        let end = beyond.map_or(stretch.end, |(at, _)| stretch.start + at);
        stretch.start..end
    }
}

/// A stretch without spaces at its ends.
fn trimmed(text: &str, stretch: Range<usize>) -> Range<usize> {
    let part = text.get(stretch.clone()).unwrap_or_default();
    let start = stretch.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// The marks that touch a stretch. Marks stand in order and do not overlap.
fn marks_in<'a>(marks: &'a [Mark], stretch: &Range<usize>) -> &'a [Mark] {
    let from = marks.partition_point(|mark| mark.end <= stretch.start);
    let to = marks.partition_point(|mark| mark.start < stretch.end);
    marks.get(from..to).unwrap_or_default()
}

/// The stretches between separators.
fn split(text: &str, stretch: Range<usize>, separator: &str) -> Vec<Range<usize>> {
    let mut start = stretch.start;
    let parts = text.get(stretch).unwrap_or_default().split(separator);
    let ranges = parts.map(|part| {
        let range = start..start + part.len();
        start = range.end + separator.len();
        range
    });
    ranges.collect()
}

/// Cuts text after `.`, `!`, `?` or `۔` before a space, and at the ends of lines; not after a single letter or `e.g.`, and not
/// within code or a formula.
fn sentences(text: &str, stretch: Range<usize>, inline: &[Mark]) -> Vec<Range<usize>> {
    let whole = text.get(stretch.clone()).unwrap_or_default();
    let is_within = |at: usize| !marks_in(inline, &(at..at + 1)).is_empty();
    let mut found = Vec::new();
    let mut from = stretch.start;
    for (at, c) in whole.char_indices() {
        if !matches!(c, '.' | '!' | '?' | '۔' | '。' | '\n') || is_within(stretch.start + at) {
            continue;
        }
        let (at, end) = (stretch.start + at, stretch.start + at + c.len_utf8());
        let rest = &text[end..stretch.end];
        let next = rest.trim_start().chars().next();
        let ends = rest.starts_with(' ') && next.is_some_and(|c| !c.is_lowercase());
        let word = text[from..at].rsplit([' ', '(']).next().unwrap_or_default();
        let is_short = word.chars().count() < 2 || word.contains('.');
        let abbreviated = c == '.' && is_short && !(at > from && is_within(at - 1));
        if c == '\n' || (ends && !abbreviated) {
            found.push(trimmed(text, from..end));
            from = end;
        }
    }
    found.push(trimmed(text, from..stretch.end));
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests;
