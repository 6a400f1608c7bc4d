//! Finished parts of a page: blocks, rows, and tags, which are in no block.

use std::mem::take;
use std::ops::Range;

use crate::block::{Block, BlockKind};
use crate::built::leaf::Finished;
use crate::built::listing::without_numbers;
use crate::omission::OmissionReason;

use super::{ContentReader, Position};

impl ContentReader<'_> {
    pub(super) fn end_row(&mut self) {
        if self.whole == Some(BlockKind::Table) {
            self.leaf.end_row();
            self.cells = 0;
        }
    }

    /// Ends the block being read, if it has text.
    pub(super) fn end_block(&mut self) {
        let Finished {
            text, mut marks, ..
        } = self.leaf.take();
        let kind = self.whole.clone().unwrap_or(BlockKind::Paragraph);
        let text = match kind {
            BlockKind::Code { .. } => {
                let numbers = take(&mut self.numbers);
                let code = without_numbers(&text, &numbers);
                for number in numbers.into_iter().filter(|_| code.is_some()) {
                    self.file.omit(OmissionReason::BesideContent, number.source);
                }
                let code = code.unwrap_or(text);
                code.trim_start_matches('\n').trim_end().to_owned()
            }
            _ => text,
        };
        if text.is_empty() {
            return;
        }
        if !matches!(kind, BlockKind::Paragraph | BlockKind::Table) {
            marks.clear();
        }
        let marker = take(&mut self.marker);
        let (kind, text) = match kind {
            BlockKind::Paragraph if !marker.is_empty() => {
                for mark in &mut marks {
                    *mark = mark.clone().after(marker.len());
                }
                (BlockKind::ListItem, format!("{marker}{text}"))
            }
            kind => (self.linked(kind), text),
        };
        // HTML is often a single line, so lines are those of the text: a code block has two for its fences, and an empty line follows
        // each block.
        let fences = 2 * u32::from(matches!(kind, BlockKind::Code { .. }));
        let lines = fences + u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let (start_line, end_line) = (self.line, self.line.saturating_add(lines - 1));
        self.line = end_line.saturating_add(2);
        self.content.blocks.push(Block {
            kind,
            // The HTML is generated, so the author's Markdown is unknown; use the text.
            markdown: text.clone(),
            text,
            marks,
            start_line,
            end_line,
            nesting: self.nesting,
            panels: self.panels.labels(),
        });
    }

    pub(super) fn omit_tag(&mut self, source: Range<usize>) {
        let is_content = self.place == Position::Within && self.left_out.is_none();
        let reason = if is_content {
            OmissionReason::Tag
        } else {
            OmissionReason::BesideContent
        };
        self.file.omit(reason, source);
    }
}
