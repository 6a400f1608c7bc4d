//! `bookrag serve`: indexes a book and answers questions on this machine.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use bookrag::catalog::Catalog;
use bookrag::config::Config;
use bookrag::context::{StartError, question_writer};
use bookrag::generate::Generator;
use bookrag::ingest::{MassDeletion, OpenMode, Report, SyncError, SyncOptions, forget_readers};
use bookrag::provider::ProviderError;
use clap::Args;
use jiff::Timestamp;
use tokio::net::TcpListener;

use super::progress::{STOPPED, change, with_progress};
use super::sync::{ReportArguments, print, propose_embedder};
use super::watch::{Watch, watched_folders};
use super::written::write_questions;
use super::{BuildArgument, CommandError, Exit, Output, output};
use crate::local::{BookFolder, LocalBook, LocalError};
use crate::running::Hold;
use crate::server::{HEAD_DEADLINE, Server, listen, router};
use crate::site::{Site, has_config};

/// The default address, which no other machine can reach.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8080";
/// The delay before a run is retried that a store, a model or a full disk stopped.
const RETRY_AFTER: Duration = Duration::from_secs(15);

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
    /// folder.
    site: Option<PathBuf>,
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
    /// The address to listen on.
    fn address(&self) -> SocketAddr {
        let on_port = |port| (Ipv4Addr::LOCALHOST, port).into();
        self.port.map_or(self.listen, on_port)
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

pub(super) async fn run(
    mut config: Config,
    arguments: ServeArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    // Only this machine's user asks, and reads what was asked.
    if arguments.address().ip().is_loopback() && std::env::var_os(STORE_QUESTIONS).is_none() {
        config.rules.keep_questions = true;
    }
    let site = arguments.site.clone().unwrap_or_else(|| PathBuf::from("."));
    let has_book =
        || site.join("docs").is_dir() || has_config(&site) || site.join("index.html").is_file();
    if arguments.site.is_none() && !has_book() {
        return Err(CommandError::Usage(
            "this folder holds no `docs` folder, no Docusaurus config and no built site; name the site: bookrag serve SITE".to_owned(),
        ));
    }
    let site = arguments.build.site(&site)?;
    if arguments.watch && site.folder().is_none() {
        return Err(CommandError::Usage(
            "only a folder can be watched; a bucket tells the ingest function of its changes"
                .to_owned(),
        ));
    }
    if let Some(note) = site.note().await? {
        output::status(&note);
    }
    let address = arguments.address();
    let listener = TcpListener::bind(address).await.map_err(|error| {
        CommandError::Message(format!(
            "cannot listen on {address}: {error}; choose another port, such as `--port 8081`"
        ))
    })?;
    let folder = BookFolder::create(&config, &site, output::status)?;
    let hold = Hold::take(&folder)?;
    let book = LocalBook::open(&config, &folder, output::status).await?;
    serve(&config, &arguments, &site, &hold, &book, listener, output).await
}

async fn serve(
    config: &Config,
    arguments: &ServeArguments,
    site: &Site,
    hold: &Hold,
    book: &LocalBook,
    listener: TcpListener,
    output: Output,
) -> Result<Exit, CommandError> {
    let address = listener.local_addr().unwrap_or(arguments.address());
    tokio::spawn(warn_without_model(book.context.generator.clone()));
    let ingest = book.ingest(config, site, OpenMode::TakeOver).await?;
    let folders = watched_folders(&ingest, site.named_build()).await;
    let folders = folders.map_err(LocalError::from)?;
    let secret = hold.announce(address)?;
    let site_url = arguments.site_url.clone();
    let writer = question_writer(config).map_err(StartError::Generate);
    let writer = writer.map_err(LocalError::from)?;
    let server = Arc::new(Server::new(book.context.clone(), ingest, site_url, secret));
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let app = router(Arc::clone(&server), address);
    let serving = tokio::spawn(listen(listener, app, HEAD_DEADLINE, stopped));
    // Only now, so that a server that fails to start does not change the current book.
    hold.folder().make_current(config);
    // Before the first sync, so that changes during it are noticed.
    let watch = arguments
        .watch
        .then(|| Watch::start(folders, &hold.folder().path));
    let follower = Follower {
        server: &server,
        watch: watch.transpose()?,
        build: site.named_build(),
        options: arguments.options,
        output,
        failure: None,
        problems: BTreeSet::new(),
        settled_at: Timestamp::now(),
    };
    let (outcome, grace) = tokio::select! {
        // First, so that a signal is noticed from the moment that the run starts.
        biased;
        grace = stop_signal(&server) => (Ok(Exit::Done), grace),
        outcome = follower.run(address) => (outcome, GRACE_OF_CTRL_C),
        never = Box::pin(write_questions(&server, writer)) => match never {},
        never = forget_hourly(server.catalog(), config.retention) => match never {},
    };
    let _ = stop.send(true);
    // Answers in progress are completed. Neither an endless stream nor anything after a second signal may keep the command from
    // ending.
    tokio::select! {
        _ = tokio::time::timeout(grace, serving) => {}
        _ = interrupted() => {}
    }
    outcome
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

/// Keeps the index of a served book up to date.
struct Follower<'a> {
    server: &'a Server,
    watch: Option<Watch>,
    /// The folder that `--build` names.
    build: Option<&'a Path>,
    options: ReportArguments,
    output: Output,
    /// The temporary failure of the last run, which is reported once and retried.
    failure: Option<String>,
    /// The problems that the last run reported, so that each is printed once.
    problems: BTreeSet<String>,
    /// When the index last equalled a book that nobody was changing.
    settled_at: Timestamp,
}

impl Follower<'_> {
    /// Indexes the book, then syncs after each change of a watched folder and after temporary failures.
    /// Returns only if the first run fails permanently.
    async fn run(mut self, address: SocketAddr) -> Result<Exit, CommandError> {
        let first = self.index(address).await?;
        if first != Exit::Done && self.options.strict {
            return Ok(first);
        }
        loop {
            self.watch_what_is_read().await;
            let changed = async {
                match &mut self.watch {
                    Some(watch) => watch.changed().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep(RETRY_AFTER), if self.failure.is_some() => {}
            }
            let mut is_settled = true;
            if let Some(watch) = &mut self.watch {
                is_settled = watch.settle().await;
            }
            let mut pages = Vec::new();
            let synced = self.server.sync(self.sync_options(), |progress| {
                pages.push(progress.source.to_owned());
            });
            match synced.await {
                Ok(report) => {
                    let is_quiet = self.watch.as_ref().is_none_or(Watch::is_quiet);
                    if is_settled && is_quiet {
                        self.settled_at = Timestamp::now();
                    }
                    self.tell_changes(&pages, &report);
                }
                Err(error) => self.tell(&error),
            }
        }
    }

    /// The options of all runs but the first: the deletion of most of the book does not hold back changes of other pages.
    fn sync_options(&self) -> SyncOptions {
        if self.options.allow_mass_deletion {
            return self.options.sync_options();
        }
        SyncOptions {
            mass_deletion: MassDeletion::Keep {
                since: self.settled_at,
            },
        }
    }

    /// Watches the folders that the last run read. On failure, those of the runs before are still watched, and the next run tries again.
    async fn watch_what_is_read(&mut self) {
        let Some(watch) = &mut self.watch else { return };
        let ingest = self.server.ingest.lock().await;
        let followed = match watched_folders(&ingest, self.build).await {
            Ok(folders) => watch.follow(folders),
            Err(error) => Err(LocalError::from(error).into()),
        };
        if let Err(error) = followed {
            output::status(&format!("some folders are not watched: {error}"));
        }
    }

    /// Prints a line that names the pages of a run, and the problems that are new since the run before.
    fn tell_changes(&mut self, pages: &[String], report: &Report) {
        let former = self.note(report);
        let changed = report.files_changed + report.files_deleted > 0;
        let is_new = |problem: &&String| !former.contains(*problem);
        let problems: Vec<&String> = self.problems.iter().filter(is_new).collect();
        if self.output == Output::Json {
            if changed || !problems.is_empty() {
                print(report, Output::Json);
            }
            return;
        }
        if changed {
            output::line(&change(pages, report));
        }
        for problem in problems {
            output::line(&format!("  {problem}"));
        }
    }

    /// Runs the first sync. If a store, a model or a full disk stops it, it is retried later.
    async fn index(&mut self, address: SocketAddr) -> Result<Exit, CommandError> {
        if self.output == Output::Text {
            let title = self.server.title();
            output::status(&format!("{title} is at http://{address}/ (Ctrl-C stops)"));
            output::status(&format!(
                "indexing {title}; answers are incomplete until it is done"
            ));
        }
        let synced = {
            let ingest = self.server.ingest.lock().await;
            propose_embedder(&ingest).await?;
            with_progress(&ingest, self.options.sync_options()).await
        };
        self.settled_at = Timestamp::now();
        let exit = match synced {
            Ok(report) => {
                self.server.indexed.notify_one();
                self.note(&report);
                print(&report, self.output);
                self.options.exit(&report)
            }
            Err(error) if error.may_pass() && !self.options.strict => {
                self.tell(&error);
                Exit::Partial
            }
            Err(error) => return Err(error.into()),
        };
        if self.output == Output::Text {
            output::line(&format!("\nask at http://{address}/   (Ctrl-C stops)"));
        }
        Ok(exit)
    }

    /// Records the outages of a run, so that it is retried, and its problems. Returns the problems of the previous run.
    fn note(&mut self, report: &Report) -> BTreeSet<String> {
        self.failure = (report.outages > 0).then(|| format!("{:?}", report.failed));
        let problems = report.problems().into_iter();
        let problems = problems.map(|(name, value)| format!("{name} {value}"));
        std::mem::replace(&mut self.problems, problems.collect())
    }

    /// Reports why a run stopped, once per reason, and remembers temporary failures.
    fn tell(&mut self, error: &SyncError) {
        let message = error.to_string();
        if self.failure.as_ref() != Some(&message) {
            output::failure(&message, self.output);
        }
        self.failure = error.may_pass().then_some(message);
    }
}

/// Deletes expired conversations and questions, even if no page changes.
async fn forget_hourly(catalog: &Catalog, retention: Option<Duration>) -> Infallible {
    loop {
        tokio::time::sleep(FORGET_EVERY).await;
        if let Err(error) = forget_readers(catalog, retention).await {
            output::status(&format!("what expired is not deleted yet: {error}"));
        }
    }
}

/// Waits for a signal to stop. If it interrupts a run, prints that the next one continues it. Returns how long answers in progress may still take.
async fn stop_signal(server: &Server) -> Duration {
    let grace = interrupted().await;
    if server.is_indexing() {
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
