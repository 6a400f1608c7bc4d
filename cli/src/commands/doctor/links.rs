//! Links that lead to no page of the book.

use std::collections::BTreeSet;
use std::iter;

use bookrag::book::{PageLinks, SiteSettings};
use bookrag::source::{Source, SourceError};

use crate::pages::ReadPages;

/// Returns the folders in which links of the docs lead to no page.
pub(super) async fn dead_links(
    source: &Source,
    settings: &SiteSettings,
    read: &ReadPages,
) -> Result<Vec<String>, SourceError> {
    let mut links = PageLinks::default();
    // A page that cannot be read is reported for itself.
    let sources = read.pages.iter().map(|page| page.file.source.clone());
    let mut pages: BTreeSet<String> = sources.collect();
    for (_, document) in read.documents() {
        links.add(PageLinks::from_document(settings, document));
        let urls = iter::once(&document.url).chain(document.fallback_urls.values());
        pages.extend(urls.map(|url| url.trim_end_matches('/').to_owned()));
    }
    let dead = links.dead(settings, &pages, &read.scripts);
    if dead.is_empty() {
        return Ok(dead);
    }
    pages.extend(source.generated_urls(settings).await?);
    Ok(links.dead(settings, &pages, &read.scripts))
}
