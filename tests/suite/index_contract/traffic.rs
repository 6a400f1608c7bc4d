//! Network traffic of a question.

use bookrag::embed::WeightedToken;
use bookrag::index::{Filters, VectorIndex, VectorQuery};
use bookrag_test_qdrant::Engine;
use bookrag_tests::proxy::{Proxy, Target};

use super::TIMEOUT;
use super::points::{point, token, with_tokens};

/// Points per ranker in retrieval, and as many more.
const LIMIT: usize = 40;
const POINTS: usize = 2 * LIMIT;
/// Bytes of each point's text.
const TEXT: usize = 1_000;
/// Tokens of each point and question.
const TOKENS: usize = 100;
const ASKED: usize = 9;
/// Bytes of an id and a score on the wire, including protocol overhead.
const SCORED_POINT: usize = 80;

/// Returns the bytes received for a question with this many dimensions and tokens.
async fn received(dimensions: usize, asked: usize) -> usize {
    let engine = Engine::start().await.unwrap();
    let address = engine.url().trim_start_matches("http://").parse().unwrap();
    let proxy = Proxy::start(Target::Tcp(address)).await;
    let url = format!("http://{}", proxy.address());
    let index = VectorIndex::qdrant(&url, None, TIMEOUT).unwrap();
    index
        .ensure_collection("traffic", dimensions)
        .await
        .unwrap();
    let points = (0..POINTS).map(|number| {
        let mut vector = vec![0.0; dimensions];
        vector[number] = 1.0;
        let point = point(vector, &"robot ".repeat(TEXT / 6));
        with_tokens(point, number, TOKENS)
    });
    index.upsert("traffic", points.collect()).await.unwrap();
    let query = vec![1.0; dimensions];
    let before = proxy.answered_bytes();
    let tokens = (0..asked).map(|number| WeightedToken {
        vector: token(number),
        weight: 1.0,
    });
    let question = VectorQuery {
        terms: &["robot".to_owned()],
        vector: &query,
        tokens: &tokens.collect::<Vec<_>>(),
        with_questions: true,
        filters: &Filters::default(),
        limit: LIMIT,
    };
    let found = index.search("traffic", &question).await.unwrap();
    let scored = found.iter().filter(|point| point.token_score.is_some());
    assert_eq!(scored.count(), if asked > 0 { found.len() } else { 0 });
    assert!(found.len() >= LIMIT);
    proxy.answered_bytes() - before
}

#[tokio::test]
async fn a_question_receives_ids_and_scores_whatever_the_vectors_length() {
    // With tokens there are two lists: cosines and token scores.
    for (dimensions, asked, lists) in [(384, 0, 1), (3_072, 0, 1), (384, ASKED, 2)] {
        let received = received(dimensions, asked).await;
        assert!(
            received <= lists * POINTS * SCORED_POINT,
            "{received} bytes at {dimensions} dimensions with {asked} tokens"
        );
    }
}
