//! Chooses between HTML for people and Markdown for programs.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use bookrag::book::{Document, page_markdown};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::super::assets::CONTENT_SECURITY_POLICY;

const MARKDOWN: &str = "text/markdown";
const HTML: &str = "text/html";
/// Keeps a text for programs out of search engines: the page is listed there.
pub(in crate::server) const NO_INDEX: (HeaderName, &str) =
    (HeaderName::from_static("x-robots-tag"), "noindex");

/// Characters that stay unescaped in the path of a URL in a header.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A representation of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Representation {
    Html,
    Markdown,
}

impl Representation {
    /// Chooses Markdown if the request names it and does not prefer HTML. Browsers name only HTML.
    pub(super) fn wanted(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(header::ACCEPT).iter();
        let accepted: Vec<&str> = accepted.filter_map(|value| value.to_str().ok()).collect();
        let markdown = quality(&accepted, MARKDOWN);
        if markdown > 0.0 && markdown >= quality(&accepted, HTML) {
            Self::Markdown
        } else {
            Self::Html
        }
    }
}

/// Returns the quality that `Accept` gives a media type by name; 0 if it is not named.
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

/// Responds with a page's HTML and a link to its Markdown.
pub(super) fn html(document: &Document, body: String) -> Response {
    let markdown = format!(
        "<{}>; rel=\"alternate\"; type=\"{MARKDOWN}\"",
        encoded(&markdown_path(&document.url))
    );
    let headers = [CONTENT_SECURITY_POLICY];
    with_headers((headers, Html(body)).into_response(), &markdown)
}

/// Responds with a page's Markdown. Names its HTML, at `site` or on this server, as the canonical page for search engines.
pub(super) fn markdown(document: &Document, site: &str) -> Response {
    let page = format!("<{site}{}>; rel=\"canonical\"", encoded(&document.url));
    let text = page_markdown(&document.blocks);
    let headers = [
        (header::CONTENT_TYPE, "text/markdown; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        NO_INDEX,
    ];
    with_headers((headers, text).into_response(), &page)
}

fn with_headers(mut response: Response, link: &str) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Ok(link) = HeaderValue::from_str(link) {
        headers.insert(header::LINK, link);
    }
    response
}

fn encoded(path: &str) -> String {
    utf8_percent_encode(path, KEPT).to_string()
}

fn markdown_path(url: &str) -> String {
    if url.ends_with('/') {
        format!("{url}index.md")
    } else {
        format!("{url}.md")
    }
}

/// Returns the path of the page whose Markdown the path may name.
pub(super) fn page_of_markdown(path: &str) -> Option<&str> {
    let page = path.strip_suffix(".md")?;
    Some(match page.strip_suffix("/index") {
        Some(folder) => folder,
        None => page,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_only_sent_if_requested() {
        for (accept, expected) in [
            ("text/markdown", Representation::Markdown),
            ("Text/Markdown; charset=utf-8", Representation::Markdown),
            ("text/markdown, text/html, */*", Representation::Markdown),
            ("text/html;q=0.8, text/markdown", Representation::Markdown),
            ("text/html, text/markdown;q=0.9", Representation::Html),
            ("text/markdown;q=0", Representation::Html),
            ("text/markdown;q=none", Representation::Html),
            (
                "text/html,application/xhtml+xml,*/*;q=0.8",
                Representation::Html,
            ),
            ("*/*", Representation::Html),
            ("", Representation::Html),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(Representation::wanted(&headers), expected, "{accept}");
        }
        assert_eq!(
            Representation::wanted(&HeaderMap::new()),
            Representation::Html
        );
    }

    #[test]
    fn a_page_is_found_by_the_path_of_its_markdown() {
        for url in ["/docs/a", "/docs/a.b", "/docs/a/", "/"] {
            let page = page_of_markdown(&markdown_path(url)).unwrap().to_owned();
            assert_eq!(page, url.trim_end_matches('/'));
        }
        assert_eq!(page_of_markdown("/docs/a"), None);
    }
}
