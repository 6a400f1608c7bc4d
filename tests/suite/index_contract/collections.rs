//! Creation and deletion of collections.

use std::time::Duration;

use bookrag::index::VectorIndex;
use uuid::Uuid;

use super::points::{DIMENSIONS, found, ids, many, point, vector, word};
use super::{Store, assert_rejected, filtering, matching, nearest, search};

/// Times in milliseconds after which a creation is interrupted: during its first call, between calls, during its last.
const CUTS_MS: [u64; 8] = [1, 2, 5, 10, 20, 50, 100, 200];

pub(super) async fn an_empty_collection_answers_with_nothing(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    index.ping().await.unwrap();
    store.ensure(DIMENSIONS).await;
    let dense = nearest(index, name, &vector(0), 5).await;
    assert!(dense.unwrap().is_empty());
    let lexical = matching(index, name, "robots", 5).await;
    assert!(lexical.unwrap().is_empty());
    assert!(index.point_ids(name).await.unwrap().is_empty());
    assert_eq!(index.count(name).await.unwrap(), 0);
    index.upsert(name, Vec::new()).await.unwrap();
    index.delete(name, &[]).await.unwrap();
    assert!(index.vectors(name, &[]).await.unwrap().is_empty());
    assert!(index.payloads(name, &[]).await.unwrap().is_empty());
}

pub(super) async fn ensuring_twice_keeps_the_points(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(3);
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points.clone()).await.unwrap();
    store.ensure(DIMENSIONS).await;
    let lexical = matching(index, name, &word(1), 5).await;
    assert_eq!(found(&lexical.unwrap()), ids(&points[1..2]));
    assert_eq!(index.count(name).await.unwrap(), 3);
}

pub(super) async fn concurrent_ensures_all_succeed(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let ensure = || store.ensure(DIMENSIONS);
    tokio::join!(ensure(), ensure(), ensure(), ensure());
    index.upsert(name, many(1)).await.unwrap();
    assert_answers_every_filter(index, name).await;
}

/// The creating process may die before the collection is complete.
pub(super) async fn a_creation_that_was_cut_off_is_completed(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    for cut_ms in CUTS_MS {
        let ensuring = index.ensure_collection(name, DIMENSIONS);
        if let Ok(early) = tokio::time::timeout(Duration::from_millis(cut_ms), ensuring).await {
            early.unwrap();
        }
        store.ensure(DIMENSIONS).await;
        index.upsert(name, many(1)).await.unwrap();
        assert_answers_every_filter(index, name).await;
        index.drop_collection(name).await.unwrap();
    }
}

/// Asserts that filters on all fields work; a field without an index would be refused.
async fn assert_answers_every_filter(index: &VectorIndex, name: &str) {
    for filters in filtering::one_of_each() {
        let answer = search(index, name, ("", &vector(0)), &filters, 1).await;
        assert!(answer.is_ok(), "{filters:?}: {answer:?}");
    }
}

pub(super) async fn calls_to_an_unknown_collection_are_rejected(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let point_ids = [Uuid::new_v4()];
    assert_rejected(nearest(index, name, &vector(0), 5).await);
    assert_rejected(matching(index, name, "robots", 5).await);
    assert_rejected(index.count(name).await);
    assert_rejected(index.point_ids(name).await);
    assert_rejected(index.vectors(name, &point_ids).await);
    assert_rejected(index.payloads(name, &point_ids).await);
    assert_rejected(index.upsert(name, many(1)).await);
    assert_rejected(index.delete(name, &point_ids).await);
    // No call created the collection.
    assert_rejected(index.count(name).await);
}

pub(super) async fn a_dropped_collection_is_gone_and_can_be_made_anew(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    index.drop_collection(name).await.unwrap();
    store.ensure(DIMENSIONS).await;
    index
        .ensure_collection(&store.other, DIMENSIONS)
        .await
        .unwrap();
    let points = many(3);
    index.upsert(name, points.clone()).await.unwrap();
    index.upsert(&store.other, points.clone()).await.unwrap();

    index.drop_collection(name).await.unwrap();
    assert_rejected(nearest(index, name, &vector(0), 5).await);
    assert_rejected(index.point_ids(name).await);
    index.drop_collection(name).await.unwrap();

    // It has other dimensions, and no points.
    store.ensure(2).await;
    assert_eq!(index.count(name).await.unwrap(), 0);
    let lexical = matching(index, name, &word(0), 5).await;
    assert!(lexical.unwrap().is_empty());
    let small = point(vec![0.6, 0.8], "A small point.");
    index.upsert(name, vec![small.clone()]).await.unwrap();
    let dense = nearest(index, name, &[0.6, 0.8], 5).await;
    assert_eq!(found(&dense.unwrap()), [small.point_id]);
    // The other collection is unaffected.
    assert_eq!(index.count(&store.other).await.unwrap(), 3);
}
