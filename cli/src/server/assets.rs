//! The page of `serve` and the reference of the API, built in `widget/` and embedded in the binary.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Shared;
use super::pictures::static_picture;
use crate::html::escaped;
use crate::look::Look;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Allows only this server's own files.
pub(super) const CONTENT_SECURITY_POLICY: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

/// The icon of a site without one, in which `COLOR` is replaced by the site's colour.
const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M3 1h10a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H8l-4 3.5V12H3a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2z" fill="COLOR"/><path d="M4.5 5h7v1.5h-7zm0 3h4.5v1.5H4.5z" fill="#fff"/></svg>"##;

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

/// Serves the page to ask on, with the site's title and colour mode from the first moment.
pub(super) async fn page(State(server): Shared) -> Response {
    page_with(server.mode_attributes().await, server.title())
}

/// Returns the page to ask on, with `mode` as attributes of its element.
pub(super) fn page_with(mode: &str, title: &str) -> Response {
    let page = include_str!("../../../widget/dist-page/index.html");
    let page = page.replacen("<html lang=\"en\"", &format!("<html lang=\"en\"{mode}"), 1);
    let title = format!("<title>{}</title>", escaped(title));
    answer(
        HTML,
        page.replacen("<title>Ask the docs</title>", &title, 1),
    )
}

/// Serves the site's colours.
pub(super) async fn look(State(server): Shared) -> Response {
    style_sheet(&server.look().await)
}

pub(super) fn style_sheet(look: &Look) -> Response {
    answer(CSS, look.style_sheet())
}

/// Serves the reference of the API.
pub(super) async fn reference() -> Response {
    let page = include_str!("../../../widget/dist-page/reference.html");
    answer(HTML, page)
}

/// Serves the description of the API.
pub(super) async fn openapi() -> Response {
    answer(
        "application/json",
        include_str!("../../../docs/openapi.json"),
    )
}

pub(super) async fn icon(State(server): Shared) -> Response {
    let ingest = server.reading.read().await;
    if let Some(path) = &ingest.settings.appearance.favicon
        && let Some(icon) = static_picture(&ingest, path).await
    {
        return icon;
    }
    icon_of(&Look::read(&ingest.source, &ingest.settings).await)
}

/// Returns the icon of a site without one.
pub(super) fn icon_of(look: &Look) -> Response {
    answer("image/svg+xml", ICON.replace("COLOR", &look.icon_color()))
}

/// Serves the site's logo for a colour mode: `light` or `dark`.
pub(super) async fn logo(State(server): Shared, Path(mode): Path<String>) -> Response {
    let ingest = server.reading.read().await;
    let appearance = &ingest.settings.appearance;
    let dark = appearance.logo_dark.as_ref().filter(|_| mode == "dark");
    let logo = match dark.or(appearance.logo.as_ref()) {
        Some(path) => static_picture(&ingest, path).await,
        None => None,
    };
    logo.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
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
