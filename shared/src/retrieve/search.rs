//! The searches of one question: both rankers in the vector store, joined with the catalog; or the catalog's full-text search.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures::future::try_join_all;
use uuid::Uuid;

use super::{RetrieveError, Retriever, StageTimes, UNKNOWN_INDEX, Words, language_of, timed};
use crate::catalog::{CatalogError, IndexRow, JoinedChunk};
use crate::index::{Filters, Hit, Hits, IndexError};

/// Chunks that each ranker gives: twice what is needed, since the join drops what is no longer in the book.
const FETCHED: u64 = 40;
/// How long the catalog has for the join before the payload stands in.
const JOIN_DEADLINE: Duration = Duration::from_secs(2);
/// How long the catalog has for a search when the vector store is away.
const CATALOG_SEARCH_DEADLINE: Duration = Duration::from_secs(5);
/// The wait before the vector store is asked once more (S1).
const SEARCH_BACKOFF: Duration = Duration::from_millis(200);

impl Retriever {
    /// Searches with the filters and with those of each place, concurrently.
    pub(super) async fn search_places(
        &self,
        index: &IndexRow,
        query: &str,
        vector: &[f32],
        filters: &Filters,
        places: &[Filters],
    ) -> Result<Found, RetrieveError> {
        let all = std::iter::once(filters).chain(places);
        let searches = all.map(|filters| self.search(index, query, vector, filters));
        let mut searched = try_join_all(searches).await?.into_iter();
        let mut found = searched.next().unwrap_or_default();
        for more in searched {
            found.join(more);
        }
        Ok(found)
    }

    /// Both rankers' chunks that are in the book; once more if it changed meanwhile. When the vector store is away, the catalog's.
    async fn search(
        &self,
        index: &IndexRow,
        query: &str,
        vector: &[f32],
        filters: &Filters,
    ) -> Result<Found, RetrieveError> {
        let searched = match self.search_once(index, query, vector, filters).await {
            Err(IndexError::Unavailable(_)) => {
                tokio::time::sleep(SEARCH_BACKOFF).await;
                self.search_once(index, query, vector, filters).await
            }
            other => other,
        };
        let found = match searched {
            Ok(found) => found,
            Err(error) => return self.search_catalog(index, query, filters, error).await,
        };
        if !found.changed {
            return Ok(found);
        }
        // What was found and is still the book serves where it cannot be searched again.
        Ok(
            match self.search_once(index, query, vector, filters).await {
                Ok(mut again) => {
                    again.times.add(&found.times);
                    again
                }
                Err(error) => {
                    tracing::warn!(stage = "retrieve", %error, "the first search stands");
                    found
                }
            },
        )
    }

    /// What the catalog's full-text search finds; the vector store's error when that fails too.
    async fn search_catalog(
        &self,
        index: &IndexRow,
        query: &str,
        filters: &Filters,
        cause: IndexError,
    ) -> Result<Found, RetrieveError> {
        tracing::warn!(stage = "retrieve", error = %cause, "the catalog is searched instead");
        if index.index_id == UNKNOWN_INDEX {
            return Err(cause.into());
        }
        let words = Words::of(language_of(filters)).beginnings(query);
        let limit = u32::try_from(FETCHED).unwrap_or(u32::MAX);
        let search = self
            .catalog
            .search_text(index.index_id, &words, filters, limit);
        let (outcome, lexical_ms) =
            timed(tokio::time::timeout(CATALOG_SEARCH_DEADLINE, search)).await;
        let chunks = match outcome {
            Ok(Ok(chunks)) => chunks,
            Ok(Err(error)) => {
                tracing::warn!(stage = "retrieve", %error, "the catalog cannot stand in");
                return Err(cause.into());
            }
            Err(_) => return Err(cause.into()),
        };
        let hits = chunks.into_iter().map(|chunk| Hit {
            point_id: chunk.point_id,
            score: 0.0,
            payload: chunk.payload,
            vectors: Vec::new(),
        });
        Ok(Found {
            changed: false,
            by_words: true,
            hits: hits.collect(),
            times: StageTimes {
                lexical_ms,
                ..StageTimes::default()
            },
            degraded: vec!["vector_store"],
        })
    }

    async fn search_once(
        &self,
        index: &IndexRow,
        query: &str,
        vector: &[f32],
        filters: &Filters,
    ) -> Result<Found, IndexError> {
        let began = jiff::Timestamp::now();
        let collection = &index.collection;
        let dense = timed(async {
            if vector.is_empty() {
                return Ok(Hits::default());
            }
            self.index
                .search_dense(collection, vector, filters, FETCHED)
                .await
        });
        let lexical = timed(
            self.index
                .search_lexical(collection, query, filters, FETCHED),
        );
        let ((dense, dense_ms), (lexical, lexical_ms)) = tokio::join!(dense, lexical);
        let mut hits: HashMap<Uuid, Hit> = HashMap::new();
        let (dense, lexical) = (dense?, lexical?);
        let unreadable = dense.unreadable + lexical.unreadable;
        for hit in dense.read.into_iter().chain(lexical.read) {
            hits.entry(hit.point_id).or_insert(hit);
        }
        let points: Vec<Uuid> = hits.keys().copied().collect();
        let (joined, join_ms) = timed(self.join(index, &points)).await;
        let mut degraded = Vec::new();
        if unreadable > 0 {
            degraded.push("vector_store");
        }
        let joined: Option<HashMap<Uuid, JoinedChunk>> = match joined {
            Ok(joined) => Some(joined.into_iter().map(|row| (row.point_id, row)).collect()),
            Err(error) => {
                tracing::warn!(stage = "join", error = %error, "the payload stands in for the catalog");
                degraded.push("catalog");
                None
            }
        };
        let changed = joined.as_ref().is_some_and(|rows| {
            rows.len() < points.len() || rows.values().any(|row| row.committed_at > began)
        });
        let in_book = |point: &Uuid| joined.as_ref().is_none_or(|rows| rows.contains_key(point));
        hits.retain(|point, _| in_book(point));
        Ok(Found {
            changed,
            by_words: false,
            hits: hits.into_values().collect(),
            times: StageTimes {
                dense_ms,
                lexical_ms,
                join_ms,
                ..StageTimes::default()
            },
            degraded,
        })
    }

    async fn join(
        &self,
        index: &IndexRow,
        points: &[Uuid],
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        if index.index_id == UNKNOWN_INDEX {
            return Err(CatalogError::Unavailable(
                "which index it is, is not known".to_owned(),
            ));
        }
        tokio::time::timeout(JOIN_DEADLINE, self.catalog.join(index.index_id, points))
            .await
            .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))
    }
}

/// What the rankers found.
#[derive(Default)]
pub(super) struct Found {
    /// Whether a hit was replaced, or committed after the search began.
    changed: bool,
    /// True if the hits come from full-text search and carry no vectors.
    pub(super) by_words: bool,
    pub(super) hits: Vec<Hit>,
    pub(super) times: StageTimes,
    pub(super) degraded: Vec<&'static str>,
}

impl Found {
    /// Adds the hits of a concurrent search, each once.
    fn join(&mut self, other: Self) {
        let known: HashSet<Uuid> = self.hits.iter().map(|hit| hit.point_id).collect();
        let new = other.hits.into_iter();
        self.hits
            .extend(new.filter(|hit| !known.contains(&hit.point_id)));
        self.by_words |= other.by_words;
        self.times = self.times.longest(&other.times);
        for what in other.degraded {
            if !self.degraded.contains(&what) {
                self.degraded.push(what);
            }
        }
    }
}
