//! From a question to candidates: dense ∥ lexical → join → fuse → rerank.

mod candidate;
mod intent;
mod search;
mod known;
mod lexical;
mod mix;
mod spelling;
mod words;
#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
pub(crate) mod tests;

use std::time::{Duration, Instant};

use crate::catalog::{Catalog, IndexRow, Indexing};
use crate::embed::{EmbedError, Embedder, Purpose};
use crate::error::Error;
use crate::index::{Filters, IndexError, VectorIndex};
use crate::rerank::Reranker;

pub use candidate::{Candidate, Scores};
pub use known::UnknownValue;
pub use words::{Language, Words};

use candidate::leaves_of;
use intent::Intent;

/// The number of an index that is known by its alias alone: the catalog could not be asked.
pub const UNKNOWN_INDEX: i64 = 0;
/// How long the catalog has to count the pages of a book that is being indexed.
const STATS_DEADLINE: Duration = Duration::from_secs(2);
/// How long the embedder has before words alone are searched for.
const EMBED_DEADLINE: Duration = Duration::from_secs(5);

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
    /// A filter has a value that nothing in the book has.
    #[error(transparent)]
    Filter(#[from] UnknownValue),
}

impl From<RetrieveError> for Error {
    fn from(error: RetrieveError) -> Self {
        match error {
            RetrieveError::Index(error) => Self::unavailable(error),
            RetrieveError::Filter(value) => Self::field(value.field, value.to_string()),
        }
    }
}

/// A text to search for, and the reader's question behind it.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The text that sections are compared with.
    text: &'a str,
    /// The reader's own question: it alone may name a chapter or a kind of section.
    question: &'a str,
}

impl<'a> Query<'a> {
    /// A reader's question.
    #[must_use]
    pub fn question(question: &'a str) -> Self {
        Self {
            text: question,
            question,
        }
    }

    /// A reader's question with other or more words.
    #[must_use]
    pub fn reworded(text: &'a str, question: &'a str) -> Self {
        Self { text, question }
    }

    /// A text of the book to be located. The chapters that it names are not asked for.
    #[must_use]
    pub fn passage(text: &'a str) -> Self {
        Self { text, question: "" }
    }

    fn intent(&self) -> Intent {
        Intent::of(self.question)
    }
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
    /// Returns the longer time of each stage, for two concurrent searches.
    fn longest(self, other: &Self) -> Self {
        Self {
            embed_ms: self.embed_ms.max(other.embed_ms),
            dense_ms: self.dense_ms.max(other.dense_ms),
            lexical_ms: self.lexical_ms.max(other.lexical_ms),
            join_ms: self.join_ms.max(other.join_ms),
            fuse_ms: self.fuse_ms.max(other.fuse_ms),
            rerank_ms: self.rerank_ms.max(other.rerank_ms),
        }
    }

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
    /// Progress of the book's first indexing; `None` once it is complete.
    pub indexing: Option<Indexing>,
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
    /// A lesson, chapter or module that the question names is searched beside the whole book, and its sections are raised.
    /// When the join shows that the book changed under the search, it searches once more.
    pub async fn retrieve(
        &self,
        index: &IndexRow,
        query: Query<'_>,
        filters: &Filters,
        top_k: usize,
    ) -> Result<Retrieved, RetrieveError> {
        let intent = query.intent();
        let query = query.text;
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
        let places = intent.places(filters);
        let (found, indexing) = tokio::join!(
            self.search_places(index, query, &query_vector, filters, &places),
            self.indexing(index)
        );
        let found = found?;
        degraded.extend(indexing.map(|_| "indexing"));
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
            indexing,
            times: StageTimes {
                embed_ms,
                fuse_ms,
                rerank_ms,
                ..found.times
            },
            degraded,
        })
    }

    /// Progress of the book's first indexing; `None` once it is complete, or if the catalog is down.
    async fn indexing(&self, index: &IndexRow) -> Option<Indexing> {
        index.pages_expected?;
        let stats = self.catalog.stats(index.index_id);
        let stats = tokio::time::timeout(STATS_DEADLINE, stats).await.ok()?;
        stats
            .inspect_err(|error| tracing::warn!(stage = "retrieve", %error, "the progress of indexing is not known"))
            .ok()
            .and_then(|stats| index.indexing(stats.documents))
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
