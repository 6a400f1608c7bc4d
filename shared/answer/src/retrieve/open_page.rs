//! The page that a reader has open.

use book::decoded_url;
use store::index::ChunkPayload;

/// True if a search may find a chunk: the site lists its page, or the reader has the page open.
pub(crate) fn may_be_found(chunk: &ChunkPayload, open_page: Option<&str>) -> bool {
    !chunk.unlisted || open_page.is_some_and(|page| shows(page, chunk))
}

/// True if the page at this URL shows a chunk, in its own locale or in one without a translation.
pub(crate) fn shows(page_url: &str, chunk: &ChunkPayload) -> bool {
    let mut urls = std::iter::once(&chunk.url).chain(&chunk.fallback_urls);
    urls.any(|own| same_page(own, page_url))
}

/// True if two URLs are those of one page. Browsers encode characters that the URLs of pages hold as they are.
fn same_page(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|url| decoded_url(path_of(url)));
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Returns the path of a page's URL, without origin, query and anchor.
pub(crate) fn path_of(page_url: &str) -> &str {
    let path = match page_url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => page_url,
    };
    path.split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::retrieve::section;

    #[test]
    fn the_open_page_is_known_by_each_form_of_its_url() {
        for (own, open, expected) in [
            ("/C%23.html", "https://x.org/C%23.html?q#b", true),
            ("/C%23.html", "/C", false),
            ("/docs/\u{6771} a/", "/docs/%E6%9D%B1%20a", true),
            ("/docs/a", "/docs/b", false),
        ] {
            assert_eq!(same_page(own, open), expected, "{own} {open}");
        }
    }

    #[test]
    fn an_unlisted_page_is_found_where_it_is_open_in_each_locale_that_shows_it() {
        let mut chunk = Arc::unwrap_or_clone(section("a", "x", "Text.", 0.5, "2026").chunk);
        assert!(may_be_found(&chunk, None));
        chunk.unlisted = true;
        chunk.fallback_urls = vec!["/ur/a".to_owned()];
        for (open, expected) in [
            (None, false),
            (Some("/b"), false),
            (Some("https://x.org/a/?q"), true),
            (Some("/ur/a#x"), true),
        ] {
            assert_eq!(may_be_found(&chunk, open), expected, "{open:?}");
        }
    }
}
