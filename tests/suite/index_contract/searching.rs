//! Searches return the nearest points and the best matches.

use bookrag::index::{Filters, NewPoint, ScoredPoint};

use super::points::{DIMENSIONS, TITLE, dot, found, ids, many, near, point, vector};
use super::{Store, matching, nearest, search};

/// Number of points, then of results.
const MANY: usize = 250;
const NEAREST: usize = 10;
/// Numbers of query vectors, which no point has.
const QUERIES: std::ops::Range<usize> = 10_000..10_005;

/// Sorts points by their cosine with a vector, best first.
fn by_cosine<'a>(points: &'a [NewPoint], query: &[f32]) -> Vec<&'a NewPoint> {
    let mut sorted: Vec<&NewPoint> = points.iter().collect();
    let cosine = |point: &NewPoint| dot(&point.embedding.vector, query);
    sorted.sort_by(|left, right| cosine(right).total_cmp(&cosine(left)));
    sorted
}

/// Asserts that exactly these points were found, in this order, with their cosines.
#[track_caller]
fn assert_scored(scored: &[ScoredPoint], expected: &[&NewPoint], query: &[f32]) {
    assert_eq!(found(scored), ids(expected.iter().copied()));
    for (scored, point) in scored.iter().zip(expected) {
        let cosine = dot(&point.embedding.vector, query);
        assert!(
            near(scored.score, cosine),
            "{} is not {cosine}",
            scored.score
        );
    }
}

pub(super) async fn a_points_score_is_its_cosine_best_first(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    store.ensure(4).await;
    let points = [
        point(vec![-1.0, 0.0, 0.0, 0.0], "opposite"),
        point(vec![0.8, 0.6, 0.0, 0.0], "near"),
        point(vec![0.0, 0.0, 1.0, 0.0], "aside"),
        point(vec![1.0, 0.0, 0.0, 0.0], "there"),
    ];
    index.upsert(name, points.to_vec()).await.unwrap();
    let order = [3, 1, 2, 0].map(|place: usize| &points[place]);
    let query = [1.0, 0.0, 0.0, 0.0];
    // The length of the query vector is irrelevant.
    for length in [1.0, 0.01, 30.0] {
        let scaled = query.map(|value| value * length);
        let all = nearest(index, name, &scaled, 9).await.unwrap();
        assert_scored(&all, &order, &query);
        let best = nearest(index, name, &scaled, 2).await.unwrap();
        assert_scored(&best, &order[..2], &query);
    }
}

pub(super) async fn the_nearest_of_many_are_those_that_comparing_all_finds(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(MANY);
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points.clone()).await.unwrap();
    for query in QUERIES.map(vector) {
        let best = nearest(index, name, &query, NEAREST).await.unwrap();
        assert_scored(&best, &by_cosine(&points, &query)[..NEAREST], &query);
    }
}

pub(super) async fn the_best_of_both_rankers_are_joined_and_scored_by_cosine(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(50);
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points.clone()).await.unwrap();
    let query = vector(10_000);
    let sorted = by_cosine(&points, &query);
    // Only the three farthest points have the words.
    let farthest = &sorted[47..];
    let words = words_of(farthest);
    let filters = Filters::default();
    let both = search(index, name, (&words, &query), &filters, 5).await;
    let expected: Vec<&NewPoint> = sorted[..5].iter().chain(farthest).copied().collect();
    assert_scored(&both.unwrap(), &expected, &query);
    // A point found by both rankers is returned once.
    let words = words_of(&sorted[1..3]);
    let both = search(index, name, (&words, &query), &filters, 5).await;
    assert_scored(&both.unwrap(), &sorted[..5], &query);
}

pub(super) async fn each_ranker_contributes_at_most_the_limit(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let points = many(50);
    store.ensure(DIMENSIONS).await;
    store.publish(points.clone()).await;
    let query = vector(10_000);
    let sorted = by_cosine(&points, &query);
    let words = words_of(&sorted[40..]);
    for limit in [1, 2, 7] {
        let by_words = matching(index, name, &words, limit).await.unwrap();
        assert_eq!(by_words.len(), limit);
        let filters = Filters::default();
        let both = search(index, name, (&words, &query), &filters, limit).await;
        let both = both.unwrap();
        assert_eq!(both.len(), 2 * limit);
        assert_eq!(found(&both[..limit]), ids(sorted[..limit].iter().copied()));
        let farther = ids(sorted[40..].iter().copied());
        let are_farther = found(&both[limit..]);
        assert!(are_farther.iter().all(|point| farther.contains(point)));
    }
}

/// Returns the last word of each point's text, which is unique to it.
fn words_of(points: &[&NewPoint]) -> String {
    let last = |point: &&NewPoint| point.payload.text.rsplit(' ').next().unwrap().to_owned();
    points.iter().map(last).collect::<Vec<_>>().join(" ")
}

pub(super) async fn rare_words_weigh_more_and_endings_do_not_matter(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    store.ensure(DIMENSIONS).await;
    let texts = [
        "A topic carries messages.",
        "A topic needs names.",
        "Quaternions describe rotations.",
    ];
    let points = texts.map(|text| point(vector(0), text));
    let all = ids(&points);
    index.upsert(name, points.to_vec()).await.unwrap();
    let matching = |text| matching(index, name, text, 9);

    let points = matching("the topics of a quaternion").await.unwrap();
    assert_eq!(points.len(), 3);
    assert_eq!(points[0].point_id, all[2]);
    assert!(points[0].score > points[1].score && points[2].score > 0.0);
    assert_eq!(found(&matching("carrying TOPICS").await.unwrap()), all[..2]);
    assert_eq!(found(&matching("rotation").await.unwrap()), all[2..]);
}

pub(super) async fn the_words_of_the_breadcrumb_are_found(store: Store) {
    store.ensure(DIMENSIONS).await;
    let points = many(2);
    store.publish(points.clone()).await;
    let mut found = found(
        &matching(&store.index, &store.collection, TITLE, 9)
            .await
            .unwrap(),
    );
    found.sort_unstable();
    let mut expected = ids(&points);
    expected.sort_unstable();
    assert_eq!(found, expected);
}

pub(super) async fn a_page_is_found_by_its_search_words(store: Store) {
    store.ensure(DIMENSIONS).await;
    let mut points = many(3);
    "cobots\nHRI".clone_into(&mut points[1].payload.search_words);
    store.publish(points.clone()).await;
    for (text, expected) in [("a cobot", true), ("hri", true), ("chatbots", false)] {
        let by_words = matching(&store.index, &store.collection, text, 9).await;
        let expected = if expected { &points[1..2] } else { &[] };
        assert_eq!(found(&by_words.unwrap()), ids(expected), "{text}");
    }
}

pub(super) async fn unknown_words_find_nothing(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    store.ensure(DIMENSIONS).await;
    index.upsert(name, many(3)).await.unwrap();
    for text in ["zymurgy", "the of and", "", " \n", "?!", "🤖"] {
        let points = matching(index, name, text, 9).await.unwrap();
        assert!(points.is_empty(), "`{text}` found {points:?}");
        let filters = Filters::default();
        let both = search(index, name, (text, &vector(0)), &filters, 2).await;
        assert_eq!(both.unwrap().len(), 2, "{text}");
    }
}
