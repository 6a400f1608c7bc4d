//! Converts HTTP requests to typed values, and holds what all routes share.

use std::fmt;
use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Query, Request};
use axum::http::{Uri, header};
use axum::response::Response;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::envelope::failure;
use super::observe::Observed;
use answer::error::{Error, ErrorKind};

/// The header that names the session which owns the conversation to delete.
pub const SESSION_HEADER: &str = "x-session-id";
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
    failure(&error, &Observed::from_request(&request).request_id)
}

/// Answers a method that a route does not have.
pub async fn method_not_allowed(request: Request) -> Response {
    let (path, method) = (request.uri().path(), request.method());
    let message = format!("{path} does not take {method}");
    let error = Error::new(ErrorKind::MethodNotAllowed, message);
    failure(&error, &Observed::from_request(&request).request_id)
}

/// The header to which each proxy appends the address that called it.
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
    match text.parse::<SocketAddr>() {
        Ok(with_port) => Some(with_port.ip()),
        Err(_) => text.parse().ok(),
    }
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
    tokio::time::timeout(deadline, to_bytes(body, MAX_BODY_BYTES))
        .await
        .map_err(|_| Error::new(ErrorKind::Invalid, "the body did not come in time"))?
        .map_err(|_| {
            let message = format!("the body is larger than {} KiB", MAX_BODY_BYTES / 1024);
            Error::new(ErrorKind::TooLarge, message)
        })
}

/// The client's address according to the platform.
#[derive(Debug, Clone)]
pub struct ClientAddress(pub String);

#[cfg(test)]
mod tests;
