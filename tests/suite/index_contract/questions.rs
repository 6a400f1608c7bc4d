//! Question scores: the cosine of a question and the nearest question that a point's section answers.

use bookrag::index::{Filters, NewPoint, ScoredPoint, VectorQuery};

use super::points::{DIMENSIONS, assert_embedding, dot, found, ids, many, near, vector};
use super::{Store, matching, search};

const POINTS: usize = 60;
/// The number of a vector that no point has.
const QUERY: usize = 10_000;
/// Fewer than the points with a nearer text.
const FEW: usize = 3;
const ALL: usize = 100;

/// Gives a point questions whose vectors have these numbers.
fn asked(mut point: NewPoint, numbers: &[usize]) -> NewPoint {
    let texts = numbers
        .iter()
        .map(|number| format!("What is gadget{number}?"));
    point.payload.questions = texts.collect();
    point.embedding.questions = numbers.iter().map(|number| vector(*number)).collect();
    point
}

/// Points of which every second one has questions, up to three, some of them shared.
fn points() -> Vec<NewPoint> {
    let mut points = Vec::new();
    for (point, number) in many(POINTS).into_iter().zip(0..) {
        let numbers: Vec<usize> = (0..number % 4)
            .map(|place| 500 + number / 2 + place)
            .collect();
        points.push(if number % 2 == 0 {
            point
        } else {
            asked(point, &numbers)
        });
    }
    points
}

async fn scored(store: &Store, with_questions: bool, limit: usize) -> Vec<ScoredPoint> {
    let query = VectorQuery {
        terms: &[],
        vector: &vector(QUERY),
        tokens: &[],
        with_questions,
        filters: &Filters::default(),
        limit,
    };
    store.index.search(&store.collection, &query).await.unwrap()
}

pub(super) async fn a_question_score_is_the_best_cosine(store: Store) {
    store.ensure(DIMENSIONS).await;
    let points = points();
    store.publish(points.clone()).await;
    let found = scored(&store, true, ALL).await;
    assert_eq!(found.len(), POINTS);
    for point in &points {
        let scored = found.iter().find(|it| it.point_id == point.point_id);
        let cosines = point.embedding.questions.iter();
        let best = cosines
            .map(|question| dot(question, &vector(QUERY)))
            .reduce(f32::max);
        match (scored.unwrap().question_score, best) {
            (Some(score), Some(best)) => assert!(near(score, best), "{score} is not {best}"),
            (score, best) => assert_eq!(score, best),
        }
    }
}

pub(super) async fn a_point_is_found_by_one_of_its_questions(store: Store) {
    store.ensure(DIMENSIONS).await;
    let mut points = points();
    let far = points.iter_mut().min_by(|a, b| {
        let cosine = |point: &NewPoint| dot(&point.embedding.vector, &vector(QUERY));
        cosine(a).total_cmp(&cosine(b))
    });
    let far = far.unwrap();
    *far = asked(far.clone(), &[7_000, QUERY, 7_001]);
    let far = far.point_id;
    store.publish(points).await;
    let with = scored(&store, true, FEW).await;
    let score = with.iter().find(|point| point.point_id == far).unwrap();
    assert!(near(score.question_score.unwrap(), 1.0));
    assert!(with.is_sorted_by(|a, b| a.score >= b.score));
    let without = scored(&store, false, FEW).await;
    assert_eq!(without.len(), FEW);
    assert!(!found(&without).contains(&far), "{without:?}");
    assert!(without.iter().all(|point| point.question_score.is_none()));
    // A store that sends letters and digits apart finds points that share the letters, too.
    let by_words = matching(&store.index, &store.collection, "gadget7001", FEW).await;
    let by_words = by_words.unwrap();
    assert_eq!(by_words[0].point_id, far);
    let mut others = by_words[1..].iter();
    assert!(others.all(|point| point.score < by_words[0].score));
}

pub(super) async fn the_questions_of_points_are_stored_with_them(store: Store) {
    store.ensure(DIMENSIONS).await;
    let points = points();
    store.publish(points.clone()).await;
    let (index, name) = (&store.index, &store.collection);
    let vectors = index.vectors(name, &ids(&points)).await.unwrap();
    let payloads = index.payloads(name, &ids(&points)).await.unwrap();
    for point in &points {
        assert_embedding(&vectors[&point.point_id], &point.embedding);
        assert_eq!(payloads[&point.point_id], point.payload);
    }
    index.delete(name, &ids(&points)[..2]).await.unwrap();
    let query = (String::new(), vector(QUERY));
    let filters = Filters::default();
    let left = search(index, name, (&query.0, &query.1), &filters, ALL);
    let left = left.await.unwrap();
    assert!(left.iter().any(|point| point.question_score.is_some()));
}
