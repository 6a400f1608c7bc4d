//! From an HTTP request to typed values, and what every route has in common.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use tower_http::cors::{AllowOrigin, CorsLayer};
use uuid::Uuid;

use super::envelope::failure;
use crate::error::{Error, ErrorKind};

/// The largest body that is read.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// Reads a JSON body of at most [`MAX_BODY_BYTES`].
///
/// # Errors
/// `UnsupportedMediaType` without a JSON content type, `TooLarge`, and `Invalid` with what is wrong where.
pub async fn json_body<T: DeserializeOwned>(request: Request<Body>) -> Result<T, Error> {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if !content_type
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("application/json")
    {
        return Err(Error::new(
            ErrorKind::UnsupportedMediaType,
            "the body must have Content-Type: application/json",
        ));
    }
    let bytes = to_bytes(request.into_body(), MAX_BODY_BYTES)
        .await
        .map_err(|_| {
            Error::new(
                ErrorKind::TooLarge,
                format!("the body is larger than {} KiB", MAX_BODY_BYTES / 1024),
            )
        })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Error::new(
            ErrorKind::Invalid,
            format!("the body is not valid: {error}"),
        )
    })
}

/// Answers a path that has no route.
pub async fn not_found(uri: Uri) -> Response {
    let message = format!("there is nothing at {}", uri.path());
    failure(
        &Error::new(ErrorKind::NotFound, message),
        &Uuid::new_v4().to_string(),
    )
}

/// Answers a method that a route does not have.
pub async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    let message = format!("{} does not take {method}", uri.path());
    let error = Error::new(ErrorKind::MethodNotAllowed, message);
    failure(&error, &Uuid::new_v4().to_string()).into_response()
}

/// The client's address: API Gateway's word for it, or the connection's. Never a bare header.
#[must_use]
pub fn client_address(request: &Request<Body>) -> String {
    let extensions = request.extensions();
    if let Some(address) = extensions.get::<ClientAddress>() {
        return address.0.clone();
    }
    extensions
        .get::<axum::extract::ConnectInfo<std::net::SocketAddr>>()
        .map_or_else(|| "unknown".to_owned(), |info| info.0.ip().to_string())
}

/// The client's address as the platform gives it.
#[derive(Debug, Clone)]
pub struct ClientAddress(pub String);

/// Cross-origin access for the book's own pages; on a laptop, for any port of it.
pub fn cors(origins: &[String], local: bool) -> CorsLayer {
    let origins: Vec<String> = origins.to_vec();
    let allowed = AllowOrigin::predicate(move |origin: &HeaderValue, _| {
        let origin = origin.to_str().unwrap_or_default();
        origins.iter().any(|allowed| allowed == origin) || (local && is_local(origin))
    });
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([header::CONTENT_TYPE, header::ACCEPT])
        .expose_headers([header::RETRY_AFTER])
}

fn is_local(origin: &str) -> bool {
    let host = origin.strip_prefix("http://").unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}
