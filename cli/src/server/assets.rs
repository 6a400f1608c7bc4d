//! The page of `serve`, built in `widget/` and embedded in the binary.

use axum::extract::Path;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Allows only this server's own files.
pub(super) const CONTENT_SECURITY_POLICY: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 2h5a1 1 0 0 1 1 1 1 1 0 0 1 1-1h5v11H9a1 1 0 0 0-1 1 1 1 0 0 0-1-1H2z" fill="#8a3b12"/></svg>"##;

pub(super) async fn page() -> Response {
    answer(
        "text/html; charset=utf-8",
        include_str!("../../../widget/dist-page/index.html"),
    )
}

pub(super) async fn icon() -> Response {
    answer("image/svg+xml", ICON)
}

pub(super) async fn asset(Path(name): Path<String>) -> Response {
    match name.as_str() {
        "page.css" => answer(
            "text/css; charset=utf-8",
            include_str!("../../../widget/dist-page/page.css"),
        ),
        "page.js" => answer(
            "text/javascript; charset=utf-8",
            include_str!("../../../widget/dist-page/page.js"),
        ),
        "katex.js" => answer(
            "text/javascript; charset=utf-8",
            include_str!("../../../widget/dist-page/katex.js"),
        ),
        "licenses.txt" => answer(
            "text/plain; charset=utf-8",
            include_str!("../../../widget/dist-page/licenses.txt"),
        ),
        "reading.css" => answer("text/css; charset=utf-8", include_str!("reading.css")),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(content_type: &'static str, body: &'static str) -> Response {
    (
        [
            (header::CONTENT_TYPE, content_type),
            CONTENT_SECURITY_POLICY,
        ],
        body,
    )
        .into_response()
}
