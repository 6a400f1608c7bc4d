//! `bookrag serve`: indexes a book and answers questions on this machine.

mod books;
mod follower;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use bookrag::catalog::Catalog;
use bookrag::config::Config;
use bookrag::context::{StartError, generator};
use bookrag::generate::Generator;
use bookrag::ingest::forget_readers;
use bookrag::provider::ProviderError;
use bookrag::telemetry;
use clap::Args;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use super::progress::STOPPED;
use super::sync::ReportArguments;
use super::{BuildArgument, CommandError, Exit, Output, output};
use crate::local::{LocalError, Models};
use crate::server::{HEAD_DEADLINE, library, listen, router};
use crate::site::has_config;
use books::{ServedBook, sites};

/// The default address, which no other machine can reach.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8080";
/// How long answers in progress may take after Ctrl-C. Short, because a person is waiting.
const GRACE_OF_CTRL_C: Duration = Duration::from_secs(2);
/// How long answers in progress may take after SIGTERM, which process managers send before SIGKILL: the time limit of a chat model.
const GRACE_OF_SIGTERM: Duration = Duration::from_secs(30);

const STORE_QUESTIONS: &str = "BOOKRAG_STORE_QUESTIONS";
/// How long the chat model may take to show that it can be asked.
const PING_DEADLINE: Duration = Duration::from_secs(5);

/// How often expired conversations and questions are deleted.
const FORGET_EVERY: Duration = Duration::from_hours(1);

#[derive(Debug, Args)]
pub(super) struct ServeArguments {
    /// The site: the folder of a Docusaurus site, of docs alone or of a built site, or `s3://bucket/prefix`. By default, the current
    /// folder. Several sites are several books of one server; `ID=SITE` names a book, which otherwise has an id made of its title.
    #[arg(value_name = "SITE")]
    sites: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildArgument,
    /// Watch the folder, and update the index a moment after a page is saved.
    #[arg(long)]
    watch: bool,
    /// The port to listen on, on this machine only.
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,
    /// The IP address and port to listen on.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = DEFAULT_ADDRESS, value_parser = listen_address)]
    listen: SocketAddr,
    /// The chat model that writes answers: the name of a hosted one, such as `gpt-4.1-mini`, or `ollama/NAME` for one on this machine. By default,
    /// answers are quotes, unless `BOOKRAG_GENERATOR` says otherwise.
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Where the built site is served, for the links of citations. Without it, this server shows the pages.
    #[arg(long, value_name = "URL", value_parser = site_url)]
    site_url: Option<String>,
    #[command(flatten)]
    options: ReportArguments,
}

impl ServeArguments {
    /// Returns the address to listen on.
    fn address(&self) -> SocketAddr {
        match self.port {
            Some(port) => (Ipv4Addr::LOCALHOST, port).into(),
            None => self.listen,
        }
    }
}

/// Parses `--listen`; clap's own message has no example.
fn listen_address(typed: &str) -> Result<SocketAddr, String> {
    typed.parse().map_err(|_| match typed.parse::<u16>() {
        Ok(port) => format!(
            "expected an IP address and a port, such as 127.0.0.1:{port}; for the port alone use `--port {port}`"
        ),
        Err(_) => format!("expected an IP address and a port, such as {DEFAULT_ADDRESS} or [::1]:8080"),
    })
}

/// Checks that `--site-url` is an absolute URL: a path would lead back to this server.
pub(super) fn site_url(typed: &str) -> Result<String, String> {
    let uri: Option<Uri> = typed.parse().ok();
    let is_absolute = uri.is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| !host.is_empty())
            && uri.query().is_none()
    });
    if is_absolute && !typed.contains(['#', '@']) {
        return Ok(typed.to_owned());
    }
    Err("expected the URL at which the site is served, such as https://book.example".to_owned())
}

/// Starts a server for a book, and keeps its index up to date until a signal stops it.
pub(super) async fn run(
    mut config: Config,
    arguments: ServeArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    // Only this machine's user asks, and reads what was asked.
    if arguments.address().ip().is_loopback() && std::env::var_os(STORE_QUESTIONS).is_none() {
        config.rules.keep_questions = true;
    }
    let sites = sites(&arguments).await?;
    let listener = bind(arguments.address()).await?;
    let address = listener.local_addr().unwrap_or(arguments.address());

    // The stores, which no other server may use meanwhile, and the models.
    let models = match sites.len() {
        1 => Models::default(),
        _ => Models::shared(),
    };
    let models = Arc::new(Mutex::new(models));
    let mut books = Vec::new();
    for (number, site) in sites.into_iter().enumerate() {
        let book = ServedBook::prepare(&config, site, number, address, &arguments, &models);
        books.push(book?);
    }
    let generator = generator(&config).map_err(StartError::Generate);
    tokio::spawn(warn_without_model(generator.map_err(LocalError::from)?));

    // The server, which answers from now on.
    let routes = match books.as_slice() {
        // Opened at once, so that a server whose only book cannot be opened does not start.
        [book] => router(book.server.server().await?, address),
        several => library(several.iter().map(ServedBook::shown).collect(), address),
    };
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let serving = tokio::spawn(listen(listener, routes, HEAD_DEADLINE, stopped));
    // Only now, so that a server that fails to start does not change the current book.
    if let Some(book) = books.first() {
        book.folder().make_current(&config);
    }

    // The indexes, which follow the books.
    let mut following = FuturesUnordered::new();
    for book in &books {
        following.push(book.follow(&arguments, output));
    }
    let (outcome, grace) = tokio::select! {
        // First, so that a signal is noticed from the moment that the run starts.
        biased;
        grace = stop_signal(&books) => (Ok(Exit::Done), grace),
        Some(outcome) = following.next() => (outcome, GRACE_OF_CTRL_C),
    };

    // The end. Answers in progress are completed. Neither an endless stream nor anything after a second signal may keep the command from
    // ending.
    let _ = stop.send(true);
    tokio::select! {
        _ = tokio::time::timeout(grace, serving) => {}
        _ = interrupted() => {}
    }
    telemetry::finish().await;
    outcome
}

/// Returns the current folder, which must hold a book.
fn current_folder() -> Result<&'static Path, CommandError> {
    let folder = Path::new(".");
    if folder.join("docs").is_dir() || has_config(folder) || folder.join("index.html").is_file() {
        return Ok(folder);
    }
    Err(CommandError::Usage(
        "this folder holds no `docs` folder, no Docusaurus config and no built site; name the site: bookrag serve SITE".to_owned(),
    ))
}

async fn bind(address: SocketAddr) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address).await.map_err(|error| {
        CommandError::Message(format!(
            "cannot listen on {address}: {error}; choose another port, such as `--port 8081`"
        ))
    })
}

/// Warns if the chat model cannot be asked.
async fn warn_without_model(generator: Generator) {
    let Generator::Model(model) = generator else {
        return;
    };
    let reached = tokio::time::timeout(PING_DEADLINE, model.ping()).await;
    if let Err(error) = reached.unwrap_or(Err(ProviderError::Timeout)) {
        output::status(&format!(
            "warning: the chat model {error}; until it answers, the book is quoted"
        ));
    }
}

/// Deletes expired conversations and questions, even if no page changes.
async fn forget_hourly(catalog: &Catalog, retention: Option<Duration>) -> Infallible {
    loop {
        tokio::time::sleep(FORGET_EVERY).await;
        forget(catalog, retention).await;
    }
}

/// Deletes expired conversations and questions.
async fn forget(catalog: &Catalog, retention: Option<Duration>) {
    if let Err(error) = forget_readers(catalog, retention).await {
        output::status(&format!("what expired is not deleted yet: {error}"));
    }
}

/// Waits for a signal to stop. If it interrupts a run, prints that the next one continues it. Returns how long answers in progress may still take.
async fn stop_signal(books: &[ServedBook]) -> Duration {
    let grace = interrupted().await;
    if books.iter().any(|book| book.server.is_indexing()) {
        output::status(STOPPED);
    }
    grace
}

/// Waits for Ctrl-C or SIGTERM. Returns how long answers in progress may still take.
pub(super) async fn interrupted() -> Duration {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            return tokio::select! {
                _ = tokio::signal::ctrl_c() => GRACE_OF_CTRL_C,
                _ = terminate.recv() => GRACE_OF_SIGTERM,
            };
        }
    }
    let _ = tokio::signal::ctrl_c().await;
    GRACE_OF_CTRL_C
}
