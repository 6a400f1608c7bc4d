//! The pipeline from a question to the chunks that may answer it: search → join → fuse → rerank.

mod scored;
pub(crate) mod open_page;
mod names;
mod off_topic;
mod question_cache;
mod question;
mod nearness;
mod search;
mod known;
mod lexical;
mod fusion;
mod spelling;
mod synonyms;
mod meaning;
#[cfg(all(test, feature = "embedded", feature = "cloud"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
pub(crate) mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::degradation::Degradation;
use crate::error::Error;
use models::embed::{Embedder, NEAREST_CHUNKS, WeightedToken, mean_of_best};
use models::provider::ProviderError;
use models::rerank::Reranker;
use store::catalog::{Catalog, IndexRow, Indexing, Scales, SiteInfo};
use store::index::{Filters, IndexError, VectorIndex};

pub use known::UnknownValue;
pub use meaning::{Meaning, SAME_NEED, groups_of};
pub use nearness::Nearness;
pub use off_topic::OffTopicCache;
pub use question_cache::QuestionCache;
use scored::tell_pages_apart;
pub use scored::{PATH_SEPARATOR, ScoredChunk, Scores};
pub use text::{Language, Words};
use text::{TermNumbers, terms_in};

#[cfg(test)]
pub(crate) use fusion::tests::section;
use lexical::{ChunkTerms, QuestionTerm};
use names::Names;
use open_page::may_be_found;
use question::EmbeddedQuestion;
use search::FoundChunks;
use synonyms::Synonyms;

/// The id of an index known only by its alias, because the catalog is unavailable.
pub const UNKNOWN_INDEX: i64 = 0;
/// Time limit for counting the pages of a book that is being indexed.
const STATS_DEADLINE: Duration = Duration::from_secs(2);
/// The bonus for the pages found for the question before in a conversation, relative to 1 for the best score: readers stay near a subject. With it and
/// the bonus for the first page, the right page comes first for 38 of 61 follow-ups about eight sites instead of 24, and the right section for 24
/// instead of 14; of 28 changes of the subject as many keep theirs.
const PAGE_BONUS: f32 = 0.2;
/// Time limit for embedding; after it, only full-text search is used.
const EMBED_DEADLINE: Duration = Duration::from_secs(5);

/// The backends of retrieval.
#[derive(Debug, Clone)]
pub struct Backends {
    /// Embeds the question.
    pub embedder: Embedder,
    /// Reranks the best chunks.
    pub reranker: Reranker,
    /// The vector store.
    pub vectors: VectorIndex,
    /// Lists the book's chunks, with their texts.
    pub catalog: Catalog,
    /// The off-topic questions of the index that was searched last.
    pub off_topic: OffTopicCache,
    /// The embeddings of the last questions, if several books share them.
    pub questions: QuestionCache,
}

/// Retrieval from one index.
#[derive(Debug, Clone)]
pub struct Retriever {
    /// The backends; the index was made with their embedder.
    pub backends: Backends,
    /// The index to search.
    pub index: IndexRow,
}

/// The reason why nothing could be retrieved.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The vector store failed, and so did the fallback to the catalog's full-text search.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A filter value does not occur in the book.
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

/// A search text, and the page that the reader has open.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The text compared with chunks.
    text: &'a str,
    /// The URL of the open page, which is found even if it is unlisted.
    open_page: Option<&'a str>,
}

impl<'a> Query<'a> {
    /// Creates a query for a question, or for a text of the book. It finds the pages that the site lists.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            open_page: None,
        }
    }

    /// Adds the page at a URL, even if the site does not list it.
    #[must_use]
    pub fn on_page(self, page_url: Option<&'a str>) -> Self {
        Self {
            open_page: page_url,
            ..self
        }
    }

    /// Returns the URL of the open page.
    pub(crate) fn open_page(&self) -> Option<&'a str> {
        self.open_page
    }
}

/// The duration of each stage, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageTimes {
    /// Embedding the question.
    pub embed_ms: f64,
    /// Vector search and full-text search.
    pub search_ms: f64,
    /// Reading the chunks from the catalog.
    pub join_ms: f64,
    /// Combining the scores.
    pub fuse_ms: f64,
    /// Reranking.
    pub rerank_ms: f64,
}

impl StageTimes {
    /// Adds the durations of another search for the same question.
    fn add(&mut self, other: &Self) {
        self.embed_ms += other.embed_ms;
        self.search_ms += other.search_ms;
        self.join_ms += other.join_ms;
        self.fuse_ms += other.fuse_ms;
        self.rerank_ms += other.rerank_ms;
    }
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub struct Retrieved {
    /// Chunks, best first, at most one for each heading.
    pub candidates: Vec<ScoredChunk>,
    /// The number of chunks before the best were selected.
    pub num_candidates: usize,
    /// The question's tokens; empty if the index has no token vectors of this embedder.
    pub query_tokens: Vec<WeightedToken>,
    /// The question's vector; empty if the embedder was unavailable.
    pub query_vector: Vec<f32>,
    /// Signals for deciding whether the book answers.
    pub signals: Signals,
    /// The scales of the index's cosines; `None` if they have not been measured.
    pub scales: Option<Scales>,
    /// The duration of each stage.
    pub times: StageTimes,
    /// Progress of the book's first indexing; `None` once it is complete.
    pub indexing: Option<Indexing>,
    /// The dependencies that were bypassed.
    pub degraded: Vec<Degradation>,
}

/// How much the nearness of a book counts, in standard deviations, relative to 1 for the score of a chunk. Of 150 questions of real users about five
/// sites, the right page is first for .49 in a search of all five (.53 in a search of its own site) and among five for .75 (.79); with weights of
/// .07 and .73 among five for .71.
const NEARNESS_OF_BOOK: f32 = 0.22;

/// Signals for deciding whether the book covers the question.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Signals {
    /// The best cosine; `None` if the embedder does not support the question's script.
    pub cosine: Option<f32>,
    /// The mean of the ten best cosines.
    pub nearness: Option<f32>,
    /// The mean of the best cosines with questions that no documentation answers; `None` if the index has none.
    pub off_topic: Option<f32>,
    /// The nearness to the book and to those questions on the index's own scale ([`Scales::z`]); `None` if the index has not measured it.
    pub z: Option<f32>,
    /// The largest share of the question's words in one chunk, weighted by rarity, 0 to 1.
    pub coverage: f32,
    /// The best token score; `None` without token vectors.
    pub tokens: Option<f32>,
    /// The fused score of the first chunk less the mean of the first ten: how much one chunk stands out, whatever the embedder and the length of the
    /// question. `None` with fewer than ten.
    pub margin: Option<f32>,
    /// True if the first chunk's section has questions, whose scores are further apart.
    pub is_asked: bool,
}

impl Signals {
    /// Returns the value of a chunk with a fused score among those of several books: scores can only be compared within one book.
    #[must_use]
    pub fn value_among_books(&self, score: f32) -> f32 {
        score + NEARNESS_OF_BOOK * self.z.unwrap_or_default()
    }

    fn scaled(&self, scales: Option<Scales>) -> Option<f32> {
        scales?.z(self.nearness?, self.off_topic)
    }

    /// True if the best chunk fits this question better than the best chunk of another question fits that one: by the token scores, or by coverage if
    /// one of them has none.
    #[must_use]
    pub fn fits_better(&self, other: &Self) -> bool {
        match (self.tokens, other.tokens) {
            (Some(tokens), Some(others)) => tokens > others,
            _ => self.coverage > other.coverage,
        }
    }
}

impl Retrieved {
    /// Keeps the candidates that match, and recomputes the signals from them.
    pub fn keep(&mut self, of: impl Fn(&ScoredChunk) -> bool) {
        self.candidates.retain(of);
        let signals = &mut self.signals;
        let dense = self.candidates.iter().filter_map(|kept| kept.scores.dense);
        let nearest = dense.clone().fold(0.0, f32::max);
        signals.cosine = signals.cosine.map(|_| nearest);
        signals.nearness = mean_of_best(dense.collect(), NEAREST_CHUNKS);
        signals.z = signals.scaled(self.scales);
        let coverage = self.candidates.iter().map(|kept| kept.scores.coverage);
        signals.coverage = coverage.fold(0.0, f32::max);
    }

    /// Returns the candidates of this search and of that for the question before, by the score of this one, with a bonus for the pages of the other:
    /// [`PAGE_BONUS`] times the page's score there, and `first_page_bonus` for the first page.
    #[must_use]
    pub fn near(&self, before: &Self, first_page_bonus: f32) -> Vec<ScoredChunk> {
        let mut pages: HashMap<Uuid, f32> = HashMap::new();
        for found in &before.candidates {
            let bonus = PAGE_BONUS * found.scores.score;
            let is_first = pages.is_empty();
            // The best chunk of a page comes first.
            let page = pages.entry(found.chunk.document_id);
            page.or_insert(bonus + if is_first { first_page_bonus } else { 0.0 });
        }
        let own: HashSet<Uuid> = self.candidates.iter().map(|it| it.point_id).collect();
        let mut candidates = self.candidates.clone();
        for found in &before.candidates {
            if !own.contains(&found.point_id) {
                let mut found = found.clone();
                found.scores.score = 0.0;
                candidates.push(found);
            }
        }
        for found in &mut candidates {
            let bonus = pages.get(&found.chunk.document_id).copied();
            let score = found.scores.score + bonus.unwrap_or_default();
            found.scores.score = score / (1.0 + first_page_bonus + PAGE_BONUS);
        }
        fusion::sort(&mut candidates);
        candidates
    }

    /// Adds a bonus to the candidates that match, and sorts again.
    pub fn raise(&mut self, bonus: f32, of: impl Fn(&ScoredChunk) -> bool) {
        for candidate in &mut self.candidates {
            let gained = if of(candidate) { bonus } else { 0.0 };
            candidate.scores.score = (candidate.scores.score + gained) / (1.0 + bonus);
        }
        fusion::sort(&mut self.candidates);
    }
}

impl Retriever {
    /// Returns the catalog of the backends.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.backends.catalog
    }

    fn vectors(&self) -> &VectorIndex {
        &self.backends.vectors
    }

    /// Finds the chunks that may answer `query`, best first, `top_k` at most.
    ///
    /// If the join shows that the book changed during the search, the search is repeated once.
    pub async fn retrieve(
        &self,
        query: Query<'_>,
        filters: &Filters,
        top_k: usize,
    ) -> Result<Retrieved, RetrieveError> {
        let Query {
            text: query,
            open_page,
        } = query;
        let words = Words::new(language_of(filters));
        let synonyms = Synonyms::new(query, &self.index.site.synonyms, &words);
        let searched = synonyms.with(query);
        let started = Instant::now();
        let (question, mut degraded) = self.embed(&searched, &synonyms, language_of(filters)).await;
        let embed_ms = milliseconds(started);
        let terms = terms_in(&searched, &searched_languages(&self.index.site, filters));
        let (found, indexing, off_topic) = tokio::join!(
            self.search(&terms, &question, filters),
            self.indexing(),
            self.off_topic_nearness(&question.vector, filters.locale.as_deref())
        );
        let mut found = found?;
        // Before the scores are scaled to the chunks found, so that no signal comes from a hidden page.
        found
            .chunks
            .retain(|found| may_be_found(&found.chunk, open_page));
        degraded.extend(indexing.map(|_| Degradation::Indexing));
        found.degraded.retain(|it| !degraded.contains(it));
        degraded.append(&mut found.degraded);
        let times = found.times;
        let started = Instant::now();
        let (query, mut candidates, mut signals) =
            self.fused(query, &question, &synonyms, &words, found);
        signals.off_topic = off_topic;
        let calibration = self.index.calibration.as_ref();
        let scales = calibration.map(|measured| measured.scales_in(filters.locale.as_deref()));
        signals.z = signals.scaled(scales);
        let fuse_ms = milliseconds(started);
        let started = Instant::now();
        if let Err(error) = self.rerank(&query, &mut candidates).await {
            tracing::warn!(stage = "rerank", error = %format_args!("the reranker {error}"), "keeping the order of retrieval");
            degraded.push(Degradation::Reranker);
        }
        let rerank_ms = milliseconds(started);
        // While the catalog is down, the search does not know which versions belong to a kind.
        candidates.retain(|found| filters.admits_kind_of(&found.chunk.version));
        let num_candidates = candidates.len();
        candidates.truncate(top_k);
        tell_pages_apart(&mut candidates);
        Ok(Retrieved {
            candidates,
            num_candidates,
            query_tokens: question.tokens,
            query_vector: question.vector,
            signals,
            scales,
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

    /// Ranks chunks by cosine, token vectors and BM25. Also returns the question with corrected spelling.
    #[tracing::instrument(target = "spans", name = "fuse", skip_all)]
    fn fused(
        &self,
        query: &str,
        question: &EmbeddedQuestion,
        synonyms: &Synonyms<'_>,
        words: &Words,
        found: FoundChunks,
    ) -> (String, Vec<ScoredChunk>, Signals) {
        let backends = &self.backends;
        let weights = match backends.reranker {
            _ if found.by_words || !backends.embedder.reads(query) => fusion::Weights::WORDS,
            Reranker::Weighted => fusion::Weights::WEIGHTED,
            _ => fusion::Weights::with_token_share(backends.embedder.token_share()),
        };
        let mut numbers = TermNumbers::new(words);
        let mut texts: Vec<ChunkTerms> = found
            .chunks
            .iter()
            .map(|scored| ChunkTerms {
                filed: numbers.read(&scored.chunk.search_words).len(),
                all: numbers.read(&scored.chunk.searched_text()),
            })
            .collect();
        synonyms.add(&mut texts, &mut numbers);
        let query = spelling::corrected(query, &numbers);
        let frequencies = question.frequencies.as_ref();
        // A fixed order makes sums reproducible to the last bit.
        let terms: BTreeMap<String, Option<f32>> = words
            .of_question(&query)
            .map(|(word, term)| (term, frequencies.and_then(|counted| counted.idf(&word))))
            .collect();
        let terms: Vec<QuestionTerm> = terms
            .into_iter()
            .map(|(term, idf)| QuestionTerm {
                number: numbers.number(term),
                idf,
            })
            .collect();
        let (candidates, signals) =
            fusion::fused(&terms, &Names::new(&query), found.chunks, &texts, weights);
        (query, candidates, signals)
    }

    /// Returns the progress of the book's first indexing; `None` once it is complete, or if the catalog is down.
    async fn indexing(&self) -> Option<Indexing> {
        let index = &self.index;
        index.pages_expected?;
        let stats = self.catalog().stats(index.index_id);
        let stats = tokio::time::timeout(STATS_DEADLINE, stats).await.ok()?;
        stats
            .inspect_err(|error| tracing::warn!(stage = "retrieve", %error, "cannot read the progress of indexing"))
            .ok()
            .and_then(|stats| index.indexing(stats.documents))
    }

    /// Reranks the best candidates and sorts them by both scores.
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
        if depth == 0 {
            return Ok(());
        }
        let passages: Vec<String> = candidates[..depth]
            .iter()
            .map(|candidate| candidate.chunk.embedded_text())
            .collect();
        let scores = reranker.scores(query, &passages).await?;
        fusion::reranked(candidates, &scores);
        Ok(())
    }
}

/// Returns the languages of the pages that a search covers. A page keeps its own language when it is shown under a locale without a translation.
fn searched_languages(site: &SiteInfo, filters: &Filters) -> Vec<Language> {
    let mut languages = vec![language_of(filters)];
    let locales = site.locales.iter().chain([&site.default_locale]);
    for locale in locales.filter(|locale| !locale.is_empty()) {
        let language = Language::of_locale(locale);
        if !languages.contains(&language) {
            languages.push(language);
        }
    }
    languages
}

/// Returns the language of the texts that a search covers.
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

/// Returns the milliseconds since an instant.
#[must_use]
pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
