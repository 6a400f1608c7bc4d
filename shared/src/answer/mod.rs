//! The pipeline from a question to a cited answer: rewrite → retrieve → decide → generate → cite → write down.

mod limits;
mod scope;
mod language;
mod sentences;
mod anaphora;
mod follow_up;
mod conversation;
mod answerable;
mod cut_code;
mod passages;
mod similarity;
mod links;
mod texts;
mod closest;
mod spending;
mod turns;
mod refusal;
mod leak;
mod code;
mod attribution;
mod writer;
mod draft;
mod journal;
mod cached;
mod opening;
mod events;
mod given;
mod stream;
#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::catalog::SiteInfo;
use crate::cite::Citation;
use crate::degradation::Degradation;
use crate::generate::{Generator, Turn};
use crate::index::Filters;
use crate::retrieve::{Query, RetrieveError, Retrieved, Retriever, StageTimes};

pub use answerable::{Outcome, outcome};
pub use limits::ModelLimits;
pub use scope::{default_filters, locale_of};

use anaphora::asks_for_code;
use cached::Cache;
use closest::closest;
use conversation::Found;
use follow_up::code_of;
use language::answer_locale;
use scope::Selection;
use sentences::Sentences;
use spending::Spent;
use texts::Texts;

/// What is said when the book does not cover a question (S2).
pub const NOT_COVERED: &str = "I don't have information on that in the textbook.";
/// What introduces the sections that come closest when the book may not answer a question.
pub const UNCERTAIN: &str =
    "I am not sure that the book answers this. These sections come closest:";
/// What is said when a selection does not (S4).
pub const NOT_IN_SELECTION: &str =
    "I cannot answer this question based on the provided information.";
/// How far back a conversation is remembered: its last 10 messages (S1).
pub const REMEMBERED_EXCHANGES: u32 = 5;
/// Chunks that an answer considers: more than it draws on, for suggestions and selections.
pub const CONSIDERED: usize = 150;

/// What may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The whole book.
    GlobalBook,
    /// The section that the reader selected text in, and its page.
    SelectedText,
}

/// A question that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question, 1 to 2,000 characters.
    pub query: String,
    /// The reader's own words on what it is about.
    pub context: Option<String>,
    /// What may answer.
    pub mode: Mode,
    /// The text the reader selected.
    pub selected_text: Option<String>,
    /// The page the reader is on.
    pub page_url: Option<String>,
    /// Limits on what may be found.
    pub filters: Filters,
    /// How many passages an answer may draw on.
    pub top_k: usize,
    /// Whether labels replace `[n]` in the text.
    pub labels_in_text: LabelsInText,
    /// The conversation before, as the client tells it: oldest first.
    pub history: Vec<Turn>,
    /// The conversation, where conversations are stored.
    pub conversation_id: Option<Uuid>,
}

impl Question {
    /// A question about the whole book, without all that may go with it.
    #[must_use]
    pub fn new(query: &str, top_k: usize) -> Self {
        Self {
            query: query.to_owned(),
            context: None,
            mode: Mode::GlobalBook,
            selected_text: None,
            page_url: None,
            filters: Filters::default(),
            top_k,
            labels_in_text: LabelsInText::default(),
            history: Vec::new(),
            conversation_id: None,
        }
    }
}

/// Signs at the end of a question that equal questions may differ in.
const ENDS: [char; 7] = ['?', '!', '.', '…', '？', '！', '。'];

impl Question {
    /// The question as equal ones have it: in lower case, with single spaces, without signs at its end.
    #[must_use]
    pub fn normalised(&self) -> String {
        let lower = self.query.to_lowercase().replace('’', "'");
        let words: Vec<&str> = lower.split_whitespace().collect();
        let joined = words.join(" ");
        joined
            .trim_end_matches(|c: char| ENDS.contains(&c) || c == ' ')
            .to_owned()
    }
}

/// Who asks: hashes only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// Of the client's address.
    pub address_hash: String,
    /// Of the question.
    pub question_hash: String,
    /// Of the session that a stored conversation belongs to.
    pub session_hash: String,
}

/// What answers questions: its ports, and the rules it keeps to.
#[derive(Debug, Clone)]
pub struct Answerer {
    /// Retrieval, with its ports.
    pub retriever: Retriever,
    /// What writes answers.
    pub generator: Generator,
    /// The rules.
    pub rules: Rules,
}

/// The rules of answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// What is said when the book does not cover a question.
    pub not_covered: String,
    /// What introduces the sections that come closest when the book may not answer a question.
    pub uncertain: String,
    /// What is said when a selection does not.
    pub not_in_selection: String,
    /// How long a model may take, and how much it reads.
    pub model: ModelLimits,
    /// Tokens an answer may have.
    pub max_answer_tokens: u32,
    /// Millionths of a dollar that models may cost a day, all instances together; beyond them answers are extractive.
    pub daily_budget_micro_usd: Option<u64>,
    /// For how long conversations are stored; `None` stores none.
    pub keep_conversations: Option<Duration>,
    /// Whether the query log holds the questions' text, not their hash alone.
    pub keep_questions: bool,
    /// Whether a model's answer to a question is given again to the next reader who asks it.
    pub cache_answers: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            not_covered: NOT_COVERED.to_owned(),
            uncertain: UNCERTAIN.to_owned(),
            not_in_selection: NOT_IN_SELECTION.to_owned(),
            model: ModelLimits::HOSTED,
            max_answer_tokens: 800,
            daily_budget_micro_usd: None,
            keep_conversations: None,
            keep_questions: false,
            cache_answers: true,
        }
    }
}

/// How citations stand in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LabelsInText {
    /// `[n]`.
    #[default]
    Numbers,
    /// `[Module 1, Chapter 2, Lesson 3]`.
    Labels,
}

/// A page near to a question that the book does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Suggestion {
    /// The page's title.
    pub title: String,
    /// Its URL.
    pub url: String,
}

/// What an answer is made of, before it is written.
#[derive(Debug, Clone)]
pub struct Prepared {
    answerer: Answerer,
    asker: Option<Asker>,
    question: Question,
    /// The question as it was searched for: it stands alone.
    pub standalone: String,
    history: Vec<Turn>,
    /// The message's id; the query log's too.
    pub message_id: Uuid,
    /// The conversation, where conversations are stored.
    pub conversation_id: Option<Uuid>,
    /// What was found, best first.
    pub retrieved: Retrieved,
    /// Whether the book answers the question, as far as retrieval can say. A model may still refuse.
    pub outcome: Outcome,
    texts: Texts,
    cache: Cache,
    book: String,
    base_url: String,
    locale: Option<String>,
    /// The locale of the book's text, if the question is in a language that the book does not have.
    book_language: Option<String>,
    sentences: Sentences,
    /// The version that is searched, if the book has several.
    version: Option<String>,
    spent: Spent,
    started: Instant,
}

/// A piece of the answer as it comes.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEvent {
    /// A model reads so many sections and has not begun to write.
    Reading(usize),
    /// Text.
    Token(String),
    /// A passage that the text named for the first time.
    Citation(Box<Citation>),
    /// The end, with the whole.
    Done(Box<Answer>),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text, citations as `[n]` or labels.
    pub text: String,
    /// Whether the book answered the question.
    pub outcome: Outcome,
    /// What was searched.
    pub mode_used: Mode,
    /// The mean confidence of the citations, 0 to 1.
    pub confidence: f32,
    /// The passages cited, by number.
    pub citations: Vec<Citation>,
    /// The sentences of a model that no passage says, as they stand in the text.
    pub unsupported: Vec<String>,
    /// Pages nearest to a question that was not answered.
    pub suggestions: Vec<Suggestion>,
    /// The message's id.
    pub message_id: Uuid,
    /// The conversation, where conversations are stored.
    pub conversation_id: Option<Uuid>,
    /// Tokens that models read and wrote.
    pub tokens: u64,
    /// What they cost, in millionths of a dollar; 0 where prices are not known.
    pub cost_micro_usd: u64,
    /// What a model's former answer that is given again had cost, in millionths of a dollar; `None` for one that is made anew.
    pub saved_micro_usd: Option<u64>,
    /// The chunks that were used, best first.
    pub retrieved_chunk_ids: Vec<Uuid>,
    /// How many chunks were found.
    pub num_candidates: usize,
    /// What they are ranked by.
    pub scores: Vec<f32>,
    /// How long each stage took.
    pub times: StageTimes,
    /// What it went without.
    pub degraded: Vec<Degradation>,
    /// The locale of the book's text, if the question is in a language that the book does not have.
    pub book_language: Option<String>,
    /// From the question to the end, in milliseconds.
    pub latency_ms: f64,
}

impl Answer {
    /// True if the book answered the question.
    #[must_use]
    pub fn answered(&self) -> bool {
        self.outcome == Outcome::Answered
    }

    /// True if a model's former answer is given again.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.saved_micro_usd.is_some()
    }
}

impl Answerer {
    /// Retrieves for a question and decides whether the book answers it. Without an asker nothing is written down.
    ///
    /// # Errors
    /// If neither the vector store nor the catalog can be searched, or a filter has a value that nothing in the book has.
    pub async fn prepare(
        &self,
        question: Question,
        asker: Option<Asker>,
    ) -> Result<Prepared, RetrieveError> {
        let started = Instant::now();
        let message_id = Uuid::new_v4();
        let mut degraded = Vec::new();
        let (conversation_id, history) = self
            .remembered(&question, asker.as_ref(), &mut degraded)
            .await;
        let mut spent = Spent::default();
        let cache = self.cached(&question, &history, asker.as_ref()).await;
        let site = &self.retriever.index.site;
        let found = match &cache {
            Cache::Hit(_) => Found {
                answered_in: answer_locale(&question, &question.query, site),
                standalone: question.query.clone(),
                retrieved: Retrieved::default(),
            },
            Cache::Miss(_) | Cache::Unused => {
                let fence = fence(message_id);
                self.find(&question, &history, &fence, &mut spent).await?
            }
        };
        let (mut retrieved, locale) = (found.retrieved, found.answered_in.locale);
        let language = locale.as_ref().unwrap_or(&site.default_locale);
        let sentences = Sentences::of(&self.rules, language);
        retrieved.degraded.splice(0..0, degraded);
        let outcome = outcome_of(&question.mode, &retrieved);
        let mut texts = match outcome {
            Outcome::NotCovered => Texts::default(),
            Outcome::Answered | Outcome::Uncertain => {
                let locale = locale.as_deref();
                self.read_texts(&mut retrieved, question.top_k, locale)
                    .await
            }
        };
        if !history.is_empty()
            && asks_for_code(&question.query)
            && let Some(code) = code_of(&texts.quotable)
        {
            texts.quotable = code;
        }
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
            version: version_of(site, &question),
            question,
            retrieved,
            outcome,
            texts,
            cache,
            book: site.title.clone(),
            base_url: site.base_url.clone(),
            spent,
            started,
        })
    }

    /// Retrieves for a question, which `standalone` says without the conversation before it.
    async fn retrieve(
        &self,
        question: &Question,
        standalone: String,
    ) -> Result<Found, RetrieveError> {
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
        let selection = question.selected_text.as_deref().map(|text| Selection {
            text,
            page_url,
            locale: locale.as_deref(),
        });
        let query = Query::reworded(&text, &question.query);
        let retriever = &self.retriever;
        let retrieved = match (&question.mode, selection) {
            (Mode::SelectedText, Some(selection)) => {
                let limit = question.top_k;
                scope::retrieve_in_selection(retriever, query, &selection, &filters, limit).await
            }
            (Mode::GlobalBook, Some(selection)) => {
                scope::retrieve_around_selection(retriever, query, &selection, &filters).await
            }
            (_, None) => {
                let locale = locale.as_deref();
                scope::retrieve_on_page(retriever, query, page_url, locale, &filters).await
            }
        }?;
        retriever
            .check_limits(&question.filters, &retrieved)
            .await?;
        Ok(Found {
            standalone,
            answered_in,
            retrieved,
        })
    }
}

/// The version that is searched; `None` if the book has only one.
fn version_of(site: &SiteInfo, question: &Question) -> Option<String> {
    let filters = default_filters(site, &question.filters, question.page_url.as_deref());
    filters
        .version
        .filter(|_| site.all_docs().any(|docs| !docs.version_paths.is_empty()))
}

/// Decides whether the book answers a question. A selection that is near enough is quoted: there is no closer section to name.
fn outcome_of(mode: &Mode, retrieved: &Retrieved) -> Outcome {
    if retrieved.candidates.is_empty() {
        return Outcome::NotCovered;
    }
    match (mode, outcome(&retrieved.signals)) {
        (Mode::SelectedText, Outcome::Uncertain) => Outcome::Answered,
        (_, outcome) => outcome,
    }
}

/// How many hexadecimal digits tell a fence from others: 48 random bits. Each line of a fence costs a model about as many tokens as it
/// has digits.
const FENCE_DIGITS: usize = 12;

/// A word that stands before and after what is data in a prompt: nobody who wrote the data could know it.
fn fence(message_id: Uuid) -> String {
    let digits = message_id.simple().to_string();
    format!("data-{}", &digits[..FENCE_DIGITS])
}
