//! The page of what readers asked.

use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use serde::Deserialize;

use super::Shared;
use super::library::Shown;
use crate::commands::insights::{self, CountedBook};

/// Allows the page's own styles and the site's icon alone.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Debug, Deserialize)]
pub(super) struct Period {
    /// How many days to look back.
    days: Option<String>,
}

/// Serves the page `/insights`.
pub(super) async fn page(State(server): Shared, Query(period): Query<Period>) -> Response {
    // An address that somebody changed by hand shows the usual period.
    let days = period.days.and_then(|days| days.parse().ok());
    match insights::page(&server.context, days, &server.look().await, &server.place).await {
        Ok(page) => shown(page),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

/// Serves the page `/insights` of a server with several books.
pub(super) async fn page_of_library(State(shown_books): State<Shown>) -> Response {
    let mut books = Vec::new();
    for book in shown_books.iter() {
        // A book that cannot be read is left out.
        let Ok(server) = book.server.server().await else {
            continue;
        };
        let read = CountedBook::read(&server.context, &book.title, &server.place).await;
        books.extend(read.ok());
    }
    shown(insights::page_of_books(&books))
}

fn shown(page: String) -> Response {
    let policy = [(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY)];
    (policy, Html(page)).into_response()
}
