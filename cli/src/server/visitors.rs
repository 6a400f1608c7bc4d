//! Restricts access to `serve`: other sites' pages must not read the book, and only commands may start a run.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::running::SECRET_HEADER;

/// Middleware for all routes: a server on the loopback interface only answers under this machine's own names. Otherwise a foreign site could
/// point its own name here (DNS rebinding) and read the book.
pub(super) async fn by_name(
    State(listening): State<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    if listening.ip().is_loopback() && !is_this_machine(&request, listening.ip()) {
        let message = "ask under http://localhost or the address that `serve` printed";
        return (StatusCode::MISDIRECTED_REQUEST, message).into_response();
    }
    next.run(request).await
}

/// Middleware for routes reserved for commands, which can read the secret in the stores' folder.
pub(super) async fn with_secret(
    State(secret): State<String>,
    request: Request,
    next: Next,
) -> Response {
    let shown = request.headers().get(SECRET_HEADER);
    if shown.is_none_or(|shown| shown.as_bytes() != secret.as_bytes()) {
        let message = "only `bookrag` commands on this machine may ask that";
        return (StatusCode::FORBIDDEN, message).into_response();
    }
    next.run(request).await
}

fn is_this_machine(request: &Request, listening: IpAddr) -> bool {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    // Parsed as in a URL: the part before the port, with an IPv6 address in brackets.
    let Ok(host) = host.parse::<Uri>() else {
        return false;
    };
    let name = host.host().unwrap_or_default();
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.is_loopback() || address == listening)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn names_of_this_machine_are_told_from_others() {
        let is_here = |host: &str| {
            let request = Request::builder().header(header::HOST, host);
            let request = request.body(Body::empty()).unwrap();
            is_this_machine(&request, "127.0.0.2".parse().unwrap())
        };
        for here in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:8080",
            "127.0.0.2",
            "[::1]:8080",
        ] {
            assert!(is_here(here), "{here}");
        }
        for elsewhere in [
            "",
            "evil.example",
            "localhost.evil.example:80",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "a b",
        ] {
            assert!(!is_here(elsewhere), "{elsewhere}");
        }
    }
}
