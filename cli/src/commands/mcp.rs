//! `bookrag mcp`: serves a book over standard input and output to the coding agent that started this program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bookrag::config::Config;
use bookrag::mcp::{Book, Budget, Server};
use clap::Args;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;

use super::{CommandError, Exit, output};
use crate::local::{BookFolder, LocalBook};
use crate::site::Site;

#[derive(Debug, Args)]
pub(super) struct McpArguments {
    /// A site's folder, or `s3://bucket/prefix`. By default, that of the current folder, else the one last served or synced.
    site: Option<PathBuf>,
    /// The most tokens of one result, 1000 to 100000.
    #[arg(long, value_name = "TOKENS", default_value = "6000", value_parser = budget)]
    max_tokens: Budget,
    /// Where the built site is served, for the addresses in results. By default, the first of `BOOKRAG_ORIGINS`, else the `url` of the settings in
    /// the site's folder.
    #[arg(long)]
    site_url: Option<String>,
}

fn budget(typed: &str) -> Result<Budget, String> {
    let tokens = typed
        .parse()
        .map_err(|_| "must be a whole number".to_owned())?;
    Budget::of_tokens(tokens).map_err(|error| error.to_string())
}

/// Returns the `url` of the settings of a site's folder, if they can be read. A bucket is not read, because the client waits for the first answer.
async fn url_of(site: &Path) -> Option<String> {
    let site = Site::read(site).ok()?;
    site.folder()?;
    site.source().await.ok()?.settings().await.ok()?.url
}

/// Serves until the client closes standard input. Only protocol messages are written to standard output.
pub(super) async fn run(config: &Config, arguments: McpArguments) -> Result<Exit, CommandError> {
    let folder = BookFolder::find(config, arguments.site.as_deref())?;
    let book = LocalBook::open(config, &folder, output::status).await?;
    let book = Arc::new(book.context).mcp_book();
    let mut origin = arguments.site_url.or(book.origin);
    if origin.is_none() {
        origin = url_of(arguments.site.as_deref().unwrap_or(Path::new("."))).await;
    }
    let book = Book {
        origin: origin.map(|url| url.trim_end_matches('/').to_owned()),
        ..book
    };
    let running = match Server::local(book, arguments.max_tokens)
        .serve(stdio())
        .await
    {
        Ok(running) => running,
        // The client closed standard input before the first message.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(Exit::Done),
        Err(error) => return Err(broken_off(error)),
    };
    running.waiting().await.map_err(broken_off)?;
    Ok(Exit::Done)
}

fn broken_off(error: impl std::fmt::Display) -> CommandError {
    CommandError::Message(format!("the client broke off: {error}"))
}
