//! Converts HTTP requests to typed values, and holds what all routes share.

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
use engine::error::{Error, ErrorKind};

/// Names the session that owns the conversation to delete.
pub const SESSION_HEADER: &str = "x-session-id";
/// Names the conversation that a streamed answer is stored in.
pub(super) const CONVERSATION_HEADER: HeaderName = HeaderName::from_static("x-conversation-id");
/// The largest body that is read.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// Time limit for reading a body.
const BODY_DEADLINE: Duration = Duration::from_secs(20);

/// Reads a JSON body of at most [`MAX_BODY_BYTES`].
///
/// # Errors
/// `UnsupportedMediaType` without a JSON content type, `TooLarge`, and `Invalid` with the position and reason.
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
        // The path of the whole value is a dot.
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

/// Accepts only a JSON object, because serde also reads a structure from a list of its fields.
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
/// `Invalid` with the reason.
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

/// Each proxy appends the address it was called from.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Returns the client's address.
///
/// Without trusted proxies, it comes from the platform: API Gateway's source, or the peer of the connection; never from a header, which anybody can
/// write. With `n` trusted proxies, it is the `n`th address of `X-Forwarded-For` from the right, where each proxy appended its caller: 1 behind a
/// content delivery network that readers call directly. The entry that API Gateway appends is not counted. If there are fewer addresses, or this
/// entry is not an address, the request bypassed a proxy, and the platform's address is used.
///
/// Trust proxies only if clients cannot bypass them.
#[must_use]
pub fn client_address(request: &Request<Body>, trusted_proxies: usize) -> String {
    let platform = platform_address(request);
    let Some(skipped) = trusted_proxies.checked_sub(1) else {
        return platform;
    };
    let forwarded = request.headers().get_all(FORWARDED_FOR).iter();
    let mut forwarded: Vec<Option<IpAddr>> = forwarded
        // Bytes that are not text invalidate only their own entry.
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

/// Parses an address; some proxies add the port.
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
/// `TooLarge`, and `Invalid` if it does not arrive in time.
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

/// How long a browser may cache a preflight response: Chromium's maximum. Without it, almost every question needs a preflight.
const PREFLIGHT_AGE: Duration = Duration::from_hours(2);

/// The client's address according to the platform.
#[derive(Debug, Clone)]
pub struct ClientAddress(pub String);

/// The origins whose pages may call the service.
#[derive(Debug, Clone)]
pub struct Origins {
    named: Vec<String>,
    /// True if pages of this machine may call, from any port.
    local: bool,
}

impl Origins {
    /// Creates a set of these origins, and of this machine's if `local`.
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
            failure(&error, &Observed::of(&request).request_id)
        }
        _ => next.run(request).await,
    }
}

/// Headers of the Model Context Protocol that repeat parts of the body.
const MCP_HEADERS: [&str; 3] = ["mcp-method", "mcp-name", "mcp-protocol-version"];

/// Allows cross-origin requests from the book's own pages, and from this machine if `local`.
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
