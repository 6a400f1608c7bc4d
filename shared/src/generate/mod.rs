//! Port: passages and a question to an answer that cites them by number.

mod extractive;
mod sentences;

use crate::retrieve::Candidate;

/// What writes answers.
#[derive(Debug, Clone)]
pub enum Generator {
    /// The sentences of the book that answer best, in its own words.
    Extractive,
}

/// A passage the answer may draw on; it is cited as `[n]`.
#[derive(Debug, Clone)]
pub struct Passage<'a> {
    /// Its number, from 1.
    pub n: usize,
    /// The section.
    pub candidate: &'a Candidate,
}

impl Generator {
    /// Writes the answer in pieces, each at most a sentence or a block of code, markers included.
    #[must_use]
    pub fn generate(&self, query: &str, passages: &[Passage<'_>]) -> Vec<String> {
        match self {
            Self::Extractive => extractive::answer(query, passages),
        }
    }
}
