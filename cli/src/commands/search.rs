//! `bookrag search`: prints the best chunks with their locations and scores.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::http::header::CONTENT_TYPE;
use bookrag::config::Config;
use bookrag::retrieve::Signals;
use serde_json::Value;
use tower::ServiceExt;

use super::{CommandError, Exit, Output, QuestionArguments, output};
use crate::local::{BookFolder, LocalBook};

/// The largest response that is read, in bytes: far above the most results with the longest chunks.
const MAX_ANSWER_BYTES: usize = 16 << 20;

pub(super) async fn run(
    config: &Config,
    arguments: &QuestionArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let folder = BookFolder::find(config, arguments.site.as_deref())?;
    let book = LocalBook::open(config, &folder, output::status).await?;
    let envelope = ask_router(book, arguments).await?;
    let error = &envelope["error"];
    if let Some(message) = error["message"].as_str() {
        let message = message.to_owned();
        return Err(match error["code"].as_str() {
            Some("invalid_request") => CommandError::Usage(message),
            _ => CommandError::Message(message),
        });
    }
    let results = envelope["data"]["results"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    if output == Output::Json {
        output::json(&envelope);
    } else {
        results
            .iter()
            .zip(1..)
            .for_each(|(result, place)| print(place, result));
    }
    Ok(if results.is_empty() {
        Exit::NotCovered
    } else {
        Exit::Done
    })
}

/// Calls the book's own router, like a reader's request. Adds the signals that decide whether `ask` answers the question.
async fn ask_router(book: LocalBook, arguments: &QuestionArguments) -> Result<Value, CommandError> {
    let request = Request::post("/api/v1/search")
        .header(CONTENT_TYPE, "application/json")
        .body(Body::from(arguments.request().to_string()))
        .expect("the request's parts are constants");
    let router = search::router(Arc::new(book.context));
    let Ok(response) = router.oneshot(request).await;
    let signals = response.extensions().get::<Signals>().copied();
    let body = to_bytes(response.into_body(), MAX_ANSWER_BYTES).await;
    let body = body.map_err(|error| CommandError::Message(error.to_string()))?;
    let mut envelope: Value =
        serde_json::from_slice(&body).map_err(|error| CommandError::Message(error.to_string()))?;
    if let Some(signals) = signals {
        envelope["meta"]["signals"] = serde_json::json!(signals);
    }
    Ok(envelope)
}

fn print(place: usize, result: &Value) {
    let lines = output::lines_in_file(
        text(&result["source"]),
        line(&result["start_line"]),
        line(&result["end_line"]),
    );
    output::line(&format!(
        "{place}. {}  ({:.2})\n   {}\n   {lines}\n   {}",
        output::place(text(&result["title"]), text(&result["section"])),
        result["score"].as_f64().unwrap_or_default(),
        text(&result["url"]),
        text(&result["preview"]),
    ));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn line(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap_or_default()).unwrap_or(u32::MAX)
}
