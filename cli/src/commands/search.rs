//! `bookrag search`: passages with their places and scores.

use std::sync::Arc;

use bookrag::config::Config;
use serde_json::Value;

use super::{CommandError, Exit, QuestionArguments, book_folder, output};
use crate::local::{BookFolder, LocalBook};
use crate::running;

pub(super) async fn run(
    config: &Config,
    arguments: &QuestionArguments,
    json: bool,
) -> Result<Exit, CommandError> {
    let folder = book_folder(config, arguments.site.as_deref())?;
    let envelope = match running::find(&folder).await {
        Some(server) => request(&server.url, arguments).await?,
        None => here(config, &folder, arguments).await?,
    };
    let error = &envelope["error"];
    if let Some(message) = error["message"].as_str() {
        let code = error["code"].as_str().unwrap_or_default();
        return Err(CommandError::of_server(code, message));
    }
    let results = envelope["data"]["results"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    if json {
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

async fn request(url: &str, arguments: &QuestionArguments) -> Result<Value, CommandError> {
    let request = running::client()
        .post(format!("{url}/api/v1/search"))
        .json(&arguments.request());
    Ok(request.send().await?.json().await?)
}

/// Opens the book and asks its own router, on a port of its own: one code path for both.
async fn here(
    config: &Config,
    folder: &BookFolder,
    arguments: &QuestionArguments,
) -> Result<Value, CommandError> {
    let book = LocalBook::open(config, folder, output::status).await?;
    let outcome = ask_router(&book, arguments).await;
    book.close().await?;
    outcome
}

async fn ask_router(
    book: &LocalBook,
    arguments: &QuestionArguments,
) -> Result<Value, CommandError> {
    let failed =
        |error: std::io::Error| CommandError::Told(format!("no port to search through: {error}"));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(failed)?;
    let url = format!("http://{}", listener.local_addr().map_err(failed)?);
    let router = search::router(Arc::new(book.context.clone()));
    let server = tokio::spawn(axum::serve(listener, router).into_future());
    let answer = request(&url, arguments).await;
    server.abort();
    answer
}

fn print(place: usize, result: &Value) {
    let text = |name: &str| result[name].as_str().unwrap_or_default().to_owned();
    output::line(&format!(
        "{place}. {} – {}  ({:.2})\n   {}\n   {} lines {}–{}\n   {}",
        text("title"),
        text("section"),
        result["score"].as_f64().unwrap_or_default(),
        text("url"),
        text("source"),
        result["start_line"],
        result["end_line"],
        text("preview"),
    ));
}
