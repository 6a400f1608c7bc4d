//! The Model Context Protocol: the book as tools and resources for programs. Both of its lifecycles are served without sessions, over one
//! POST or over standard input and output. Specification: <https://modelcontextprotocol.io/specification/2026-07-28>.
//!
//! Nothing is found or answered here that a reader's request would not find: `search` and `ask` call the same code with the same
//! limits, `fetch` and `outline` read the catalog.

mod budget;
mod id;
mod text;
mod tools;
mod reading;
mod calls;
mod server;
#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests;

use std::fmt;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::response::Response;
use futures::future::BoxFuture;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;

use crate::answer::{Answerer, Asker, Question};
use crate::api::{Limiter, MAX_BODY_BYTES, Observed, failure, url_query, whole_body};
use crate::error::Error;

pub use budget::Budget;
pub use server::Server;

/// The book that is served.
#[derive(Clone)]
pub struct Book {
    /// Returns what answers from the live index. It is called for each request: a book may get another index.
    pub live: Arc<dyn Fn() -> BoxFuture<'static, Result<Answerer, Error>> + Send + Sync>,
    /// The origin of the site, such as `https://book.example`: addresses begin with it. Without one they are paths.
    pub origin: Option<String>,
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// Who calls. What a program asks counts, and is logged, like a reader's question.
#[derive(Clone)]
pub struct Caller {
    /// Counts its questions.
    pub limiter: Limiter,
    /// What they are counted under.
    pub client_key: String,
    /// Who asks a question, in hashes.
    pub asker: Arc<dyn Fn(&Question) -> Asker + Send + Sync>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}

/// What a user may put into the URL.
#[derive(Debug, Deserialize)]
struct UrlQuery {
    max_tokens: Option<usize>,
}

/// Answers one message over HTTP. Who may call, from where and how often, is for the layers around it.
pub async fn respond(mut book: Book, caller: Caller, request: Request) -> Response {
    let observed = Observed::of(&request);
    let request_id = observed.request_id.clone();
    if book.origin.is_none() {
        book.origin = local_origin(&request);
    }
    let (budget, request) = match read(request).await {
        Ok(read) => read,
        Err(error) => return failure(&error, &request_id),
    };
    let server = Server::of_request(book, budget, caller, observed);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::<NeverSessionManager>::default(),
        transport(),
    );
    service.handle(request).await.map(Body::new)
}

/// Reads what is read here of a request: the budget, and the body within its limits.
async fn read(request: Request) -> Result<(Budget, Request), Error> {
    let UrlQuery { max_tokens } = url_query(request.uri())?;
    let budget = max_tokens.map_or(Ok(Budget::default()), Budget::of_tokens)?;
    let (head, body) = request.into_parts();
    let body = whole_body(body).await?;
    Ok((budget, Request::from_parts(head, Body::from(body))))
}

/// One message, one JSON answer. `Host` is checked before: by API Gateway, which knows its own names, and by `serve`, which answers
/// under names of this machine. `Origin` is checked by [`known_origin`](crate::api::known_origin).
fn transport() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .disable_allowed_hosts()
}

/// The origin that a program on this machine called: `serve` shows the pages there.
fn local_origin(request: &Request) -> Option<String> {
    let host = request.headers().get(header::HOST)?.to_str().ok()?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_local = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
    is_local.then(|| format!("http://{host}"))
}
