//! Resolves links in the book's text to the URLs of their pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::retrieve::{Retriever, ScoredChunk};
use book::{Mark, MarkKind, follow_links, linked_sources};
use store::catalog::CatalogError;

/// Time limit for looking up URLs. After it, links to pages become text.
const DEADLINE: Duration = Duration::from_secs(1);

/// Replaces links in the chunks' texts by URLs that readers can follow.
pub(crate) async fn resolve(
    retriever: &Retriever,
    chunks: &mut [ScoredChunk],
    locale: Option<&str>,
) {
    let sources: BTreeSet<&str> = chunks
        .iter()
        .flat_map(|found| linked_sources(&found.chunk.marks))
        .collect();
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

/// Keeps the first links of a model's passages, up to `max_bytes` of addresses, and makes the others text: an address costs a model as much as a
/// sentence.
pub(crate) fn afford(passages: &mut [ScoredChunk], max_bytes: usize) {
    let mut left = max_bytes;
    for passage in passages {
        let marks = &mut Arc::make_mut(&mut passage.chunk).marks;
        marks.retain(|mark| {
            let bytes = address(mark).map_or(0, str::len);
            let is_kept = bytes <= left;
            if is_kept {
                left -= bytes;
            }
            is_kept
        });
    }
}

/// Returns the book's pages that passages link to.
pub(crate) fn linked_pages(passages: &[ScoredChunk]) -> impl Iterator<Item = String> {
    let marks = passages.iter().flat_map(|passage| &passage.chunk.marks);
    let pages = marks.filter_map(address);
    pages
        .filter(|address| address.starts_with('/'))
        .map(str::to_owned)
}

/// Returns the address of a link.
fn address(mark: &Mark) -> Option<&str> {
    match &mark.kind {
        MarkKind::Link(addresses) => addresses.first().map(String::as_str),
        _ => None,
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
        .inspect_err(
            |error| tracing::warn!(stage = "links", %error, "showing links to pages as text"),
        )
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::Scores;

    #[test]
    fn only_so_many_bytes_of_addresses_are_read_with_passages() {
        let payload = include_str!("../generate/prompt/payload.json");
        let addresses = ["/docs/abc", "https://a.example/x", "/docs/d", "/docs/e"];
        let link = |address: &str| (MarkKind::Link(vec![address.to_owned()]), 0, 4).into();
        let passage = |addresses: &[&str]| {
            let mut chunk: store::index::ChunkPayload = serde_json::from_str(payload).unwrap();
            chunk.marks = addresses.iter().map(|address| link(address)).collect();
            chunk.marks.push((MarkKind::Code, 0, 4).into());
            ScoredChunk {
                point_id: uuid::Uuid::nil(),
                chunk: Arc::new(chunk),
                position: None,
                scores: Scores::default(),
                category: None,
            }
        };
        for (max_bytes, kept) in [
            (0, vec![]),
            (16, vec!["/docs/abc", "/docs/d"]),
            (1_000, addresses.to_vec()),
        ] {
            let mut passages = [passage(&addresses[..2]), passage(&addresses[2..])];
            afford(&mut passages, max_bytes);
            let marks = || passages.iter().flat_map(|passage| &passage.chunk.marks);
            assert_eq!(marks().filter_map(address).collect::<Vec<_>>(), kept);
            let others = marks().filter(|mark| mark.kind == MarkKind::Code);
            assert_eq!(others.count(), passages.len());
        }
        let pages: Vec<String> = linked_pages(&[passage(&addresses)]).collect();
        assert_eq!(pages, ["/docs/abc", "/docs/d", "/docs/e"]);
    }
}
