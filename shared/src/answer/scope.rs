//! Which part of the book a question is about: the reader's locale and version, or a selection.

use crate::catalog::{IndexRow, SiteInfo};
use crate::index::Filters;
use crate::retrieve::{RetrieveError, Retrieved, Retriever};

/// The path of a page's URL, without origin, query and anchor.
fn path_of(page_url: &str) -> &str {
    let path = match page_url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => page_url,
    };
    path.split(['?', '#']).next().unwrap_or_default()
}

/// The parts of a page's path below the base URL.
fn segments<'a>(site: &SiteInfo, page_url: &'a str) -> impl Iterator<Item = &'a str> {
    let path = path_of(page_url);
    let below = path.strip_prefix(site.base_url.as_str()).unwrap_or(path);
    below.split('/').filter(|part| !part.is_empty())
}

/// The locale of the page a reader is on; `None` without a page.
#[must_use]
pub fn locale_of(site: &SiteInfo, page_url: Option<&str>) -> Option<String> {
    let first = segments(site, page_url?).next();
    let prefixed = first.filter(|part| site.locales.iter().any(|locale| locale == part));
    Some(prefixed.map_or_else(|| site.default_locale.clone(), str::to_owned))
}

fn version_of(site: &SiteInfo, page_url: &str) -> String {
    let mut parts = segments(site, page_url)
        .skip_while(|part| site.locales.iter().any(|locale| locale == part))
        .skip_while(|part| *part == site.route_base_path);
    let version = parts.next().and_then(|part| site.version_paths.get(part));
    version.unwrap_or(&site.default_version).clone()
}

/// The filters of a request, locale and version those of the page the reader is on unless they are given.
#[must_use]
pub fn default_filters(site: &SiteInfo, filters: &Filters, page_url: Option<&str>) -> Filters {
    let locale = locale_of(site, page_url).unwrap_or_else(|| site.default_locale.clone());
    let version =
        page_url.map_or_else(|| site.default_version.clone(), |url| version_of(site, url));
    Filters {
        locale: Some(filters.locale.clone().unwrap_or(locale)),
        version: Some(filters.version.clone().unwrap_or(version)),
        ..filters.clone()
    }
}

/// Retrieves within the page that holds the selection: the passage that matches it best says which.
pub(super) async fn retrieve_in_selection(
    retriever: &Retriever,
    index: &IndexRow,
    query: &str,
    selection: &str,
    filters: &Filters,
    top_k: usize,
) -> Result<Retrieved, RetrieveError> {
    let located = retriever.retrieve(index, selection, filters, 5).await?;
    let words = normalised(selection);
    // Rendered text differs from its source in spaces only.
    let holder = located
        .candidates
        .iter()
        .find(|candidate| normalised(&candidate.payload.text).contains(&words));
    let Some(holder) = holder.or(located.candidates.first()) else {
        return Ok(located);
    };
    let payload = &holder.payload;
    let near = |start: u32, end: u32| {
        // The section itself, and those that touch it.
        const NEIGHBOUR_LINES: u32 = 3;
        start <= payload.end_line + NEIGHBOUR_LINES && end + NEIGHBOUR_LINES >= payload.start_line
    };
    let page = Filters {
        source: Some(payload.source.clone()),
        ..filters.clone()
    };
    let mut retrieved = retriever.retrieve(index, query, &page, 2 * top_k).await?;
    retrieved
        .candidates
        .retain(|candidate| near(candidate.payload.start_line, candidate.payload.end_line));
    retrieved.candidates.truncate(top_k);
    Ok(retrieved)
}

fn normalised(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_locale_and_version() {
        let site = SiteInfo {
            base_url: "/book/".to_owned(),
            default_locale: "en".to_owned(),
            default_version: "2.0".to_owned(),
            route_base_path: "docs".to_owned(),
            locales: vec!["ur".to_owned()],
            version_paths: [
                ("next".to_owned(), "current".to_owned()),
                ("1.5".to_owned(), "1.5".to_owned()),
            ]
            .into(),
            ..SiteInfo::default()
        };
        for (url, locale, version) in [
            (None, "en", "2.0"),
            (Some("https://x.org/book/docs/a?q#b"), "en", "2.0"),
            (Some("/book/ur/docs/1.5/a"), "ur", "1.5"),
            (Some("/book/docs/next/a"), "en", "current"),
        ] {
            let filters = default_filters(&site, &Filters::default(), url);
            assert_eq!(filters.locale.as_deref(), Some(locale), "{url:?}");
            assert_eq!(filters.version.as_deref(), Some(version), "{url:?}");
        }
    }
}
