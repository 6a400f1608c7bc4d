//! Handles requests according to the script.

use std::{future, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use serde_json::Value;

use super::{
    API_KEY, Seen, Shared, UNKNOWN_MODEL,
    reply::{Course, End},
    stream::{self, Frame, Presence, Tail},
    wire::{Wire, Writer},
};
use crate::openai;

/// Invalid JSON: the beginning of an object.
const NO_JSON: &str = r#"{"id":"#;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let chat: Router = Router::new()
        .route("/v1/chat/completions", post(chat_completions))
        .route("/v2/chat", post(cohere_chat))
        .route("/v1/models", get(openai::models))
        .with_state(shared);
    chat.merge(openai::router())
}

async fn chat_completions(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> Response {
    answer(Wire::OpenAi, &shared, &headers, &request).await
}

async fn cohere_chat(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> Response {
    answer(Wire::Cohere, &shared, &headers, &request).await
}

async fn answer(wire: Wire, shared: &Shared, headers: &HeaderMap, request: &Value) -> Response {
    let mut presence = Presence::new(shared.abandoned.clone());
    let authorization = headers
        .get(header::AUTHORIZATION)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    shared.told().seen.push(Seen {
        authorization: authorization.clone(),
        body: request.clone(),
    });
    let refusal = |status: StatusCode, code: &str| {
        let sent = authorization.as_deref().unwrap_or("no key");
        (status, Json(wire.refusal(code, sent, request))).into_response()
    };
    if let Some((status, code)) = fault(authorization.as_deref(), request) {
        presence.end();
        return refusal(status, code);
    }
    match shared.decide(request) {
        Course::Hangs => future::pending().await,
        Course::Refused {
            status,
            retry_after,
            code,
        } => {
            presence.end();
            let status = StatusCode::from_u16(status).expect("the script names a status of HTTP");
            let mut response = refusal(status, code);
            if let Some(wait) = retry_after {
                let seconds = HeaderValue::from(wait.as_secs());
                response.headers_mut().insert(header::RETRY_AFTER, seconds);
            }
            response
        }
        Course::Answered {
            pieces,
            pace,
            calls,
            end,
        } => {
            let writer = Writer::new(wire, request);
            let streamed = request["stream"] == true;
            let (content_type, frames) = if streamed {
                (
                    "text/event-stream",
                    events(&writer, &pieces, pace, &calls, end),
                )
            } else {
                ("application/json", vec![whole(&writer, &pieces, pace, end)])
            };
            let tail = match end {
                End::Finished(_) | End::Garbage => Tail::Ends,
                End::Hangs => Tail::Hangs,
                End::Breaks => Tail::Breaks,
            };
            let body = stream::body(frames, tail, presence);
            ([(header::CONTENT_TYPE, content_type)], body).into_response()
        }
    }
}

/// Returns what is wrong with a request, whatever the script says.
fn fault(authorization: Option<&str>, request: &Value) -> Option<(StatusCode, &'static str)> {
    let expected = format!("Bearer {API_KEY}");
    if authorization != Some(expected.as_str()) {
        return Some((StatusCode::UNAUTHORIZED, "invalid_api_key"));
    }
    let model = request["model"].as_str().unwrap_or_default();
    if model.is_empty() || model == UNKNOWN_MODEL {
        return Some((StatusCode::NOT_FOUND, "model_not_found"));
    }
    let messages = request["messages"].as_array();
    if messages.is_none_or(Vec::is_empty) {
        return Some((StatusCode::BAD_REQUEST, "missing_required_parameter"));
    }
    None
}

/// Returns the frames of a streamed answer.
fn events(
    writer: &Writer,
    pieces: &[String],
    pace: Duration,
    calls: &[(&'static str, String)],
    end: End,
) -> Vec<Frame> {
    let mut frames = vec![Frame::at_once(writer.opening())];
    frames.extend(pieces.iter().map(|piece| Frame {
        text: writer.piece(piece),
        pause: pace,
    }));
    let calls = calls.iter().enumerate();
    frames.extend(calls.flat_map(|(index, (name, arguments))| {
        let parts = writer.call(index, name, arguments).into_iter();
        parts.map(Frame::at_once)
    }));
    match end {
        End::Finished(reason) => frames.push(Frame::at_once(writer.closing(reason, pieces.len()))),
        End::Garbage => frames.push(Frame::at_once(format!("data: {NO_JSON}\n\n"))),
        End::Hangs | End::Breaks => {}
    }
    frames
}

/// Returns an answer that is not streamed, delayed by the time of its pieces.
fn whole(writer: &Writer, pieces: &[String], pace: Duration, end: End) -> Frame {
    let text = match end {
        End::Finished(reason) => writer.whole(reason, pieces),
        End::Garbage | End::Hangs | End::Breaks => NO_JSON.to_owned(),
    };
    Frame {
        text,
        pause: pieces.iter().map(|_| pace).sum(),
    }
}
