//! Invalid requests are refused by name and leave nothing behind.

use qdrant_client::qdrant::{
    ClearPayloadPointsBuilder, Condition, CountPointsBuilder, CreateCollectionBuilder,
    DeletePointsBuilder, Document, Filter, NamedVectors, PointStruct, Query, QueryPointsBuilder,
    ScrollPointsBuilder, UpsertPointsBuilder, Vector,
};
use qdrant_client::{Payload, QdrantError};
use tonic::Code;

use super::{BOOK, chunk, count_all, dense, filled, words};

fn refusal<T: std::fmt::Debug>(result: Result<T, QdrantError>) -> (Code, String) {
    match result.unwrap_err() {
        QdrantError::ResponseError { status } => (status.code(), status.message().to_owned()),
        other => panic!("not an answer: {other}"),
    }
}

fn by(field: &str) -> Filter {
    Filter::must([Condition::matches(field, "x".to_owned())])
}

#[tokio::test]
async fn filters_on_unindexed_fields_are_refused() {
    let (_engine, client) = filled().await;
    let query = dense(&[1.0, 0.0, 0.0, 0.0]).filter(by("title"));
    let (code, message) = refusal(client.query(query).await);
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("\"title\""), "{message}");
    assert!(message.contains("[keyword]"), "{message}");
    let counting = |filter: Filter| client.count(CountPointsBuilder::new(BOOK).filter(filter));
    let nested = Filter::must([Condition::from(by("title"))]);
    let scrolling = client.scroll(ScrollPointsBuilder::new(BOOK).filter(by("title")));
    let deleting = client.delete_points(DeletePointsBuilder::new(BOOK).points(by("title")));
    for (code, message) in [
        refusal(counting(nested).await),
        refusal(counting(by("hardware_tier")).await),
        refusal(scrolling.await),
        refusal(deleting.await),
    ] {
        assert_eq!(code, Code::InvalidArgument, "{message}");
    }
    counting(by("module")).await.unwrap();
    assert_eq!(count_all(&client).await, 3);
}

#[tokio::test]
async fn a_batch_with_a_wrong_vector_is_refused_whole() {
    let (_engine, client) = filled().await;
    let upsert = |name: &str, vector: Vector| {
        let vectors = NamedVectors::default().add_vector(name, vector);
        let points = vec![
            chunk(8, vec![vec![1.0, 0.0, 0.0, 0.0]], "right", "ROS 2"),
            PointStruct::new(9, vectors, Payload::new()),
        ];
        client.upsert_points(UpsertPointsBuilder::new(BOOK, points))
    };
    for (name, vector, expected) in [
        (
            "dense",
            Vector::from(vec![vec![1.0f32, 0.0]]),
            "`dense`: expected dim: 4, got 2",
        ),
        (
            "colbert",
            Vector::from(vec![1.0f32; 4]),
            "`colbert`, the collection has `bm25`, `dense`",
        ),
        ("dense", Vector::from(vec![f32::NAN; 4]), "not finite"),
        ("dense", words("words"), "got a sparse vector"),
        ("bm25", Vector::from(vec![1.0f32; 4]), "got a dense vector"),
    ] {
        let (code, message) = refusal(upsert(name, vector).await);
        assert_eq!(code, Code::InvalidArgument);
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(count_all(&client).await, 3);
}

#[tokio::test]
async fn wrong_queries_and_collections_are_named() {
    let (_engine, client) = filled().await;
    let (code, message) = refusal(client.query(dense(&[1.0, 0.0])).await);
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("expected dim: 4, got 2"), "{message}");
    let elsewhere = QueryPointsBuilder::new("absent").query(Query::new_nearest(vec![1.0f32]));
    let (code, message) = refusal(client.query(elsewhere).await);
    assert_eq!(code, Code::NotFound);
    assert!(message.contains("`absent`"), "{message}");
    let again = client.create_collection(CreateCollectionBuilder::new(BOOK));
    assert_eq!(refusal(again.await).0, Code::AlreadyExists);
    let outside = client.create_collection(CreateCollectionBuilder::new("../elsewhere"));
    assert_eq!(refusal(outside.await).0, Code::InvalidArgument);
}

#[tokio::test]
async fn unsupported_calls_and_options_are_named() {
    let (_engine, client) = filled().await;
    let clearing = ClearPayloadPointsBuilder::new(BOOK).points(Filter::default());
    let (code, message) = refusal(client.clear_payload(clearing).await);
    assert_eq!(code, Code::Unimplemented);
    assert!(message.contains("`clear_payload`"), "{message}");
    let other = Document {
        text: "words".to_owned(),
        model: "openai/text-embedding-3-small".to_owned(),
        ..Document::default()
    };
    let vectors = NamedVectors::default().add_vector("bm25", Vector::from(other));
    let point = PointStruct::new(9, vectors, Payload::new());
    let upserting = client.upsert_points(UpsertPointsBuilder::new(BOOK, vec![point]));
    let (code, message) = refusal(upserting.await);
    assert_eq!(code, Code::Unimplemented);
    assert!(message.contains("inference"), "{message}");
}
