//! Serves images of the site's static folders at the same URLs as the built site.

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use bookrag::book::MAX_PAGE_BYTES;
use bookrag::ingest::Ingest;

use super::Server;

/// Extensions and media types.
const TYPES: [(&str, &str); 8] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("avif", "image/avif"),
    ("svg", "image/svg+xml"),
    ("ico", "image/x-icon"),
];

/// An SVG opened directly must not run scripts or load anything.
const CONTENT_SECURITY_POLICY: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
);

/// Serves an image from the static folders; `None` if the path names none.
pub(super) async fn at(server: &Server, path: &str) -> Option<Response> {
    let ingest = server.reading.read().await;
    let settings = &ingest.settings;
    // Each locale's site has a copy. The longest matching base URL wins, since one may begin with another.
    let bases = settings
        .locales
        .iter()
        .map(|locale| settings.locale_base_url(locale));
    let below = bases
        .filter_map(|base| path.strip_prefix(&*base))
        .min_by_key(|below| below.len())?;
    static_picture(&ingest, below).await
}

/// Serves the image at a path in the static folders; `None` if none has it.
pub(super) async fn static_picture(ingest: &Ingest, path: &str) -> Option<Response> {
    let extension = path.rsplit('.').next()?.to_ascii_lowercase();
    let (_, media_type) = TYPES.iter().find(|(name, _)| *name == extension)?;
    for folder in &ingest.settings.static_folders {
        let file = format!("{folder}/{path}");
        let file = file.trim_start_matches('/');
        let read = ingest.source.read(file).await.ok().flatten();
        if let Some(bytes) = read.filter(|bytes| bytes.len() <= MAX_PAGE_BYTES) {
            let headers = [
                (header::CONTENT_TYPE, *media_type),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                CONTENT_SECURITY_POLICY,
            ];
            return Some((headers, bytes).into_response());
        }
    }
    None
}
