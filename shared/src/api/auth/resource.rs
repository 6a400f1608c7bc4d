//! The metadata of a protected resource (RFC 9728), from which clients of the Model Context Protocol learn where its readers sign in.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{Extensions, HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::extract::not_found;
use super::super::observe::PlatformRequestId;
use super::Authorizer;

/// The path of the metadata of the host; that of a resource below the host has the path of the resource at its end.
pub const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";
/// The resource that has metadata of its own; other routes share those of the host.
const MCP: &str = "/mcp";

/// The part of a public address that the platform removes from the path of a request, such as `/live`.
#[derive(Debug, Clone)]
pub struct Stage(pub String);

/// Returns the issuer as the address of an authorization server (RFC 8414, section 2); `None` if it is another name.
pub(super) fn authorization_server(issuer: &str) -> Option<String> {
    let address: Uri = issuer.parse().ok()?;
    let is_address = address.scheme_str() == Some("https") && address.query().is_none();
    (is_address && !issuer.contains('#')).then(|| issuer.to_owned())
}

impl Authorizer {
    /// Returns the address of the metadata of what a request asks for; `None` if it is not known where readers sign in. `place` is the path of the
    /// book among several, otherwise empty.
    pub(crate) fn metadata_address(&self, request: &Request, place: &str) -> Option<String> {
        self.checks.authorization_server.as_ref()?;
        let base = public_base(request)?;
        let resource = if request.uri().path().ends_with(MCP) {
            format!("{place}{MCP}")
        } else {
            String::new()
        };
        Some(format!("{base}{RESOURCE_METADATA}{resource}"))
    }

    /// Returns the metadata that a request for it asks for.
    fn metadata(&self, request: &Request) -> Option<Value> {
        let server = self.checks.authorization_server.as_ref()?;
        let base = public_base(request)?;
        let path = request.uri().path().strip_prefix(RESOURCE_METADATA)?;
        Some(json!({
            "resource": format!("{base}{path}"),
            "authorization_servers": [server],
            "bearer_methods_supported": ["header"],
        }))
    }
}

/// Answers with the metadata of a resource, or as if there were none.
pub async fn resource_metadata(
    State(authorizer): State<Option<Authorizer>>,
    request: Request,
) -> Response {
    let metadata = authorizer.and_then(|authorizer| authorizer.metadata(&request));
    match metadata {
        Some(metadata) => Json(metadata).into_response(),
        None => not_found(request).await,
    }
}

/// Returns the address below which clients reach this server, without a slash at its end.
fn public_base(request: &Request) -> Option<String> {
    let headers = request.headers();
    let host = text(headers, header::HOST.as_str());
    let host = host.or_else(|| request.uri().authority().map(Authority::as_str))?;
    let authority: Authority = host.parse().ok()?;
    if authority.as_str().contains('@') {
        return None;
    }
    let scheme = forwarded_scheme(headers).unwrap_or_else(|| own_scheme(request.extensions()));
    let stage = request.extensions().get::<Stage>();
    let stage = stage.map_or("", |Stage(stage)| stage.as_str());
    Some(format!("{scheme}://{authority}{stage}"))
}

/// Returns the scheme of the client's connection to the first of the proxies, which each append theirs.
fn forwarded_scheme(headers: &HeaderMap) -> Option<&str> {
    let schemes = text(headers, "x-forwarded-proto")?;
    let first = schemes.split(',').next()?.trim();
    matches!(first, "http" | "https").then_some(first)
}

/// Returns the scheme of this server: addresses of Lambda have TLS, the server of the command has none.
fn own_scheme(extensions: &Extensions) -> &'static str {
    let is_lambda =
        extensions.get::<Stage>().is_some() || extensions.get::<PlatformRequestId>().is_some();
    if is_lambda { "https" } else { "http" }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
