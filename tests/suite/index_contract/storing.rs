//! Upserted points are stored.

use std::collections::BTreeSet;

use bookrag::index::NewPoint;
use uuid::Uuid;

use super::points::{DIMENSIONS, assert_embedding, found, ids, many, near, point, vector, word};
use super::{Store, assert_rejected, matching, nearest};

/// Enough for two and a half requests.
const MANY: usize = 250;
/// Points at the edges of requests, and one within.
const LOOKED_AT: [usize; 7] = [0, 57, 99, 100, 199, 200, 249];

/// Concurrent writers, and the points that each of them stores in consecutive requests.
const WRITERS: usize = 4;
const POINTS_A_WRITER: usize = 10;

/// Points with the longest vectors and texts: a hundred exceed the default size of a gRPC message.
const LONG_POINTS: usize = 100;
const LONG_DIMENSIONS: usize = 3_072;
const LONG_WORDS: usize = 8_000;

pub(super) async fn upserted_points_are_found_at_once_and_unchanged(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(MANY);
    store.ensure(DIMENSIONS).await;
    store.publish(points.clone()).await;
    for number in LOOKED_AT {
        let point = &points[number];
        let dense = nearest(index, name, &point.embedding.vector, 2)
            .await
            .unwrap();
        assert_eq!(dense[0].point_id, point.point_id);
        assert!(near(dense[0].score, 1.0), "{}", dense[0].score);
        let lexical = matching(index, name, &word(number), 2).await;
        assert_eq!(found(&lexical.unwrap())[0], point.point_id);
    }
    let vectors = index.vectors(name, &ids(&points)).await.unwrap();
    let payloads = index.payloads(name, &ids(&points)).await.unwrap();
    assert_eq!((vectors.len(), payloads.len()), (MANY, MANY));
    for point in &points {
        assert_embedding(&vectors[&point.point_id], &point.embedding);
        assert_eq!(payloads[&point.point_id], point.payload);
    }
    assert_eq!(index.count(name).await.unwrap(), MANY as u64);
}

/// The caller continues without the point.
pub(super) async fn a_payload_that_cannot_be_read_is_missing(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(2);
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points.clone()).await.unwrap();
    let unreadable = Uuid::new_v4();
    store.upsert_of_another_release(unreadable).await;
    let mut asked = ids(&points);
    asked.push(unreadable);
    let vectors = index.vectors(name, &asked).await.unwrap();
    assert!(vectors.contains_key(&unreadable), "it is not stored");
    let payloads = index.payloads(name, &asked).await.unwrap();
    assert_eq!(payloads.len(), points.len());
    for point in &points {
        assert_eq!(payloads[&point.point_id], point.payload);
    }
}

/// As after a lost response.
pub(super) async fn upserting_the_same_points_again_changes_nothing(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(3);
    store.ensure(DIMENSIONS).await;
    for _ in 0..3 {
        index.upsert(name, points.clone()).await.unwrap();
        assert_eq!(index.count(name).await.unwrap(), 3);
        for (number, point) in points.iter().enumerate() {
            let dense = nearest(index, name, &point.embedding.vector, 5)
                .await
                .unwrap();
            assert_eq!((dense.len(), dense[0].point_id), (3, point.point_id));
            assert!(near(dense[0].score, 1.0), "{}", dense[0].score);
            let lexical = matching(index, name, &word(number), 5).await;
            assert_eq!(found(&lexical.unwrap()), [point.point_id]);
        }
    }
}

pub(super) async fn concurrent_upserts_are_all_stored(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    store.ensure(DIMENSIONS).await;
    let points = many(WRITERS * POINTS_A_WRITER);
    let writers = points.chunks(POINTS_A_WRITER).map(|own| {
        let (store, own) = (store.clone(), own.to_vec());
        tokio::spawn(async move {
            for point in own {
                let upserting = store.index.upsert(&store.collection, vec![point]);
                upserting.await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let stored = index.point_ids(name).await.unwrap();
    assert_eq!(stored, ids(&points).into_iter().collect::<BTreeSet<_>>());
    for (number, point) in points.iter().enumerate() {
        let lexical = matching(index, name, &word(number), 2).await;
        assert_eq!(found(&lexical.unwrap()), [point.point_id]);
    }
}

pub(super) async fn a_batch_of_many_megabytes_is_stored(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    store.ensure(LONG_DIMENSIONS).await;
    // Unit vectors along the axes are quick to generate.
    let axis = |number: usize| {
        let mut vector = vec![0.0; LONG_DIMENSIONS];
        vector[number] = 1.0;
        vector
    };
    let words = "robot ".repeat(LONG_WORDS);
    let points: Vec<NewPoint> = (0..LONG_POINTS)
        .map(|number| point(axis(number), &format!("{words}{}", word(number))))
        .collect();
    index.upsert(name, points.clone()).await.unwrap();
    let vectors = index.vectors(name, &ids(&points)).await.unwrap();
    let payloads = index.payloads(name, &ids(&points)).await.unwrap();
    for point in &points {
        assert_embedding(&vectors[&point.point_id], &point.embedding);
        assert_eq!(payloads[&point.point_id], point.payload);
    }
    let dense = nearest(index, name, &axis(0), 5).await;
    assert_eq!(found(&dense.unwrap())[0], points[0].point_id);
}

pub(super) async fn points_of_other_dimensions_are_rejected_and_not_stored(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    store.ensure(DIMENSIONS).await;
    for dimensions in [0, 1, DIMENSIONS - 1, DIMENSIONS + 1] {
        let wrong = point(vec![0.25; dimensions], "wrong");
        assert_rejected(index.upsert(name, vec![wrong.clone(), wrong]).await);
    }
    assert_rejected(nearest(index, name, &[1.0], 5).await);
    assert_eq!(index.count(name).await.unwrap(), 0);
    let lexical = matching(index, name, "wrong", 5).await;
    assert!(lexical.unwrap().is_empty());
    // The collection is unharmed.
    index.upsert(name, many(1)).await.unwrap();
    assert_eq!(index.count(name).await.unwrap(), 1);
}

/// Qdrant only guarantees this: a server may have stored the valid points. The test engine stores none of them.
pub(super) async fn no_point_of_a_refused_batch_is_stored_in_part(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let right = many(8);
    store.ensure(DIMENSIONS).await;
    let wrong = point(vec![1.0], "wrong");
    let mut batch = right.clone();
    batch.insert(4, wrong);
    assert_rejected(index.upsert(name, batch).await);

    let stored = index.point_ids(name).await.unwrap();
    let vectors = index.vectors(name, &ids(&right)).await.unwrap();
    assert_eq!(stored, vectors.into_keys().collect::<BTreeSet<_>>());
    assert_eq!(index.count(name).await.unwrap(), stored.len() as u64);
    for (number, point) in right.iter().enumerate() {
        let is_stored = stored.contains(&point.point_id);
        let lexical = matching(index, name, &word(number), 1).await;
        assert_eq!(lexical.unwrap().len(), usize::from(is_stored));
        let dense = nearest(index, name, &vector(number), 1).await;
        let is_nearest = found(&dense.unwrap()).first() == Some(&point.point_id);
        assert_eq!(is_nearest, is_stored);
    }
    // The refused batch can be sent again without the invalid point.
    index.upsert(name, right.clone()).await.unwrap();
    assert_eq!(index.count(name).await.unwrap(), right.len() as u64);
}
