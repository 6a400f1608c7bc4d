//! What became of one file.

use std::time::Duration;

use crate::book::SkipReason;
use crate::chunk::Chunk;

/// What became of a file.
#[derive(Debug, Clone, Default)]
pub struct DocumentOutcome {
    /// What was done.
    pub change: Change,
    /// What was wrong with the page and did not matter enough.
    pub warnings: Vec<String>,
    /// The page's URL.
    pub url: Option<String>,
    /// Chunks the document has now, with what the report counts of each.
    pub chunks: Vec<Chunk>,
    /// The chapter they are of.
    pub chapter: Option<String>,
    /// Chunks embedded anew.
    pub embedded: usize,
    /// cl100k tokens of the texts that were embedded.
    pub embedded_tokens: u64,
    /// Chunks that took over stored vectors.
    pub reused: usize,
    /// Chunks whose point stayed.
    pub kept: usize,
    /// Time spent in the embedder.
    pub embedding: Duration,
    /// Attempts after the first.
    pub retries: usize,
}

/// What was done with a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Change {
    /// It is not a page, and was none.
    #[default]
    NotAPage,
    /// Its text and all that reading it used are as they were.
    Unchanged,
    /// It was indexed.
    Indexed,
    /// It is gone, and so are its chunks.
    Deleted,
    /// It cannot be read; its last good revision stays if there is one.
    Skipped {
        /// Why.
        reason: String,
        /// Whether an older revision still answers.
        stale: bool,
    },
}

pub(super) fn deleted() -> DocumentOutcome {
    DocumentOutcome {
        change: Change::Deleted,
        ..DocumentOutcome::default()
    }
}

pub(super) fn skipped(reason: &SkipReason, stale: bool) -> DocumentOutcome {
    DocumentOutcome {
        change: Change::Skipped {
            reason: reason.to_string(),
            stale,
        },
        ..DocumentOutcome::default()
    }
}
