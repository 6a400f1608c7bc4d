//! Maps positions in prepared text to lines of the file.

use std::ops::Range;

use crate::line_starts::LineStarts;

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct SourceLines {
    pub(in super::super) start: u32,
    pub(in super::super) end: u32,
}

/// Finds the source line of a byte offset in prepared text.
pub(super) struct LineIndex<'a> {
    text: &'a str,
    starts: LineStarts,
    line_of: &'a [u32],
}

impl<'a> LineIndex<'a> {
    pub(super) fn new(text: &'a str, line_of: &'a [u32]) -> Self {
        Self {
            text,
            starts: LineStarts::new(text),
            line_of,
        }
    }

    pub(super) fn line(&self, offset: usize) -> u32 {
        let index = self.starts.line(offset) - 1;
        let last = self.line_of.last().copied().unwrap_or(1);
        self.line_of.get(index).copied().unwrap_or(last)
    }

    /// Returns the source lines of the line at an offset and of all later ones.
    pub(super) fn from(&self, offset: usize) -> &'a [u32] {
        let index = self.starts.line(offset) - 1;
        self.line_of.get(index..).unwrap_or_default()
    }

    /// Returns the lines of a range, ignoring trailing white space.
    pub(super) fn of(&self, range: Range<usize>) -> SourceLines {
        let content = self.text.get(range.clone()).unwrap_or_default();
        let last = range.start + content.trim_end().len().saturating_sub(1);
        let start = self.line(range.start);
        SourceLines {
            start,
            end: self.line(last).max(start),
        }
    }
}
