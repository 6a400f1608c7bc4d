//! Answers of chat models that are kept to be given again.

use std::time::Duration;

use uuid::Uuid;

use super::{Catalog, CatalogError, on_store};

/// How long an answer is kept, at most.
pub(super) const MAX_AGE: Duration = Duration::from_hours(24 * 7);
/// How many answers a sweep leaves: the newest.
pub(super) const MAX_ANSWERS: i64 = 10_000;

/// An answer to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedAnswer {
    /// A hash of all that the answer depends on but the book.
    pub key: String,
    /// The index that it is from.
    pub index_id: i64,
    /// The answer, in its author's own format.
    pub answer: String,
    /// The points of the chunks that it rests on: it holds while the index has all of them.
    pub points: Vec<Uuid>,
    /// The book's revision, if any change of the book may change the answer.
    pub book_revision: Option<i64>,
}

/// What there is for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerLookup {
    /// The answer, if there is one that holds.
    pub answer: Option<String>,
    /// The book's revision: each commit of a document raises it.
    pub book_revision: i64,
}

impl Catalog {
    /// Looks for an answer that is not older than a week, whose chunks the index has as they were, and which no change of the book
    /// has ended. One statement.
    pub async fn cached_answer(
        &self,
        index_id: i64,
        key: &str,
    ) -> Result<AnswerLookup, CatalogError> {
        on_store!(self, store => store.cached_answer(index_id, key))
    }

    /// Keeps an answer, in the place of the one with its key.
    pub async fn cache_answer(&self, answer: &CachedAnswer) -> Result<(), CatalogError> {
        on_store!(self, store => store.cache_answer(answer))
    }
}
