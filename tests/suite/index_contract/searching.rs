//! What is nearest, and what matches best.

use bookrag::index::{Filters, NewPoint};

use super::Store;
use super::points::{DIMENSIONS, dot, found, ids, many, near, point, row};

/// Points among which the nearest are looked for, and how many of these.
const MANY: usize = 250;
const NEAREST: usize = 10;
/// Numbers of rows that no point has.
const QUERIES: std::ops::Range<usize> = 10_000..10_005;

pub(super) async fn a_point_scores_as_its_best_row_best_first(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let filters = Filters::default();
    store.ensure(4).await;
    let points = [
        point(vec![vec![-1.0, 0.0, 0.0, 0.0]], "opposite"),
        point(
            vec![vec![0.0, 1.0, 0.0, 0.0], vec![0.8, 0.6, 0.0, 0.0]],
            "near",
        ),
        point(vec![vec![0.0, 0.0, 1.0, 0.0]], "aside"),
        point(vec![vec![1.0, 0.0, 0.0, 0.0]], "there"),
    ];
    index.upsert(name, points.to_vec()).await.unwrap();
    let order = [3, 1, 2, 0].map(|place: usize| points[place].point_id);
    // The length of the question's vector does not count.
    for length in [1.0, 0.01, 30.0] {
        let query = [length, 0.0, 0.0, 0.0];
        let hits = index.search_dense(name, &query, &filters, 9).await.unwrap();
        assert_eq!(found(&hits), order);
        for (hit, cosine) in hits.iter().zip([1.0, 0.8, 0.0, -1.0]) {
            assert!(near(hit.score, cosine), "{} is not {cosine}", hit.score);
        }
        let hits = index.search_dense(name, &query, &filters, 2).await.unwrap();
        assert_eq!(found(&hits), order[..2]);
    }
}

pub(super) async fn the_nearest_of_many_are_those_that_comparing_all_finds(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let (points, filters) = (many(MANY), Filters::default());
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points.clone()).await.unwrap();
    for query in QUERIES.map(row) {
        let cosine = |point: &NewPoint| {
            let of_rows = point.vectors.iter().map(|row| dot(row, &query));
            of_rows.fold(f32::NEG_INFINITY, f32::max)
        };
        let mut best: Vec<f32> = points.iter().map(cosine).collect();
        best.sort_by(|left, right| right.total_cmp(left));
        let limit = NEAREST as u64;
        let dense = index.search_dense(name, &query, &filters, limit).await;
        let hits = dense.unwrap();
        assert_eq!(hits.len(), NEAREST);
        for (hit, best) in hits.iter().zip(best) {
            let same = |point: &&NewPoint| point.point_id == hit.point_id;
            let own = cosine(points.iter().find(same).unwrap());
            assert!(near(hit.score, own), "{} is not {own}", hit.score);
            assert!(near(hit.score, best), "{} is not {best}", hit.score);
        }
    }
}

pub(super) async fn rare_words_weigh_more_and_endings_do_not_matter(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let filters = Filters::default();
    store.ensure(DIMENSIONS).await;
    let texts = [
        "A topic carries messages.",
        "A topic needs names.",
        "Quaternions describe rotations.",
    ];
    let points = texts.map(|text| point(vec![row(0)], text));
    let all = ids(&points);
    index.upsert(name, points.to_vec()).await.unwrap();
    let search = |text| index.search_lexical(name, text, &filters, 9);

    let hits = search("the topics of a quaternion").await.unwrap();
    assert_eq!(hits.len(), 3);
    assert_eq!(hits[0].point_id, all[2]);
    assert!(hits[0].score > hits[1].score && hits[2].score > 0.0);
    assert_eq!(found(&search("carrying TOPICS").await.unwrap()), all[..2]);
    assert_eq!(found(&search("rotation").await.unwrap()), all[2..]);
}

pub(super) async fn words_that_are_nowhere_find_nothing(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let filters = Filters::default();
    store.ensure(DIMENSIONS).await;
    index.upsert(name, many(3)).await.unwrap();
    for text in ["zymurgy", "the of and", "", " \n", "?!", "🤖"] {
        let hits = index.search_lexical(name, text, &filters, 9).await.unwrap();
        assert!(hits.is_empty(), "`{text}` found {hits:?}");
    }
}
