//! The outcome of ingesting one file.

use std::time::Duration;

use book::chunk::Chunk;
use book::{PageLinks, SkipReason};

/// The outcome of ingesting one file.
#[derive(Debug, Clone, Default)]
pub struct DocumentOutcome {
    /// The change made to the index.
    pub change: Change,
    /// Problems in the page that did not prevent indexing.
    pub warnings: Vec<String>,
    /// The page's links to other pages.
    pub links: PageLinks,
    /// The page's URL.
    pub url: Option<String>,
    /// The document's chunks after the change.
    pub chunks: Vec<Chunk>,
    /// The chapter of the chunks.
    pub chapter: Option<String>,
    /// Chunks newly embedded.
    pub embedded: usize,
    /// cl100k tokens of the embedded texts.
    pub embedded_tokens: u64,
    /// Chunks that reuse stored vectors.
    pub reused: usize,
    /// Chunks whose point is unchanged.
    pub kept: usize,
    /// Time spent in the embedder.
    pub embedding: Duration,
    /// Attempts after the first.
    pub retries: usize,
}

/// The change made for a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Change {
    /// None: the file is not a page and never was one.
    #[default]
    NotAPage,
    /// None: the file and everything that reading it uses are unchanged.
    Unchanged,
    /// The file was indexed.
    Indexed,
    /// The file and its chunks are gone.
    Deleted,
    /// The file cannot be read; its last good revision stays, if there is one.
    Skipped {
        /// The reason.
        reason: String,
        /// True if an older revision still answers.
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
