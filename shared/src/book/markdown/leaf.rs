//! The text of one block while it is read.

use std::ops::Range;

use super::heading_id::{ID_MARKS, shown};
use crate::book::block::{Mark, MarkKind};

/// What is being read between a start and an end event.
#[derive(Default)]
pub(super) struct Leaf {
    pub(super) text: String,
    /// The text that a heading's id is made of.
    pub(super) slug_text: String,
    /// The inline code and formulas of the text.
    pub(super) marks: Vec<Mark>,
    /// Byte offsets in the prepared text.
    pub(super) start: Option<usize>,
    pub(super) end: usize,
}

impl Leaf {
    pub(super) fn push(&mut self, text: &str, range: &Range<usize>) {
        self.start.get_or_insert(range.start);
        self.end = self.end.max(range.end);
        self.text.push_str(text);
        self.slug_text.push_str(text);
    }

    pub(super) fn push_marked(&mut self, kind: MarkKind, text: &str, range: &Range<usize>) {
        let start = self.text.len();
        self.push(text, range);
        let end = self.text.len();
        self.marks.push(Mark { kind, start, end });
    }

    /// The text as it is shown, and the marks where they are in it.
    pub(super) fn shown(mut self) -> Self {
        let removed: Vec<Range<usize>> = self
            .text
            .match_indices(ID_MARKS)
            .map(|(at, mark)| at..at + mark.len())
            .collect();
        // The characters removed before an offset all have the length of the first.
        let length = removed.first().map_or(0, Range::len);
        let moved = |at: usize| at - length * removed.partition_point(|gone| gone.end <= at);
        for mark in &mut self.marks {
            (mark.start, mark.end) = (moved(mark.start), moved(mark.end));
        }
        if let std::borrow::Cow::Owned(text) = shown(&self.text) {
            self.text = text;
        }
        self
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start.unwrap_or(self.end)..self.end
    }
}
