//! The pipeline from a question to a cited answer: understand → retrieve → decide → quote or generate → guard → deliver.
//!
//! Modules are listed in the order of the data flow. A public one imports only public ones above it; this file ties them together.

pub mod error;
pub mod degradation;
// The Markdown renderer of the tests of `book`.
#[cfg(test)]
#[path = "../../book/src/rendering.rs"]
pub(crate) mod rendering;

pub mod retrieve;
pub mod quote;
pub mod cite;
mod messages;
mod understand;
mod decide;
mod context;
pub mod generate;
mod guard;
mod deliver;
#[cfg(all(test, feature = "embedded", feature = "cloud"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::cite::Citation;
use crate::degradation::Degradation;
use crate::generate::{Exchange, Generator};
use crate::retrieve::{Query, RetrieveError, Retrieved, Retriever, StageTimes};
use models::chat::fence;
use store::catalog::{Freshness, SiteInfo};
use store::index::Filters;

pub use decide::answerable::{Outcome, outcome};
pub use decide::proposals::{Proposal, proposals};
pub use decide::suggestions::Suggestion;
pub use generate::limits::ModelLimits;
pub use understand::selection::{default_filters, locale_of};

use context::answer_context::AnswerContext;
use context::explanation::Explanation;
use generate::cache::Cache;
use messages::Messages;
use store::budget::Spent;
use understand::conversation::SearchResult;
use understand::language::answer_locale;
use understand::normal_form::normalised;
use understand::pointing::asks_for_meaning;
use understand::selection::{self, Selection};
use understand::small_talk::{SmallTalk, reply, reply_to_abuse};

/// The answer to a question that the book does not cover.
pub const NOT_COVERED: &str = "This documentation does not cover that.";
/// Introduces the closest passage if the book may not answer a question.
pub const UNCERTAIN: &str = "Possibly this:";
/// The answer to a question that the selected text does not cover.
pub const NOT_IN_SELECTION: &str =
    "I cannot answer this question based on the provided information.";
/// Exchanges of a conversation that are remembered; 5 exchanges are 10 messages.
pub const REMEMBERED_EXCHANGES: u32 = 5;
/// Chunks that an answer starts from, unless the client says otherwise. `docs/decisions/0003-one-chunk-one-vector.md` has the figures.
pub const DEFAULT_TOP_K: usize = 20;
/// Chunks considered for an answer: more than it uses, to find suggestions and selections.
pub const CONSIDERED: usize = 150;

/// The part of the book that may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The whole book.
    GlobalBook,
    /// The section in which the reader selected text, and its page.
    SelectedText,
}

/// A validated question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question, 1 to 2,000 characters.
    pub query: String,
    /// Background on the question, in the reader's words.
    pub context: Option<String>,
    /// The part of the book that may answer.
    pub mode: Mode,
    /// The text the reader selected.
    pub selected_text: Option<String>,
    /// The page the reader is on.
    pub page_url: Option<String>,
    /// The filters of the search.
    pub filters: Filters,
    /// The number of sections that an answer starts from. A model also reads their neighbours.
    pub top_k: usize,
    /// The form of citations in the text.
    pub labels_in_text: LabelsInText,
    /// The conversation so far according to the client, oldest first.
    pub history: Vec<Exchange>,
    /// The id of the stored conversation.
    pub conversation_id: Option<Uuid>,
}

impl Question {
    /// Creates a question about the whole book, without optional fields.
    #[must_use]
    pub fn new(query: &str) -> Self {
        Self {
            query: query.to_owned(),
            context: None,
            mode: Mode::GlobalBook,
            selected_text: None,
            page_url: None,
            filters: Filters::default(),
            top_k: DEFAULT_TOP_K,
            labels_in_text: LabelsInText::default(),
            history: Vec::new(),
            conversation_id: None,
        }
    }

    /// Returns the normal form that equal questions share: lower case except options of commands, single spaces, no trailing punctuation.
    #[must_use]
    pub fn normalised(&self) -> String {
        normalised(&self.query)
    }
}

/// Who asks, as hashes only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The hash of the client's address.
    pub address_hash: String,
    /// The hash of the question.
    pub question_hash: String,
    /// The hash of the session that owns the stored conversation.
    pub session_hash: String,
}

/// Answers questions, with its backends and rules.
#[derive(Debug, Clone)]
pub struct Answerer {
    /// Finds the chunks.
    pub retriever: Retriever,
    /// Writes the text.
    pub generator: Generator,
    /// The rules of answering.
    pub rules: Rules,
}

/// The rules of answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The refusal if the book does not cover a question; `None` for the fixed sentence in the question's language, here and in the next two fields.
    pub not_covered: Option<String>,
    /// Introduces the closest passages if the book may not answer a question.
    pub uncertain: Option<String>,
    /// The refusal if a selection does not answer a question.
    pub not_in_selection: Option<String>,
    /// Limits on a model's time and input.
    pub model: ModelLimits,
    /// The most tokens of an answer.
    pub max_answer_tokens: u32,
    /// The daily budget for models over all instances, in millionths of a dollar; when it is spent, answers are extractive.
    pub daily_budget_micro_usd: Option<u64>,
    /// How long conversations are stored; `None` stores none.
    pub keep_conversations: Option<Duration>,
    /// True if the query log stores the question's text in addition to its hash.
    pub keep_questions: bool,
    /// True if a model's answer is reused for the next reader who asks the same.
    pub cache_answers: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            not_covered: None,
            uncertain: None,
            not_in_selection: None,
            model: ModelLimits::HOSTED,
            max_answer_tokens: 800,
            daily_budget_micro_usd: None,
            keep_conversations: None,
            keep_questions: false,
            cache_answers: true,
        }
    }
}

/// The form of citations in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LabelsInText {
    /// `[n]`.
    #[default]
    Numbers,
    /// `[Module 1, Chapter 2, Lesson 3]`.
    Labels,
    /// `[^n]`, a Markdown footnote.
    Footnotes,
}

/// Everything an answer is written from.
#[derive(Debug, Clone)]
pub struct Prepared {
    answerer: Answerer,
    asker: Option<Asker>,
    question: Question,
    /// The question that was searched for, understandable on its own.
    pub standalone: String,
    history: Vec<Exchange>,
    /// The message's id, also used in the query log.
    pub message_id: Uuid,
    /// The id of the stored conversation.
    pub conversation_id: Option<Uuid>,
    /// The search results, best first.
    pub retrieved: Retrieved,
    /// Whether the book answers the question according to retrieval. A model may still refuse.
    pub outcome: Outcome,
    texts: AnswerContext,
    cache: Cache,
    book: String,
    base_url: String,
    locale: Option<String>,
    /// The locale of the book's text, if the book does not have the question's language.
    book_language: Option<String>,
    sentences: Messages,
    small_talk: Option<SmallTalk>,
    /// What explains the selected text, if that is asked for and no model answers.
    explanation: Option<Explanation>,
    /// True if the embedder understands what was searched for.
    is_read: bool,
    /// The version searched, if the book has several.
    version: Option<String>,
    spent: Spent,
    lookups: usize,
    started: Instant,
}

/// A piece of the streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEvent {
    /// A model reads this many sections and has not begun to write.
    Reading(usize),
    /// A model looks something up before it writes: words, or a page's title or path.
    LookingUp(String),
    /// Text of the answer.
    Token(String),
    /// A passage that the text cites for the first time.
    Citation(Box<Citation>),
    /// The end, with the whole answer.
    Done(Box<Answer>),
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text, with citations as `[n]` or labels.
    pub text: String,
    /// Whether the book answered the question.
    pub outcome: Outcome,
    /// The part of the book that was searched.
    pub mode_used: Mode,
    /// The mean confidence of the citations, 0 to 1.
    pub confidence: f32,
    /// The cited passages, by number.
    pub citations: Vec<Citation>,
    /// A model's sentences that no passage supports, as they appear in the text.
    pub unsupported: Vec<String>,
    /// Lines of a model's code that no passage has, in blocks whose other lines one has.
    pub adapted: Vec<String>,
    /// The closest sections that are not cited, each with the words that fit best.
    pub suggestions: Vec<Suggestion>,
    /// Up to two questions that sections next to the cited ones answer, or up to three after small talk; none if the book does not cover the
    /// question.
    pub follow_ups: Vec<String>,
    /// The message's id.
    pub message_id: Uuid,
    /// The id of the stored conversation.
    pub conversation_id: Option<Uuid>,
    /// Tokens that models read and wrote.
    pub tokens: u64,
    /// Cost of these tokens in millionths of a dollar; 0 if prices are unknown.
    pub cost_micro_usd: u64,
    /// The original cost of a reused answer, in millionths of a dollar; `None` for a new answer.
    pub saved_micro_usd: Option<u64>,
    /// How often a model looked something up before it wrote.
    pub lookups: usize,
    /// The points of the chunks that a model read.
    pub points_read: Vec<Uuid>,
    /// The chunks used, best first.
    pub retrieved_chunk_ids: Vec<Uuid>,
    /// The number of chunks found.
    pub num_candidates: usize,
    /// The chunks' ranking scores.
    pub scores: Vec<f32>,
    /// The duration of each stage.
    pub times: StageTimes,
    /// The dependencies that were bypassed.
    pub degraded: Vec<Degradation>,
    /// The locale of the book's text, if the book does not have the question's language.
    pub book_language: Option<String>,
    /// When the index was made, and from which commit.
    pub index: Option<Freshness>,
    /// Milliseconds from the question to the end.
    pub latency_ms: f64,
}

impl Answer {
    /// True if the book answered the question, or if the reader made small talk.
    #[must_use]
    pub fn answered(&self) -> bool {
        matches!(self.outcome, Outcome::Answered | Outcome::SmallTalk)
    }

    /// True if this is a reused answer of a model.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.saved_micro_usd.is_some()
    }
}

impl Answerer {
    /// Retrieves for a question and decides whether the book answers it. Nothing is recorded without an asker.
    ///
    /// # Errors
    /// If neither the vector store nor the catalog can be searched, or a filter has a value that does not occur in the book.
    pub async fn prepare(
        &self,
        mut question: Question,
        asker: Option<Asker>,
    ) -> Result<Prepared, RetrieveError> {
        let started = Instant::now();
        if self.explains(&question) {
            question.mode = Mode::GlobalBook;
        }
        let message_id = Uuid::new_v4();
        let mut degraded = Vec::new();
        let (conversation_id, history) = self
            .remembered(&question, asker.as_ref(), &mut degraded)
            .await;
        let mut spent = Spent::default();
        let site = &self.retriever.index.site;
        // "What is this?" about selected text is a question.
        let may_talk = question.mode == Mode::GlobalBook && question.selected_text.is_none();
        let mut said = may_talk
            .then(|| reply(&question.query, &site.title))
            .flatten();
        let cache = match &said {
            Some(_) => Cache::Unused,
            None => self.cached(&question, &history, asker.as_ref()).await,
        };
        let found = match (&said, &cache) {
            (Some(_), _) | (_, Cache::Hit(_)) => SearchResult::none(&question, site),
            (None, Cache::Miss(_) | Cache::Unused) => {
                let fence = fence(message_id);
                self.find(&question, &history, &fence, &mut spent).await?
            }
        };
        let (mut retrieved, locale) = (found.retrieved, found.answered_in.locale);
        let language = locale.as_ref().unwrap_or(&site.default_locale);
        let language = found.answered_in.foreign.unwrap_or(language);
        // A reused answer is complete.
        let is_reused = matches!(cache, Cache::Hit(_));
        let sentences = Messages::in_locale(&self.rules, language);
        retrieved.degraded.splice(0..0, degraded);
        let explanation = self.explain(&mut retrieved, &question, locale.as_deref());
        let explanation = explanation.await;
        let mut outcome = match explanation {
            Some(explanation) => explanation.outcome(),
            None => outcome_of(&question.mode, &retrieved),
        };
        if may_talk && outcome == Outcome::NotCovered && !is_reused {
            said = said.or_else(|| reply_to_abuse(&question.query, &site.title));
        }
        let small_talk = match said {
            Some(reply) => Some(self.small_talk(reply, &question).await),
            None => None,
        };
        if small_talk.is_some() {
            outcome = Outcome::SmallTalk;
        }
        let texts = match outcome {
            Outcome::NotCovered | Outcome::SmallTalk => AnswerContext::default(),
            Outcome::Answered | Outcome::Uncertain => {
                let locale = locale.as_deref();
                self.read_texts(&mut retrieved, &question, locale).await
            }
        };
        Ok(Prepared {
            answerer: self.clone(),
            asker,
            message_id,
            conversation_id,
            standalone: found.standalone,
            history,
            locale,
            book_language: found.answered_in.book_language,
            sentences,
            small_talk,
            explanation,
            is_read: found.is_read,
            version: version_of(site, &question),
            question,
            retrieved,
            outcome,
            texts,
            cache,
            book: site.title.clone(),
            base_url: site.base_url.clone(),
            spent,
            lookups: 0,
            started,
        })
    }

    /// Retrieves for a question; `standalone` is the question in a form that needs no conversation. If it only asks what the selected text means, that
    /// text is searched for.
    async fn retrieve(
        &self,
        question: &Question,
        standalone: String,
    ) -> Result<SearchResult, RetrieveError> {
        let standalone = match &question.selected_text {
            Some(selected)
                if asks_for_meaning(&standalone, self.language_of(question, &standalone)) =>
            {
                selected.clone()
            }
            _ => standalone,
        };
        let page_url = question.page_url.as_deref();
        let site = &self.retriever.index.site;
        let answered_in = answer_locale(question, &standalone, site);
        let locale = &answered_in.locale;
        let mut filters = default_filters(site, &question.filters, page_url);
        if question.filters.locale.is_none() {
            filters.locale = locale.clone().or(filters.locale);
        }
        let text = match &question.context {
            Some(context) => format!("{standalone}\n\nContext: {context}"),
            None => standalone.clone(),
        };
        let selection = Selection::new(question, locale.as_deref());
        let query = Query::new(&text).on_page(page_url);
        let retriever = &self.retriever;
        let retrieved = match (&question.mode, selection) {
            (Mode::SelectedText, Some(selection)) => {
                let limit = question.top_k;
                selection::retrieve_in_selection(retriever, query, &selection, &filters, limit)
                    .await
            }
            (Mode::GlobalBook, Some(selection)) => {
                selection::retrieve_around_selection(retriever, query, &selection, &filters).await
            }
            (_, None) => selection::retrieve_on_page(retriever, query, &filters).await,
        }?;
        retriever
            .check_limits(&question.filters, &retrieved)
            .await?;
        let is_read = self.reads(&standalone, &answered_in);
        Ok(SearchResult {
            standalone,
            answered_in,
            is_read,
            retrieved,
        })
    }
}

/// Returns the version that is searched; `None` if the book has only one.
fn version_of(site: &SiteInfo, question: &Question) -> Option<String> {
    let filters = default_filters(site, &question.filters, question.page_url.as_deref());
    filters
        .version
        .filter(|_| site.instances().any(|docs| !docs.version_paths.is_empty()))
}

/// Decides whether the book answers a question. A selection that is uncertain counts as answered, because no other section can be closer.
fn outcome_of(mode: &Mode, retrieved: &Retrieved) -> Outcome {
    if retrieved.candidates.is_empty() {
        return Outcome::NotCovered;
    }
    match (mode, outcome(&retrieved.signals)) {
        (Mode::SelectedText, Outcome::Uncertain) => Outcome::Answered,
        (_, outcome) => outcome,
    }
}
