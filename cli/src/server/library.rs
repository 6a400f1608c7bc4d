//! Routes of a server with several books: those of all books together, and below `/books/ID` those of a server with one.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use bookrag::api::{Authorizer, Origins, authorize, not_found};
use bookrag::books::{self, Book, BookId, OpenBook, Opening};
use bookrag::catalog::{IndexStats, Indexing};
use bookrag::error::Error;
use bookrag::telemetry;
use futures::FutureExt as _;
use serde::Deserialize;
use serde_json::json;

use super::local_api::HasInsights;
use super::{LazyServer, Server, assets, insights, visitors};
use crate::look::Look;

/// A book of a server that has several.
#[derive(Debug, Clone)]
pub(crate) struct ShownBook {
    pub(crate) id: BookId,
    pub(crate) title: String,
    /// True if its site shows formulas.
    pub(crate) math: bool,
    /// The origins of its pages.
    pub(crate) origins: Vec<String>,
    /// Checks the tokens of its readers.
    pub(crate) authorizer: Option<Authorizer>,
    pub(crate) server: Arc<LazyServer>,
}

/// The books, in the order in which they are listed.
pub(super) type Shown = Arc<[ShownBook]>;

/// Returns the routes of a server with several books that listens on `listening`.
pub(crate) fn library(shown: Vec<ShownBook>, listening: SocketAddr) -> Router {
    // Other machines know this one by another name.
    let server = if listening.ip().is_loopback() {
        format!("http://{listening}")
    } else {
        String::new()
    };
    let books = shown.iter().map(|book| Book {
        id: book.id.clone(),
        title: Some(book.title.clone()),
        url: Some(format!("{server}/books/{}", book.id)),
        origins: book.origins.clone(),
        pages: Origins::with_local(&book.origins),
        authorizer: book.authorizer.clone(),
        open: opening(Arc::clone(&book.server)),
        current: current(Arc::clone(&book.server)),
    });
    let books = books::router(books.collect());
    let mut own = Router::new();
    // What readers asked is for this machine's user alone.
    let has_insights = listening.ip().is_loopback();
    if has_insights {
        let authorizer = shown.first().and_then(|book| book.authorizer.clone());
        let insights = get(insights::page_of_library);
        own = own.route(
            "/insights",
            insights.layer(from_fn_with_state(authorizer, authorize)),
        );
    }
    let own = own
        .route("/", get(page))
        .route("/assets/{name}", get(assets::asset))
        .route("/assets/look.css", get(look))
        .route("/favicon.ico", get(icon))
        .route("/openapi.json", get(assets::openapi))
        .route("/api/reference", get(assets::reference))
        .route("/local/book", get(all_books))
        .route("/books/{id}", get(page_of_book))
        .route("/books/{id}/", get(page_of_book))
        .layer(Extension(HasInsights(has_insights)))
        .with_state(shown.into());
    let routes = own
        .merge(books)
        .fallback(not_found)
        .layer(from_fn_with_state(listening, visitors::by_name));
    telemetry::traced(routes)
}

fn opening(server: Arc<LazyServer>) -> Opening {
    Arc::new(move || {
        let server = Arc::clone(&server);
        async move {
            let (server, routes) = server.asked().await.map_err(Error::unavailable)?;
            let context = Arc::clone(&server.context);
            Ok(OpenBook { context, routes })
        }
        .boxed()
    })
}

fn current(server: Arc<LazyServer>) -> Arc<dyn Fn() -> Option<OpenBook> + Send + Sync> {
    Arc::new(move || server.current())
}

/// The query of the page's address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chosen {
    /// The id of the book that is asked.
    books: String,
}

/// Serves the page to ask on, for all books or for one. It opens no book, because anybody may ask for it.
async fn page(State(shown): State<Shown>, Query(chosen): Query<Chosen>) -> Response {
    let mut books = shown.iter();
    let Some(book) = books.find(|book| book.id.as_str() == chosen.books) else {
        return assets::page_with("", &title(&shown));
    };
    match book.server.open_server() {
        Some(server) => assets::page_with(server.mode_attributes().await, server.title()),
        None => assets::page_with("", &book.title),
    }
}

async fn look() -> Response {
    assets::style_sheet(&Look::neutral())
}

async fn icon() -> Response {
    assets::icon_of(&Look::neutral())
}

/// Leads to the page on which one book is asked.
async fn page_of_book(State(shown): State<Shown>, Path(id): Path<String>) -> Response {
    let is_known = shown.iter().any(|book| book.id.as_str() == id);
    let address = if is_known {
        format!("/?books={id}")
    } else {
        "/".to_owned()
    };
    Redirect::temporary(&address).into_response()
}

fn title(shown: &[ShownBook]) -> String {
    let titles: Vec<&str> = shown.iter().map(|book| book.title.as_str()).collect();
    titles.join(", ")
}

/// Tells the page about all books together.
async fn all_books(
    State(shown): State<Shown>,
    Extension(HasInsights(has_insights)): Extension<HasInsights>,
) -> Response {
    let (mut pages, mut chunks, mut math) = (0, 0, false);
    let mut indexing: Option<Indexing> = None;
    for book in shown.iter() {
        let (counted, progress) = book.server.contents().await;
        pages += counted.documents;
        chunks += counted.chunks;
        math |= book.math;
        if let Some(progress) = progress {
            let so_far = indexing.get_or_insert(Indexing { done: 0, total: 0 });
            so_far.done += progress.done;
            so_far.total += progress.total;
        }
    }
    let nothing: [(); 0] = [];
    Json(json!({
        "title": title(&shown),
        "navbar_title": null,
        "has_logo": false,
        "is_mode_fixed": false,
        "has_insights": has_insights,
        "pages": pages,
        "chunks": chunks,
        "indexing": indexing,
        "books_count": shown.len(),
        "example_questions": nothing,
        "math": math,
        "locales": nothing,
        "versions": nothing,
    }))
    .into_response()
}

/// Returns what can be found in a book, and the progress of its first indexing.
pub(super) async fn contents(server: &Server) -> (IndexStats, Option<Indexing>) {
    let Ok(index) = server.context.live_index().await else {
        return (IndexStats::default(), None);
    };
    match server.context.catalog().stats(index.index_id).await {
        Ok(counted) => {
            let progress = index.indexing(counted.documents);
            (counted, progress)
        }
        Err(_) => (IndexStats::default(), None),
    }
}
