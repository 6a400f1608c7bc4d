//! Headings written as tags: the text between both tags becomes a heading.

use super::source_lines::SourceLines;
use super::{BlockReader, linkable};
use crate::block::BlockKind;
use crate::heading_tag::HeadingTag;

/// A heading tag that has not been closed yet.
pub(super) struct OpenHeading {
    level: u8,
    anchor: Option<String>,
    start_line: u32,
    blocks_before: usize,
    placeholders_before: usize,
}

impl BlockReader<'_> {
    /// Handles a heading's tag. An unclosed tag is ignored, and its text stays unchanged.
    pub(super) fn heading_tag(&mut self, tag: HeadingTag, lines: SourceLines) {
        match tag {
            HeadingTag::Opens { level, anchor } => {
                self.open_heading = Some(OpenHeading {
                    level,
                    anchor: anchor.and_then(linkable),
                    start_line: lines.start,
                    blocks_before: self.parsed.blocks.len(),
                    placeholders_before: self.parsed.placeholders.len(),
                });
            }
            HeadingTag::Closes => {
                if let Some(open) = self.open_heading.take() {
                    self.close_heading(open, lines.end);
                }
            }
        }
    }

    /// Turns the content since the opening tag into a heading, if it is only text.
    fn close_heading(&mut self, open: OpenHeading, end_line: u32) {
        let inside = &self.parsed.blocks[open.blocks_before..];
        let only_text = inside
            .iter()
            .all(|block| block.kind == BlockKind::Paragraph)
            && self.parsed.placeholders.len() == open.placeholders_before;
        if inside.is_empty() || !only_text {
            return;
        }
        let texts: Vec<&str> = inside.iter().map(|block| block.text.as_str()).collect();
        let text = texts.join(" ");
        self.parsed.blocks.truncate(open.blocks_before);
        let kind = BlockKind::Heading {
            level: open.level,
            anchor: open.anchor,
            listed: false,
        };
        let lines = SourceLines {
            start: open.start_line,
            end: end_line,
        };
        self.push(kind, text, lines);
    }
}
