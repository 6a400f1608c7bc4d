//! The chunk.

use serde::Serialize;
use uuid::Uuid;

use super::section::SectionType;
use crate::block::Mark;

/// Words per printed page, for a chunk's `page`.
pub(super) const WORDS_A_PRINTED_PAGE: usize = 500;

/// The unit that is embedded, ranked, shown and cited: the own text of one heading, or a part of it if long.
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts, each a field of the output"
)]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chunk {
    /// UUIDv5 of the document's id, the embedded text and its occurrence number.
    pub chunk_id: Uuid,
    /// The text below the heading, with code in fences. For a heading without content, the heading itself.
    pub text: String,
    /// The blocks of the text, and the inline code and formulas in them, in order.
    pub marks: Vec<Mark>,
    /// The text embedded before `text`: the page's title and the headings above; for a short section, module and chapter too.
    pub breadcrumb: String,
    /// The questions that its section answers, from the page's file of questions; found with the text, never shown or quoted as text of the book.
    pub questions: Vec<String>,
    /// The addresses that its Markdown links to.
    pub links: Vec<String>,
    /// The heading; `None` before the first heading of a page.
    pub section: Option<String>,
    /// The anchor of the heading at or above the first line.
    pub section_id: Option<String>,
    /// The heading and those above it, outermost first.
    pub heading_path: Vec<String>,
    /// Structural, instructional or code-heavy.
    pub section_type: SectionType,
    /// The index among the chunks of its section, from 0.
    pub chunk_index: usize,
    /// The number of chunks in its section.
    pub chunk_count: usize,
    /// The first line in the file, from 1; the heading's line for the first chunk of a section.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
    /// The printed page within the document, from 1, at 500 words a page.
    pub page: usize,
    /// cl100k tokens of `text`.
    pub token_count: usize,
    /// Words of `text`.
    pub word_count: usize,
    /// True if it contains code.
    pub has_code: bool,
    /// True if it contains a formula.
    pub has_equations: bool,
    /// True if it is longer than the policy's `flag_above_tokens`.
    pub oversized: bool,
    /// True if its section is short, so it is embedded with module and chapter.
    pub enriched: bool,
}

impl Chunk {
    /// Returns the text for embedding and BM25. Equal texts have equal vectors.
    #[must_use]
    pub fn embedded_text(&self) -> String {
        format!("{}\n{}", self.breadcrumb, self.text)
    }

    /// Returns the text with its heading, as a reader of the page sees it.
    #[must_use]
    pub fn shown_text(&self) -> String {
        match &self.section {
            Some(heading) if self.chunk_index == 0 && *heading != self.text => {
                format!("{heading}\n\n{}", self.text)
            }
            _ => self.text.clone(),
        }
    }
}
