//! The text of one HTML block while it is read.

use std::cmp::Reverse;
use std::mem::{discriminant, take};
use std::ops::Range;

use crate::block::{Mark, MarkKind};

/// The text of a block, with white space as a browser shows it.
#[derive(Debug, Default)]
pub(super) struct Leaf {
    text: String,
    marks: Vec<Mark>,
    /// The open marks, each with the offset at which it begins.
    open: Vec<(MarkKind, usize)>,
    /// The offset at which the current cell begins.
    cell: usize,
    /// The length of the text up to the end of the row's last non-empty cell.
    filled: usize,
    /// The length of the text up to the last line end that is not in its source.
    added_line_end: usize,
    /// The offsets of its source.
    source: Option<Range<usize>>,
}

/// A text that is complete.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Finished {
    pub(super) text: String,
    pub(super) marks: Vec<Mark>,
    pub(super) source: Range<usize>,
}

impl Leaf {
    /// Adds text read at `source`. Runs of white space become one space.
    pub(super) fn push(&mut self, text: &str, source: &Range<usize>) {
        for c in text.chars() {
            if c.is_ascii_whitespace() {
                self.space();
            } else {
                self.text.push(c);
            }
        }
        if !text.trim().is_empty() {
            self.has_source(source);
        }
    }

    /// Adds text with its white space unchanged.
    pub(super) fn push_code(&mut self, text: &str, source: &Range<usize>) {
        self.text.push_str(text);
        self.has_source(source);
    }

    /// Returns the length of the text.
    pub(super) fn length(&self) -> usize {
        self.text.len()
    }

    /// Returns the place of the number that is the text from an offset on, with the end of its element's line, if it begins a line; else `None`.
    pub(super) fn number_from(&self, from: usize) -> Option<Range<usize>> {
        let (before, text) = self.text.split_at_checked(from)?;
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_line_added = self.added_line_end == self.text.len();
        let text = text
            .strip_suffix('\n')
            .filter(|_| is_line_added)
            .unwrap_or(text);
        let number = text.trim_matches([' ', '\t']);
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && line.trim().is_empty()).then_some(from..self.text.len())
    }

    /// True if there is no more than white space from an offset on.
    pub(super) fn is_blank_from(&self, from: usize) -> bool {
        let text = self.text.get(from..).unwrap_or_default();
        text.trim().is_empty()
    }

    /// Ends a line of code, unless it has just begun.
    pub(super) fn end_code_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
            self.added_line_end = self.text.len();
        }
    }

    /// Adds a space, unless the text is empty or already ends with one.
    pub(super) fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }

    /// Ends a line of the text.
    pub(super) fn end_line(&mut self) {
        self.cut(self.text.trim_end().len());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Ends a cell and begins the next one of the row.
    pub(super) fn end_cell(&mut self) {
        self.fill();
        self.cut(self.text.trim_end_matches(' ').len());
        self.text.push_str(" | ");
        self.cell = self.text.len();
    }

    /// Ends a table row, and removes its trailing empty cells.
    pub(super) fn end_row(&mut self) {
        self.fill();
        self.cut(self.filled);
        self.end_line();
        (self.cell, self.filled) = (self.text.len(), self.text.len());
    }

    /// Opens a mark. Returns false if a mark of its kind is already open, and adds nothing. Adjacent links are separated by a space.
    pub(super) fn open(&mut self, kind: MarkKind) -> bool {
        let (is_link, at) = (
            |kind: &MarkKind| matches!(kind, MarkKind::Link(_)),
            self.text.len(),
        );
        let last = self.marks.last().filter(|last| last.end == at);
        if is_link(&kind) && last.is_some_and(|last| is_link(&last.kind)) {
            self.space();
        }
        let is_new = self
            .open
            .iter()
            .all(|(open, _)| discriminant(open) != discriminant(&kind));
        if is_new {
            self.open.push((kind, self.text.len()));
        }
        is_new
    }

    /// Closes the mark that was opened last.
    pub(super) fn close(&mut self) {
        if let Some((kind, start)) = self.open.pop() {
            self.mark(kind, start);
        }
    }

    /// Closes the mark that was opened last, and removes its text unless it is to be kept. Returns true if the text was removed.
    pub(super) fn close_or_remove(&mut self, is_kept: impl Fn(&str) -> bool) -> bool {
        let Some((kind, start)) = self.open.pop() else {
            return false;
        };
        let is_kept = is_kept(&self.text[start..]);
        if is_kept {
            self.mark(kind, start);
        } else {
            self.cut(start);
        }
        !is_kept
    }

    /// Adds a picture with its alternative text.
    pub(super) fn push_picture(&mut self, text: &str, address: String, source: &Range<usize>) {
        let start = self.text.len();
        self.push(text, source);
        self.mark(MarkKind::Picture(address), start);
    }

    /// Adds a formula with its dollar signs.
    pub(super) fn push_formula(&mut self, formula: &str, source: &Range<usize>) {
        let start = self.text.len();
        self.push(formula, source);
        if formula.starts_with('$') {
            self.mark(MarkKind::Formula, start);
        }
    }

    /// Removes all of the text if it is `label`. Returns its source.
    pub(super) fn remove_label(&mut self, label: &str) -> Option<Range<usize>> {
        let is_label = !label.is_empty() && self.text.trim().eq_ignore_ascii_case(label);
        is_label.then(|| self.take().source)
    }

    /// Takes the text with its marks. Open marks continue in the text that follows.
    pub(super) fn take(&mut self) -> Finished {
        for at in 0..self.open.len() {
            let (kind, start) = self.open[at].clone();
            self.mark(kind, start);
            self.open[at].1 = 0;
        }
        self.cut(self.text.trim_end().len());
        let text = take(&mut self.text);
        let mut marks = take(&mut self.marks);
        marks.retain(|mark| mark.start < mark.end);
        (self.cell, self.filled, self.added_line_end) = (0, 0, 0);
        marks.sort_by_key(|mark| (mark.start, Reverse(mark.end)));
        Finished {
            text,
            marks,
            source: self.source.take().unwrap_or_default(),
        }
    }

    fn mark(&mut self, kind: MarkKind, start: usize) {
        let marked = &self.text[start..];
        let spaces = marked.len() - marked.trim_start().len();
        let (start, end) = (start + spaces, start + marked.trim_end().len());
        if start < end {
            self.marks.push(Mark { kind, start, end });
        }
    }

    fn has_source(&mut self, source: &Range<usize>) {
        let start = self.source.as_ref().map_or(source.start, |old| old.start);
        self.source = Some(start..source.end);
    }

    /// Records that the row is filled up to the end of the current cell, if the cell has text.
    fn fill(&mut self) {
        let cell = self.text[self.cell..].trim_end();
        if !cell.is_empty() {
            self.filled = self.cell + cell.len();
        }
    }

    /// Truncates the text to `kept` bytes, and with it the marks and cells.
    fn cut(&mut self, kept: usize) {
        self.text.truncate(kept);
        for (_, start) in &mut self.open {
            *start = kept.min(*start);
        }
        // A mark ends no earlier than those that were added before it.
        let beyond = self.marks.iter_mut().rev();
        for mark in beyond.take_while(|mark| mark.end > kept) {
            mark.end = kept;
        }
        self.cell = self.cell.min(kept);
        self.filled = self.filled.min(kept);
    }
}
