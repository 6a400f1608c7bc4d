//! Runs the searches of one question: both rankers in the vector store, joined with the catalog, or the catalog's full-text search.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::question::EmbeddedQuestion;
use super::{RetrieveError, Retriever, ScoredChunk, Scores, StageTimes, UNKNOWN_INDEX, timed};
use crate::degradation::Degradation;
use store::catalog::{CatalogError, JoinedChunk};
use store::index::{Filters, IndexError, ScoredPoint, VectorQuery};

/// The number of points fetched from each ranker.
const FETCHED: usize = 40;
/// Chunks read from the vector store if the catalog is unavailable; only these can be shown.
const STAND_IN: usize = 20;
/// Time limit for the join with the catalog; after it, the vector store's payloads are used.
const JOIN_DEADLINE: Duration = Duration::from_secs(2);
/// Time limit for full-text search if the vector store is unavailable.
const CATALOG_SEARCH_DEADLINE: Duration = Duration::from_secs(5);
/// The delay before the vector store is retried.
const SEARCH_BACKOFF: Duration = Duration::from_millis(200);

impl Retriever {
    /// Returns the chunks that the rankers found, repeating the search once if the book changed meanwhile. Falls back to full-text search if the
    /// vector store is unavailable.
    #[tracing::instrument(target = "spans", skip_all)]
    pub(super) async fn search(
        &self,
        terms: &[String],
        question: &EmbeddedQuestion,
        filters: &Filters,
    ) -> Result<FoundChunks, RetrieveError> {
        let query = VectorQuery {
            terms,
            vector: &question.vector,
            tokens: &question.tokens,
            with_questions: self.index.spec.question_vectors.is_some(),
            filters,
            limit: FETCHED,
        };
        let searched = match self.search_once(&query).await {
            Err(IndexError::Unavailable(_)) => {
                tokio::time::sleep(SEARCH_BACKOFF).await;
                self.search_once(&query).await
            }
            other => other,
        };
        let found = match searched {
            Ok(found) => found,
            Err(error) => return self.search_catalog(&query, error).await,
        };
        if !found.changed {
            return Ok(found);
        }
        // If the second search fails, use the chunks of the first that are still in the book.
        Ok(match self.search_once(&query).await {
            Ok(mut again) => {
                again.times.add(&found.times);
                again
            }
            Err(error) => {
                tracing::warn!(stage = "retrieve", %error, "keeping the results of the first search");
                found
            }
        })
    }

    /// Runs the catalog's full-text search; returns the vector store's error if that fails too.
    async fn search_catalog(
        &self,
        query: &VectorQuery<'_>,
        cause: IndexError,
    ) -> Result<FoundChunks, RetrieveError> {
        tracing::warn!(stage = "retrieve", error = %cause, "searching the catalog instead");
        if self.index.index_id == UNKNOWN_INDEX {
            return Err(cause.into());
        }
        let limit = u32::try_from(query.limit).unwrap_or(u32::MAX);
        let search =
            self.catalog()
                .search_text(self.index.index_id, query.terms, query.filters, limit);
        let search = tokio::time::timeout(CATALOG_SEARCH_DEADLINE, search);
        let (outcome, search_ms) = timed(search).await;
        let chunks = match outcome {
            Ok(Ok(chunks)) => chunks,
            Ok(Err(error)) => {
                tracing::warn!(stage = "retrieve", %error, "the search in the catalog failed, too");
                return Err(cause.into());
            }
            Err(_) => return Err(cause.into()),
        };
        let chunks = chunks.into_iter();
        Ok(FoundChunks {
            by_words: true,
            chunks: chunks.map(|chunk| ScoredChunk::new(chunk, None)).collect(),
            times: StageTimes {
                search_ms,
                ..StageTimes::default()
            },
            degraded: vec![Degradation::VectorStore],
            ..FoundChunks::default()
        })
    }

    async fn search_once(&self, query: &VectorQuery<'_>) -> Result<FoundChunks, IndexError> {
        let began = jiff::Timestamp::now();
        let collection = &self.index.collection;
        let (points, search_ms) = timed(self.vectors().search(collection, query)).await;
        let points = points?;
        let ids: Vec<Uuid> = points.iter().map(|point| point.point_id).collect();
        let (joined, join_ms) = timed(self.join(&ids)).await;
        let times = StageTimes {
            search_ms,
            join_ms,
            ..StageTimes::default()
        };
        let by_words = query.vector.is_empty();
        let joined = match joined {
            Ok(joined) => joined,
            Err(error) => {
                tracing::warn!(stage = "join", %error, "using the vector store's payloads instead of the catalog");
                return Ok(FoundChunks {
                    by_words,
                    chunks: self.stand_in(&points, by_words).await?,
                    times,
                    degraded: vec![Degradation::Catalog],
                    changed: false,
                });
            }
        };
        let found: HashMap<Uuid, ScoredPoint> = points
            .iter()
            .map(|point| (point.point_id, *point))
            .collect();
        let changed = joined.iter().any(|chunk| chunk.committed_at > began);
        let chunks = joined.into_iter().map(|chunk| {
            let point = found.get(&chunk.point_id).copied();
            ScoredChunk::new(chunk, point.filter(|_| !by_words))
        });
        Ok(FoundChunks {
            changed,
            by_words,
            chunks: chunks.collect(),
            times,
            degraded: Vec::new(),
        })
    }

    /// Returns the best points with the vector store's payloads.
    async fn stand_in(
        &self,
        points: &[ScoredPoint],
        by_words: bool,
    ) -> Result<Vec<ScoredChunk>, IndexError> {
        let best = &points[..points.len().min(STAND_IN)];
        let ids: Vec<Uuid> = best.iter().map(|point| point.point_id).collect();
        let mut payloads = self
            .vectors()
            .payloads(&self.index.collection, &ids)
            .await?;
        let chunks = best.iter().filter_map(|point| {
            Some(ScoredChunk {
                point_id: point.point_id,
                position: None,
                chunk: Arc::new(payloads.remove(&point.point_id)?),
                scores: Scores::from_point(Some(*point).filter(|_| !by_words)),
                category: None,
            })
        });
        Ok(chunks.collect())
    }

    #[tracing::instrument(target = "spans", skip_all)]
    async fn join(&self, points: &[Uuid]) -> Result<Vec<JoinedChunk>, CatalogError> {
        if self.index.index_id == UNKNOWN_INDEX {
            return Err(CatalogError::Unavailable(
                "the live index is not known".to_owned(),
            ));
        }
        let joined = self.catalog().join(self.index.index_id, points);
        tokio::time::timeout(JOIN_DEADLINE, joined)
            .await
            .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))
    }
}

/// The chunks that the rankers found.
#[derive(Default)]
pub(super) struct FoundChunks {
    /// True if a chunk was committed after the search began. A point without a chunk waits to be deleted, which is no change.
    changed: bool,
    /// True if the chunks come from full-text search and have no cosines.
    pub(super) by_words: bool,
    pub(super) chunks: Vec<ScoredChunk>,
    pub(super) times: StageTimes,
    pub(super) degraded: Vec<Degradation>,
}
