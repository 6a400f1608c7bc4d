//! From a question to candidates: dense ∥ lexical → join → fuse → rerank.

mod candidate;
mod intent;
mod lexical;
mod mix;
mod spelling;
mod words;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::catalog::{Catalog, CatalogError, IndexRow, JoinedChunk};
use crate::embed::{EmbedError, Embedder, Purpose};
use crate::index::{Filters, Hit, IndexError, VectorIndex};
use crate::rerank::Reranker;

pub use candidate::{Candidate, Scores};
pub use words::{Language, Words};

use candidate::leaves_of;
use intent::Intent;

/// Chunks that each ranker gives: twice what is needed, since the join drops what is no longer in the book.
const FETCHED: u64 = 40;
/// The number of an index that is known by its alias alone: the catalog could not be asked.
pub const UNKNOWN_INDEX: i64 = 0;
/// How long the catalog has for the join before the payload stands in.
const JOIN_DEADLINE: Duration = Duration::from_secs(2);
/// How long the catalog has for a search when the vector store is away.
const CATALOG_SEARCH_DEADLINE: Duration = Duration::from_secs(5);
/// How long the embedder has before words alone are searched for.
const EMBED_DEADLINE: Duration = Duration::from_secs(5);
/// The wait before the vector store is asked once more (S1).
const SEARCH_BACKOFF: Duration = Duration::from_millis(200);

/// All that a search needs.
#[derive(Debug, Clone)]
pub struct Retriever {
    /// What makes the question's vector.
    pub embedder: Embedder,
    /// What looks at the best candidates once more.
    pub reranker: Reranker,
    /// Where the chunks are.
    pub index: VectorIndex,
    /// Which of them are the book.
    pub catalog: Catalog,
}

/// Why nothing could be retrieved.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The vector store, and the catalog could not stand in.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// How long each stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageTimes {
    /// Embedding the question, in milliseconds.
    pub embed_ms: f64,
    /// The dense search.
    pub dense_ms: f64,
    /// The lexical search.
    pub lexical_ms: f64,
    /// The join with the catalog.
    pub join_ms: f64,
    /// Weighing the sections of what was found.
    pub fuse_ms: f64,
    /// The reranker.
    pub rerank_ms: f64,
}

impl StageTimes {
    /// Adds those of a search that was made for the same question.
    fn add(&mut self, other: &Self) {
        self.embed_ms += other.embed_ms;
        self.dense_ms += other.dense_ms;
        self.lexical_ms += other.lexical_ms;
        self.join_ms += other.join_ms;
        self.fuse_ms += other.fuse_ms;
        self.rerank_ms += other.rerank_ms;
    }
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct Retrieved {
    /// Sections, best first; each heading once.
    pub candidates: Vec<Candidate>,
    /// The question's vector.
    pub query_vector: Vec<f32>,
    /// How it was weighed.
    pub signals: Signals,
    /// How long it took.
    pub times: StageTimes,
    /// What did not work and was done without.
    pub degraded: Vec<&'static str>,
}

/// What says whether the book covers the question, beside the candidates' own scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Signals {
    /// The best cosine of any section found; absent when the embedder does not read the question's script, or what its
    /// cosines mean was not measured.
    pub cosine: Option<f32>,
    /// The best BM25 score as a share of what a text full of the question's words would have, 0 to 1.
    pub lexical: f32,
    /// The share of the question's words, by weight, that no section found has, 0 to 1.
    pub unknown_words: f32,
    /// The best score of the reranker, 0 to 1; absent without one, or when what its scores mean was not measured.
    pub rerank: Option<f32>,
}

impl Retrieved {
    /// Keeps some of the candidates; the signals are then theirs.
    pub fn keep(&mut self, of: impl Fn(&Candidate) -> bool) {
        let best = |candidates: &[Candidate]| {
            let scores = candidates.iter().map(|candidate| candidate.scores.lexical);
            scores.fold(0.0, f32::max)
        };
        let before = best(&self.candidates);
        self.candidates.retain(of);
        let signals = &mut self.signals;
        let dense = self.candidates.iter().filter_map(|kept| kept.scores.dense);
        signals.cosine = signals.cosine.map(|_| dense.fold(0.0, f32::max));
        if before > 0.0 {
            signals.lexical *= best(&self.candidates) / before;
        }
        if signals.rerank.is_some() {
            let reranked = self.candidates.iter().filter_map(|kept| kept.scores.rerank);
            signals.rerank = reranked.reduce(f32::max);
        }
    }

    /// Puts some of the candidates ahead by a bonus.
    pub fn raise(&mut self, bonus: f32, of: impl Fn(&Candidate) -> bool) {
        for candidate in &mut self.candidates {
            let gained = if of(candidate) { bonus } else { 0.0 };
            candidate.scores.score = (candidate.scores.score + gained) / (1.0 + bonus);
        }
        mix::sort(&mut self.candidates);
    }
}

impl Retriever {
    /// Finds the sections that may answer `query`, best first, `top_k` at most.
    ///
    /// A lesson, chapter or module that the question names narrows the search to it, if anything is found there. When the
    /// join shows that the book changed under the search, it searches once more.
    pub async fn retrieve(
        &self,
        index: &IndexRow,
        query: &str,
        filters: &Filters,
        top_k: usize,
    ) -> Result<Retrieved, RetrieveError> {
        let started = Instant::now();
        let mut degraded = Vec::new();
        let query_vector = match self.embed(query).await {
            Ok(vector) => vector,
            Err(error) => {
                tracing::warn!(stage = "embed", %error, "words alone are searched for");
                degraded.push("embedder");
                Vec::new()
            }
        };
        let embed_ms = milliseconds(started);
        let intent = Intent::of(query);
        let mut found = Found::default();
        if let Some(narrowed) = intent.narrowed(filters) {
            found = self.search(index, query, &query_vector, &narrowed).await?;
        }
        if found.hits.is_empty() {
            let narrowed = found.times;
            found = self.search(index, query, &query_vector, filters).await?;
            found.times.add(&narrowed);
        }
        let started = Instant::now();
        let language = language_of(filters);
        let leaves = leaves_of(found.hits, &query_vector);
        let by_words = query_vector.is_empty() || found.by_words || !self.embedder.reads(query);
        let weights = match self.reranker {
            _ if by_words => mix::Weights::Words,
            Reranker::Weighted => mix::Weights::Fixed,
            _ => mix::Weights::Scaled,
        };
        let words = Words::of(language);
        let terms: Vec<Vec<String>> = leaves
            .iter()
            .map(|leaf| words.terms(&format!("{}\n{}", leaf.breadcrumb(), leaf.text())))
            .collect();
        let query = spelling::corrected(&words, query, &leaves, &terms);
        let (mut candidates, mut signals) =
            mix::fused(&words.terms(&query), &intent, leaves, &terms, weights);
        if !self.embedder.has_measured_cosines() {
            signals.cosine = None;
        }
        let fuse_ms = milliseconds(started);
        degraded.extend(found.degraded);
        let started = Instant::now();
        if let Err(error) = self.rerank(&query, &mut candidates, &mut signals).await {
            tracing::warn!(stage = "rerank", %error, "the order of retrieval stands");
            degraded.push("reranker");
        }
        let rerank_ms = milliseconds(started);
        candidates.truncate(top_k);
        Ok(Retrieved {
            candidates,
            query_vector,
            signals,
            times: StageTimes {
                embed_ms,
                fuse_ms,
                rerank_ms,
                ..found.times
            },
            degraded,
        })
    }

    /// The question's vector.
    async fn embed(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let query = [query.to_owned()];
        let vectors = self.embedder.embed(&query, Purpose::Query);
        let vectors = tokio::time::timeout(EMBED_DEADLINE, vectors).await;
        let vectors = vectors.unwrap_or(Err(EmbedError::Timeout))?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }

    /// Lets the reranker look at the best candidates, and puts them in the order of both scores.
    async fn rerank(
        &self,
        query: &str,
        candidates: &mut [Candidate],
        signals: &mut Signals,
    ) -> Result<(), crate::rerank::RerankError> {
        if !self.reranker.reads(query) {
            return Ok(());
        }
        let depth = self.reranker.depth().min(candidates.len());
        let passages: Vec<String> = candidates[..depth]
            .iter()
            .map(|candidate| candidate.best_window(&self.embedder))
            .collect();
        let scores = self.reranker.scores(query, &passages).await?;
        if self.reranker.has_measured_scores() {
            signals.rerank = scores.iter().copied().reduce(f32::max);
        }
        mix::reranked(candidates, &scores);
        Ok(())
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
                return Ok(Vec::new());
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
        for hit in dense?.into_iter().chain(lexical?) {
            hits.entry(hit.point_id).or_insert(hit);
        }
        let points: Vec<Uuid> = hits.keys().copied().collect();
        let (joined, join_ms) = timed(self.join(index, &points)).await;
        let mut degraded = Vec::new();
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
struct Found {
    /// Whether a hit was replaced, or committed after the search began.
    changed: bool,
    /// Whether they have no vectors.
    by_words: bool,
    hits: Vec<Hit>,
    times: StageTimes,
    degraded: Vec<&'static str>,
}

/// The language that a search's texts are in.
fn language_of(filters: &Filters) -> Language {
    match &filters.locale {
        Some(locale) => Language::of_locale(locale),
        None => Language::ENGLISH,
    }
}

async fn timed<T>(work: impl Future<Output = T>) -> (T, f64) {
    let started = Instant::now();
    let result = work.await;
    (result, milliseconds(started))
}

/// Milliseconds since an instant.
#[must_use]
pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
