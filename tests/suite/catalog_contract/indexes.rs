//! Tables, indexes and their counts.

use std::collections::BTreeMap;
use std::time::Duration;

use bookrag::catalog::{
    Calibration, CatalogError, CommitOutcome, IndexRow, IndexState, IndexStats, NewIndex, Retired,
    SCHEMA_VERSION, Scale, Scales, SwitchOutcome,
};
use uuid::Uuid;

use super::Store;
use super::rows::{chunk, commit, live_index, new_index, write};

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

/// During a deployment, the previous version still uses the tables.
pub(super) async fn tables_of_a_later_version_are_used(store: Store) {
    store.catalog.migrate().await.unwrap();
    store
        .execute("UPDATE schema_version SET version = 99 WHERE version = (SELECT max(version) FROM schema_version)")
        .await;
    let reopened = store.reopened().await;
    reopened.ping().await.unwrap();
    reopened.live_index().await.unwrap();
    assert_eq!(reopened.migrate().await.unwrap(), 99);
}

pub(super) async fn migrating_twice_changes_nothing(store: Store) {
    let index_id = live_index(&store.catalog).await;
    assert_eq!(store.catalog.migrate().await.unwrap(), SCHEMA_VERSION);
    let live = store.catalog.live_index().await.unwrap().unwrap();
    assert_eq!(live.index_id, index_id);
}

pub(super) async fn a_new_index_expects_pages_until_it_is_filled(store: Store) {
    let index_id = live_index(&store.catalog).await;
    let expected = async || {
        let live = store.catalog.live_index().await.unwrap().unwrap();
        live.pages_expected
    };
    assert_eq!(expected().await, Some(0));
    for pages in [Some(63), Some(u64::from(u32::MAX)), None] {
        let written = store.catalog.expect_pages(index_id, pages).await;
        written.unwrap();
        assert_eq!(expected().await, pages);
    }
    // An invocation that began earlier must not restart the first indexing.
    let late = store.catalog.expect_pages(index_id, Some(63)).await;
    late.unwrap();
    assert_eq!(expected().await, None);
    // An index stays filled when it is opened again, even with another site.
    let mut index = new_index("adaptive");
    index.site.title.push_str(", second edition");
    let found = store.catalog.ensure_index(&index).await.unwrap();
    assert_eq!(found.pages_expected, None);
    // A new index beside the live one becomes filled when it becomes live.
    let next = store.catalog.ensure_index(&new_index("window-500")).await;
    let next = next.unwrap();
    assert_eq!(next.pages_expected, Some(0));
    let switched = store.catalog.switch(next.index_id, &BTreeMap::new()).await;
    assert_eq!(switched.unwrap(), SwitchOutcome::Switched);
    assert_eq!(expected().await, None);
}

pub(super) async fn two_concurrent_migrations_both_succeed(store: Store) {
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

pub(super) async fn one_of_several_concurrently_created_indexes_is_live(store: Store) {
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

pub(super) async fn an_index_has_a_commit_while_it_equals_its_files(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let freshness = async || {
        let live = catalog.live_index().await.unwrap().unwrap();
        live.freshness()
    };
    assert_eq!(freshness().await, None);
    write(catalog, &commit(index_id, "docs/a.md", 0, &[])).await;
    let changed = freshness().await.unwrap();
    assert_eq!(changed.commit, None);

    let hash = "7f3c2a1b".repeat(5);
    let compared = async |age| {
        let recorded = catalog.record_comparison(index_id, Some(&hash), age).await;
        recorded.unwrap();
        freshness().await.unwrap()
    };
    let equal = compared(Duration::ZERO).await;
    assert_eq!(equal.commit.as_deref(), Some("7f3c2a1"));
    assert!(equal.updated_at >= changed.updated_at, "{equal:?}");
    // A page that changed while the files were compared.
    let late = compared(Duration::from_hours(1)).await;
    assert_eq!((late.commit, &late.updated_at), (None, &changed.updated_at));

    compared(Duration::ZERO).await;
    write(catalog, &commit(index_id, "docs/a.md", 1, &[])).await;
    let changed = freshness().await.unwrap();
    assert_eq!(changed.commit, None);
    assert!(changed.updated_at >= equal.updated_at, "{changed:?}");
    // The same statement reads an index that is found or retired.
    let found = catalog.ensure_index(&new_index("adaptive")).await.unwrap();
    assert_eq!(catalog.live_index().await.unwrap(), Some(found));
}

pub(super) async fn stats_count_documents_and_chunks(store: Store) {
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
        .document(index_id, "docs/gone.md")
        .await
        .unwrap()
        .unwrap();
    let mut shorter = commit(index_id, source, 1, &chunks[..1]);
    shorter.intents.clear();
    write(catalog, &shorter).await;

    let newest = catalog.document(index_id, source).await.unwrap().unwrap();
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

pub(super) async fn a_source_never_gets_a_second_document(store: Store) {
    let index_id = live_index(&store.catalog).await;
    let first = commit(index_id, "docs/a.md", 0, &[]);
    store.catalog.commit(&first).await.unwrap();
    let mut second = first.clone();
    second.document.document_id = Uuid::new_v4();
    for revision in [0, 1] {
        second.expected_revision = revision;
        let refused = store.catalog.commit(&second).await.unwrap();
        assert_eq!(refused, CommitOutcome::Conflict);
    }
    let documents = store.catalog.documents(index_id).await.unwrap();
    let ids: Vec<Uuid> = documents.iter().map(|held| held.row.document_id).collect();
    assert_eq!(ids, [first.document.document_id]);
}

/// Creates a live index with a document, and another index with the same document.
async fn two_indexes(store: &Store) -> (IndexRow, IndexRow) {
    store.catalog.migrate().await.unwrap();
    let former = store.catalog.ensure_index(&new_index("a")).await.unwrap();
    let next = store.catalog.ensure_index(&new_index("b")).await.unwrap();
    assert_eq!(
        (former.state, next.state),
        (IndexState::Live, IndexState::Building)
    );
    for index in [&former, &next] {
        let commit = commit(index.index_id, "docs/a.md", 0, &[]);
        let done = store.catalog.commit(&commit).await.unwrap();
        assert!(matches!(done, CommitOutcome::Committed { .. }), "{done:?}");
    }
    (former, next)
}

async fn held(store: &Store, index: &IndexRow) -> BTreeMap<String, String> {
    let documents = store.catalog.documents(index.index_id).await.unwrap();
    let documents = documents.into_iter().map(|document| document.row);
    documents.map(|row| (row.source, row.fingerprint)).collect()
}

pub(super) async fn a_switch_needs_exactly_the_documents(store: Store) {
    let (former, next) = two_indexes(&store).await;
    let held = held(&store, &next).await;
    let source = held.keys().next().unwrap().clone();
    let other = "docs/other.md".to_owned();
    for (documents, behind) in [
        (BTreeMap::new(), source.clone()),
        (
            BTreeMap::from([(source.clone(), "another".to_owned())]),
            source,
        ),
        (
            [
                held.clone(),
                BTreeMap::from([(other.clone(), "f".to_owned())]),
            ]
            .into_iter()
            .flatten()
            .collect(),
            other,
        ),
    ] {
        let outcome = store.catalog.switch(next.index_id, &documents).await;
        assert_eq!(outcome.unwrap(), SwitchOutcome::Behind(vec![behind]));
        let live = store.catalog.live_index().await.unwrap().unwrap();
        assert_eq!(live.index_id, former.index_id);
    }
    for _ in 0..2 {
        let outcome = store.catalog.switch(next.index_id, &held).await.unwrap();
        assert_eq!(outcome, SwitchOutcome::Switched);
    }
    let states = store.catalog.indexes().await.unwrap().into_iter();
    let states: Vec<IndexState> = states.map(|index| index.state).collect();
    assert_eq!(states, [IndexState::Retired, IndexState::Live]);
    let outcome = store.catalog.switch(former.index_id, &held).await.unwrap();
    assert_eq!(outcome, SwitchOutcome::Retired);
    store.catalog.switch(77, &held).await.unwrap_err();
    let late = commit(former.index_id, "docs/b.md", 0, &[]);
    let refused = store.catalog.commit(&late).await.unwrap();
    assert_eq!(refused, CommitOutcome::Retired);
}

pub(super) async fn a_retired_index_revives_only_when_that_is_wanted(store: Store) {
    let (former, next) = two_indexes(&store).await;
    let held = held(&store, &next).await;
    store.catalog.switch(next.index_id, &held).await.unwrap();
    let stays = store.catalog.ensure_index(&new_index("a")).await.unwrap();
    assert_eq!(stays.state, IndexState::Retired);
    let wanted = NewIndex {
        retired: Retired::Revives,
        ..new_index("a")
    };
    let revived = store.catalog.ensure_index(&wanted).await.unwrap();
    assert_eq!(
        (revived.index_id, revived.state),
        (former.index_id, IndexState::Building)
    );
    let none = store.catalog.begin_drop(Duration::ZERO).await.unwrap();
    assert_eq!(none, []);
}

pub(super) async fn a_dropped_index_leaves_its_row_and_another_collections_name(store: Store) {
    let (former, next) = two_indexes(&store).await;
    let held = held(&store, &next).await;
    store.catalog.switch(next.index_id, &held).await.unwrap();
    store
        .catalog
        .record_failures(former.index_id, &["docs/x.md".to_owned()], "why")
        .await
        .unwrap();
    // More rows than are deleted at once.
    let points: Vec<Uuid> = (0..2_500).map(|_| Uuid::new_v4()).collect();
    let added = store
        .catalog
        .add_intents(former.index_id, Uuid::new_v4(), &points);
    added.await.unwrap();
    let hour = Duration::from_hours(1);
    assert_eq!(store.catalog.begin_drop(hour).await.unwrap(), []);
    for _ in 0..2 {
        // The first process may have died before finishing.
        let begun = store.catalog.begin_drop(Duration::ZERO).await.unwrap();
        assert_eq!(begun.len(), 1);
        assert_eq!(begun[0].collection, former.collection);
    }
    let wanted = NewIndex {
        retired: Retired::Revives,
        ..new_index("a")
    };
    let refused = store.catalog.ensure_index(&wanted).await.unwrap_err();
    assert!(matches!(refused, CatalogError::BeingDropped), "{refused}");
    store.catalog.finish_drop(former.index_id).await.unwrap();
    // An index that is not being dropped is unaffected.
    store.catalog.finish_drop(next.index_id).await.unwrap();
    assert_eq!(
        store.catalog.documents(next.index_id).await.unwrap().len(),
        1
    );
    let none = store.catalog.begin_drop(Duration::ZERO).await.unwrap();
    assert_eq!(none, []);
    let stays = store.catalog.ensure_index(&new_index("a")).await.unwrap();
    assert_eq!(stays.state, IndexState::Retired);
    let revived = store.catalog.ensure_index(&wanted).await.unwrap();
    assert_eq!(revived.state, IndexState::Building);
    assert_ne!(revived.collection, former.collection);
    let documents = store.catalog.documents(revived.index_id).await.unwrap();
    assert_eq!(documents, []);
    let stats = store.catalog.stats(revived.index_id).await.unwrap();
    assert_eq!(stats, IndexStats::default());
}

pub(super) async fn a_failure_is_kept_until_the_document_is_committed(store: Store) {
    let index_id = live_index(&store.catalog).await;
    let sources = ["docs/a.md", "docs/b.md"].map(str::to_owned);
    for (sources, reason) in [(&sources[..], "first"), (&sources[..1], "second")] {
        let recorded = store.catalog.record_failures(index_id, sources, reason);
        recorded.await.unwrap();
    }
    let [a, b] = [("docs/a.md", "second"), ("docs/b.md", "first")]
        .map(|(source, reason)| (source.to_owned(), reason.to_owned()));
    let stats = store.catalog.stats(index_id).await.unwrap();
    assert_eq!(stats.failed, [a, b.clone()]);
    let done = commit(index_id, "docs/a.md", 0, &[]);
    store.catalog.commit(&done).await.unwrap();
    assert_eq!(store.catalog.stats(index_id).await.unwrap().failed, [b]);
}

pub(super) async fn a_calibration_is_kept_until_the_index_is_dropped(store: Store) {
    let (former, next) = two_indexes(&store).await;
    let calibrations = async || {
        let indexes = store.catalog.indexes().await.unwrap().into_iter();
        indexes.map(|index| index.calibration).collect::<Vec<_>>()
    };
    assert_eq!(calibrations().await, [None, None]);
    let scales = |median| Scales {
        book: Scale {
            median,
            deviation: 0.012_345_67,
        },
        off_topic: Scale {
            median: 0.512_345_7,
            deviation: 0.1,
        },
        difference: Scale {
            median: -0.012_345_67,
            deviation: 0.9,
        },
        questions: (104, 208),
    };
    let of = |median| Calibration {
        scales: scales(median),
        locales: [("de".to_owned(), scales(median / 2.0))].into(),
        chunks: u64::from(u32::MAX),
    };
    for (index_id, own) in [
        (former.index_id, 0.1),
        (former.index_id, 0.723_456_8),
        (next.index_id, 0.8),
    ] {
        let vectors = index_id.to_le_bytes().to_vec();
        let set = store
            .catalog
            .set_calibration(index_id, of(own), vectors.clone());
        set.await.unwrap();
        let read = store.catalog.off_topic_vectors(index_id).await.unwrap();
        assert_eq!(read, Some(vectors));
    }
    assert_eq!(calibrations().await, [Some(of(0.723_456_8)), Some(of(0.8))]);
    let again = store.catalog.ensure_index(&new_index("b")).await.unwrap();
    assert_eq!(again.calibration, Some(of(0.8)));

    let held = held(&store, &next).await;
    store.catalog.switch(next.index_id, &held).await.unwrap();
    store.catalog.begin_drop(Duration::ZERO).await.unwrap();
    store.catalog.finish_drop(former.index_id).await.unwrap();
    assert_eq!(calibrations().await, [None, Some(of(0.8))]);
    let dropped = store.catalog.off_topic_vectors(former.index_id).await;
    assert_eq!(dropped.unwrap(), None);
}
