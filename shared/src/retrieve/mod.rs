//! From a question to candidates: dense ∥ lexical → fuse → join.

mod fuse;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::catalog::{Catalog, CatalogError, IndexRow, JoinedChunk};
use crate::embed::{EmbedError, Embedder, Purpose};
use crate::index::{ChunkPayload, Filters, Hit, IndexError, LeafPayload, VectorIndex};

pub use fuse::{Fused, RRF_K, fuse};

/// Candidates that each ranker gives.
const CANDIDATES: usize = 20;
/// Twice what is needed is fetched, since the join drops what is no longer in the book.
const FETCHED: u64 = 2 * CANDIDATES as u64;
/// How long the catalog has for the join before the payload stands in.
const JOIN_DEADLINE: Duration = Duration::from_secs(2);

/// All that a search needs.
#[derive(Debug, Clone)]
pub struct Retriever {
    /// What makes the question's vector.
    pub embedder: Embedder,
    /// Where the chunks are.
    pub index: VectorIndex,
    /// Which of them are the book.
    pub catalog: Catalog,
}

/// Why nothing could be retrieved.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The embedder.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The vector store.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// A chunk that may answer, with its score at each stage.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The point.
    pub point_id: Uuid,
    /// The chunk.
    pub payload: ChunkPayload,
    /// The leaf section that matches best, by its place in the payload.
    pub best_leaf: usize,
    /// Its dense rows.
    pub vectors: Vec<Vec<f32>>,
    /// The scores.
    pub scores: Scores,
}

/// A candidate's scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Scores {
    /// The cosine of its best row with the question, −1 to 1; absent if the dense ranker did not give it.
    pub dense: Option<f32>,
    /// Its BM25 score; absent if the lexical ranker did not give it.
    pub lexical: Option<f32>,
    /// The fused score, 0 to 1.
    pub fused: f32,
}

/// How long each stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct StageTimes {
    /// Embedding the question, in milliseconds.
    pub embed_ms: f64,
    /// The dense search.
    pub dense_ms: f64,
    /// The lexical search.
    pub lexical_ms: f64,
    /// The join with the catalog.
    pub join_ms: f64,
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct Retrieved {
    /// Candidates, best first.
    pub candidates: Vec<Candidate>,
    /// The question's vector.
    pub query_vector: Vec<f32>,
    /// How long it took.
    pub times: StageTimes,
    /// What did not work and was done without.
    pub degraded: Vec<&'static str>,
}

impl Retriever {
    /// Finds the chunks that may answer `query`, best first, `top_k` at most.
    ///
    /// When the join shows that the book changed under the search, it searches once more.
    pub async fn retrieve(
        &self,
        index: &IndexRow,
        query: &str,
        filters: &Filters,
        top_k: usize,
    ) -> Result<Retrieved, RetrieveError> {
        let started = Instant::now();
        let vectors = self
            .embedder
            .embed(&[query.to_owned()], Purpose::Query)
            .await?;
        let query_vector = vectors.into_iter().next().unwrap_or_default();
        let embed_ms = milliseconds(started);
        let mut retrieved = self.search(index, query, &query_vector, filters).await?;
        if retrieved.changed {
            retrieved = self.search(index, query, &query_vector, filters).await?;
        }
        let mut result = retrieved.result;
        result.candidates.truncate(top_k);
        result.query_vector = query_vector;
        result.times.embed_ms = embed_ms;
        Ok(result)
    }

    async fn search(
        &self,
        index: &IndexRow,
        query: &str,
        vector: &[f32],
        filters: &Filters,
    ) -> Result<Searched, RetrieveError> {
        let began = jiff::Timestamp::now();
        let collection = &index.collection;
        let dense = timed(
            self.index
                .search_dense(collection, vector, filters, FETCHED),
        );
        let lexical = timed(
            self.index
                .search_lexical(collection, query, filters, FETCHED),
        );
        let ((dense, dense_ms), (lexical, lexical_ms)) = tokio::join!(dense, lexical);
        let (dense, lexical) = (dense?, lexical?);
        let points: Vec<Uuid> = ids(&dense)
            .chain(ids(&lexical))
            .collect::<HashSet<_>>()
            .into_iter()
            .collect();
        let join = timed(self.join(index, &points));
        let (joined, join_ms) = join.await;
        let mut degraded = Vec::new();
        let joined: Option<HashMap<Uuid, JoinedChunk>> = match joined {
            Ok(joined) => Some(joined.into_iter().map(|row| (row.point_id, row)).collect()),
            Err(error) => {
                tracing::warn!(stage = "join", error = %error, "the payload stands in for the catalog");
                degraded.push("catalog");
                None
            }
        };
        let in_book = |point: &Uuid| joined.as_ref().is_none_or(|rows| rows.contains_key(point));
        let changed = joined.as_ref().is_some_and(|rows| {
            rows.len() < points.len() || rows.values().any(|row| row.committed_at > began)
        });
        let kept = |hits: Vec<Hit>| -> Vec<Hit> {
            let hits = hits.into_iter().filter(|hit| in_book(&hit.point_id));
            hits.take(CANDIDATES).collect()
        };
        let candidates = candidates(kept(dense), kept(lexical), vector);
        Ok(Searched {
            changed,
            result: Retrieved {
                candidates,
                query_vector: Vec::new(),
                times: StageTimes {
                    embed_ms: 0.0,
                    dense_ms,
                    lexical_ms,
                    join_ms,
                },
                degraded,
            },
        })
    }

    async fn join(
        &self,
        index: &IndexRow,
        points: &[Uuid],
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        tokio::time::timeout(JOIN_DEADLINE, self.catalog.join(index.index_id, points))
            .await
            .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))
    }
}

struct Searched {
    result: Retrieved,
    /// Whether a hit was replaced, or committed after the search began.
    changed: bool,
}

fn ids(hits: &[Hit]) -> impl Iterator<Item = Uuid> + '_ {
    hits.iter().map(|hit| hit.point_id)
}

/// Fuses both lists; each candidate knows its best leaf.
fn candidates(dense: Vec<Hit>, lexical: Vec<Hit>, query_vector: &[f32]) -> Vec<Candidate> {
    let dense_scores: HashMap<Uuid, f32> =
        dense.iter().map(|hit| (hit.point_id, hit.score)).collect();
    let lexical_scores: HashMap<Uuid, f32> = lexical
        .iter()
        .map(|hit| (hit.point_id, hit.score))
        .collect();
    let lists = [ids(&dense).collect::<Vec<_>>(), ids(&lexical).collect()];
    let mut hits: HashMap<Uuid, Hit> = dense
        .into_iter()
        .chain(lexical)
        .map(|hit| (hit.point_id, hit))
        .collect();
    fuse(&lists, hits.len())
        .into_iter()
        .filter_map(|Fused { id, score }| {
            let hit = hits.remove(&id)?;
            Some(Candidate {
                point_id: id,
                best_leaf: best_leaf(&hit.payload.leaves, &hit.vectors, query_vector),
                payload: hit.payload,
                vectors: hit.vectors,
                scores: Scores {
                    dense: dense_scores.get(&id).copied(),
                    lexical: lexical_scores.get(&id).copied(),
                    fused: score,
                },
            })
        })
        .collect()
}

/// The place of the leaf whose best row is nearest to the question; the first when rows are missing.
fn best_leaf(leaves: &[LeafPayload], rows: &[Vec<f32>], query_vector: &[f32]) -> usize {
    let mut from = 0;
    let mut best = (0, f32::NEG_INFINITY);
    for (place, leaf) in leaves.iter().enumerate() {
        let to = (from + leaf.windows).min(rows.len());
        for row in &rows[from..to] {
            let score = dot(row, query_vector);
            if score > best.1 {
                best = (place, score);
            }
        }
        from = to;
    }
    best.0
}

/// The dot product; of unit vectors, their cosine.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
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

impl Candidate {
    /// The leaf section that matches best.
    #[must_use]
    pub fn leaf(&self) -> Option<&LeafPayload> {
        self.payload.leaves.get(self.best_leaf)
    }

    /// The URL of the best leaf in a locale, with its anchor.
    #[must_use]
    pub fn url(&self, locale: Option<&str>) -> String {
        let page = self.payload.url_in(locale);
        let section = self
            .leaf()
            .map_or(&self.payload.section_id, |leaf| &leaf.section_id);
        match section {
            Some(anchor) => format!("{page}#{anchor}"),
            None => page.to_owned(),
        }
    }

    /// The heading of the best leaf, else the page's title.
    #[must_use]
    pub fn section(&self) -> &str {
        let path = self
            .leaf()
            .map_or(&self.payload.heading_path, |leaf| &leaf.heading_path);
        path.last().unwrap_or(&self.payload.title)
    }
}

impl Candidate {
    /// How well it matches, 0 to 1: the cosine, which unlike a rank means the same for every question.
    #[must_use]
    pub fn confidence(&self) -> f32 {
        self.scores.dense.unwrap_or_default().clamp(0.0, 1.0)
    }
}
