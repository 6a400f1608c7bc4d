//! Pages in the order of tables of contents.

use uuid::Uuid;

use bookrag::catalog::{DocumentState, PageSelection, SiteInfo};

use super::Store;
use super::rows::{COMMITTED, chunk, commit, live_index, write};

pub(super) async fn pages_are_listed_with_their_tokens_and_found_by_their_urls(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    for (source, url, chunks, unlisted) in [
        ("docs/b.md", "/book/docs/b", 2, false),
        ("docs/a.md", "/book/docs/a", 0, false),
        ("docs/c.md", "/book/docs/c", 3, true),
        ("docs/deleted.md", "/book/docs/deleted", 0, false),
        ("blog/b.md", "/book/blog/b", 0, false),
        ("blog/a.md", "/book/blog/a", 1, false),
        ("blog/c.md", "/book/blog/c", 1, true),
    ] {
        let rows: Vec<_> = (0..chunks)
            .map(|position| chunk(source, position, &format!("text {position} of {source}")))
            .collect();
        let mut page = commit(index_id, source, 0, &rows);
        url.clone_into(&mut page.document.url);
        if source.starts_with("blog/") {
            "blog/default@current".clone_into(&mut page.document.version);
        }
        page.document.deleted = source == "docs/deleted.md";
        for chunk in page.chunks.iter_mut().flatten() {
            chunk.payload.unlisted = unlisted;
        }
        assert_eq!(write(catalog, &page).await, COMMITTED);
    }
    let listed = async |selection, from, limit| -> Vec<(String, u64)> {
        let pages = catalog.listed_pages(index_id, selection, from, limit);
        let pages = pages.await.unwrap().into_iter();
        pages.map(|page| (page.url, page.tokens)).collect()
    };
    let all = [
        ("/book/docs/a".to_owned(), 0),
        ("/book/docs/b".to_owned(), 14),
        ("/book/blog/a".to_owned(), 7),
        ("/book/blog/b".to_owned(), 0),
    ];
    for from in 0..=5 {
        for limit in 0..=5 {
            let rest = &all[from.min(all.len())..];
            let selected = listed(PageSelection::default(), from, limit).await;
            assert_eq!(selected, rest[..limit.min(rest.len())], "{from} {limit}");
        }
    }
    let versions = ["current".to_owned()];
    for (below, versions, locale, expected) in [
        ("/book/docs/", None, None, &all[..2]),
        ("/book/docs/a", None, None, &[]),
        ("", Some(&versions[..]), None, &all[..2]),
        ("", None, Some("en"), &all[..]),
        ("", None, Some("de"), &[]),
    ] {
        let selection = PageSelection {
            locale,
            versions,
            below,
        };
        assert_eq!(listed(selection, 0, 9).await, expected, "{selection:?}");
    }
    let site = SiteInfo {
        base_url: "/book/".to_owned(),
        locales: vec!["ur".to_owned()],
        ..SiteInfo::default()
    };
    for (path, found) in [
        ("/book/docs/c", Some(21)),
        ("/book/docs/c/", Some(21)),
        ("/book/ur/docs/c", Some(21)),
        ("/book/de/docs/c", None),
        ("/book/docs/nowhere", None),
        ("/book/docs/deleted", None),
    ] {
        let page = catalog.page_at(index_id, &site, path).await.unwrap();
        assert_eq!(page.map(|page| page.tokens), found, "{path}");
    }
    let foreign = catalog.listed_pages(index_id + 1, PageSelection::default(), 0, 9);
    assert_eq!(foreign.await.unwrap(), []);
}

pub(super) async fn a_chunk_has_a_place_while_the_book_holds_it(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let rows = [0, 1].map(|position| chunk("docs/a.md", position, "text"));
    let page = commit(index_id, "docs/a.md", 0, &rows);
    assert_eq!(write(catalog, &page).await, COMMITTED);
    for row in rows {
        let place = catalog.place_of_chunk(index_id, row.chunk_id).await;
        assert_eq!(
            place.unwrap(),
            Some((page.document.document_id, row.position))
        );
    }
    let unknown = catalog.place_of_chunk(index_id, Uuid::new_v4()).await;
    assert_eq!(unknown.unwrap(), None);
}

pub(super) async fn states_and_shared_urls_are_those_of_the_documents(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    for (source, url, skip_reason) in [
        ("docs/a.md", "/same", None),
        ("docs/b.md", "/same", Some("why")),
        ("docs/c.md", "/other", None),
        ("docs/d.md", "", Some("why")),
        ("docs/e.md", "", Some("why")),
    ] {
        let chunks = [chunk(source, 0, source)];
        let with = if url.is_empty() { &[][..] } else { &chunks[..] };
        let mut commit = commit(index_id, source, 0, with);
        url.clone_into(&mut commit.document.url);
        commit.document.skip_reason = skip_reason.map(str::to_owned);
        write(catalog, &commit).await;
    }
    let mut states = catalog.states(index_id).await.unwrap();
    states.sort_by(|a, b| a.source.cmp(&b.source));
    let documents = catalog.documents(index_id).await.unwrap().into_iter();
    let expected: Vec<DocumentState> = documents
        .map(|document| DocumentState {
            source: document.row.source,
            fingerprint: document.row.fingerprint,
            skip_reason: document.row.skip_reason,
            has_chunks: document.chunk_count > 0,
            last_indexed_at: document.last_indexed_at,
        })
        .collect();
    assert_eq!(states, expected);
    let shared = catalog.shared_urls(index_id).await.unwrap();
    assert_eq!(shared.keys().collect::<Vec<_>>(), ["/same"]);
    assert_eq!(Vec::from_iter(&shared["/same"]), ["docs/a.md", "docs/b.md"]);
}
