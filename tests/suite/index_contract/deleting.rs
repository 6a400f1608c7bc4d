//! Deletion removes the given points and no others.

use std::collections::BTreeSet;

use bookrag::index::NewPoint;
use uuid::Uuid;

use super::points::{DIMENSIONS, assert_vector, found, ids, many, point, vector, word};
use super::{Store, matching, nearest};

/// One more than a page of ids holds.
const MORE_THAN_A_PAGE: usize = 5_001;

pub(super) async fn only_deleted_points_are_no_longer_found(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(10);
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points.clone()).await.unwrap();
    let is_deleted = |number: usize| number.is_multiple_of(3);
    let numbered = || points.iter().enumerate();
    let of = |deleted: bool| {
        let wanted = numbered().filter(move |(number, _)| is_deleted(*number) == deleted);
        ids(wanted.map(|(_, point)| point))
    };
    let (gone, left) = (of(true), of(false));
    index.delete(name, &gone).await.unwrap();

    for (number, point) in numbered() {
        let dense = nearest(index, name, &vector(number), 1).await;
        let first = found(&dense.unwrap())[0];
        assert_eq!(first == point.point_id, !is_deleted(number));
        assert!(!gone.contains(&first));
        let lexical = matching(index, name, &word(number), 1).await;
        let by_word = found(&lexical.unwrap()).first().copied();
        assert_eq!(by_word, (!is_deleted(number)).then_some(point.point_id));
    }
    let stored = index.point_ids(name).await.unwrap();
    assert_eq!(stored, left.iter().copied().collect::<BTreeSet<_>>());
    let vectors = index.vectors(name, &ids(&points)).await.unwrap();
    assert_eq!(vectors.into_keys().collect::<BTreeSet<_>>(), stored);
    let payloads = index.payloads(name, &ids(&points)).await.unwrap();
    assert_eq!(payloads.into_keys().collect::<BTreeSet<_>>(), stored);
    assert_eq!(index.count(name).await.unwrap(), left.len() as u64);
}

pub(super) async fn missing_points_can_be_looked_up_and_deleted(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(2);
    let unknown = Uuid::new_v4();
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points.clone()).await.unwrap();
    let known = points[0].point_id;
    assert!(index.vectors(name, &[unknown]).await.unwrap().is_empty());
    assert!(index.payloads(name, &[unknown]).await.unwrap().is_empty());
    let mixed = [unknown, known, known];
    let vectors = index.vectors(name, &mixed).await.unwrap();
    assert_eq!(vectors.len(), 1);
    assert_vector(&vectors[&known].vector, &points[0].embedding.vector);
    let payloads = index.payloads(name, &mixed).await.unwrap();
    assert_eq!(payloads.into_keys().collect::<Vec<_>>(), [known]);

    for expected in [1, 1] {
        index.delete(name, &mixed).await.unwrap();
        assert_eq!(index.count(name).await.unwrap(), expected);
    }
    index.delete(name, &[unknown]).await.unwrap();
    assert_eq!(index.count(name).await.unwrap(), 1);
}

pub(super) async fn all_points_are_listed_and_deleted_beyond_one_page(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    store.ensure(2).await;
    let tiny = |_| point(vec![0.6, 0.8], "tiny");
    let points: Vec<NewPoint> = (0..MORE_THAN_A_PAGE).map(tiny).collect();
    let (all, last) = (ids(&points), points[MORE_THAN_A_PAGE - 1].point_id);
    index.upsert(name, points).await.unwrap();
    let expected: BTreeSet<Uuid> = all.iter().copied().collect();
    assert_eq!(index.point_ids(name).await.unwrap(), expected);
    assert_eq!(index.count(name).await.unwrap(), MORE_THAN_A_PAGE as u64);

    let mut sorted = expected.iter().copied();
    let after = sorted.nth(1);
    let page = index.point_ids_after(name, after, 3).await.unwrap();
    assert_eq!(page, sorted.take(3).collect::<BTreeSet<_>>());

    // The last page is full.
    index.delete(name, &[last]).await.unwrap();
    let listed = index.point_ids(name).await.unwrap();
    assert_eq!(listed.len(), MORE_THAN_A_PAGE - 1);
    assert!(!listed.contains(&last));

    index.delete(name, &all).await.unwrap();
    assert!(index.point_ids(name).await.unwrap().is_empty());
    let lexical = matching(index, name, "tiny", 5).await;
    assert!(lexical.unwrap().is_empty());
}
