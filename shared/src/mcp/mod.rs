//! The Model Context Protocol: the book as tools and resources for programs. Supports both of the protocol's lifecycles without sessions, over single
//! POST requests or standard input and output. Specification: <https://modelcontextprotocol.io/specification/2026-07-28>.
//!
//! Programs get the same results as readers: `search` and `ask` call the same code with the same limits, `fetch` and `outline` read the catalog.

mod budget;
mod id;
mod text;
mod tools;
mod reading;
mod calls;
mod call;
mod server;
mod library;
#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests;

use std::fmt;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Limiter, MAX_BODY_BYTES, Observed, failure, url_query, whole_body};
use answer::error::Error;
use answer::{Answerer, Asker, Question};

pub use budget::Budget;
pub use library::{Library, ListedBook, Opened};
pub use reading::page_at_address;
pub use server::Server;

use call::Call;
use library::LibraryServer;

/// The book that is served.
#[derive(Clone)]
pub struct Book {
    /// The id of one of several books, which its results name.
    pub id: Option<String>,
    /// Returns the answerer of the live index. Called for each request, because the live index may change.
    pub live: Arc<dyn Fn() -> BoxFuture<'static, Result<Answerer, Error>> + Send + Sync>,
    /// The origin of the site, such as `https://book.example`, for URLs. Without it, addresses are paths.
    pub origin: Option<String>,
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// The caller. A program's questions are counted and logged like a reader's.
#[derive(Clone)]
pub struct Caller {
    /// Counts the caller's questions.
    pub limiter: Limiter,
    /// The key for counting.
    pub client_key: String,
    /// Returns who asks a question, as hashes.
    pub asker: Arc<dyn Fn(&Question) -> Asker + Send + Sync>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}

/// Options in the URL's query.
#[derive(Debug, Deserialize)]
struct Parameters {
    max_tokens: Option<usize>,
}

/// Answers one message over HTTP. Outer layers handle authorization, origins and rate limits.
pub async fn respond(mut book: Book, caller: Caller, request: Request<Body>) -> Response {
    if book.origin.is_none() {
        book.origin = local_origin(&request);
    }
    respond_with(request, |call| Server::of_request(book, caller, call)).await
}

/// Answers one message over HTTP to a server of several books, like [`respond`].
pub async fn respond_of_library(library: Library, request: Request<Body>) -> Response {
    respond_with(request, |call| LibraryServer::new(library, call)).await
}

async fn respond_with<Handler: ServerHandler + Clone>(
    request: Request<Body>,
    server: impl FnOnce(Call) -> Handler,
) -> Response {
    let observed = Observed::from_request(&request);
    let request_id = observed.request_id.clone();
    let (budget, mut request) = match read(request).await {
        Ok(read) => read,
        Err(error) => return failure(&error, &request_id),
    };
    if let Some(refusal) = refused_body(&request) {
        return refusal;
    }
    accept_json(request.headers_mut());
    let server = server(Call::of_request(budget, observed));
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::<NeverSessionManager>::default(),
        transport(),
    );
    service.handle(request.map(Body::from)).await.map(Body::new)
}

/// Reads the budget and the body, within its limits, from a request.
async fn read(request: Request<Body>) -> Result<(Budget, Request<Bytes>), Error> {
    let Parameters { max_tokens } = url_query(request.uri())?;
    let budget = max_tokens.map_or(Ok(Budget::default()), Budget::of_tokens)?;
    let (head, body) = request.into_parts();
    let body = whole_body(body).await?;
    Ok((budget, Request::from_parts(head, body)))
}

/// Returns the error of JSON-RPC if a posted body is not a message.
fn refused_body(request: &Request<Bytes>) -> Option<Response> {
    let (code, text) = match serde_json::from_slice::<Value>(request.body()) {
        _ if request.method() != Method::POST => return None,
        Ok(Value::Object(fields)) if fields.contains_key("jsonrpc") => return None,
        Ok(_) => (-32_600, "the body is not a message of JSON-RPC".to_owned()),
        Err(error) => (-32_700, format!("the body is not JSON: {error}")),
    };
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": text}});
    Some((StatusCode::BAD_REQUEST, Json(error)).into_response())
}

/// Makes a request that accepts JSON accept event streams, too. The protocol's transport demands both, although all answers are JSON.
fn accept_json(headers: &mut HeaderMap) {
    let accepted = match headers.get(header::ACCEPT) {
        None => true,
        Some(accepted) => accepted.to_str().is_ok_and(|accepted| {
            accepted.split(',').any(|range| {
                let range = range.split(';').next().unwrap_or_default().trim();
                matches!(range, "*/*" | "application/*" | "application/json")
            })
        }),
    };
    if accepted {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(header::ACCEPT, both);
    }
}

/// Configures the transport: one JSON answer for each message. `Host` is checked earlier: by API Gateway, which knows its own names, and by `serve`,
/// which accepts only names of this machine. `Origin` is checked by [`known_origin`](crate::api::known_origin).
fn transport() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .disable_allowed_hosts()
}

/// Returns the origin that a program on this machine called, which is where `serve` shows the pages.
fn local_origin(request: &Request<Body>) -> Option<String> {
    let host = request.headers().get(header::HOST)?.to_str().ok()?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_local = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
    is_local.then(|| format!("http://{host}"))
}
