//! From an HTTP request to typed values, and what every route has in common.

use std::fmt;
use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Query, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::envelope::failure;
use super::limits::{RATE_LIMIT, RATE_LIMIT_POLICY};
use super::observe::Observed;
use crate::error::{Error, ErrorKind};

/// The session that a conversation to delete belongs to.
pub const SESSION_HEADER: &str = "x-session-id";
/// The conversation that a streamed answer is stored in.
pub(super) const CONVERSATION_HEADER: HeaderName = HeaderName::from_static("x-conversation-id");
/// The largest body that is read.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// How long a body may take.
const BODY_DEADLINE: Duration = Duration::from_secs(20);

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
    let bytes = whole_body(request.into_body()).await?;
    let mut parser = serde_json::Deserializer::from_slice(&bytes);
    let parsed = serde_path_to_error::deserialize(&mut parser).map(|Object(parsed)| parsed);
    let parsed = parsed.map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        // The path of the whole is a dot.
        let at = if path == "." {
            String::new()
        } else {
            format!("{path}: ")
        };
        Error::new(
            ErrorKind::Invalid,
            format!("the body is not valid: {at}{reason}"),
        )
    })?;
    parser.end().map_err(|error| {
        let message = format!("the body is not valid: {error}");
        Error::new(ErrorKind::Invalid, message)
    })?;
    Ok(parsed)
}

/// What came as a JSON object: serde takes a list for a structure, too, its fields in their order.
struct Object<T>(T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<Map: MapAccess<'de>>(self, map: Map) -> Result<T, Map::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

/// Reads a field that must be an object.
pub(super) fn object<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    Object::deserialize(deserializer).map(|Object(object)| object)
}

/// Reads a field that must be a list of objects.
pub(super) fn objects<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|Object(object)| object).collect())
}

/// Reads the query of a URL.
///
/// # Errors
/// `Invalid` with what is wrong.
pub fn url_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Error> {
    let parsed = Query::try_from_uri(uri).map_err(|error| {
        let message = format!("the URL's query is not valid: {}", error.body_text());
        Error::new(ErrorKind::Invalid, message)
    });
    parsed.map(|Query(parsed)| parsed)
}

/// Answers a path that has no route.
pub async fn not_found(request: Request) -> Response {
    let message = format!("there is nothing at {}", request.uri().path());
    let error = Error::new(ErrorKind::NotFound, message);
    failure(&error, &Observed::of(&request).request_id)
}

/// Answers a method that a route does not have.
pub async fn method_not_allowed(request: Request) -> Response {
    let (path, method) = (request.uri().path(), request.method());
    let message = format!("{path} does not take {method}");
    let error = Error::new(ErrorKind::MethodNotAllowed, message);
    failure(&error, &Observed::of(&request).request_id)
}

/// What each proxy appends to: the address that it was asked from.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The client's address.
///
/// Without trusted proxies it is the platform's word: API Gateway's source, or the connection's other end; never a
/// header, which anybody can write. With `n` of them the platform's address is the first one's, and the client's is the
/// `n`th of `X-Forwarded-For` from the right, where each of them wrote down who asked it: 1 behind a content delivery
/// network that readers ask directly. API Gateway appends its source as well; that is not counted. Where there are fewer
/// addresses, or something else in this place, the request did not come through all of them: the platform's counts.
///
/// Proxies may only be trusted where nobody can go around them.
#[must_use]
pub fn client_address(request: &Request<Body>, trusted_proxies: usize) -> String {
    let platform = platform_address(request);
    let Some(skipped) = trusted_proxies.checked_sub(1) else {
        return platform;
    };
    let forwarded = request.headers().get_all(FORWARDED_FOR).iter();
    let mut forwarded: Vec<Option<IpAddr>> = forwarded
        // Bytes that are no text stand in their own place alone.
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|part| parse_address(&String::from_utf8_lossy(part)))
        .collect();
    if let Some(ClientAddress(source)) = request.extensions().get()
        && forwarded.last() == Some(&parse_address(source))
    {
        forwarded.pop();
    }
    match forwarded.iter().nth_back(skipped) {
        Some(Some(address)) => address.to_string(),
        _ => platform,
    }
}

/// An address; some proxies write its port, too.
fn parse_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip());
    text.parse().or_else(|_| with_port()).ok()
}

fn platform_address(request: &Request<Body>) -> String {
    let extensions = request.extensions();
    if let Some(address) = extensions.get::<ClientAddress>() {
        return address.0.clone();
    }
    extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map_or_else(|| "unknown".to_owned(), |info| info.0.ip().to_string())
}

/// Reads a body of at most [`MAX_BODY_BYTES`].
///
/// # Errors
/// `TooLarge`, and `Invalid` if it does not come in time.
pub(crate) async fn whole_body(body: Body) -> Result<Bytes, Error> {
    body_within(body, BODY_DEADLINE).await
}

async fn body_within(body: Body, deadline: Duration) -> Result<Bytes, Error> {
    let read = tokio::time::timeout(deadline, to_bytes(body, MAX_BODY_BYTES)).await;
    let late = |_| Error::new(ErrorKind::Invalid, "the body did not come in time");
    read.map_err(late)?.map_err(|_| {
        let message = format!("the body is larger than {} KiB", MAX_BODY_BYTES / 1024);
        Error::new(ErrorKind::TooLarge, message)
    })
}

/// How long a browser may remember the answer to a preflight: the longest time that Chromium takes. Without it a preflight
/// comes before almost every question.
const PREFLIGHT_AGE: Duration = Duration::from_hours(2);

/// The client's address as the platform gives it.
#[derive(Debug, Clone)]
pub struct ClientAddress(pub String);

/// The origins whose pages may call.
#[derive(Debug, Clone)]
pub struct Origins {
    named: Vec<String>,
    /// Whether pages of this machine may, at any port.
    local: bool,
}

impl Origins {
    /// These origins, and on a laptop any port of it.
    #[must_use]
    pub fn new(named: &[String], local: bool) -> Self {
        Self {
            named: named.to_vec(),
            local,
        }
    }

    /// True if a page of this origin may call.
    fn allows(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default();
        self.named.iter().any(|allowed| allowed == origin) || (self.local && is_local(origin))
    }
}

/// Middleware: refuses the requests of pages whose origin may not call. Programs send no origin.
pub async fn known_origin(
    State(origins): State<Origins>,
    request: Request,
    next: Next,
) -> Response {
    match request.headers().get(header::ORIGIN) {
        Some(origin) if !origins.allows(origin) => {
            let message = "pages of this origin may not call; BOOKRAG_ORIGINS lists those that may";
            let error = Error::new(ErrorKind::Forbidden, message);
            failure(&error, &Observed::of(&request).request_id)
        }
        _ => next.run(request).await,
    }
}

/// Headers of the Model Context Protocol, which repeat what stands in the body.
const MCP_HEADERS: [&str; 3] = ["mcp-method", "mcp-name", "mcp-protocol-version"];

/// Cross-origin access for the book's own pages; on a laptop, for any port of it.
pub fn cors(origins: &[String], local: bool) -> CorsLayer {
    let origins = Origins::new(origins, local);
    let allowed = AllowOrigin::predicate(move |origin: &HeaderValue, _| origins.allows(origin));
    let headers = [
        header::CONTENT_TYPE,
        header::ACCEPT,
        header::AUTHORIZATION,
        HeaderName::from_static(SESSION_HEADER),
    ];
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(
            headers
                .into_iter()
                .chain(MCP_HEADERS.map(HeaderName::from_static))
                .collect::<Vec<_>>(),
        )
        .expose_headers([
            header::RETRY_AFTER,
            RATE_LIMIT,
            RATE_LIMIT_POLICY,
            CONVERSATION_HEADER,
        ])
        .max_age(PREFLIGHT_AGE)
}

/// True if an origin is `http`, a name of this machine and perhaps a port: nothing else, such as a user before an `@`.
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
