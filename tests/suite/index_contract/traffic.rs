//! What a question costs on the wire.

use bookrag::index::{Filters, VectorIndex};
use bookrag_test_qdrant::Engine;
use bookrag_tests::proxy::{Proxy, Target};

use super::points::point;
use super::{TIMEOUT, search};

/// Points that each ranker contributes, as retrieval asks for them, and as many again.
const LIMIT: usize = 40;
const POINTS: usize = 2 * LIMIT;
/// Bytes of a point's text.
const TEXT: usize = 1_000;
/// Bytes of an id and a score on the wire, the protocol's own included.
const SCORED_POINT: usize = 80;

/// What a question for the points of this many dimensions receives.
async fn received(dimensions: usize) -> usize {
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
        point(vector, &"robot ".repeat(TEXT / 6))
    });
    index.upsert("traffic", points.collect()).await.unwrap();
    let query = vec![1.0; dimensions];
    let before = proxy.answered_bytes();
    let question = ("robot", query.as_slice());
    let filters = Filters::default();
    let found = search(&index, "traffic", question, &filters, LIMIT);
    assert!(found.await.unwrap().len() >= LIMIT);
    proxy.answered_bytes() - before
}

#[tokio::test]
async fn a_question_receives_ids_and_scores_whatever_the_vectors_length() {
    for dimensions in [384, 3_072] {
        let received = received(dimensions).await;
        assert!(
            received <= POINTS * SCORED_POINT,
            "{received} bytes at {dimensions} dimensions"
        );
    }
}
