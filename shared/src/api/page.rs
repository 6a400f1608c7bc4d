//! A page of the book: the request, its answer as JSON, and as Markdown for clients that accept it.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use book::decoded_url;

use super::chat::required_text;
use answer::error::Error;

/// The media type of Markdown.
pub const MARKDOWN: &str = "text/markdown";
/// Excludes a response meant for programs from search engines, which list the page itself.
pub const NO_INDEX: (HeaderName, &str) = (HeaderName::from_static("x-robots-tag"), "noindex");

/// The most characters of a URL.
const MAX_URL_CHARACTERS: usize = 2_000;

/// The characters that stay as they are in the path of a URL in a header.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A request for a page, as the query of a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PageRequest {
    /// The page's URL or its path, such as `/docs/frost`; with an anchor, one section of it.
    pub url: Option<String>,
}

impl PageRequest {
    /// Returns the URL.
    ///
    /// # Errors
    /// `Invalid` if it is missing, empty or too long.
    pub fn check(self) -> Result<String, Error> {
        required_text("url", self.url, MAX_URL_CHARACTERS)
    }
}

/// A page of the book, or one section of it with those below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PageData {
    /// The page's title; for a section, followed by its heading.
    pub title: String,
    /// The page's path on the site, with the anchor of a section: `/docs/frost#signs`.
    pub url: String,
    /// The path of the source file, relative to the site's folder.
    pub source: String,
    /// The first line of the text in the source file, from 1; for a page read from HTML, in the page's text.
    pub start_line: u32,
    /// The last line of the text in the source file, or in the page's text.
    pub end_line: u32,
    /// The length of `text` in cl100k tokens.
    pub tokens: usize,
    /// The text as Markdown, each heading with its anchor: `## Signs of frost {#signs}`. Links are reduced to their words.
    pub text: String,
}

/// True if a client names Markdown in `Accept` with at least the quality of `other`, the media type used otherwise. Browsers do not name Markdown.
#[must_use]
pub fn prefers_markdown(headers: &HeaderMap, other: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let accepted: Vec<&str> = accepted.filter_map(|value| value.to_str().ok()).collect();
    let markdown = quality(&accepted, MARKDOWN);
    markdown > 0.0 && markdown >= quality(&accepted, other)
}

/// Returns the quality that the header `Accept` gives a media type by name; 0 if it does not name it.
fn quality(accepted: &[&str], media_type: &str) -> f32 {
    let ranges = accepted.iter().flat_map(|value| value.split(','));
    let named = ranges.filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named = parts.next()?.eq_ignore_ascii_case(media_type);
        let quality = parts.find_map(|part| part.strip_prefix("q="));
        is_named.then(|| quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0)))
    });
    named.fold(0.0, f32::max)
}

/// Answers with the Markdown of a page or section. `site` and `path` are the page's own address, which search engines list; without the site's
/// origin, `site` is empty and the address a path.
#[must_use]
pub fn markdown_page(text: String, site: &str, path: &str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/markdown; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        NO_INDEX,
    ];
    let path = path.split('#').next().unwrap_or_default();
    let page = format!("<{site}{}>; rel=\"canonical\"", encoded_url(path));
    with_link((headers, text).into_response(), &page)
}

/// Adds a link to a response that depends on `Accept`.
#[must_use]
pub fn with_link(mut response: Response, link: &str) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Ok(link) = HeaderValue::from_str(link) {
        headers.insert(header::LINK, link);
    }
    response
}

/// Encodes a path of names, which may hold any character.
#[must_use]
pub fn encoded_path(path: &str) -> String {
    utf8_percent_encode(path, KEPT).to_string()
}

/// Encodes the URL path of a page. What is encoded already stays.
#[must_use]
pub fn encoded_url(url: &str) -> String {
    encoded_path(&decoded_url(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_for_those_who_name_it() {
        for (accept, expected) in [
            ("text/markdown", true),
            ("Text/Markdown; charset=utf-8", true),
            ("text/markdown, text/html, */*", true),
            ("text/html;q=0.8, text/markdown", true),
            ("text/html, text/markdown;q=0.9", false),
            ("text/markdown;q=0", false),
            ("text/markdown;q=none", false),
            ("text/html,application/xhtml+xml,*/*;q=0.8", false),
            ("*/*", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(
                prefers_markdown(&headers, "text/html"),
                expected,
                "{accept}"
            );
        }
        assert!(!prefers_markdown(&HeaderMap::new(), "text/html"));
    }

    #[test]
    fn a_page_must_be_named() {
        for url in [None, Some(String::new()), Some("/".repeat(2_001))] {
            let refused = PageRequest { url }.check().unwrap_err();
            assert_eq!(refused.field, Some("url"));
        }
    }
}
