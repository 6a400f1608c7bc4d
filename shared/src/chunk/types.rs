//! The chunk and its leaf sections.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::section::SectionType;
use crate::book::Mark;

/// Words on a printed page, by which a chunk's `page` is counted within its document.
pub(super) const WORDS_A_PRINTED_PAGE: usize = 500;

/// A unit of the book that is shown and prompted whole: a section, or part of a long one.
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts, each a field of the payload"
)]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chunk {
    /// UUIDv5 of the document's id, the embedded text and its occurrence number.
    pub chunk_id: Uuid,
    /// The text as a reader sees it.
    pub text: String,
    /// Its Markdown source.
    pub markdown: String,
    /// The title of the section; `None` before the first heading of a page.
    pub section: Option<String>,
    /// The anchor of the heading at or above the first line.
    pub section_id: Option<String>,
    /// The headings above the first line, outermost first.
    pub heading_path: Vec<String>,
    /// Structural, instructional or code-heavy.
    pub section_type: SectionType,
    /// The place among the chunks of its section, from 0.
    pub chunk_index: usize,
    /// How many chunks its section has.
    pub chunk_count: usize,
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
    /// The printed page within the document, from 1, at 500 words a page.
    pub page: usize,
    /// cl100k tokens of `text`.
    pub token_count: usize,
    /// Words of `text`.
    pub word_count: usize,
    /// Whether code stands in it.
    pub has_code: bool,
    /// Whether a formula stands in it.
    pub has_equations: bool,
    /// Longer than the policy's flag.
    pub oversized: bool,
    /// Short, so that module and chapter are embedded with it.
    pub enriched: bool,
    /// What is embedded and weighed by BM25: the sections at any heading level inside it.
    pub leaves: Vec<Leaf>,
}

/// The smallest section a text stands in, and what is cited when it matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaf {
    /// The anchor of its heading.
    pub section_id: Option<String>,
    /// Its heading and those above it, outermost first.
    pub heading_path: Vec<String>,
    /// What is embedded before its text: title and headings.
    pub breadcrumb: String,
    /// Its text, the heading aside; code stands in fences.
    pub text: String,
    /// Its blocks, and the inline code and formulas in them, in order.
    pub marks: Vec<Mark>,
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
}

impl Chunk {
    /// All that is embedded for this chunk, as one text: equal text, equal vectors.
    #[must_use]
    pub fn embedded_text(&self) -> String {
        let leaves: Vec<String> = self
            .leaves
            .iter()
            .map(|leaf| format!("{}\n{}", leaf.breadcrumb, leaf.text))
            .collect();
        leaves.join("\n\n")
    }
}
