//! The HTML of a page, and the path of its Markdown.

use axum::response::{Html, IntoResponse, Response};
use bookrag::api::{MARKDOWN, encoded_url, with_link};
use bookrag::book::Document;

use super::super::assets::CONTENT_SECURITY_POLICY;

/// Responds with a page's HTML and a link to its Markdown. The server has the book below the path `place`.
pub(super) fn html(document: &Document, place: &str, body: String) -> Response {
    let markdown = format!(
        "<{place}{}>; rel=\"alternate\"; type=\"{MARKDOWN}\"",
        encoded_url(&markdown_path(&document.url))
    );
    let headers = [CONTENT_SECURITY_POLICY];
    with_link((headers, Html(body)).into_response(), &markdown)
}

/// Returns the path of a page's Markdown.
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
    fn a_page_is_found_by_the_path_of_its_markdown() {
        for url in ["/docs/a", "/docs/a.b", "/docs/a/", "/"] {
            let page = page_of_markdown(&markdown_path(url)).unwrap().to_owned();
            assert_eq!(page, url.trim_end_matches('/'));
        }
        assert_eq!(page_of_markdown("/docs/a"), None);
    }
}
