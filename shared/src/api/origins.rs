//! Decides which web pages may call the service, from what browsers say about them.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::envelope::failure;
use super::limits::{RATE_LIMIT, RATE_LIMIT_POLICY};
use super::observe::Observed;
use answer::error::{Error, ErrorKind};

/// Names the conversation that a streamed answer is stored in.
pub(super) const CONVERSATION_HEADER: HeaderName = HeaderName::from_static("x-conversation-id");

/// How long a browser may cache a preflight response: Chromium's maximum. Without it, almost every question needs a preflight.
const PREFLIGHT_AGE: Duration = Duration::from_hours(2);

/// The origins whose pages may call the service.
#[derive(Debug, Clone)]
pub struct Origins {
    named: Vec<String>,
    /// True if pages of this machine may call, from any port.
    local: bool,
}

impl Origins {
    /// Creates a set of these origins.
    #[must_use]
    pub fn new(named: &[String]) -> Self {
        Self {
            named: named.to_vec(),
            local: false,
        }
    }

    /// Creates a set of these origins and of this machine's.
    #[must_use]
    pub fn with_local(named: &[String]) -> Self {
        Self {
            named: named.to_vec(),
            local: true,
        }
    }

    /// Creates the union of several sets.
    #[must_use]
    pub fn all(sets: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::new(&[]);
        for mut set in sets {
            all.named.append(&mut set.named);
            all.local |= set.local;
        }
        all
    }

    /// True if a page of this origin may call.
    fn allows(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default();
        self.named.iter().any(|allowed| allowed == origin) || (self.local && is_local(origin))
    }

    /// True if a `GET` comes from a program, from a page that may call, or from a reader who opens its address.
    ///
    /// Browsers send `Sec-Fetch-*` to HTTPS and to this machine (W3C, "Fetch Metadata Request Headers"), and `Origin` with a script's request to
    /// another origin. Pages can change neither.
    fn may_get(&self, headers: &HeaderMap) -> bool {
        if let Some(origin) = headers.get(header::ORIGIN) {
            return self.allows(origin);
        }
        if is_prefetch(headers) {
            return false;
        }
        let [site, mode, destination] = ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"]
            .map(|name| headers.get(name).map(HeaderValue::as_bytes));
        match (site, mode, destination) {
            // A program, or a browser that says nothing. Node names the mode alone; a page's script that asks another origin in this mode sends
            // `Origin`.
            (None, None | Some(b"cors"), None) => true,
            // The service's own page, or an address that the reader typed.
            (Some(b"same-origin" | b"none"), _, _) => true,
            // A link that the reader followed.
            (_, Some(b"navigate"), Some(b"document")) => true,
            _ => false,
        }
    }
}

/// Middleware that refuses requests of pages with a foreign origin. Programs send no origin.
pub async fn known_origin(
    State(origins): State<Origins>,
    request: Request,
    next: Next,
) -> Response {
    match request.headers().get(header::ORIGIN) {
        Some(origin) if !origins.allows(origin) => {
            let message =
                "pages of this origin may not call the API; the origins in BOOKRAG_ORIGINS may";
            let error = Error::new(ErrorKind::Forbidden, message);
            failure(&error, &Observed::from_request(&request).request_id)
        }
        _ => next.run(request).await,
    }
}

/// Middleware that refuses a `GET` which a foreign page caused: an image, a frame, a script's request, a prefetch. Browsers send such requests
/// without a preflight, so CORS only hides the response, when the question has been paid for and counted against the reader's limits. A request with
/// a JSON body needs a preflight.
pub async fn known_page(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    // A handler of GET also answers HEAD.
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && !origins.may_get(request.headers()) {
        let message = "this request comes from a page that may not call the API; the origins in BOOKRAG_ORIGINS may, and readers may open the address itself";
        let error = Error::new(ErrorKind::Forbidden, message);
        return failure(&error, &Observed::from_request(&request).request_id);
    }
    next.run(request).await
}

/// Allows cross-origin requests from the book's own pages, with any headers: clients such as that of `OpenAI` send many of their own.
pub fn cors(origins: Origins) -> CorsLayer {
    let allowed = AllowOrigin::predicate(move |origin: &HeaderValue, _| origins.allows(origin));
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            header::RETRY_AFTER,
            RATE_LIMIT,
            RATE_LIMIT_POLICY,
            CONVERSATION_HEADER,
        ])
        .max_age(PREFLIGHT_AGE)
}

/// True if a browser loads the address before anybody opens it.
fn is_prefetch(headers: &HeaderMap) -> bool {
    headers.contains_key("sec-purpose") || headers.contains_key("purpose")
}

/// True if an origin is only `http`, a name of this machine and an optional port. A user before an `@`, for example, is refused.
fn is_local(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else {
        return false;
    };
    let host = uri.host().unwrap_or_default();
    let port = uri.port().map_or(String::new(), |port| format!(":{port}"));
    matches!(host, "localhost" | "127.0.0.1" | "[::1]") && origin == format!("http://{host}{port}")
}

#[cfg(test)]
mod tests;
