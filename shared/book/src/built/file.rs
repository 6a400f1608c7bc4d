//! A file of HTML, and the parts of it that are in no block.

use std::ops::Range;

use crate::line_starts::LineStarts;
use crate::omission::{Omission, OmissionReason};

pub(super) struct HtmlFile<'a> {
    pub(super) html: &'a str,
    lines: LineStarts,
    omissions: Vec<Omission>,
    /// The part omitted since the last text, with the reason.
    last: Option<(OmissionReason, Range<usize>)>,
}

impl<'a> HtmlFile<'a> {
    pub(super) fn new(html: &'a str) -> Self {
        Self {
            html,
            lines: LineStarts::new(html),
            omissions: Vec::new(),
            last: None,
        }
    }

    /// Records a part that is in no block. Adjacent parts are merged.
    pub(super) fn omit(&mut self, reason: OmissionReason, source: Range<usize>) {
        if let Some((last, range)) = &mut self.last
            && *last == reason
            && range.end == source.start
        {
            range.end = source.end;
            return;
        }
        self.end_omission();
        self.last = Some((reason, source));
    }

    /// Returns all parts that are in no block.
    pub(super) fn omissions(mut self) -> Vec<Omission> {
        self.end_omission();
        self.omissions
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        u32::try_from(self.lines.line(at)).unwrap_or(u32::MAX)
    }

    /// Returns the last line of a part.
    pub(super) fn last_line(&self, source: &Range<usize>) -> u32 {
        self.line(source.end.saturating_sub(1).max(source.start))
    }

    fn end_omission(&mut self) {
        let Some((reason, source)) = self.last.take() else {
            return;
        };
        let text = self.html.get(source.clone()).unwrap_or_default();
        if text.contains(char::is_alphanumeric) {
            self.omissions.push(Omission {
                start_line: self.line(source.start),
                end_line: self.last_line(&source),
                reason,
                text: text.to_owned(),
            });
        }
    }
}
