//! What was upserted is there.

use std::collections::BTreeSet;

use bookrag::index::{Filters, NewPoint};

use super::points::{
    DIMENSIONS, assert_rows, assert_whole, found, ids, many, near, point, row, word,
};
use super::{Store, assert_rejected};

/// Two requests and a half.
const MANY: usize = 250;
/// Points at the borders of requests, and one within.
const LOOKED_AT: [usize; 7] = [0, 57, 99, 100, 199, 200, 249];

/// Writers at once, and points that each of them stores, one request after the other.
const WRITERS: usize = 4;
const POINTS_A_WRITER: usize = 10;

/// Rows of what a long chunk can be: a hundred such points are 6 MB, more than a message of gRPC usually may have.
const LONG_POINTS: usize = 100;
const LONG_ROWS: usize = 40;
const LONG_DIMENSIONS: usize = 384;

pub(super) async fn what_was_upserted_is_found_at_once_as_it_was(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let (points, filters) = (many(MANY), Filters::default());
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points.clone()).await.unwrap();
    for number in LOOKED_AT {
        let point = &points[number];
        for row in &point.vectors {
            let hits = index.search_dense(name, row, &filters, 2).await.unwrap();
            assert_whole(&hits[0], point);
            assert!(near(hits[0].score, 1.0), "{}", hits[0].score);
        }
        let lexical = index.search_lexical(name, &word(number), &filters, 2).await;
        let hits = lexical.unwrap();
        assert_eq!(hits.len(), 1);
        assert_whole(&hits[0], point);
    }
    let rows = index.vectors(name, &ids(&points)).await.unwrap();
    assert_eq!(rows.len(), MANY);
    for point in &points {
        assert_rows(&rows[&point.point_id], &point.vectors);
    }
    assert_eq!(index.count(name).await.unwrap(), MANY as u64);
}

/// As after an answer that was lost.
pub(super) async fn upserting_the_same_points_again_changes_nothing(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let (points, filters) = (many(3), Filters::default());
    store.ensure(DIMENSIONS).await;
    for _ in 0..3 {
        index.upsert(name, points.clone()).await.unwrap();
        assert_eq!(index.count(name).await.unwrap(), 3);
        for (number, point) in points.iter().enumerate() {
            let dense = index
                .search_dense(name, &row(2 * number), &filters, 5)
                .await;
            let hits = dense.unwrap();
            assert_eq!(hits.len(), 3);
            assert_whole(&hits[0], point);
            assert!(near(hits[0].score, 1.0), "{}", hits[0].score);
            let lexical = index.search_lexical(name, &word(number), &filters, 5).await;
            assert_eq!(found(&lexical.unwrap()), [point.point_id]);
        }
    }
}

pub(super) async fn upserts_at_once_all_land(store: Store) {
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
    let filters = Filters::default();
    for (number, point) in points.iter().enumerate() {
        let hits = index.search_lexical(name, &word(number), &filters, 2).await;
        assert_eq!(found(&hits.unwrap()), [point.point_id]);
    }
}

pub(super) async fn a_batch_of_many_megabytes_is_stored(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    store.ensure(LONG_DIMENSIONS).await;
    // Rows along the axes are quickly made, and of unit length.
    let axis = |number: usize| {
        let mut row = vec![0.0; LONG_DIMENSIONS];
        row[number % LONG_DIMENSIONS] = 1.0;
        row
    };
    let points: Vec<NewPoint> = (0..LONG_POINTS)
        .map(|number| {
            let rows = (0..LONG_ROWS).map(|place| axis(number + place));
            point(rows.collect(), &word(number))
        })
        .collect();
    index.upsert(name, points.clone()).await.unwrap();
    let rows = index.vectors(name, &ids(&points)).await.unwrap();
    for point in &points {
        assert_rows(&rows[&point.point_id], &point.vectors);
    }
    let filters = Filters::default();
    let hits = index.search_dense(name, &axis(0), &filters, 5).await;
    assert_eq!(found(&hits.unwrap())[0], points[0].point_id);
}

pub(super) async fn points_of_other_dimensions_are_rejected_and_not_stored(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let filters = Filters::default();
    store.ensure(DIMENSIONS).await;
    for rows in [
        vec![vec![1.0]],
        vec![row(0), vec![1.0; DIMENSIONS - 1]],
        vec![vec![0.25; DIMENSIONS + 1]],
        vec![Vec::new()],
        Vec::new(),
    ] {
        let wrong = point(rows, "wrong");
        assert_rejected(index.upsert(name, vec![wrong.clone(), wrong]).await);
    }
    assert_rejected(index.search_dense(name, &[1.0], &filters, 5).await);
    assert_eq!(index.count(name).await.unwrap(), 0);
    let lexical = index.search_lexical(name, "wrong", &filters, 5).await;
    assert!(lexical.unwrap().is_empty());
    // The collection is none the worse.
    index.upsert(name, many(1)).await.unwrap();
    assert_eq!(index.count(name).await.unwrap(), 1);
}

/// Qdrant promises no more: a server may have stored the right ones. The engine of the tests stores none of them.
pub(super) async fn no_half_of_a_point_of_a_refused_batch_is_stored(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let (right, filters) = (many(8), Filters::default());
    store.ensure(DIMENSIONS).await;
    let wrong = point(vec![row(0), vec![1.0]], "wrong");
    let mut batch = right.clone();
    batch.insert(4, wrong);
    assert_rejected(index.upsert(name, batch).await);

    let stored = index.point_ids(name).await.unwrap();
    let rows = index.vectors(name, &ids(&right)).await.unwrap();
    assert_eq!(stored, rows.into_keys().collect::<BTreeSet<_>>());
    assert_eq!(index.count(name).await.unwrap(), stored.len() as u64);
    for (number, point) in right.iter().enumerate() {
        let is_stored = stored.contains(&point.point_id);
        let lexical = index.search_lexical(name, &word(number), &filters, 1).await;
        assert_eq!(lexical.unwrap().len(), usize::from(is_stored));
        let dense = index
            .search_dense(name, &row(2 * number), &filters, 1)
            .await;
        let nearest = found(&dense.unwrap()).first() == Some(&point.point_id);
        assert_eq!(nearest, is_stored);
    }
    // What was refused can be sent again without the wrong one.
    index.upsert(name, right.clone()).await.unwrap();
    assert_eq!(index.count(name).await.unwrap(), right.len() as u64);
}
