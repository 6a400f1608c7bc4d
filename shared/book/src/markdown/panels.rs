//! Panels of tabs, and details.

use std::iter;

use super::source_lines::SourceLines;
use super::{BlockReader, Pass};
use crate::block::{Mark, MarkKind};
use crate::mdx::PanelLine;

impl BlockReader<'_> {
    /// Begins a panel or details with a paragraph that has its label, or ends it. `marks` are those of the line with this text.
    pub(super) fn panel(
        &mut self,
        pass: &mut Pass<'_>,
        panel: PanelLine,
        text: &str,
        marks: &[Mark],
        lines: SourceLines,
    ) {
        match panel {
            PanelLine::Start(label) => {
                self.push_text(pass, &label, Vec::new(), lines);
                self.panels.open(&label);
            }
            PanelLine::Details(place) => {
                let label = text[place.clone()].trim();
                let others = marks.iter().filter_map(|mark| mark.within(&place));
                if !label.is_empty() {
                    self.push_text(pass, label, in_bold(label, others), lines);
                }
                self.panels.open(label);
            }
            PanelLine::End => self.panels.close(),
        }
    }
}

/// Returns the marks of a label that is bold as a whole. Marks of emphasis do not nest.
pub(crate) fn in_bold(label: &str, others: impl Iterator<Item = Mark>) -> Vec<Mark> {
    let others = others.filter(|mark| !matches!(mark.kind, MarkKind::Strong | MarkKind::Emphasis));
    let bold = Mark::from((MarkKind::Strong, 0, label.len()));
    iter::once(bold).chain(others).collect()
}
