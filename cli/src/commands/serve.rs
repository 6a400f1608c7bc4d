//! `bookrag serve`: indexes a book and answers questions on this machine.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bookrag::catalog::Catalog;
use bookrag::config::Config;
use bookrag::ingest::{Opening, forget_readers};
use clap::Args;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::sync::{ReportArguments, print, with_progress};
use super::{CommandError, Exit, output};
use crate::local::{BookFolder, LocalBook};
use crate::running;
use crate::server::{Server, router};
use crate::site::Site;

/// Writes that come together, as an editor makes them, are read once.
const QUIET_AFTER_CHANGE: Duration = Duration::from_millis(300);

/// How often conversations and questions that expired are deleted.
const FORGET_EVERY: Duration = Duration::from_hours(1);

#[derive(Debug, Args)]
pub(super) struct ServeArguments {
    /// The site: the folder of a Docusaurus site or of docs alone, or `s3://bucket/prefix`. Without it, the current
    /// folder.
    site: Option<PathBuf>,
    /// Follow the folder: a saved page is answered from a moment later.
    #[arg(long)]
    watch: bool,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Where the built site is served, for the links of citations; without it, pages are shown by this server.
    #[arg(long)]
    site_url: Option<String>,
    #[command(flatten)]
    options: ReportArguments,
}

pub(super) async fn run(
    config: Config,
    arguments: ServeArguments,
    json: bool,
) -> Result<Exit, CommandError> {
    let site = arguments.site.clone().unwrap_or_else(|| PathBuf::from("."));
    if arguments.site.is_none() && !looks_like_a_site(&site) {
        return Err(CommandError::Told(
            "this folder holds no `docs` folder and no Docusaurus config; name the site: bookrag serve SITE".to_owned(),
        ));
    }
    let site = Site::read(&site)?;
    if arguments.watch && site.folder().is_none() {
        return Err(CommandError::Told(
            "only a folder can be watched; a bucket tells the ingest function of its changes"
                .to_owned(),
        ));
    }
    let folder = BookFolder::of_site(&config, &site);
    folder.create()?;
    let listener = TcpListener::bind(arguments.listen).await.map_err(|error| {
        CommandError::Told(format!(
            "cannot listen on {}: {error}; choose another with --listen",
            arguments.listen
        ))
    })?;
    let address = listener.local_addr().unwrap_or(arguments.listen);
    let book = LocalBook::open(&config, &folder, output::status).await?;
    let outcome = serve(
        &config, &arguments, &site, &folder, &book, listener, address, json,
    )
    .await;
    running::withdraw(&folder);
    book.close().await?;
    outcome
}

fn looks_like_a_site(folder: &Path) -> bool {
    folder.join("docs").is_dir()
        || ["js", "ts", "mjs", "cjs"]
            .iter()
            .any(|kind| folder.join(format!("docusaurus.config.{kind}")).is_file())
}

#[expect(
    clippy::too_many_arguments,
    reason = "the parts of one running command"
)]
async fn serve(
    config: &Config,
    arguments: &ServeArguments,
    site: &Site,
    folder: &BookFolder,
    book: &LocalBook,
    listener: TcpListener,
    address: SocketAddr,
    json: bool,
) -> Result<Exit, CommandError> {
    let ingest = book.ingest(config, site, Opening::TakesOver).await?;
    let instance = Uuid::new_v4().to_string();
    let server = Arc::new(Server::new(
        book.context.clone(),
        ingest,
        instance.clone(),
        arguments.site_url.clone(),
    ));
    let app =
        router(Arc::clone(&server), address).into_make_service_with_connect_info::<SocketAddr>();
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let graceful = axum::serve(listener, app).with_graceful_shutdown(async move {
        // An error says that the sender is gone: then it is time to stop, too.
        let _ = stopped.wait_for(|stop| *stop).await;
    });
    let serving = tokio::spawn(graceful.into_future());
    running::announce(folder, address, &instance)
        .map_err(|error| CommandError::Told(format!("{}: {error}", folder.path.display())))?;
    // Before the first sync, so that what is saved during it is not missed.
    let (_watcher, changes) = match site
        .folder()
        .filter(|_| arguments.watch)
        .map(watch)
        .transpose()?
    {
        Some((watcher, changes)) => (Some(watcher), Some(changes)),
        None => (None, None),
    };
    let first = tokio::select! {
        first = first_sync(&server, arguments.options, address, json) => Some(first),
        () = interrupted() => None,
    };
    let outcome = match first {
        None => Ok(Exit::Done),
        Some(Err(error)) => Err(error),
        Some(Ok(exit)) if exit != Exit::Done && arguments.options.strict => Ok(exit),
        Some(Ok(_)) => {
            tokio::select! {
                result = follow(&server, changes, arguments.options, json) => result,
                never = forget_hourly(server.catalog(), config.retention) => match never {},
                () = interrupted() => Ok(Exit::Done),
            }
        }
    };
    let _ = stop.send(true);
    // A reader's open stream must not keep the command from ending.
    let _ = tokio::time::timeout(Duration::from_secs(2), serving).await;
    outcome
}

async fn first_sync(
    server: &Server,
    options: ReportArguments,
    address: SocketAddr,
    json: bool,
) -> Result<Exit, CommandError> {
    if !json {
        output::status(&format!("indexing {}", server.title()));
    }
    let report = {
        let ingest = server.ingest.lock().await;
        with_progress(&ingest, options.sync_options()).await?
    };
    print(&report, json);
    if !json {
        output::line(&format!("\nask at http://{address}/   (Ctrl-C stops)"));
    }
    Ok(options.exit(&report))
}

/// Follows a folder from now on. Changes come until the watcher is dropped.
fn watch(site: &Path) -> Result<(RecommendedWatcher, mpsc::Receiver<()>), CommandError> {
    let (changed, changes) = mpsc::channel(1);
    let told = |error: notify::Error| {
        CommandError::Told(format!("{} cannot be watched: {error}", site.display()))
    };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Reading pages is an event, too; it changes nothing. A full channel already says that there is work.
        if event.is_ok_and(|event| !event.kind.is_access()) {
            let _ = changed.try_send(());
        }
    })
    .map_err(told)?;
    watcher
        .watch(site, RecursiveMode::Recursive)
        .map_err(told)?;
    Ok((watcher, changes))
}

/// Forgets what readers left behind once it expires, also while no page changes.
async fn forget_hourly(catalog: &Catalog, retention: Option<Duration>) -> Infallible {
    loop {
        tokio::time::sleep(FORGET_EVERY).await;
        if let Err(error) = forget_readers(catalog, retention).await {
            output::status(&format!("what expired is not deleted yet: {error}"));
        }
    }
}

/// Waits; of a watched folder, syncs whenever it changed.
async fn follow(
    server: &Server,
    changes: Option<mpsc::Receiver<()>>,
    options: ReportArguments,
    json: bool,
) -> Result<Exit, CommandError> {
    let Some(mut changes) = changes else {
        return std::future::pending().await;
    };
    while changes.recv().await.is_some() {
        tokio::time::sleep(QUIET_AFTER_CHANGE).await;
        while changes.try_recv().is_ok() {}
        match server.sync(options.sync_options()).await {
            Ok(report)
                if report.files_changed + report.files_deleted > 0 || !report.failed.is_empty() =>
            {
                print(&report, json);
            }
            Ok(_) => {}
            Err(error) => output::failure(&error.to_string(), json),
        }
    }
    Ok(Exit::Done)
}

/// Waits for Ctrl-C or a polite kill.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
