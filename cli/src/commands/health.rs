//! `bookrag health`: checks a running server.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::{CommandError, Exit, Output, output};
use crate::running::client;

/// The longest wait; the server itself waits up to 4 seconds for the stores.
const TIMEOUT: Duration = Duration::from_secs(8);

#[derive(Debug, Args)]
pub(super) struct HealthArguments {
    /// The server's address, without `/api/v1`.
    #[arg(default_value = "http://127.0.0.1:8080")]
    url: String,
    /// Check the stores and models too, not only the server.
    #[arg(long)]
    deep: bool,
}

/// Ends with 0 if the server can answer questions, even if some dependencies are down.
pub(super) async fn run(arguments: HealthArguments, output: Output) -> Result<Exit, CommandError> {
    let url = arguments.url.trim_end_matches('/');
    let deep = if arguments.deep { "?deep=true" } else { "" };
    let request = client().get(format!("{url}/api/v1/health{deep}"));
    let response = request.timeout(TIMEOUT).send().await.map_err(|error| {
        let reason = error.without_url();
        CommandError::Message(format!("no bookrag answers at {url}: {reason}"))
    })?;
    let well = response.status().is_success();
    let status = response.status();
    let health: Value = response.json().await.unwrap_or_default();
    if !health["data"].is_object() {
        let message = format!("{url} answered {status} without a health; is it a bookrag?");
        return Err(CommandError::Message(message));
    }
    if output == Output::Json {
        output::line(&health["data"].to_string());
    } else {
        print(&health["data"]);
    }
    Ok(if well { Exit::Done } else { Exit::Failed })
}

fn print(health: &Value) {
    output::line(status(health));
    for part in ["vector_store", "catalog", "embedder", "generator"] {
        if let Some(kind) = health[part]["kind"].as_str() {
            output::line(&format!("  {part}: {kind}, {}", status(&health[part])));
        }
    }
}

fn status(part: &Value) -> &str {
    part["status"].as_str().unwrap_or("unknown")
}
