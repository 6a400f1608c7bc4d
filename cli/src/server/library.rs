//! Routes of a server with several books: those of all books together, and below `/books/ID` those of a server with one.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use bookrag::api::not_found;
use bookrag::books::{self, Book, BookId};
use bookrag::catalog::{IndexStats, Indexing};
use bookrag::telemetry;
use serde::Deserialize;
use serde_json::json;

use super::{Server, assets, visitors};
use crate::look::Look;

/// A book of a server that has several.
#[derive(Debug, Clone)]
pub(crate) struct ShownBook {
    pub(crate) id: BookId,
    pub(crate) server: Arc<Server>,
}

/// The books, in the order in which they are listed.
type Shown = Arc<[ShownBook]>;

/// Returns the routes of a server with several books that listens on `listening`.
pub(crate) fn library(shown: Vec<ShownBook>, listening: SocketAddr) -> Router {
    // Other machines know this one by another name.
    let server = if listening.ip().is_loopback() {
        format!("http://{listening}")
    } else {
        String::new()
    };
    let books = shown.iter().map(|ShownBook { id, server: book }| Book {
        id: id.clone(),
        context: Arc::clone(&book.context),
        url: Some(format!("{server}/books/{id}")),
        routes: super::router(Arc::clone(book), listening),
    });
    let books = books::router(books.collect());
    let page = Router::new()
        .route("/", get(page))
        .route("/assets/{name}", get(assets::asset))
        .route("/assets/look.css", get(look))
        .route("/favicon.ico", get(icon))
        .route("/openapi.json", get(assets::openapi))
        .route("/api/reference", get(assets::reference))
        .route("/local/book", get(all_books))
        .route("/books/{id}", get(page_of_book))
        .route("/books/{id}/", get(page_of_book))
        .with_state(shown.into());
    let routes = page
        .merge(books)
        .fallback(not_found)
        .layer(from_fn_with_state(listening, visitors::by_name));
    telemetry::traced(routes)
}

/// The query of the page's address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chosen {
    /// The id of the book that is asked.
    books: String,
}

/// Serves the page to ask on, for all books or for one.
async fn page(State(shown): State<Shown>, Query(chosen): Query<Chosen>) -> Response {
    let mut books = shown.iter();
    match books.find(|book| book.id.as_str() == chosen.books) {
        Some(ShownBook { server, .. }) => {
            assets::page_with(server.mode_attributes().await, server.title())
        }
        None => assets::page_with("", &title(&shown)),
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
    let titles: Vec<&str> = shown.iter().map(|book| book.server.title()).collect();
    titles.join(", ")
}

/// Tells the page about all books together.
async fn all_books(State(shown): State<Shown>) -> Response {
    let (mut pages, mut chunks, mut math) = (0, 0, false);
    let mut indexing: Option<Indexing> = None;
    for ShownBook { server, .. } in shown.iter() {
        let (counted, progress) = contents(server).await;
        pages += counted.documents;
        chunks += counted.chunks;
        math |= server.reading.read().await.settings.math;
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
        "has_insights": false,
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
