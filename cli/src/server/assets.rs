//! The page of `serve` and the reference of the API, built in `widget/` and embedded in the binary.

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Allows only this server's own files.
pub(super) const CONTENT_SECURITY_POLICY: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 2h5a1 1 0 0 1 1 1 1 1 0 0 1 1-1h5v11H9a1 1 0 0 0-1 1 1 1 0 0 0-1-1H2z" fill="#8a3b12"/></svg>"##;

/// A file of the page with its name and media type.
macro_rules! compressed {
    ($name:literal, $media_type:expr) => {
        (
            $name,
            $media_type,
            include_bytes!(concat!("../../../widget/dist-page/", $name, ".gz")).as_slice(),
        )
    };
}

/// The scripts and style sheets, compressed by gzip.
const COMPRESSED: [(&str, &str, &[u8]); 7] = [
    compressed!("page.css", CSS),
    compressed!("page.js", SCRIPT),
    compressed!("chunk.js", SCRIPT),
    compressed!("highlight.js", SCRIPT),
    compressed!("katex.js", SCRIPT),
    compressed!("reference.css", CSS),
    compressed!("reference.js", SCRIPT),
];

/// The page to ask on.
pub(super) async fn page() -> Response {
    answer(HTML, include_str!("../../../widget/dist-page/index.html"))
}

/// The reference of the API.
pub(super) async fn reference() -> Response {
    let page = include_str!("../../../widget/dist-page/reference.html");
    answer(HTML, page)
}

/// The description of the API.
pub(super) async fn openapi() -> Response {
    answer(
        "application/json",
        include_str!("../../../docs/openapi.json"),
    )
}

pub(super) async fn icon() -> Response {
    answer("image/svg+xml", ICON)
}

pub(super) async fn asset(Path(name): Path<String>) -> Response {
    if let Some((_, content_type, bytes)) = COMPRESSED.iter().find(|(known, ..)| *known == name) {
        // There is no uncompressed copy, because every browser accepts gzip.
        let encoding = (header::CONTENT_ENCODING, "gzip");
        return ([encoding], answer(content_type, *bytes)).into_response();
    }
    match name.as_str() {
        "licenses.txt" => answer(
            "text/plain; charset=utf-8",
            include_str!("../../../widget/dist-page/licenses.txt"),
        ),
        "reading.css" => answer(CSS, include_str!("reading.css")),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(content_type: &'static str, body: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        CONTENT_SECURITY_POLICY,
    ];
    (headers, body.into()).into_response()
}
