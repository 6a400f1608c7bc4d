//! Routes of `serve`: the functions' own routers, the page, and a reading view of the book.

mod assets;
mod insights;
mod lazy;
mod library;
mod listen;
mod lists;
mod local_api;
mod pictures;
mod reading;
mod visitors;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use bookrag::api::{authorize, not_found};
use bookrag::catalog::Catalog;
use bookrag::context::Context;
use bookrag::ingest::{Ingest, OpenMode, Progress, Report, SyncError, SyncOptions, sync};
use bookrag::telemetry;
use tokio::sync::{Mutex, MutexGuard, Notify, RwLock};

use crate::look::{Look, mode_attributes};
pub(crate) use lazy::LazyServer;
pub(crate) use library::{ShownBook, library};
pub(crate) use listen::{HEAD_DEADLINE, listen};
use lists::Lists;
use local_api::HasInsights;

#[derive(Debug)]
pub(crate) struct Server {
    context: Arc<Context>,
    /// Allows one run at a time.
    pub(crate) ingest: Mutex<Ingest>,
    /// Locked for reading by each [`Self::sync`], also while it waits for its turn.
    syncs: RwLock<()>,
    /// Reads pages for readers, who do not wait for a run.
    reading: RwLock<Ingest>,
    /// Notified after each run, because the new pages may lack questions.
    pub(crate) indexed: Notify,
    title: String,
    lists: Lists,
    /// The secret that commands must send to start a run.
    secret: String,
    /// The URL of the built site, if it is served elsewhere.
    site_url: Option<String>,
    /// The path below which this server has the book: empty, or `/books/ID` if it has several.
    place: String,
}

/// Only one of a process's books is indexed at a time, because a run uses all processors.
static TURN: Mutex<()> = Mutex::const_new(());

/// Waits until no other book of this process is being indexed.
pub(crate) async fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().await
}

impl Server {
    pub(crate) fn new(
        context: Context,
        ingest: Ingest,
        site_url: Option<String>,
        secret: String,
        place: String,
    ) -> Self {
        Self {
            context: Arc::new(context),
            title: ingest.index_row.site.title.clone(),
            indexed: Notify::new(),
            lists: Lists::default(),
            syncs: RwLock::default(),
            reading: RwLock::new(ingest.clone()),
            ingest: Mutex::new(ingest),
            secret,
            place,
            site_url: site_url.map(|url| url.trim_end_matches('/').to_owned()),
        }
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        self.context.catalog()
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Syncs the book, after reading its settings again. `progress` is called after each page that had to be indexed.
    pub(crate) async fn sync(
        &self,
        options: SyncOptions,
        progress: impl FnMut(Progress<'_>),
    ) -> Result<Report, SyncError> {
        // `ingest` is locked after the turn, because the run that has the turn may wait for it.
        let _sync = self.syncs.read().await;
        let _turn = turn().await;
        let mut ingest = self.ingest.lock().await;
        *ingest = ingest.reopened(OpenMode::Write).await?;
        self.reading.write().await.clone_from(&ingest);
        self.lists.forget().await;
        let report = sync(&ingest, options, progress).await?;
        // They say when the index was made.
        self.lists.forget().await;
        self.indexed.notify_one();
        Ok(report)
    }

    /// Returns the site's colour mode as attributes of `<html>`.
    async fn mode_attributes(&self) -> &'static str {
        mode_attributes(&self.reading.read().await.settings.appearance)
    }

    /// Returns the colours of the site as it is now.
    async fn look(&self) -> Look {
        let (source, settings) = {
            let reading = self.reading.read().await;
            (reading.source.clone(), reading.settings.clone())
        };
        Look::read(&source, &settings).await
    }

    /// True while a run is indexing the book or waits for its turn.
    pub(crate) fn is_indexing(&self) -> bool {
        self.ingest.try_lock().is_err() || self.syncs.try_write().is_err()
    }
}

/// Returns the routes of a server that listens on `listening`.
pub(crate) fn router(server: Arc<Server>, listening: SocketAddr) -> Router {
    let context = &server.context;
    // What readers asked is for this machine's user alone.
    let has_insights = listening.ip().is_loopback();
    let page = Router::new()
        .route("/", get(assets::page))
        .route("/assets/{name}", get(assets::asset))
        .route("/assets/look.css", get(assets::look))
        .route("/assets/logo/{mode}", get(assets::logo))
        .route("/favicon.ico", get(assets::icon))
        .route("/openapi.json", get(assets::openapi))
        .route("/api/reference", get(assets::reference))
        .route("/local/book", get(local_api::book))
        .layer(Extension(HasInsights(has_insights)))
        // A site may have pages below `/api`.
        .route("/api/v1/{*path}", any(not_found));
    let programs = Router::new()
        .route("/local/sync", post(local_api::sync))
        .layer(from_fn_with_state(
            server.secret.clone(),
            visitors::with_secret,
        ));
    // If readers must sign in for answers, they must for the book's text too.
    let authorize = from_fn_with_state(context.authorizer.clone(), authorize);
    let mut reading = Router::new().fallback(reading::page);
    if has_insights {
        reading = reading.route("/insights", get(insights::page));
    }
    let reading = reading.layer(authorize);
    let local = page.merge(programs).merge(reading);
    let local = local.with_state(Arc::clone(&server));
    let routes = Router::new()
        .merge(query::routes(Arc::clone(context)))
        .merge(search::routes(Arc::clone(context)))
        .merge(health::routes(Arc::clone(context)))
        .merge(local)
        .layer(from_fn_with_state(listening, visitors::by_name));
    telemetry::traced(routes)
}

type Shared = State<Arc<Server>>;
