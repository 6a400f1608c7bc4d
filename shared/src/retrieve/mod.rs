//! From a question to the chunks that may answer it: search → join → fuse → rerank.

mod scored;
mod exercises;
mod intent;
mod names;
mod question;
mod search;
mod known;
mod lexical;
mod fusion;
mod spelling;
mod synonyms;
#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::catalog::{Calibration, Catalog, IndexRow, Indexing};
use crate::degradation::Degradation;
use crate::embed::{Embedder, WeightedToken};
use crate::error::Error;
use crate::index::{Filters, IndexError, VectorIndex};
use crate::provider::ProviderError;
use crate::rerank::Reranker;

use crate::words::{DocumentFrequencies, TermNumbers};
pub use crate::words::{Language, Words};
pub use intent::is_unasked_exercise;
pub use known::UnknownValue;
pub use scored::{ScoredChunk, Scores};

use fusion::Asked;
#[cfg(test)]
pub(crate) use fusion::tests::section;
use intent::Intent;
use lexical::{ChunkTerms, QuestionTerm};
use question::EmbeddedQuestion;
use search::Found;
use synonyms::Synonyms;

/// The number of an index that is known by its alias alone: the catalog could not be asked.
pub const UNKNOWN_INDEX: i64 = 0;
/// How long the catalog has to count the pages of a book that is being indexed.
const STATS_DEADLINE: Duration = Duration::from_secs(2);
/// How long the embedder has before words alone are searched for.
const EMBED_DEADLINE: Duration = Duration::from_secs(5);

/// The backends of retrieval.
#[derive(Debug, Clone)]
pub struct Backends {
    /// Makes the question's vector.
    pub embedder: Embedder,
    /// Scores the best chunks once more.
    pub reranker: Reranker,
    /// Where the vectors are.
    pub vectors: VectorIndex,
    /// Which chunks are the book, and their texts.
    pub catalog: Catalog,
}

/// Retrieval from one index.
#[derive(Debug, Clone)]
pub struct Retriever {
    /// The backends. Their embedder is the one that the index was made with.
    pub backends: Backends,
    /// The index.
    pub index: IndexRow,
}

/// Why nothing could be retrieved.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The vector store failed, and so did the catalog's full-text search.
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
    /// The text that chunks are compared with.
    text: &'a str,
    /// The reader's own question: it alone may name a chapter or a kind of section.
    question: &'a str,
    /// Which pages may be found.
    pages: Pages,
}

/// Which pages a search may find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pages {
    /// All.
    All,
    /// Those that the site lists.
    Listed,
}

impl<'a> Query<'a> {
    /// A reader's question.
    #[must_use]
    pub fn question(question: &'a str) -> Self {
        Self::reworded(question, question)
    }

    /// A reader's question with other or more words.
    #[must_use]
    pub fn reworded(text: &'a str, question: &'a str) -> Self {
        Self {
            text,
            question,
            pages: Pages::All,
        }
    }

    /// A text of the book to be located. The chapters that it names are not asked for.
    #[must_use]
    pub fn passage(text: &'a str) -> Self {
        Self::reworded(text, "")
    }

    /// The same without pages that the site does not list.
    #[must_use]
    pub fn of_listed_pages(self) -> Self {
        Self {
            pages: Pages::Listed,
            ..self
        }
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
    /// The search by meaning and by words.
    pub search_ms: f64,
    /// Reading the chunks from the catalog.
    pub join_ms: f64,
    /// Combining both rankers.
    pub fuse_ms: f64,
    /// The reranker.
    pub rerank_ms: f64,
}

impl StageTimes {
    /// Returns the longer time of each stage, for two concurrent searches.
    fn longest(self, other: &Self) -> Self {
        Self {
            embed_ms: self.embed_ms.max(other.embed_ms),
            search_ms: self.search_ms.max(other.search_ms),
            join_ms: self.join_ms.max(other.join_ms),
            fuse_ms: self.fuse_ms.max(other.fuse_ms),
            rerank_ms: self.rerank_ms.max(other.rerank_ms),
        }
    }

    /// Adds those of a search that was made for the same question.
    fn add(&mut self, other: &Self) {
        self.embed_ms += other.embed_ms;
        self.search_ms += other.search_ms;
        self.join_ms += other.join_ms;
        self.fuse_ms += other.fuse_ms;
        self.rerank_ms += other.rerank_ms;
    }
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct Retrieved {
    /// Chunks, best first; of each heading the best.
    pub candidates: Vec<ScoredChunk>,
    /// How many there were before the best were taken.
    pub num_candidates: usize,
    /// The question's vector.
    pub query_vector: Vec<f32>,
    /// The question's tokens; empty if the index has no token vectors of this embedder.
    pub query_tokens: Vec<WeightedToken>,
    /// How it was weighed.
    pub signals: Signals,
    /// What the cosines mean; `None` if the index has not measured it.
    pub calibration: Option<Calibration>,
    /// How long it took.
    pub times: StageTimes,
    /// Progress of the book's first indexing; `None` once it is complete.
    pub indexing: Option<Indexing>,
    /// What it went without.
    pub degraded: Vec<Degradation>,
}

/// What says whether the book covers the question, beside the candidates' own scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Signals {
    /// The best cosine of any chunk found; absent when the embedder does not read the question's script.
    pub cosine: Option<f32>,
    /// The same on the index's own scale ([`Calibration::z`]); absent when the index has not measured it.
    pub z: Option<f32>,
    /// The largest share of the question's words that one chunk has, rare words counting more, 0 to 1.
    pub coverage: f32,
    /// True if the question has a name that no chunk found has, such as an option, a product or a version.
    pub unknown_name: bool,
}

impl Retrieved {
    /// Keeps some of the candidates; the signals are then theirs.
    pub fn keep(&mut self, of: impl Fn(&ScoredChunk) -> bool) {
        self.candidates.retain(of);
        let signals = &mut self.signals;
        let dense = self.candidates.iter().filter_map(|kept| kept.scores.dense);
        signals.cosine = signals.cosine.map(|_| dense.fold(0.0, f32::max));
        signals.z = scaled(signals.cosine, self.calibration);
        let coverage = self.candidates.iter().map(|kept| kept.scores.coverage);
        signals.coverage = coverage.fold(0.0, f32::max);
    }

    /// Puts some of the candidates ahead by a bonus.
    pub fn raise(&mut self, bonus: f32, of: impl Fn(&ScoredChunk) -> bool) {
        for candidate in &mut self.candidates {
            let gained = if of(candidate) { bonus } else { 0.0 };
            candidate.scores.score = (candidate.scores.score + gained) / (1.0 + bonus);
        }
        fusion::sort(&mut self.candidates);
    }
}

impl Retriever {
    /// The catalog.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.backends.catalog
    }

    fn vectors(&self) -> &VectorIndex {
        &self.backends.vectors
    }

    /// Finds the chunks that may answer `query`, best first, `top_k` at most.
    ///
    /// A lesson, chapter or module that the question names is searched beside the whole book, and its chunks are raised.
    /// If the join shows that the book changed during the search, it searches once more.
    pub async fn retrieve(
        &self,
        query: Query<'_>,
        filters: &Filters,
        top_k: usize,
    ) -> Result<Retrieved, RetrieveError> {
        let intent = query.intent();
        let pages = query.pages;
        let query = query.text;
        let words = Words::of(language_of(filters));
        let synonyms = Synonyms::of(query, &self.index.site.synonyms, &words);
        let searched = synonyms.with(query);
        let started = Instant::now();
        let mut degraded = Vec::new();
        let (question, failure) = self.embed(&searched, &synonyms, language_of(filters)).await;
        if let Some(error) = failure {
            tracing::warn!(stage = "embed", error = %format_args!("the embedder {error}"), "words alone are searched for");
            degraded.push(Degradation::Embedder);
        }
        let embed_ms = milliseconds(started);
        let places = intent.places(filters);
        let (found, indexing) = tokio::join!(
            self.search_places(&searched, &question, filters, &places),
            self.indexing()
        );
        let found = found?;
        degraded.extend(indexing.map(|_| Degradation::Indexing));
        degraded.extend(found.degraded.iter().copied());
        let times = found.times;
        let started = Instant::now();
        let (query, mut candidates, signals) =
            self.fused(query, &question, &intent, &synonyms, &words, found);
        let fuse_ms = milliseconds(started);
        let started = Instant::now();
        if let Err(error) = self.rerank(&query, &mut candidates).await {
            tracing::warn!(stage = "rerank", error = %format_args!("the reranker {error}"), "the order of retrieval stands");
            degraded.push(Degradation::Reranker);
        }
        let rerank_ms = milliseconds(started);
        candidates.retain(|found| {
            let is_listed = pages == Pages::All || !found.chunk.unlisted;
            // While the catalog is down, the versions of a kind are not known to the search.
            is_listed && filters.admits_kind_of(&found.chunk.version)
        });
        let num_candidates = candidates.len();
        candidates.truncate(top_k);
        Ok(Retrieved {
            candidates,
            num_candidates,
            query_vector: question.vector,
            query_tokens: question.tokens,
            signals,
            calibration: self.index.calibration,
            indexing,
            times: StageTimes {
                embed_ms,
                fuse_ms,
                rerank_ms,
                ..times
            },
            degraded,
        })
    }

    /// Ranks chunks by cosine, token vectors and BM25. Returns the question with its spelling corrected, too.
    fn fused(
        &self,
        query: &str,
        question: &EmbeddedQuestion,
        intent: &Intent,
        synonyms: &Synonyms<'_>,
        words: &Words,
        found: Found,
    ) -> (String, Vec<ScoredChunk>, Signals) {
        let backends = &self.backends;
        let weights = match backends.reranker {
            _ if found.by_words || !backends.embedder.reads(query) => fusion::Weights::Words,
            Reranker::Weighted => fusion::Weights::Fixed,
            _ => fusion::Weights::Scaled {
                tokens: backends.embedder.token_share(),
            },
        };
        let mut numbers = TermNumbers::of(words);
        let read = |scored: &ScoredChunk| ChunkTerms {
            filed: numbers.read(&scored.chunk.search_words).len(),
            all: numbers.read(&scored.chunk.searched_text()),
        };
        let mut texts: Vec<ChunkTerms> = found.chunks.iter().map(read).collect();
        let meant = synonyms.add(&mut texts, &mut numbers);
        let query = spelling::corrected(query, &numbers);
        let mut unknown = names::unknown(&query, &found.chunks, &numbers);
        unknown.retain(|name| !meant.contains(name));
        let frequencies = question.frequencies.as_ref();
        let idf = |word: &str| frequencies?.idf(word);
        // In one order, so that sums repeat to the last bit.
        let mut terms: BTreeMap<String, Option<f32>> = words
            .of_question(&query)
            .map(|(word, term)| (term, idf(&word)))
            .collect();
        // A name of several words is one more word that no chunk has.
        for name in &unknown {
            let idf = frequencies.map(DocumentFrequencies::idf_of_unknown);
            terms.entry(name.clone()).or_insert(idf);
        }
        let terms = terms.into_iter().map(|(term, idf)| QuestionTerm {
            number: numbers.number(term),
            idf,
        });
        let terms: Vec<QuestionTerm> = terms.collect();
        let asked = Asked {
            intent,
            names: names::names(&query),
        };
        let (candidates, mut signals) =
            fusion::fused(&terms, &asked, found.chunks, &texts, weights);
        signals.unknown_name = !unknown.is_empty();
        signals.z = scaled(signals.cosine, self.index.calibration);
        (query, candidates, signals)
    }

    /// Progress of the book's first indexing; `None` once it is complete, or if the catalog is down.
    async fn indexing(&self) -> Option<Indexing> {
        let index = &self.index;
        index.pages_expected?;
        let stats = self.catalog().stats(index.index_id);
        let stats = tokio::time::timeout(STATS_DEADLINE, stats).await.ok()?;
        stats
            .inspect_err(|error| tracing::warn!(stage = "retrieve", %error, "the progress of indexing is not known"))
            .ok()
            .and_then(|stats| index.indexing(stats.documents))
    }

    /// Lets the reranker look at the best candidates, and puts them in the order of both scores.
    async fn rerank(
        &self,
        query: &str,
        candidates: &mut [ScoredChunk],
    ) -> Result<(), ProviderError> {
        let reranker = &self.backends.reranker;
        if !reranker.reads(query) {
            return Ok(());
        }
        let depth = reranker.depth().min(candidates.len());
        let passages: Vec<String> = candidates[..depth]
            .iter()
            .map(|candidate| candidate.chunk.embedded_text())
            .collect();
        let scores = reranker.scores(query, &passages).await?;
        fusion::reranked(candidates, &scores);
        Ok(())
    }
}

/// A cosine on the scale of an index.
fn scaled(cosine: Option<f32>, calibration: Option<Calibration>) -> Option<f32> {
    calibration?.z(cosine?)
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
