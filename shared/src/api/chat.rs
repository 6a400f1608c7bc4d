//! The chat request, and its answer as JSON.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::book_view::BookView;
use super::envelope::Meta;
use super::extract::{object, objects};
use super::number::whole_number;
use answer::cite::Citation;
use answer::error::Error;
use answer::generate::Exchange;
use answer::{Answer, DEFAULT_TOP_K, LabelsInText, Mode, Outcome, Question, Suggestion};
use models::prices::dollars;
use store::catalog::{Feedback, Rating};
use store::index::Filters;

/// The longest question, in characters.
pub(super) const MAX_QUERY_CHARACTERS: usize = 2_000;
/// The longest selection and context, in characters.
const MAX_TEXT_CHARACTERS: usize = 2_000;
/// The longest session name, in characters.
const MAX_SESSION_CHARACTERS: usize = 200;
/// The number of messages read from a history, newest first, and the characters read of each. Clients send back answers, which may be longer.
const MAX_HISTORY: usize = 10;
const MAX_HISTORY_CHARACTERS: usize = 2_000;
/// The most sections that an answer may start from.
const MAX_TOP_K: usize = 20;

/// A question as sent by a client. `question` and `message` are other names of `query`, and `max_results` of `top_k`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct ChatRequest {
    /// The question, 1 to 2,000 characters after trimming.
    #[cfg_attr(feature = "openapi", schema(required, value_type = String, min_length = 1, max_length = 2000))]
    #[serde(alias = "question", alias = "message")]
    pub query: Option<String>,
    /// `global_book` or `selected_text`.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Mode>))]
    pub mode: Option<String>,
    /// The text the reader selected, at most 2,000 characters. Required in mode `selected_text`.
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub selected_text: Option<String>,
    /// Background on the question in the reader's words, at most 2,000 characters.
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub context: Option<String>,
    /// The URL or path of the page the reader is on. It selects the locale and version, and favours that page's sections a little. The
    /// page is found even if it is unlisted.
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub page_url: Option<String>,
    /// Limits on the search.
    #[serde(deserialize_with = "object")]
    pub filters: Filters,
    /// The number of sections that an answer starts from, 1 to 20. A model also reads their neighbours.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 20))]
    #[serde(alias = "max_results", deserialize_with = "whole_number")]
    pub top_k: Option<usize>,
    /// The conversation so far, oldest first, for clients that keep it. The newest 10 messages are read.
    #[serde(deserialize_with = "objects")]
    pub history: Vec<HistoryMessage>,
    /// The id of the stored conversation, from an earlier answer.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Uuid>))]
    pub conversation_id: Option<String>,
    /// The reader's session, at most 200 characters. Other sessions cannot read its stored conversations.
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub session_id: Option<String>,
    /// The form of citations: `number` or `label`.
    #[cfg_attr(feature = "openapi", schema(pattern = "^(number|label)$"))]
    pub citation_style: Option<String>,
    /// Of a server with several books: the ids of those that may answer. By default the book of the page that sends the request, else all public ones.
    pub books: Vec<String>,
}

/// A message of a conversation kept by the client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HistoryMessage {
    /// `user` or `assistant`.
    #[cfg_attr(feature = "openapi", schema(required, pattern = "^(user|assistant)$"))]
    pub role: String,
    /// The message's text. The first 2,000 characters are read. After a question about selected text, that text follows on the next line.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub content: String,
}

impl ChatRequest {
    /// Returns the reader's session.
    ///
    /// # Errors
    /// `Invalid` if it is too long.
    pub fn session(&self) -> Result<Option<String>, Error> {
        let session = self.session_id.clone();
        limited_text("session_id", session, MAX_SESSION_CHARACTERS)
    }
}

/// Returns the newest messages of the history as questions with their answers.
fn exchanges(history: &[HistoryMessage]) -> Result<Vec<Exchange>, Error> {
    let newest = &history[history.len().saturating_sub(MAX_HISTORY)..];
    let mut exchanges: Vec<Exchange> = Vec::new();
    for message in newest {
        let content = clean(&message.content);
        let content = content.chars().take(MAX_HISTORY_CHARACTERS).collect();
        match message.role.as_str() {
            "user" => exchanges.push(Exchange {
                question: content,
                answer: None,
            }),
            "assistant" => match exchanges
                .last_mut()
                .filter(|exchange| exchange.answer.is_none())
            {
                Some(exchange) => exchange.answer = Some(content),
                None => exchanges.push(Exchange {
                    question: String::new(),
                    answer: Some(content),
                }),
            },
            _ => {
                let message = "history.role must be user or assistant";
                return Err(Error::field("history.role", message));
            }
        }
    }
    Ok(exchanges)
}

fn conversation_id(id: Option<&str>) -> Result<Option<Uuid>, Error> {
    let message = "conversation_id must be the conversation_id of an answer";
    id.map(str::parse)
        .transpose()
        .map_err(|_| Error::field("conversation_id", message))
}

impl TryFrom<ChatRequest> for Question {
    type Error = Error;

    fn try_from(request: ChatRequest) -> Result<Self, Error> {
        let query = required_text("query", request.query, MAX_QUERY_CHARACTERS)?;
        let mode = match request.mode.as_deref() {
            None | Some("global_book") => Mode::GlobalBook,
            Some("selected_text") => Mode::SelectedText,
            Some(_) => {
                return Err(Error::field(
                    "mode",
                    "mode must be global_book or selected_text",
                ));
            }
        };
        let selected_text = optional_text("selected_text", request.selected_text)?;
        if mode == Mode::SelectedText && selected_text.is_none() {
            return Err(Error::field(
                "selected_text",
                "mode selected_text needs selected_text",
            ));
        }
        let top_k = request.top_k.unwrap_or(DEFAULT_TOP_K);
        if !(1..=MAX_TOP_K).contains(&top_k) {
            return Err(Error::field(
                "top_k",
                format!("top_k must be 1 to {MAX_TOP_K}, got {top_k}"),
            ));
        }
        let labels_in_text = match request.citation_style.as_deref() {
            None | Some("number") => LabelsInText::Numbers,
            Some("label") => LabelsInText::Labels,
            Some(_) => {
                return Err(Error::field(
                    "citation_style",
                    "citation_style must be number or label",
                ));
            }
        };
        check_filters(&request.filters)?;
        Ok(Self {
            query,
            context: optional_text("context", request.context)?,
            mode,
            selected_text,
            page_url: optional_text("page_url", request.page_url)?,
            filters: request.filters,
            top_k,
            labels_in_text,
            history: exchanges(&request.history)?,
            conversation_id: conversation_id(request.conversation_id.as_deref())?,
        })
    }
}

/// Returns a required text without control characters and surrounding spaces.
pub(super) fn required_text(
    field: &'static str,
    text: Option<String>,
    most: usize,
) -> Result<String, Error> {
    let text = clean(&text.unwrap_or_default());
    let characters = text.chars().count();
    if characters == 0 || characters > most {
        return Err(Error::field(
            field,
            format!("{field} must have 1 to {most} characters, it has {characters}"),
        ));
    }
    Ok(text)
}

pub(crate) fn optional_text(
    field: &'static str,
    text: Option<String>,
) -> Result<Option<String>, Error> {
    limited_text(field, text, MAX_TEXT_CHARACTERS)
}

fn limited_text(
    field: &'static str,
    text: Option<String>,
    most: usize,
) -> Result<Option<String>, Error> {
    let Some(text) = text
        .map(|text| clean(&text))
        .filter(|text| !text.is_empty())
    else {
        return Ok(None);
    };
    let characters = text.chars().count();
    if characters > most {
        return Err(Error::field(
            field,
            format!("{field} must have at most {most} characters, it has {characters}"),
        ));
    }
    Ok(Some(text))
}

/// Removes control characters, which are never part of a question.
fn clean(text: &str) -> String {
    let kept: String = text
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    kept.trim().to_owned()
}

pub(super) fn check_filters(filters: &Filters) -> Result<(), Error> {
    match filters.hardware_tier {
        Some(tier) if !(1..=4).contains(&tier) => Err(Error::field(
            "filters.hardware_tier",
            format!("filters.hardware_tier must be 1 to 4, got {tier}"),
        )),
        _ => Ok(()),
    }
}

/// An answer as sent to a client at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatData {
    /// The answer as Markdown, with citations as `[n]`. Quotes of the book are escaped, so that its text renders as text and its bracketed numbers
    /// are not citations.
    pub answer: String,
    /// The part of the book that was searched.
    pub mode_used: Mode,
    /// What else is known about it.
    #[serde(flatten)]
    pub view: AnswerView,
}

/// What a client is told about an answer, whether its text is sent at once or in pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnswerView {
    /// True if `outcome` is `answered`.
    pub answered: bool,
    /// Whether the book answered the question. If that is uncertain, the answer says so and quotes the closest passages, or a model wrote it from them.
    pub outcome: Outcome,
    /// The mean confidence of the citations, 0 to 1.
    pub confidence: f32,
    /// The cited passages. At the end of a stream they have the support that was found for later sentences, too.
    pub citations: Vec<Citation>,
    /// A model's sentences that no passage supports, as they appear in the answer.
    #[serde(default)]
    pub unsupported: Vec<String>,
    /// Lines of a model's code that no passage has, in blocks whose other lines one has.
    #[serde(default)]
    pub adapted: Vec<String>,
    /// The closest sections that are not cited, each with the words that fit best.
    pub suggestions: Vec<Suggestion>,
    /// Up to two questions that sections next to the cited ones answer, as plain text; none if the book does not cover the question.
    #[serde(default)]
    pub follow_ups: Vec<String>,
    /// The locale of the book's text, such as `en`, if the book does not have the question's language.
    pub book_language: Option<String>,
    /// The id of the stored conversation, to be sent with the next question.
    pub conversation_id: Option<Uuid>,
    /// The message's id, for feedback.
    pub message_id: Uuid,
    /// The book that answered, if the request named none of several; then the addresses of citations and suggestions are absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book: Option<BookView>,
}

impl ChatData {
    /// Creates what a client is told at once. `book` is the book that answered, if the request named none of several.
    #[must_use]
    pub fn new(answer: &Answer, book: Option<&BookView>) -> Self {
        Self {
            answer: answer.text.clone(),
            mode_used: answer.mode_used.clone(),
            view: AnswerView::new(answer, book),
        }
    }
}

impl AnswerView {
    /// Creates what a client is told about an answer. `book` is the book that answered, if the request named none of several.
    #[must_use]
    pub fn new(answer: &Answer, book: Option<&BookView>) -> Self {
        let mut answer = answer.clone();
        if let Some(book) = book {
            book.complete(&mut answer);
        }
        Self {
            answered: answer.answered(),
            outcome: answer.outcome,
            confidence: answer.confidence,
            citations: answer.citations,
            unsupported: answer.unsupported,
            adapted: answer.adapted,
            suggestions: answer.suggestions,
            follow_ups: answer.follow_ups,
            book_language: answer.book_language,
            conversation_id: answer.conversation_id,
            message_id: answer.message_id,
            book: book.cloned(),
        }
    }
}

impl Meta {
    /// Returns the answer's metadata.
    #[must_use]
    pub fn of_answer(answer: &Answer, request_id: String) -> Self {
        Self {
            request_id,
            latency_ms: answer.latency_ms,
            source_count: answer.citations.len(),
            num_candidates: answer.num_candidates,
            score_distribution: answer.scores.clone(),
            stages_ms: answer.times,
            degraded: answer.degraded.clone(),
            tokens: answer.tokens,
            cost_usd: dollars(answer.cost_micro_usd),
            cached: answer.is_cached(),
            outcome: Some(answer.outcome),
            index: answer.index.clone(),
        }
    }
}

/// Feedback as sent by a client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct FeedbackRequest {
    /// The message's id.
    #[cfg_attr(feature = "openapi", schema(required, value_type = Uuid))]
    pub message_id: Option<String>,
    /// `up`, `down` or `citation_clicked`.
    #[cfg_attr(feature = "openapi", schema(required, value_type = String, pattern = "^(up|down|citation_clicked)$"))]
    pub rating: Option<String>,
    /// A comment of the reader, at most 2,000 characters.
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub comment: Option<String>,
}

impl TryFrom<FeedbackRequest> for Feedback {
    type Error = Error;

    fn try_from(request: FeedbackRequest) -> Result<Self, Error> {
        let message_id = request.message_id.unwrap_or_default();
        Ok(Self {
            message_id: message_id.parse().map_err(|_| {
                Error::field(
                    "message_id",
                    "message_id must be the message_id of an answer",
                )
            })?,
            rating: match request.rating.as_deref() {
                Some("up") => Rating::Up,
                Some("down") => Rating::Down,
                Some("citation_clicked") => Rating::CitationClicked,
                _ => {
                    return Err(Error::field(
                        "rating",
                        "rating must be up, down or citation_clicked",
                    ));
                }
            },
            comment: optional_text("comment", request.comment)?,
        })
    }
}

#[cfg(test)]
mod tests;
