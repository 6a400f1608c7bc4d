//! The page of what readers asked.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use super::Shared;
use crate::commands::insights;

/// Allows the page's own styles alone.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page of `/insights`.
pub(super) async fn page(State(server): Shared) -> Response {
    match insights::page(&server.context).await {
        Ok(page) => {
            let policy = [(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY)];
            (policy, Html(page)).into_response()
        }
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}
