//! Chooses the book that a question is put to.

use axum::http::Uri;
use futures::future::join_all;
use serde_json::Value;
use uuid::Uuid;

use super::Book;
use crate::api::url_query;
use answer::retrieve::Nearness;

/// How much nearer to a question another book must be than the one that answered the question before: in cosines, and on the indexes' own scales. Of
/// 240 questions of real users, half are nearer to their own book than to the next of seven others by .03 or more.
const STAYS_COSINE: f32 = 0.02;
const STAYS_Z: f32 = 1.4;

/// The weight of the nearest question of a book's sections, relative to 1 for the mean of the nearest chunks, if all books have questions. Of 240
/// questions of real users about eight books, the right book is chosen for .88 instead of .79; with weights of .25 and 2 for .85 and .87.
const QUESTION: f32 = 0.5;

/// What a request asks, as far as it decides which book answers. The book itself checks the request.
#[derive(Debug, Default)]
pub(super) struct Asked {
    question: String,
    /// The books that the request names.
    pub(super) books: Vec<String>,
    /// The model that a client of `OpenAI`'s API names: the id of a book, or anything else.
    pub(super) model: Option<String>,
    conversation: Option<Uuid>,
    session: Option<String>,
    pub(super) top_k: Option<usize>,
    pub(super) limit: Option<usize>,
    /// The address of a page.
    pub(super) url: Option<String>,
}

/// The same in the query of a URL.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Parameters {
    q: Option<String>,
    books: Option<String>,
    top_k: Option<String>,
    limit: Option<String>,
    url: Option<String>,
}

impl Asked {
    /// Returns a request that asks a question and nothing else.
    pub(super) fn question(question: String) -> Self {
        Self {
            question,
            ..Self::default()
        }
    }

    /// Reads a request: its URL, and its body if that is JSON.
    pub(super) fn read(uri: &Uri, body: &[u8]) -> Self {
        let url: Parameters = url_query(uri).unwrap_or_default();
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        let question = ["query", "question", "message"].into_iter().find_map(text);
        let number = |value: Option<String>| value.and_then(|value| value.parse().ok());
        let top_k = body["top_k"].as_u64().and_then(|most| most.try_into().ok());
        Self {
            question: question
                .or_else(|| last_message(&body))
                .or(url.q)
                .unwrap_or_default(),
            books: named(&body, url.books.as_deref()),
            model: text("model"),
            conversation: text("conversation_id").and_then(|id| id.parse().ok()),
            session: text("session_id"),
            top_k: top_k.or_else(|| number(url.top_k)),
            limit: number(url.limit),
            url: url.url,
        }
    }
}

/// Returns the books that a request names, in its body or in its URL.
fn named(body: &Value, url: Option<&str>) -> Vec<String> {
    let in_body = body["books"].as_array().into_iter().flatten();
    let in_url = url.into_iter().flat_map(|books| books.split(','));
    let in_body = in_body.filter_map(Value::as_str);
    let names = in_body.chain(in_url).map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the last message of a user in a request of `OpenAI`'s API.
fn last_message(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array()?;
    let of_user = messages.iter().rfind(|message| message["role"] == "user")?;
    let content = &of_user["content"];
    let parts = content.as_array().into_iter().flatten();
    let parts = parts.filter_map(|part| part["text"].as_str());
    let parts: Vec<&str> = content.as_str().into_iter().chain(parts).collect();
    Some(parts.join("\n"))
}

/// Returns the book that is nearest to a question. A conversation stays with its book unless another one is much nearer.
pub(super) async fn nearest<'a>(books: &[&'a Book], asked: &Asked, client: &str) -> &'a Book {
    let (compared, holder) = tokio::join!(
        join_all(books.iter().map(|book| nearness(book, &asked.question))),
        holder(books, asked, client)
    );
    // Cosines of different models cannot be compared, their places among those of unrelated questions can.
    let models = compared.iter().flatten().map(|near| &near.model);
    let is_one_model = models
        .clone()
        .all(|model| models.clone().next() == Some(model));
    let has_questions = compared
        .iter()
        .flatten()
        .all(|near| near.question.is_some());
    let value = |near: &Option<Nearness>| match near {
        Some(near) if is_one_model && has_questions => {
            near.mean + QUESTION * near.question.unwrap_or_default()
        }
        Some(near) if is_one_model => near.mean,
        Some(near) => near.z.unwrap_or_default(),
        None => f32::NEG_INFINITY,
    };
    let values: Vec<f32> = compared.iter().map(value).collect();
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = at;
        }
    }
    let stays = if is_one_model { STAYS_COSINE } else { STAYS_Z };
    match holder {
        Some(holder) if values[best] - values[holder] < stays => books[holder],
        _ => books[best],
    }
}

/// Returns how near a book is to a question; `None` if that is not known.
async fn nearness(book: &Book, question: &str) -> Option<Nearness> {
    let context = book.context().await.ok()?;
    let index = context.live_index().await.ok()?;
    let retriever = context.retriever_of(&index).ok()?;
    retriever.nearness(question).await
}

/// Returns the place of the book that has the conversation of a question.
async fn holder(books: &[&Book], asked: &Asked, client: &str) -> Option<usize> {
    let id = asked.conversation?;
    let reads = books.iter().map(|book| async move {
        let Ok(context) = book.context().await else {
            return false;
        };
        let session = context.session_hash(client, asked.session.as_deref());
        let stored = context.catalog().exchanges(id, &session, 1);
        stored.await.ok().flatten().is_some()
    });
    let held = join_all(reads).await;
    held.into_iter().position(|is_held| is_held)
}
