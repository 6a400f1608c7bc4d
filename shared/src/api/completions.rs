//! OpenAI-compatible chat completions, so that chat front ends can use the book as a model. Answers are those of the chat route.

use axum::Json;
use axum::http::StatusCode;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures::Stream;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::chat::{ChatRequest, HistoryMessage};
use super::envelope::{ErrorBody, status_of};
use super::extract::objects;
use super::observe::Observed;
use super::stream::streamed;
use answer::cite::Citation;
use answer::degradation::Degradation;
use answer::error::Error;
use answer::{Answer, AnswerEvent, LabelsInText, Outcome, Question};
use book::{escaped, href};

/// The data of a stream's last event.
const END: &str = "[DONE]";

/// A chat completion request. Other fields, such as `temperature` and `tools`, are ignored.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct CompletionRequest {
    /// The model. Any name is accepted, because the book is the only model.
    pub model: Option<String>,
    /// The conversation, oldest first. The user's last message is the question, 1 to 2,000 characters; the newest 10 messages before it are read.
    /// Messages with roles other than `user` and `assistant` are ignored.
    #[cfg_attr(feature = "openapi", schema(required, min_items = 1))]
    #[serde(deserialize_with = "objects")]
    pub messages: Vec<CompletionMessage>,
    /// True for server-sent events.
    pub stream: Option<bool>,
    /// Optional parts of a stream.
    pub stream_options: Option<StreamOptions>,
}

/// Optional parts of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct StreamOptions {
    /// True for a chunk with token counts before the end.
    pub include_usage: Option<bool>,
}

/// A message of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct CompletionMessage {
    /// The author's role: `user`, `assistant` or another.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub role: String,
    /// The message's content.
    pub content: Option<Content>,
}

/// The content of a message: a text, or parts, of which only texts are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Content {
    /// A single text.
    Text(String),
    /// A list of parts.
    Parts(Vec<ContentPart>),
}

/// A part of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct ContentPart {
    /// The text, if the part is a text.
    pub text: Option<String>,
}

impl Content {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => {
                let texts = parts.into_iter().filter_map(|part| part.text);
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl CompletionRequest {
    /// True if the answer is to be streamed.
    #[must_use]
    pub fn wants_stream(&self) -> bool {
        self.stream == Some(true)
    }
}

impl TryFrom<CompletionRequest> for Question {
    type Error = Error;

    fn try_from(request: CompletionRequest) -> Result<Self, Error> {
        let mut said: Vec<HistoryMessage> = request
            .messages
            .into_iter()
            .filter(|message| matches!(message.role.as_str(), "user" | "assistant"))
            .map(|CompletionMessage { role, content }| {
                let content = content.map(Content::text).unwrap_or_default();
                let content = match role.as_str() {
                    "assistant" => without_footnotes(&content),
                    _ => content,
                };
                HistoryMessage { role, content }
            })
            .collect();
        let asked = said.iter().rposition(|message| message.role == "user");
        let asked = asked.ok_or_else(|| {
            Error::field(
                "messages",
                "messages must contain a message with the role user: the question",
            )
        })?;
        said.truncate(asked + 1);
        let query = said.pop().map(|message| message.content);
        let question = Self::try_from(ChatRequest {
            query,
            history: said,
            ..ChatRequest::default()
        });
        let question = question.map_err(|mut error| {
            error.field = Some("messages");
            error
        })?;
        Ok(Self {
            labels_in_text: LabelsInText::Footnotes,
            ..question
        })
    }
}

/// Removes the footnotes that were added to an earlier answer, because clients send it back with them.
fn without_footnotes(answer: &str) -> String {
    let lines = answer.lines().filter(|line| {
        let is_definition = line.starts_with("[^") && line.contains("]: ");
        !is_definition
    });
    lines.collect::<Vec<_>>().join("\n").replace("[^", "[")
}

/// A chat completion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Completion {
    /// The completion's id.
    pub id: String,
    /// `chat.completion`.
    pub object: String,
    /// The creation time, in seconds since 1970.
    pub created: i64,
    /// The book's title.
    pub model: String,
    /// The only answer.
    pub choices: Vec<Choice>,
    /// The tokens that models read and wrote.
    pub usage: Usage,
    /// The cited passages, as in the chat route.
    pub citations: Vec<Citation>,
    /// Whether the book answered the question.
    pub outcome: Outcome,
}

/// An answer of a completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Choice {
    /// Always 0.
    pub index: u32,
    /// The answer.
    pub message: AnswerMessage,
    /// `stop`, or `length` or `content_filter` if it was cut off.
    pub finish_reason: String,
}

/// The message of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnswerMessage {
    /// `assistant`.
    pub role: String,
    /// Markdown, with a footnote for each cited passage.
    pub content: String,
}

/// Token counts; 0 without a model. Tokens read and tokens written are not separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[expect(clippy::struct_field_names, reason = "these are the names on the wire")]
pub struct Usage {
    /// All tokens.
    pub prompt_tokens: u64,
    /// Always 0.
    pub completion_tokens: u64,
    /// All tokens.
    pub total_tokens: u64,
}

impl Usage {
    fn from_answer(answer: &Answer) -> Self {
        Self {
            prompt_tokens: answer.tokens,
            completion_tokens: 0,
            total_tokens: answer.tokens,
        }
    }
}

impl Completion {
    /// Creates the completion of an answer. Page paths become URLs if the site's `origin` is known.
    #[must_use]
    pub fn from_answer(answer: &Answer, model: String, origin: Option<&str>) -> Self {
        let content = with_footnotes(answer, origin);
        Self {
            id: completion_id(answer.message_id),
            object: "chat.completion".to_owned(),
            created: Timestamp::now().as_second(),
            model,
            choices: vec![Choice {
                index: 0,
                message: AnswerMessage {
                    role: "assistant".to_owned(),
                    content,
                },
                finish_reason: finish_reason(answer).to_owned(),
            }],
            usage: Usage::from_answer(answer),
            citations: answer.citations.clone(),
            outcome: answer.outcome,
        }
    }
}

fn completion_id(message_id: Uuid) -> String {
    format!("chatcmpl-{message_id}")
}

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.degraded.contains(&Degradation::ContentFilter) {
        "content_filter"
    } else if answer.degraded.contains(&Degradation::Truncated) {
        "length"
    } else {
        "stop"
    }
}

/// Returns an answer with its footnotes, each with a link to its section. Page paths become URLs if the site's `origin` is known.
#[must_use]
pub fn with_footnotes(answer: &Answer, origin: Option<&str>) -> String {
    format!("{}{}", answer.text, footnotes(&answer.citations, origin))
}

/// Returns a list of links to the sections that an answer suggests; empty without one.
#[must_use]
pub fn suggested(answer: &Answer, origin: Option<&str>) -> String {
    let entries = answer.suggestions.iter().map(|suggestion| {
        let entry = link(&suggestion.title, &suggestion.url, origin);
        format!("- {entry}\n")
    });
    entries.collect()
}

/// Returns the definitions of an answer's footnotes, each with a link to its section; empty without citations.
fn footnotes(citations: &[Citation], origin: Option<&str>) -> String {
    let notes = citations.iter().map(|citation| {
        let Citation { title, section, .. } = citation;
        let name = if section == title || section.is_empty() {
            title.clone()
        } else {
            format!("{title} – {section}")
        };
        let link = link(&name, &citation.url, origin);
        format!("\n\n[^{}]: {link}", citation.n)
    });
    notes.collect()
}

/// Links a name to a page; the name alone if its address cannot be written.
fn link(name: &str, url: &str, origin: Option<&str>) -> String {
    let url = match origin {
        Some(origin) if url.starts_with('/') => format!("{origin}{url}"),
        _ => url.to_owned(),
    };
    let name = escaped(name);
    match href::of(&url) {
        Some(address) => format!("[{name}]({address})"),
        None => name,
    }
}

/// The list of models, which has only the book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelList {
    /// `list`.
    pub object: String,
    /// The models.
    pub data: Vec<Model>,
}

/// A book as a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Model {
    /// The book's title; of several books, its id.
    pub id: String,
    /// `model`.
    pub object: String,
    /// Always 0, because a book has no creation time.
    pub created: i64,
    /// `bookrag`.
    pub owned_by: String,
}

impl ModelList {
    /// Creates the list of these books.
    #[must_use]
    pub fn new(books: impl IntoIterator<Item = String>) -> Self {
        let models = books.into_iter().map(|book| Model {
            id: book,
            object: "model".to_owned(),
            created: 0,
            owned_by: "bookrag".to_owned(),
        });
        Self {
            object: "list".to_owned(),
            data: models.collect(),
        }
    }
}

/// Writes the chunks of a stream.
#[derive(Debug)]
pub struct CompletionChunks {
    id: String,
    created: i64,
    model: String,
    origin: Option<String>,
    wants_usage: bool,
    has_begun: bool,
}

/// Streams the answer as chunks of a chat completion. A failure before the first chunk is an error with its own status.
pub async fn completion_stream(
    events: impl Stream<Item = Result<AnswerEvent, Error>> + Send + 'static,
    mut chunks: CompletionChunks,
    observed: Observed,
) -> Response {
    streamed(events, None, observed, move |event| {
        let chunks = chunks.written(event).into_iter();
        chunks.map(|data| Ok(Event::default().data(data))).collect()
    })
    .await
}

impl CompletionChunks {
    /// Creates the writer of an answer's chunks. `model` is the book's title, `origin` that of its pages.
    #[must_use]
    pub fn new(
        request: &CompletionRequest,
        message_id: Uuid,
        model: String,
        origin: Option<String>,
    ) -> Self {
        let options = request.stream_options.as_ref();
        Self {
            id: completion_id(message_id),
            created: Timestamp::now().as_second(),
            model,
            origin,
            wants_usage: options.is_some_and(|options| options.include_usage == Some(true)),
            has_begun: false,
        }
    }

    /// Returns the data of the chunks for an event of the answer.
    fn written(&mut self, event: Result<&AnswerEvent, &Error>) -> Vec<String> {
        match event {
            // The API has no progress event, so an empty text is sent.
            Ok(AnswerEvent::Reading(_) | AnswerEvent::LookingUp(_)) => vec![self.text("")],
            Ok(AnswerEvent::Token(token)) => vec![self.text(token)],
            // The last chunk lists all citations, because only then is it known whether they are supported.
            Ok(AnswerEvent::Citation(_)) => Vec::new(),
            Ok(AnswerEvent::Done(answer)) => self.end(answer),
            Err(error) => {
                let (status, code) = status_of(error.kind);
                let body = ErrorBody {
                    code: code.to_owned(),
                    message: error.message.clone(),
                    field: None,
                    retry_after: None,
                };
                vec![openai_error(&body, status).to_string()]
            }
        }
    }

    fn text(&mut self, content: &str) -> String {
        let mut delta = json!({"content": content});
        if !std::mem::replace(&mut self.has_begun, true) {
            delta["role"] = "assistant".into();
        }
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        self.chunk(json!([choice])).to_string()
    }

    fn end(&mut self, answer: &Answer) -> Vec<String> {
        let mut written = Vec::new();
        let footnotes = footnotes(&answer.citations, self.origin.as_deref());
        if !footnotes.is_empty() {
            written.push(self.text(&footnotes));
        }
        let reason = finish_reason(answer);
        let mut last = self.chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]));
        last["citations"] = json!(answer.citations);
        last["outcome"] = json!(answer.outcome);
        written.push(last.to_string());
        if self.wants_usage {
            let mut usage = self.chunk(json!([]));
            usage["usage"] = json!(Usage::from_answer(answer));
            written.push(usage.to_string());
        }
        written.push(END.to_owned());
        written
    }

    fn chunk(&self, choices: Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }
}

/// Converts errors to the format of this API; other responses stay unchanged.
pub async fn in_openai_shape(mut response: Response) -> Response {
    let Some(body) = response.extensions_mut().remove::<ErrorBody>() else {
        return response;
    };
    let (mut parts, _) = response.into_parts();
    let error = openai_error(&body, parts.status);
    parts.headers.remove(axum::http::header::CONTENT_LENGTH);
    let body = Json(error).into_response().into_body();
    Response::from_parts(parts, body)
}

fn openai_error(error: &ErrorBody, status: StatusCode) -> Value {
    let kind = match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    };
    json!({"error": {"message": error.message, "type": kind, "param": error.field, "code": error.code}})
}

#[cfg(test)]
mod tests;
