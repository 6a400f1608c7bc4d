//! Links in the book's text that may be quoted, with the addresses of their pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::book::{MarkKind, follow_links, linked_sources};
use crate::catalog::CatalogError;
use crate::retrieve::{Retriever, ScoredChunk};

/// How long the catalog has to find the addresses. Without them links to pages are text.
const DEADLINE: Duration = Duration::from_secs(1);

/// Gives the links in the chunks' texts the addresses that readers can follow.
pub(super) async fn resolve(
    retriever: &Retriever,
    chunks: &mut [ScoredChunk],
    locale: Option<&str>,
) {
    let marks = || chunks.iter().map(|found| &found.chunk.marks);
    let sources: BTreeSet<&str> = marks().flat_map(|marks| linked_sources(marks)).collect();
    let sources: Vec<String> = sources.into_iter().map(str::to_owned).collect();
    let urls = urls(retriever, &sources).await;
    for found in chunks {
        let mut marks = found.chunk.marks.iter();
        if marks.any(|mark| matches!(mark.kind, MarkKind::Link(_))) {
            let section = found.url(locale);
            let marks = &mut Arc::make_mut(&mut found.chunk).marks;
            follow_links(marks, &section, |source| {
                urls.get(source).map(String::as_str)
            });
        }
    }
}

async fn urls(retriever: &Retriever, sources: &[String]) -> BTreeMap<String, String> {
    if sources.is_empty() {
        return BTreeMap::new();
    }
    let index_id = retriever.index.index_id;
    let found = timeout(DEADLINE, retriever.catalog().urls(index_id, sources)).await;
    let found =
        found.unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())));
    found
        .inspect_err(|error| tracing::warn!(stage = "links", %error, "links to pages are text"))
        .unwrap_or_default()
}
