//! Requests that name no book in their path: a question goes to the nearest book, a search to all, and what belongs to one book to the one that knows it.

use axum::Json;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use futures::future::join_all;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::choice::{Asked, nearest};
use super::{Book, Books, programs};
use crate::api::{
    BookView, Counted, ModelList, Observed, Origins, Route, client_address, failure,
    in_openai_shape, known_origin, method_not_allowed, url_query, whole_body,
};
use answer::error::{Error, ErrorKind};
use answer::retrieve::Signals;

/// The headers of an answer that say which pages may read it.
const CORS_HEADERS: [HeaderName; 2] = [
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
    header::ACCESS_CONTROL_EXPOSE_HEADERS,
];
/// The largest answer of a book's own route that is merged with those of others.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// The default numbers of results and of questions, as in a single book.
const RESULTS: usize = 5;
const QUESTIONS: usize = 4;

/// Returns the routes. `origins` are those whose pages may call.
pub(super) fn routes(origins: Origins) -> Router<Books> {
    let completions = Router::new()
        .route("/v1/chat/completions", post(ask))
        .route("/v1/models", get(models))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(map_response(in_openai_shape));
    Router::new()
        .route("/api/v1/chat", post(ask))
        .route("/api/v1/ask", get(ask))
        .route("/api/v1/search", get(search).post(search))
        .route("/api/v1/questions", get(questions))
        .route("/api/v1/page", get(known))
        .route("/api/v1/feedback", post(known))
        .route("/api/v1/conversations/{id}", delete(known))
        .route("/api/v1/health", get(health))
        .route(
            "/mcp",
            post(programs::mcp).route_layer(from_fn_with_state(origins, known_origin)),
        )
        .method_not_allowed_fallback(method_not_allowed)
        .merge(completions)
}

/// A request with its whole body, to be sent to several books.
struct Whole {
    head: Parts,
    body: Bytes,
}

impl Whole {
    async fn read(request: Request) -> Result<Self, Error> {
        let (head, body) = request.into_parts();
        let body = whole_body(body).await?;
        Ok(Self { head, body })
    }

    /// Returns the request for a book.
    fn copy(&self) -> Request {
        Request::from_parts(self.head.clone(), Body::from(self.body.clone()))
    }

    fn asked(&self) -> Asked {
        Asked::read(&self.head.uri, &self.body)
    }
}

/// Has the nearest book answer a question. Its answer says which book it is, and its addresses are absolute.
async fn ask(State(books): State<Books>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let answered = answer(&books, request).await;
    answered.unwrap_or_else(|error| failure(&error, &observed.request_id))
}

async fn answer(books: &Books, request: Request) -> Result<Response, Error> {
    let mut whole = Whole::read(request).await?;
    let asked = whole.asked();
    let concerned = books.concerned(&whole.head.headers, &asked).await?;
    let book = match concerned.as_slice() {
        [only] => *only,
        several => {
            // Comparing the books costs a search, so it is counted before.
            let counting = books.counting().await?;
            let client = client_address(&whole.copy(), counting.trusted_proxies);
            let key = counting.client_key(&client);
            counting.limiter.acquire(Route::Chat, &key).await?;
            whole.head.extensions.insert(Counted);
            nearest(several, &asked, &client).await
        }
    };
    whole.head.extensions.insert(book.view().await);
    Ok(without_cors(book.answer(whole.copy()).await))
}

/// Removes what the routes of a book say about the pages that may read their answer: here, pages of all books may.
fn without_cors(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    let varied: Vec<HeaderValue> = headers.get_all(header::VARY).iter().cloned().collect();
    headers.remove(header::VARY);
    for value in varied {
        if !value.as_bytes().starts_with(b"origin") {
            headers.append(header::VARY, value);
        }
    }
    for name in CORS_HEADERS {
        headers.remove(name);
    }
    answer
}

/// Returns the sections that fit best in all books that are concerned.
async fn search(State(books): State<Books>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let found = search_all(&books, request).await;
    found.unwrap_or_else(|error| failure(&error, &observed.request_id))
}

async fn search_all(books: &Books, request: Request) -> Result<Response, Error> {
    let whole = Whole::read(request).await?;
    let asked = whole.asked();
    let concerned = books.concerned(&whole.head.headers, &asked).await?;
    let most = asked.top_k.unwrap_or(RESULTS);
    let searched = join_all(concerned.iter().map(|book| part_of(book, &whole))).await;
    merged(searched, "results", most, value_of_result).await
}

/// Returns questions of all books that are concerned, in turn.
async fn questions(State(books): State<Books>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let found = questions_of_all(&books, request).await;
    found.unwrap_or_else(|error| failure(&error, &observed.request_id))
}

async fn questions_of_all(books: &Books, request: Request) -> Result<Response, Error> {
    let whole = Whole::read(request).await?;
    let asked = whole.asked();
    let concerned = books.concerned(&whole.head.headers, &asked).await?;
    let most = asked.limit.unwrap_or(QUESTIONS);
    let first = &concerned[..concerned.len().min(most.max(1))];
    let read = join_all(first.iter().map(|book| part_of(book, &whole))).await;
    merged(read, "questions", most, in_turn).await
}

/// Returns the value of a result among those of all books.
fn value_of_result(signals: &Signals, result: &Value, _: usize) -> f32 {
    let score = result["score"].as_f64().unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, reason = "a score is 0 to 1")]
    let score = score as f32;
    signals.value_among_books(score)
}

/// Returns the value of a question that is offered: the first of each book come first.
fn in_turn(_: &Signals, _: &Value, place: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "there are few questions")]
    let place = place as f32;
    -place
}

/// A book's part of a merged answer.
struct Part {
    book: BookView,
    answer: Response,
    signals: Signals,
}

async fn part_of(book: &Book, whole: &Whole) -> Part {
    let answer = book.answer(whole.copy()).await;
    Part {
        book: book.view().await,
        signals: answer.extensions().get().copied().unwrap_or_default(),
        answer,
    }
}

/// Merges the entries of a list in the answers of several books, best first, at most `most`. A book that failed is left out; if all did, returns the first
/// failure.
async fn merged(
    parts: Vec<Part>,
    list: &str,
    most: usize,
    value_of: impl Fn(&Signals, &Value, usize) -> f32,
) -> Result<Response, Error> {
    let mut entries: Vec<(f32, Value)> = Vec::new();
    let mut whole: Option<Value> = None;
    let mut failed = None;
    for Part {
        book,
        answer,
        signals,
    } in parts
    {
        if !answer.status().is_success() {
            failed = failed.or(Some(answer));
            continue;
        }
        let mut answer = json_of(answer).await?;
        let found = answer["data"][list].take();
        whole.get_or_insert(answer);
        let found = found.as_array().cloned().unwrap_or_default();
        for (place, mut entry) in found.into_iter().enumerate() {
            let value = value_of(&signals, &entry, place);
            book.mark(&mut entry);
            entries.push((value, entry));
        }
    }
    let Some(mut whole) = whole else {
        return failed
            .map(without_cors)
            .ok_or_else(|| Error::new(ErrorKind::Unavailable, "no book answered"));
    };
    entries.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    entries.truncate(most);
    if !entries.is_empty()
        && let Some(data) = whole["data"].as_object_mut()
    {
        // Of a book in which nothing was found.
        data.remove("message");
    }
    if let Some(meta) = whole["meta"].as_object_mut() {
        meta.insert("source_count".to_owned(), json!(entries.len()));
        // Of the first book alone.
        meta.remove("index");
    }
    let entries = entries.into_iter().map(|(_, entry)| entry);
    whole["data"][list] = Value::Array(entries.collect());
    Ok(Json(whole).into_response())
}

/// Reads the answer of a book's own route.
async fn json_of(answer: Response) -> Result<Value, Error> {
    let bytes = to_bytes(answer.into_body(), MAX_ANSWER_BYTES).await;
    let read = bytes
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    read.ok_or_else(|| Error::new(ErrorKind::Internal, "the answer of a book cannot be read"))
}

/// Has the book answer that knows what a request names: an answer, a conversation, or a page.
async fn known(State(books): State<Books>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let answered = answer_of_known(&books, request).await;
    answered.unwrap_or_else(|error| failure(&error, &observed.request_id))
}

async fn answer_of_known(books: &Books, request: Request) -> Result<Response, Error> {
    let mut whole = Whole::read(request).await?;
    let asked = whole.asked();
    let mut concerned = books.concerned(&whole.head.headers, &asked).await?;
    // The absolute address of a page tells its book.
    let place = concerned.iter().find_map(|book| {
        let path = asked.url.as_deref()?.strip_prefix(book.url.as_deref()?)?;
        path.starts_with('/').then_some((*book, path))
    });
    if let Some((book, path)) = place {
        concerned = vec![book];
        let path = utf8_percent_encode(path, NON_ALPHANUMERIC);
        let below = format!("{}?url={path}", whole.head.uri.path());
        whole.head.uri = below
            .parse()
            .map_err(|_| Error::field("url", "url is no address"))?;
    }
    let (mut failed, mut unknown) = (None, None);
    for book in concerned {
        let answer = without_cors(book.answer(whole.copy()).await);
        if answer.status().is_server_error() {
            failed = failed.or(Some(answer));
        } else if answer.status() == StatusCode::NOT_FOUND {
            unknown = Some(answer);
        } else {
            return Ok(answer);
        }
    }
    // A book that failed may have it.
    let answer = failed.or(unknown);
    answer.ok_or_else(|| Error::new(ErrorKind::NotFound, "no book has this"))
}

/// Lists the books as models, so that a client of `OpenAI`'s API can choose one.
async fn models(State(books): State<Books>, request: Request) -> Response {
    let readable = books.readable(request.headers()).await;
    let ids = readable.into_iter().map(|book| book.id.to_string());
    Json(ModelList::new(ids)).into_response()
}

/// The query of a health check.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HealthParameters {
    deep: bool,
}

/// Answers with the health of a book that is unhealthy, else of the first one, and with the state of each under `data.books`.
async fn health(State(books): State<Books>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let checked = health_of_all(&books, request).await;
    checked.unwrap_or_else(|error| failure(&error, &observed.request_id))
}

async fn health_of_all(books: &Books, request: Request) -> Result<Response, Error> {
    let whole = Whole::read(request).await?;
    let concerned = books
        .concerned(&whole.head.headers, &Asked::default())
        .await?;
    // Only a deep check opens the stores of a book.
    let HealthParameters { deep } = url_query(&whole.head.uri).unwrap_or_default();
    let first = concerned.first().map(|book| &book.id);
    let (checked, closed): (Vec<&Book>, Vec<&Book>) = concerned
        .iter()
        .copied()
        .partition(|book| deep || first == Some(&book.id) || (book.current)().is_some());
    let answers = checked.iter().map(|book| book.answer(whole.copy()));
    let answers = join_all(answers).await;
    let unchecked = closed
        .iter()
        .map(|book| (book.id.to_string(), json!("unchecked")));
    let mut states: Map<String, Value> = unchecked.collect();
    let mut shown: Option<(StatusCode, Value)> = None;
    for (book, answer) in checked.iter().zip(answers) {
        let status = answer.status();
        let answer = json_of(answer).await?;
        states.insert(book.id.to_string(), answer["data"]["status"].clone());
        match &shown {
            Some((worst, _)) if !worst.is_success() || status.is_success() => {}
            _ => shown = Some((status, answer)),
        }
    }
    let (status, mut answer) =
        shown.ok_or_else(|| Error::new(ErrorKind::NotFound, "no book is public"))?;
    if let Some(data) = answer["data"].as_object_mut() {
        data.insert("books".to_owned(), Value::Object(states));
    }
    Ok((status, Json(answer)).into_response())
}
