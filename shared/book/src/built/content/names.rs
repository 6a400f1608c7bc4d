//! The names of parts of a page: ids of headings and the signs that link to them, languages of code, titles of asides.

use std::ops::Range;

use crate::block::{BlockKind, MarkKind};
use crate::built::elements::{Role, language_of};
use crate::markdown::{in_bold, linkable};
use crate::omission::OmissionReason;
use crate::webpage::{Start, attribute};

use super::{Around, ContentReader, MAX_DEPTH};

impl ContentReader<'_> {
    /// Begins an element that says something about what it holds: the language of code, the id of a section, or the title of an aside.
    pub(super) fn begin_around(&mut self, tag: &Start) {
        self.begin_part(tag);
        let depth = self.open.len();
        if let Some(name) = language_of(tag) {
            self.language = Some(Around { depth, name });
        }
        if **tag.name == *b"section" {
            self.section = attribute(tag, "id").map(|name| Around { depth, name });
        }
        // The title that the page shows is hidden from screen readers, which say this label instead.
        if **tag.name == *b"aside"
            && let Some(label) = attribute(tag, "aria-label")
        {
            self.leaf.push(&label, &(tag.span.start..tag.span.end));
            self.end_block();
        }
    }

    /// Reads the name that an anchor gives to the heading around it, or to the one that follows it.
    pub(super) fn read_anchor(&mut self, tag: &Start) {
        if **tag.name != *b"a" || attribute(tag, "href").is_some() {
            return;
        }
        let Some(name) = attribute(tag, "id").or_else(|| attribute(tag, "name")) else {
            return;
        };
        match &mut self.whole {
            Some(BlockKind::Heading {
                anchor: anchor @ None,
                ..
            }) => *anchor = linkable(name),
            None => self.anchor = Some(name),
            Some(_) => {}
        }
    }

    /// Begins the panel of a tab with its label. Returns false for other elements.
    pub(super) fn begin_panel(&mut self, tag: &Start) -> bool {
        let has_room = self.open.len() < MAX_DEPTH;
        let label = self.tabs.label(tag.span.start).map(str::to_owned);
        let Some(label) = label.filter(|_| has_room) else {
            return false;
        };
        self.end_block();
        self.leaf.push(&label, &(tag.span.start..tag.span.end));
        self.end_block();
        self.panels.open(&label);
        true
    }

    /// Makes a summary, which ends after this many blocks, the label of the details around it if it is one paragraph.
    pub(super) fn label_details(&mut self, blocks_before: usize) {
        let [summary] = &mut self.content.blocks[blocks_before..] else {
            return;
        };
        let details = self.open.last_mut();
        let details = details.filter(|it| it.name == b"details" && !it.is_panel);
        if let Some(details) = details.filter(|_| summary.kind == BlockKind::Paragraph) {
            details.is_panel = true;
            summary.marks = in_bold(&summary.text, summary.marks.drain(..));
            self.panels.open(&summary.text);
        }
    }

    /// Forgets the names that closed elements gave.
    pub(super) fn forget_closed(&mut self) {
        for around in [&mut self.language, &mut self.section] {
            around.take_if(|around| around.depth >= self.open.len());
        }
        self.part.take_if(|part| part.depth >= self.open.len());
    }

    /// Removes the name of a language that a page shows above code.
    pub(super) fn remove_language_label(&mut self) {
        let language = self.language.as_ref().map(|around| &*around.name);
        if let Some(source) = self.leaf.remove_label(language.unwrap_or_default()) {
            self.file.omit(OmissionReason::BesideContent, source);
        }
    }

    /// Opens a link to a place on this page.
    pub(super) fn open_jump(&mut self, id: String, from: usize) -> Role {
        let link = MarkKind::Link(vec![format!("{}#{id}", self.address.url)]);
        match self.open_mark(Some(link)) {
            Role::Mark(_) => Role::Jump { id, from },
            other => other,
        }
    }

    /// Closes a link to a place on this page. The sign that links a heading to itself and the number of a note are no text of the
    /// page.
    pub(super) fn close_jump(&mut self, id: String, source: Range<usize>) {
        let is_raised = self.open.iter().any(|element| element.name == b"sup");
        let is_removed = self.leaf.close_or_remove(|text| {
            text.contains(char::is_alphanumeric) && !is_raised && !is_number_in_brackets(text)
        });
        if !is_removed {
            return;
        }
        self.file.omit(OmissionReason::BesideContent, source);
        if let Some(BlockKind::Heading {
            anchor: anchor @ None,
            ..
        }) = &mut self.whole
        {
            *anchor = linkable(id);
        }
    }

    /// Removes the id of a heading that is the page's own title: its place is the page.
    pub(super) fn linked(&self, kind: BlockKind) -> BlockKind {
        match kind {
            BlockKind::Heading {
                level: 1, listed, ..
            } if self.content.headings() == 0 => BlockKind::Heading {
                level: 1,
                anchor: None,
                listed,
            },
            kind => kind,
        }
    }
}

/// True for the number of a note: `[1]`.
fn is_number_in_brackets(text: &str) -> bool {
    let number = text
        .trim()
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    number.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
}
