//! The text of a block while it is being read.

use std::ops::Range;

use pulldown_cmark::Tag;

use super::heading_id::NOT_SHOWN;
use crate::block::{Mark, MarkKind};
use crate::mdx::{Marked, marked_pieces};

/// The content between a start and an end event.
#[derive(Default)]
pub(super) struct Leaf {
    pub(super) text: String,
    /// The text that determines a heading's id.
    pub(super) slug_text: String,
    pub(super) marks: Vec<Mark>,
    /// A stack of the open inline elements: the index in `marks` of each, `None` for one without a mark.
    open: Vec<Option<usize>>,
    /// The indexes in `marks` of links and pictures that HTML tags opened.
    open_tags: Vec<usize>,
    /// Byte offsets in the prepared text.
    pub(super) start: Option<usize>,
    pub(super) end: usize,
}

impl Leaf {
    /// Adds text. Returns its length without the marks of tags.
    pub(super) fn push(&mut self, text: &str, range: &Range<usize>) -> usize {
        self.start.get_or_insert(range.start);
        self.end = self.end.max(range.end);
        let before = self.text.len();
        for piece in marked_pieces(text) {
            match piece {
                Marked::Text(text) => {
                    self.text.push_str(text);
                    self.slug_text.push_str(text);
                }
                Marked::Begin(kind) => self.begin_tag(kind),
                Marked::EndLink => self.end_tag(|kind| matches!(kind, MarkKind::Link(_))),
                Marked::EndPicture => self.end_tag(|kind| matches!(kind, MarkKind::Picture(_))),
            }
            self.extend_tags();
        }
        self.text.len() - before
    }

    pub(super) fn push_marked(&mut self, kind: MarkKind, text: &str, range: &Range<usize>) {
        let start = self.text.len();
        self.push(text, range);
        let end = self.text.len();
        self.marks.push(Mark { kind, start, end });
    }

    /// Begins a link, a picture or emphasis, which [`Leaf::close`] ends. Adds no mark inside another one of its kind.
    pub(super) fn open(&mut self, tag: Tag<'_>) {
        let kind = match tag {
            Tag::Link { dest_url, .. } => Some(MarkKind::Link(vec![dest_url.into_string()])),
            Tag::Image { dest_url, .. } => Some(MarkKind::Picture(dest_url.into_string())),
            Tag::Strong => Some(MarkKind::Strong),
            Tag::Emphasis => Some(MarkKind::Emphasis),
            _ => None,
        };
        let kind = kind.filter(|kind| !self.is_within(kind));
        let at = kind.as_ref().map(|_| self.marks.len());
        let (start, end) = (self.text.len(), self.text.len());
        self.marks
            .extend(kind.map(|kind| Mark { kind, start, end }));
        self.open.push(at);
    }

    pub(super) fn close(&mut self) {
        if let Some(at) = self.open.pop().flatten() {
            self.marks[at].end = self.text.len();
            if self.marks[at].range().is_empty() {
                self.marks.truncate(at);
                self.open_tags.retain(|&tag| tag < at);
            }
        }
    }

    /// Begins a link or picture written as a tag. The closing tag or the end of the block ends it.
    fn begin_tag(&mut self, kind: MarkKind) {
        if !self.is_within(&kind) {
            let (start, end) = (self.text.len(), self.text.len());
            self.open_tags.push(self.marks.len());
            self.marks.push(Mark { kind, start, end });
        }
    }

    fn end_tag(&mut self, is_ended: fn(&MarkKind) -> bool) {
        let mut open = self.open_tags.iter();
        if let Some(last) = open.rposition(|&at| is_ended(&self.marks[at].kind)) {
            self.open_tags.remove(last);
        }
    }

    fn extend_tags(&mut self) {
        for &at in &self.open_tags {
            self.marks[at].end = self.text.len();
        }
    }

    pub(super) fn end_cell(&mut self) {
        self.text.push_str(" | ");
        self.open_tags.clear();
    }

    fn is_within(&self, new: &MarkKind) -> bool {
        let mut open = self.open.iter().flatten().chain(&self.open_tags);
        open.any(|&at| nesting_class(&self.marks[at].kind) == nesting_class(new))
    }

    /// Returns the visible text, with the marks at their positions in it.
    pub(super) fn shown(mut self) -> Self {
        let removed = NOT_SHOWN.find_iter(&self.text);
        let removed: Vec<Range<usize>> = removed.map(|found| found.range()).collect();
        self.replace(removed.into_iter().map(|mark| (mark, "")));
        self
    }

    /// Replaces stretches of the text, given in order, and moves the marks with the text.
    pub(super) fn replace<'t>(&mut self, stretches: impl Iterator<Item = (Range<usize>, &'t str)>) {
        let mut text = String::with_capacity(self.text.len());
        // For each stretch, its end before and after.
        let mut moved = vec![(0, 0)];
        let mut from = 0;
        for (stretch, replacement) in stretches {
            text.push_str(&self.text[from..stretch.start]);
            text.push_str(replacement);
            from = stretch.end;
            moved.push((from, text.len()));
        }
        text.push_str(&self.text[from..]);
        self.text = text;
        for mark in &mut self.marks {
            for at in [&mut mark.start, &mut mark.end] {
                let last = moved.partition_point(|(before, _)| before <= at) - 1;
                let (before, after) = moved[last];
                *at = after + (*at - before);
            }
        }
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start.unwrap_or(self.end)..self.end
    }
}

/// Marks of one class do not nest.
fn nesting_class(kind: &MarkKind) -> u8 {
    match kind {
        MarkKind::Strong | MarkKind::Emphasis => 0,
        MarkKind::Link(_) => 1,
        _ => 2,
    }
}
