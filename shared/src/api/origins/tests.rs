use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tower::ServiceExt as _;

use super::*;

#[test]
fn an_origin_is_parsed_and_not_matched_by_its_beginning() {
    for local in [
        "http://localhost",
        "http://localhost:3000",
        "http://127.0.0.1:8080",
        "http://[::1]",
        "http://[::1]:3000",
    ] {
        assert!(is_local(local), "{local}");
    }
    for other in [
        "http://localhost:3000@evil.com", // kingfisher:ignore: a port before an `@`, no password
        "http://localhost@evil.com",
        "http://user@localhost",
        "http://localhost.evil.com",
        "http://evil.com/http://localhost",
        "http://localhost:3000/",
        "http://localhost:",
        "http://localhost:port",
        "https://localhost",
        "localhost",
        "null",
        "",
    ] {
        assert!(!is_local(other), "{other}");
    }
}

#[tokio::test]
async fn a_browser_may_send_any_headers() {
    let origins = ["https://book.example".to_owned()];
    let router = Router::new()
        .route("/mcp", post(async || ""))
        .layer(cors(Origins::new(&origins)));
    let request = Request::builder()
        .method(Method::OPTIONS)
        .uri("/mcp")
        .header(header::ORIGIN, "https://book.example")
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
        .header(
            header::ACCESS_CONTROL_REQUEST_HEADERS,
            "authorization,mcp-method,x-stainless-retry-count",
        );
    let response = router
        .oneshot(request.body(Body::empty()).expect("a request"))
        .await;
    let response = response.expect("answered");
    let allowed = &response.headers()[header::ACCESS_CONTROL_ALLOW_HEADERS];
    let allowed = allowed.to_str().expect("visible");
    assert_eq!(allowed, "authorization,mcp-method,x-stainless-retry-count");
}

/// Requests of browsers: what made them, then `Origin`, `Sec-Fetch-Site`, `Sec-Fetch-Mode`, `Sec-Fetch-Dest`, `Sec-Purpose` and `Purpose`.
type Row = (&'static str, [&'static str; 6]);

const ADMITTED: [Row; 9] = [
    ("a program", ["", "", "", "", "", ""]),
    ("a program in Node", ["", "", "cors", "", "", ""]),
    (
        "a script of the book's site",
        [
            "https://book.example",
            "cross-site",
            "cors",
            "empty",
            "",
            "",
        ],
    ),
    (
        "the same in an old browser",
        ["https://book.example", "", "", "", "", ""],
    ),
    (
        "the service's own page",
        ["", "same-origin", "cors", "empty", "", ""],
    ),
    (
        "an address that was typed",
        ["", "none", "navigate", "document", "", ""],
    ),
    (
        "a link of another site",
        ["", "cross-site", "navigate", "document", "", ""],
    ),
    (
        "a link of the same site",
        ["", "same-site", "navigate", "document", "", ""],
    ),
    (
        "a link in a browser that omits the site",
        ["", "", "navigate", "document", "", ""],
    ),
];

const REFUSED: [Row; 20] = [
    (
        "fetch",
        [
            "https://evil.example",
            "cross-site",
            "cors",
            "empty",
            "",
            "",
        ],
    ),
    (
        "fetch in an old browser",
        ["https://evil.example", "", "", "", "", ""],
    ),
    (
        "fetch of a sandboxed frame",
        ["null", "cross-site", "cors", "empty", "", ""],
    ),
    (
        "fetch of another port",
        [
            "http://localhost:3000",
            "same-site",
            "cors",
            "empty",
            "",
            "",
        ],
    ),
    (
        "fetch with a foreign origin",
        [
            "https://evil.example",
            "same-origin",
            "cors",
            "empty",
            "",
            "",
        ],
    ),
    (
        "fetch without CORS",
        ["", "cross-site", "no-cors", "empty", "", ""],
    ),
    ("an image", ["", "cross-site", "no-cors", "image", "", ""]),
    (
        "an image of the same site",
        ["", "same-site", "no-cors", "image", "", ""],
    ),
    (
        "an image with crossorigin",
        [
            "https://evil.example",
            "cross-site",
            "cors",
            "image",
            "",
            "",
        ],
    ),
    ("a script", ["", "cross-site", "no-cors", "script", "", ""]),
    (
        "a font",
        ["https://evil.example", "cross-site", "cors", "font", "", ""],
    ),
    (
        "EventSource",
        [
            "https://evil.example",
            "cross-site",
            "cors",
            "empty",
            "",
            "",
        ],
    ),
    ("iframe", ["", "cross-site", "navigate", "iframe", "", ""]),
    ("embed", ["", "cross-site", "navigate", "embed", "", ""]),
    ("object", ["", "cross-site", "navigate", "object", "", ""]),
    (
        "prefetch",
        ["", "cross-site", "no-cors", "empty", "prefetch", ""],
    ),
    (
        "a page that is loaded ahead",
        [
            "",
            "cross-site",
            "navigate",
            "document",
            "prefetch;prerender",
            "",
        ],
    ),
    (
        "the same in an old browser",
        ["", "cross-site", "navigate", "document", "", "prefetch"],
    ),
    (
        "an address loaded while it is typed",
        ["", "none", "navigate", "document", "prefetch;prerender", ""],
    ),
    (
        "a browser that says only the mode",
        ["", "", "no-cors", "", "", ""],
    ),
];

async fn status(router: &Router, method: Method, (name, values): &Row) -> StatusCode {
    let mut request = Request::builder().method(method).uri("/");
    let names = [
        "origin",
        "sec-fetch-site",
        "sec-fetch-mode",
        "sec-fetch-dest",
        "sec-purpose",
        "purpose",
    ];
    for (name, value) in names.into_iter().zip(values) {
        if !value.is_empty() {
            request = request.header(name, *value);
        }
    }
    let answered = router
        .clone()
        .oneshot(request.body(Body::empty()).expect(name));
    answered.await.expect(name).status()
}

#[tokio::test]
async fn a_page_that_may_not_call_cannot_cause_a_get() {
    let origins = Origins::new(&["https://book.example".to_owned()]);
    let router = Router::new()
        .route("/", get(async || "answer").post(async || "answer"))
        .layer(from_fn_with_state(origins, known_page));
    for row in &ADMITTED {
        assert_eq!(status(&router, Method::GET, row).await, 200, "{row:?}");
    }
    for row in &REFUSED {
        assert_eq!(status(&router, Method::GET, row).await, 403, "{row:?}");
        assert_eq!(status(&router, Method::HEAD, row).await, 403, "{row:?}");
        // Browsers send a preflight before a body of JSON, and the routes accept no other.
        assert_eq!(status(&router, Method::POST, row).await, 200, "{row:?}");
    }
}
