//! Token scores: the similarity of points' tokens to a question's.

use bookrag::embed::{WeightedToken, widened};
use bookrag::index::{Filters, ScoredPoint, VectorQuery};
use bookrag::words::{Language, terms_in};
use uuid::Uuid;

use super::points::{DIMENSIONS, dot, ids, many, point, token, vector, with_tokens, word};
use super::{Store, search};

/// The largest error from quantization to 8 and 16 bits.
const TOLERANCE: f32 = 0.01;
const POINTS: usize = 20;
/// More than the number of points.
const ALL: usize = 50;
/// The number of a vector that no point has.
const QUERY: usize = 10_000;

/// A question's tokens: two that points have, one that no point has, and one with weight 0.
fn question() -> Vec<WeightedToken> {
    let weights = [(100, 3.0), (702, 0.5), (9_999, 1.0), (101, 0.0)];
    let tokens = weights.map(|(number, weight)| WeightedToken {
        vector: token(number),
        weight,
    });
    tokens.to_vec()
}

async fn scored(store: &Store, text: &str, tokens: &[WeightedToken]) -> Vec<ScoredPoint> {
    let query = VectorQuery {
        terms: &terms_in(text, &[Language::ENGLISH]),
        vector: &vector(QUERY),
        tokens,
        with_questions: false,
        filters: &Filters::default(),
        limit: ALL,
    };
    store.index.search(&store.collection, &query).await.unwrap()
}

pub(super) async fn a_token_score_is_what_comparing_every_pair_gives(store: Store) {
    store.ensure(DIMENSIONS).await;
    let mut points = many(POINTS);
    points.push(with_tokens(point(vector(QUERY), "long"), 77, 512));
    store.publish(points.clone()).await;
    let question = question();
    let weights: f32 = question.iter().map(|token| token.weight).sum();
    let found = scored(&store, &word(3), &question).await;
    assert_eq!(found.len(), points.len());
    for point in &points {
        let found = found.iter().find(|found| found.point_id == point.point_id);
        let score = found.unwrap().token_score;
        let tokens = &point.embedding.tokens;
        if tokens.is_empty() {
            assert_eq!(score, None);
            continue;
        }
        let plain = question.iter().map(|asked| {
            let dots = tokens
                .iter()
                .map(|token| dot(&widened(&asked.vector), &widened(token)));
            asked.weight * dots.fold(f32::MIN, f32::max)
        });
        let plain = plain.sum::<f32>() / weights;
        let score = score.unwrap();
        assert!((score - plain).abs() < TOLERANCE, "{score} is not {plain}");
    }
}

pub(super) async fn the_tokens_of_points_can_be_read(store: Store) {
    store.ensure(DIMENSIONS).await;
    let points = many(POINTS);
    store.publish(points.clone()).await;
    let mut asked = ids(&points);
    asked.push(Uuid::new_v4());
    let tokens = store.index.tokens(&store.collection, &asked).await.unwrap();
    for point in &points {
        let expected = Some(&point.embedding.tokens).filter(|tokens| !tokens.is_empty());
        assert_eq!(tokens.get(&point.point_id), expected);
    }
    let with_tokens = points.iter().filter(|it| !it.embedding.tokens.is_empty());
    assert_eq!(tokens.len(), with_tokens.count());
}

/// Tokens only add a score; points, cosines and order stay the same.
pub(super) async fn tokens_do_not_change_what_is_found(store: Store) {
    store.ensure(DIMENSIONS).await;
    store.publish(many(POINTS)).await;
    let (index, name) = (&store.index, &store.collection);
    let question = (word(5), vector(QUERY));
    let filters = Filters::default();
    let without = search(index, name, (&question.0, &question.1), &filters, ALL);
    let without = without.await.unwrap();
    assert!(without.iter().all(|point| point.token_score.is_none()));
    let mut with = scored(&store, &question.0, &self::question()).await;
    assert!(with.iter().any(|point| point.token_score.is_some()));
    for point in &mut with {
        point.token_score = None;
    }
    assert_eq!(with, without);
    let none_weighs = [WeightedToken {
        vector: token(100),
        weight: 0.0,
    }];
    assert_eq!(scored(&store, &question.0, &none_weighs).await, without);
}
