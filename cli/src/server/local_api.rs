//! Routes for the page and the commands besides the API: the book's name, the state of its index, and sync.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bookrag::catalog::IndexStats;
use bookrag::ingest::{MassDeletion, SyncOptions};
use serde::Deserialize;
use serde_json::json;

use super::Shared;

/// A file of the site with example questions, one per line.
const EXAMPLE_QUESTIONS: &str = "bookrag.questions.txt";
const MAX_EXAMPLES: usize = 4;

pub(super) async fn book(State(server): Shared) -> Response {
    let mut stats = IndexStats::default();
    let mut indexing = None;
    if let Ok(index) = server.context.live_index().await
        && let Ok(counted) = server.context.catalog().stats(index.index_id).await
    {
        indexing = index.indexing(counted.documents);
        stats = counted;
    }
    let (source, math) = {
        let reading = server.reading.read().await;
        (reading.source.clone(), reading.settings.math)
    };
    let examples = source.read(EXAMPLE_QUESTIONS).await;
    let examples = examples.ok().flatten().unwrap_or_default();
    let examples = String::from_utf8_lossy(&examples);
    let examples: Vec<&str> = examples
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(MAX_EXAMPLES)
        .collect();
    Json(json!({
        "title": server.title,
        "pages": stats.documents,
        "chunks": stats.chunks,
        "indexing": indexing,
        "example_questions": examples,
        "math": math,
    }))
    .into_response()
}

fn failed(message: &str) -> Response {
    let body = json!({"success": false, "error": {"message": message}});
    (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
}

#[derive(Debug, Deserialize)]
pub(super) struct SyncQuery {
    #[serde(default)]
    allow_mass_deletion: bool,
}

pub(super) async fn sync(State(server): Shared, Query(query): Query<SyncQuery>) -> Response {
    let mass_deletion = if query.allow_mass_deletion {
        MassDeletion::Allow
    } else {
        MassDeletion::Stop
    };
    match server.sync(SyncOptions { mass_deletion }, |_| {}).await {
        Ok(report) => Json(report).into_response(),
        Err(error) => failed(&error.to_string()),
    }
}
