//! A cache of chat models' answers.

use std::time::Duration;

use uuid::Uuid;

use super::statement::Parameter::{Ago, Ids, Now, Number, OptionalNumber, Text};
use super::{Catalog, CatalogError, microseconds, single, sql};

pub(super) const MAX_AGE: Duration = Duration::from_hours(24 * 7);
/// The number of answers that a sweep keeps: the newest ones.
pub(super) const MAX_ANSWERS: i64 = 10_000;

/// An answer to cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedAnswer {
    /// A hash of everything that the answer depends on, except the book.
    pub key: String,
    /// The index that it was made from.
    pub index_id: i64,
    /// The answer, in the format of its writer.
    pub answer: String,
    /// The points of the chunks that it was written from; the answer is valid while the index holds all of them.
    pub points: Vec<Uuid>,
    /// The book's revision, if any change of the book may change the answer.
    pub book_revision: Option<i64>,
}

/// The result of a cache lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerLookup {
    /// The cached answer, if it is valid.
    pub answer: Option<String>,
    /// The book's revision, which each commit of a document raises.
    pub book_revision: i64,
}

impl Catalog {
    /// Looks up an answer that is at most a week old, whose chunks are unchanged, and which no change of the book has invalidated.
    /// Uses one statement.
    pub async fn cached_answer(
        &self,
        index_id: i64,
        key: &str,
    ) -> Result<AnswerLookup, CatalogError> {
        let parameters = [Number(index_id), Text(key), Ago(microseconds(MAX_AGE))];
        single(self.rows(sql::CACHED_ANSWER, &parameters).await?)
    }

    /// Caches an answer, replacing the one with its key.
    pub async fn cache_answer(&self, answer: &CachedAnswer) -> Result<(), CatalogError> {
        let parameters = [
            Text(&answer.key),
            Number(answer.index_id),
            Text(&answer.answer),
            Ids(&answer.points),
            OptionalNumber(answer.book_revision),
            Now,
        ];
        self.change(sql::CACHE_ANSWER, &parameters).await
    }
}
