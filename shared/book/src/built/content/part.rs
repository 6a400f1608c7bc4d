//! Parts of a page in which the elements have other roles than their names say, because Asciidoctor lays out much with tables.

use crate::built::elements::Role;
use crate::omission::OmissionReason;
use crate::webpage::{Start, attribute, has_word};

use super::ContentReader;

/// An open part of a page.
pub(super) struct Part {
    kind: PartKind,
    /// The number of elements around the part.
    pub(super) depth: usize,
}

enum PartKind {
    /// The title, with the author and the version.
    Header,
    /// A table of two cells: an icon and the text.
    Admonition,
    /// A table of numbers and notes on the lines of code with these numbers.
    Callouts,
}

impl ContentReader<'_> {
    /// Begins a part, if the element is one.
    pub(super) fn begin_part(&mut self, tag: &Start) {
        let kind = if attribute(tag, "id").is_some_and(|id| id == "header") {
            PartKind::Header
        } else if has_word(tag, "class", "admonitionblock") {
            PartKind::Admonition
        } else if has_word(tag, "class", "colist") {
            PartKind::Callouts
        } else {
            return;
        };
        let depth = self.open.len();
        self.part = Some(Part { kind, depth });
    }

    /// True for the author and the version below the title.
    pub(super) fn is_beside_title(&self, tag: &Start) -> bool {
        let in_header = matches!(&self.part, Some(part) if matches!(part.kind, PartKind::Header));
        in_header && has_word(tag, "class", "details")
    }

    /// Returns the role of an element that begins: the one that its part gives it, else its own.
    pub(super) fn role_in_part(&mut self, tag: &Start, own: Role) -> Role {
        let Some(part) = &self.part else {
            return own;
        };
        let around = self.open.iter().skip(part.depth);
        let around = around.filter(|element| element.name != b"tbody").count();
        match (&part.kind, around, own) {
            (PartKind::Admonition, 1, Role::Table) => Role::Block,
            // An icon in a cell: its title is what it shows.
            (PartKind::Admonition, 4, own) if **tag.name == *b"i" => {
                let title = attribute(tag, "title").unwrap_or_default();
                self.leaf.push(&title, &(tag.span.start..tag.span.end));
                own
            }
            (PartKind::Callouts, 1, Role::Table) => Role::List(Some(1)),
            (PartKind::Callouts, 2, Role::Row) => Role::Item,
            (PartKind::Callouts, 3, Role::Cell) => {
                self.remove_item_number();
                Role::Cell
            }
            (_, _, own) => own,
        }
    }

    /// Removes the number in the cell before an item's text, which the marker of the item shows.
    fn remove_item_number(&mut self) {
        let number = self.marker.trim().trim_end_matches('.');
        if let Some(source) = self.leaf.remove_label(number) {
            self.file.omit(OmissionReason::BesideContent, source);
        }
    }
}
