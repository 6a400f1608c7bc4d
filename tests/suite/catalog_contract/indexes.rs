//! Tables, indexes and their counts.

use bookrag::catalog::{CatalogError, IndexState, IndexStats, SCHEMA_VERSION};

use super::Store;
use super::rows::{chunk, commit, document_id, live_index, new_index, write};

pub(super) async fn without_tables_every_operation_names_the_schema_version(store: Store) {
    let failures = [
        store.catalog.ping().await.unwrap_err(),
        store.catalog.live_index().await.unwrap_err(),
        store
            .catalog
            .ensure_index(&new_index("adaptive"))
            .await
            .unwrap_err(),
        store
            .catalog
            .commit(&commit(1, "docs/a.md", 0, &[]))
            .await
            .unwrap_err(),
    ];
    for failure in failures {
        assert!(
            matches!(
                failure,
                CatalogError::Schema {
                    found: 0,
                    needed: SCHEMA_VERSION
                }
            ),
            "{failure}"
        );
    }
    store.catalog.migrate().await.unwrap();
    store.catalog.ping().await.unwrap();
    assert_eq!(store.catalog.live_index().await.unwrap(), None);
}

pub(super) async fn tables_of_another_version_are_refused(store: Store) {
    store.catalog.migrate().await.unwrap();
    store
        .execute("UPDATE schema_version SET version = 99 WHERE version = (SELECT max(version) FROM schema_version)")
        .await;
    let reopened = store.reopened().await;
    for failure in [
        reopened.live_index().await.unwrap_err(),
        reopened.ping().await.unwrap_err(),
        reopened.migrate().await.unwrap_err(),
    ] {
        assert!(
            matches!(failure, CatalogError::Schema { found: 99, .. }),
            "{failure}"
        );
    }
}

pub(super) async fn migrating_twice_changes_nothing(store: Store) {
    let index_id = live_index(&store.catalog).await;
    assert_eq!(store.catalog.migrate().await.unwrap(), SCHEMA_VERSION);
    let live = store.catalog.live_index().await.unwrap().unwrap();
    assert_eq!(live.index_id, index_id);
}

pub(super) async fn two_that_migrate_at_once_both_succeed(store: Store) {
    let other = store.reopened().await;
    let (first, second) = tokio::join!(store.catalog.migrate(), other.migrate());
    assert_eq!(
        (first.unwrap(), second.unwrap()),
        (SCHEMA_VERSION, SCHEMA_VERSION)
    );
}

pub(super) async fn the_first_index_is_live_and_the_next_is_building(store: Store) {
    store.catalog.migrate().await.unwrap();
    let first = store
        .catalog
        .ensure_index(&new_index("adaptive"))
        .await
        .unwrap();
    let second = store
        .catalog
        .ensure_index(&new_index("window-500"))
        .await
        .unwrap();
    assert_eq!(
        (first.state, second.state),
        (IndexState::Live, IndexState::Building)
    );
    assert_ne!(first.index_id, second.index_id);
    assert_eq!(second.spec, new_index("window-500").spec);
    assert_eq!(second.collection, "textbook_chunks_window-500");
    assert_eq!(store.catalog.live_index().await.unwrap(), Some(first));
}

pub(super) async fn an_index_is_found_by_its_spec_and_its_site_is_updated(store: Store) {
    store.catalog.migrate().await.unwrap();
    let mut index = new_index("adaptive");
    let made = store.catalog.ensure_index(&index).await.unwrap();
    index.site.title.push_str(", second edition");
    let found = store.catalog.ensure_index(&index).await.unwrap();
    assert_eq!(
        (found.index_id, found.state),
        (made.index_id, IndexState::Live)
    );
    assert_eq!(found.site, index.site);
    assert_eq!(store.catalog.live_index().await.unwrap(), Some(found));
}

pub(super) async fn of_indexes_made_at_once_one_is_live(store: Store) {
    store.catalog.migrate().await.unwrap();
    let other = store.reopened().await;
    let (adaptive, window) = (new_index("adaptive"), new_index("window-500"));
    let (first, second, third, fourth) = tokio::try_join!(
        store.catalog.ensure_index(&adaptive),
        other.ensure_index(&window),
        other.ensure_index(&adaptive),
        store.catalog.ensure_index(&window),
    )
    .unwrap();
    assert_eq!((&first, &second), (&third, &fourth));
    let states = [first.state, second.state];
    assert!(states.contains(&IndexState::Live) && states.contains(&IndexState::Building));
}

pub(super) async fn stats_count_what_there_is(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    assert_eq!(
        catalog.stats(index_id).await.unwrap(),
        IndexStats::default()
    );

    let source = "docs/Z.md";
    let chunks = [chunk(source, 0, "one"), chunk(source, 1, "two")];
    write(catalog, &commit(index_id, source, 0, &chunks)).await;
    for (source, skip_reason) in [
        ("docs/b.md", "line 3: bad YAML"),
        ("docs/B.md", "not UTF-8"),
    ] {
        let mut skipped = commit(index_id, source, 0, &[]);
        skipped.document.skip_reason = Some(skip_reason.to_owned());
        write(catalog, &skipped).await;
    }
    let mut deleted = commit(index_id, "docs/gone.md", 0, &[]);
    deleted.document.deleted = true;
    deleted.document.skip_reason = Some("was bad".to_owned());
    write(catalog, &deleted).await;
    let gone = catalog
        .document(index_id, document_id("docs/gone.md"))
        .await
        .unwrap()
        .unwrap();
    let mut shorter = commit(index_id, source, 1, &chunks[..1]);
    shorter.intents.clear();
    write(catalog, &shorter).await;

    let newest = catalog
        .document(index_id, document_id(source))
        .await
        .unwrap()
        .unwrap();
    assert!(newest.last_indexed_at >= gone.last_indexed_at);
    let stats = catalog.stats(index_id).await.unwrap();
    assert_eq!(
        stats,
        IndexStats {
            documents: 3,
            chunks: 1,
            tokens: 7,
            stale: vec![
                ("docs/B.md".to_owned(), "not UTF-8".to_owned()),
                ("docs/b.md".to_owned(), "line 3: bad YAML".to_owned()),
            ],
            failed: Vec::new(),
            pending_points: 1,
            last_indexed_at: Some(newest.last_indexed_at),
        }
    );
}
