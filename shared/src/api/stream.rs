//! Sends an answer as server-sent events.

use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use uuid::Uuid;

use super::book_view::BookView;
use super::chat::AnswerView;
use super::envelope::{code_of, failure};
use super::observe::Observed;
use super::origins::CONVERSATION_HEADER;
use answer::AnswerEvent;
use answer::degradation::Degradation;
use answer::error::Error;
use models::prices::dollars;
use store::catalog::Freshness;

/// A comment line keeps proxies from closing a quiet stream.
const HEARTBEAT: Duration = Duration::from_secs(10);

#[derive(Serialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
enum ProgressEvent<'a> {
    Reading { sections: usize },
    LookingUp { subject: &'a str },
}

#[derive(Serialize)]
struct TokenEvent<'a> {
    token: &'a str,
}

#[derive(Serialize)]
struct DoneEvent<'a> {
    total_tokens: u64,
    latency_ms: f64,
    #[serde(flatten)]
    view: AnswerView,
    degraded: &'a [Degradation],
    cost_usd: f64,
    cached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'a Freshness>,
}

#[derive(Serialize)]
struct ErrorEvent<'a> {
    code: &'a str,
    message: &'a str,
}

/// Sends the answer as server-sent events: `progress`, `token`, `citation`, `done`, `error`, and before them `book` if the request named none of
/// several. A failure before the first event is an error with its
/// own status. A header names the stored conversation, so that it can be deleted even if the stream is interrupted.
pub async fn event_stream(
    events: impl Stream<Item = Result<AnswerEvent, Error>> + Send + 'static,
    conversation_id: Option<Uuid>,
    observed: Observed,
) -> Response {
    let book = observed.book.clone();
    let mut is_named = false;
    streamed(events, conversation_id, observed, move |event| {
        let named = book.as_ref().filter(|_| !is_named);
        let named = named.map(|book| Event::default().event("book").json_data(book));
        is_named = true;
        named
            .into_iter()
            .chain([sse_event(event, book.as_ref())])
            .collect()
    })
    .await
}

/// Sends the answer as server-sent events in a format given by `written`, which converts each event and the final error.
pub(super) async fn streamed(
    events: impl Stream<Item = Result<AnswerEvent, Error>> + Send + 'static,
    conversation_id: Option<Uuid>,
    observed: Observed,
    mut written: impl FnMut(Result<&AnswerEvent, &Error>) -> Vec<Result<Event, axum::Error>>
    + Send
    + 'static,
) -> Response {
    let mut events = in_span(events.boxed()).boxed();
    let (waited, first) = match tokio::time::timeout(HEARTBEAT, events.next()).await {
        Ok(Some(Err(error))) => return failure(&error, &observed.request_id),
        Ok(first) => (None, first),
        Err(_) => (Some(Ok(Event::default().comment(""))), None),
    };
    let events = stream::iter(first).chain(events).flat_map(move |event| {
        match &event {
            Ok(AnswerEvent::Token(_)) => observed.measured.first_token(),
            Ok(AnswerEvent::Reading(_) | AnswerEvent::LookingUp(_) | AnswerEvent::Citation(_)) => {}
            Ok(AnswerEvent::Done(answer)) => observed.measured.answered(answer),
            Err(error) => {
                observed.measured.broke_off();
                // The status is already sent, so the error is only logged.
                drop(failure(error, &observed.request_id));
            }
        }
        stream::iter(written(event.as_ref()))
    });
    let stream = stream::iter(waited).chain(events);
    let heartbeat = KeepAlive::new().interval(HEARTBEAT);
    let mut response = Sse::new(stream).keep_alive(heartbeat).into_response();
    // Proxies must not buffer the stream.
    response.headers_mut().insert(
        "x-accel-buffering",
        axum::http::HeaderValue::from_static("no"),
    );
    let id = conversation_id.map(|id| id.to_string().parse());
    if let Some(Ok(id)) = id {
        response.headers_mut().insert(CONVERSATION_HEADER, id);
    }
    response
}

/// Adds the request's id to the stream's logs: for the platform the request ends before its stream.
fn in_span<S: Stream + Unpin>(mut stream: S) -> impl Stream<Item = S::Item> {
    let span = tracing::Span::current();
    stream::poll_fn(move |context| {
        let _entered = span.enter();
        stream.poll_next_unpin(context)
    })
}

fn sse_event(
    event: Result<&AnswerEvent, &Error>,
    book: Option<&BookView>,
) -> Result<Event, axum::Error> {
    let event = match event {
        Ok(event) => event,
        Err(error) => {
            return Event::default().event("error").json_data(ErrorEvent {
                code: code_of(error.kind),
                message: &error.message,
            });
        }
    };
    match event {
        AnswerEvent::Reading(sections) => {
            let sections = *sections;
            let event = Event::default().event("progress");
            event.json_data(ProgressEvent::Reading { sections })
        }
        AnswerEvent::LookingUp(subject) => Event::default()
            .event("progress")
            .json_data(ProgressEvent::LookingUp { subject }),
        AnswerEvent::Token(token) => Event::default()
            .event("token")
            .json_data(TokenEvent { token }),
        AnswerEvent::Citation(citation) => {
            let mut citation = (**citation).clone();
            if let Some(book) = book {
                citation.url = book.address(&citation.url);
            }
            Event::default().event("citation").json_data(citation)
        }
        AnswerEvent::Done(answer) => Event::default().event("done").json_data(DoneEvent {
            total_tokens: answer.tokens,
            latency_ms: answer.latency_ms,
            view: AnswerView::new(answer, book),
            degraded: &answer.degraded,
            cost_usd: dollars(answer.cost_micro_usd),
            cached: answer.is_cached(),
            index: answer.index.as_ref(),
        }),
    }
}
