//! Code, and the numbers of lines beside it, which are no text of it.

use std::ops::Range;

use crate::block::BlockKind;
use crate::built::elements::{Role, language_of};
use crate::built::listing::{LineNumber, is_in_lines, is_line, is_listing, may_be_number};
use crate::omission::OmissionReason;
use crate::webpage::Start;

use super::{ContentReader, Element, MAX_DEPTH};

impl ContentReader<'_> {
    /// Returns the role of an element whose role elsewhere is `role`, if it is in code or shows code otherwise than `pre`.
    pub(super) fn role_in_code(&mut self, tag: &Start, role: Role) -> Role {
        let content = self.file.html.get(tag.span.end..).unwrap_or_default();
        let is_in_code = matches!(self.whole, Some(BlockKind::Code { .. }));
        if role == Role::Table && (is_in_code || self.whole.is_none()) && is_listing(content) {
            self.skips_cell = true;
            return Role::Block;
        }
        match role {
            Role::Inline | Role::Mark(_) | Role::Jump { .. } | Role::Cell if is_in_code => role,
            _ if is_in_code && self.is_in_lines && is_line(tag) => Role::Line,
            // Some sites show each line of code in an element of its own.
            _ if is_in_code => Role::Block,
            Role::Block
                if self.whole.is_none()
                    && self.open.len() < MAX_DEPTH
                    && is_in_lines(tag, content) =>
            {
                self.is_in_lines = true;
                Role::Code
            }
            role => role,
        }
    }

    /// Begins an element within code.
    pub(super) fn start_in_code(&mut self, tag: &Start, role: Role) {
        if let Some(BlockKind::Code { language, .. }) = &mut self.whole
            && language.is_empty()
        {
            *language = language_of(tag).unwrap_or_default();
        }
        let role = match role {
            Role::Block | Role::Line => {
                self.leaf.end_code_line();
                role
            }
            _ => Role::Inline,
        };
        let has_room = self.open.len() < MAX_DEPTH;
        self.push(tag.clone(), role);
        let from = self.leaf.length();
        let element = self.open.last_mut().filter(|_| has_room);
        if let Some(element) = element {
            element.number = may_be_number(tag).then_some(from);
        }
    }

    /// Reads text in code.
    pub(super) fn code(&mut self, text: &str, source: Range<usize>) {
        if self.is_in_lines && self.open.iter().all(|element| element.role != Role::Line) {
            self.file.omit(OmissionReason::BesideContent, source);
            return;
        }
        self.last_code = source.clone();
        // Spaces that do not break are those of the page, not of the code.
        self.leaf.push_code(&text.replace('\u{a0}', " "), &source);
    }

    /// Ends an element that may hold the number of a line.
    pub(super) fn end_number(&mut self, element: &Element) {
        let Some(from) = element.number else {
            return;
        };
        // Digits after the number of a line are code.
        let inner = self.numbers.last();
        let inner = inner.filter(|inner| inner.range.start >= from);
        if inner.is_some_and(|inner| !self.leaf.is_blank_from(inner.range.end)) {
            return;
        }
        if let Some(range) = self.leaf.number_from(from) {
            let inner = self.numbers.pop_if(|inner| inner.range.start >= from);
            let source = inner.map_or_else(|| self.last_code.clone(), |inner| inner.source);
            self.numbers.push(LineNumber { range, source });
        }
    }
}
