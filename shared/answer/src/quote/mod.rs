//! Writes an answer from passages alone: a quote of whole blocks from the section that answers best.

mod extractive;
mod blocks;
mod similarity;

use crate::retrieve::ScoredChunk;

pub(crate) use blocks::{is_admonition_name, is_short_line};
pub(crate) use extractive::WHOLE_WORDS;
pub use similarity::Similarities;

/// A passage the answer may use, cited as `[n]`.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// The passage's number, from 1.
    pub n: usize,
    /// The section's chunk.
    pub candidate: &'a ScoredChunk,
}

/// A piece of an extractive answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quote {
    /// Markdown that renders as exactly the book's text: a block, or the space between two. Text that looks like a marker is not a citation.
    Text(String),
    /// The number of the passage that the preceding text is from.
    Citation(usize),
}

/// Returns the extractive answer; empty if no passage has text. `similarities` compare the passages' lines with the question; without them, shared
/// words are used. `continues` is written after a quote that ends before its section.
#[must_use]
pub fn extract(
    query: &str,
    passages: &[Passage<'_>],
    similarities: Option<&Similarities>,
    continues: &str,
) -> Vec<Quote> {
    extractive::answer(query, passages, similarities, continues)
}

/// Returns the first paragraph of a section as plain text; `None` without one of whole sentences before its code, lists, tables and subsections.
pub(crate) fn introduction(section: &ScoredChunk) -> Option<String> {
    let passage = Passage {
        n: 1,
        candidate: section,
    };
    extractive::introduction(&passage).map(|paragraph| paragraph.text)
}

/// Quotes the first paragraph of a passage; empty without [`introduction`].
pub(crate) fn introduce(passage: &Passage<'_>) -> Vec<Quote> {
    extractive::introduce(passage)
}

/// Returns the block of a passage that fits the question best, as plain text; empty if the passage has no text of its own.
#[must_use]
pub fn brief(query: &str, passage: &Passage<'_>, similarities: Option<&Similarities>) -> String {
    extractive::brief(query, passage, similarities)
}
