//! Tests the engine with the unmodified client, as the rest of the project uses it.

mod refusing;
mod searching;

use std::collections::BTreeSet;

use qdrant_client::qdrant::{
    CountPointsBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, Distance,
    FieldType, HnswConfigDiffBuilder, Modifier, MultiVectorComparator, MultiVectorConfigBuilder,
    NamedVectors, PointId, PointStruct, Query, QueryPoints, QueryPointsBuilder, ScoredPoint,
    SparseVectorParamsBuilder, SparseVectorsConfigBuilder, UpsertPointsBuilder, Vector,
    VectorInput, VectorParamsBuilder, VectorsConfigBuilder, point_id,
};
use qdrant_client::{Payload, Qdrant};
use serde_json::json;
use uuid::Uuid;

use super::Engine;

const BOOK: &str = "textbook_chunks";
const SIZE: u64 = 4;

fn client(engine: &Engine) -> Qdrant {
    Qdrant::from_url(engine.url())
        // The check would block the thread that runs the engine.
        .skip_compatibility_check()
        .build()
        .unwrap()
}

/// Starts an engine with the book, and connects a client.
async fn filled() -> (Engine, Qdrant) {
    let engine = Engine::start().await.unwrap();
    let client = client(&engine);
    fill_book(&client).await;
    (engine, client)
}

/// Inserts three points. The second has two vectors, one of which is close to the first point's.
async fn fill_book(client: &Qdrant) {
    create_book(client).await;
    let chunks = vec![
        chunk(
            1,
            vec![vec![1.0, 0.0, 0.0, 0.0]],
            "Nodes publish messages to topics.",
            "ROS 2",
        ),
        chunk(
            2,
            vec![vec![0.0, 1.0, 0.0, 0.0], vec![0.8, 0.6, 0.0, 0.0]],
            "Gazebo simulates gravity and topics.",
            "Simulation",
        ),
        chunk(
            3,
            vec![vec![0.0, 0.0, 1.0, 0.0]],
            "Isaac renders synthetic images.",
            "Isaac",
        ),
    ];
    client
        .upsert_points(UpsertPointsBuilder::new(BOOK, chunks).wait(true))
        .await
        .unwrap();
}

async fn create_book(client: &Qdrant) {
    let mut dense = VectorsConfigBuilder::default();
    dense.add_named_vector_params(
        "dense",
        VectorParamsBuilder::new(SIZE, Distance::Cosine)
            .multivector_config(MultiVectorConfigBuilder::new(MultiVectorComparator::MaxSim)),
    );
    let mut sparse = SparseVectorsConfigBuilder::default();
    sparse.add_named_vector_params(
        "bm25",
        SparseVectorParamsBuilder::default().modifier(Modifier::Idf),
    );
    client
        .create_collection(
            CreateCollectionBuilder::new(BOOK)
                .vectors_config(dense)
                .sparse_vectors_config(sparse)
                .hnsw_config(HnswConfigDiffBuilder::default().m(24).ef_construct(128)),
        )
        .await
        .unwrap();
    for (field, kind) in [
        ("module", FieldType::Keyword),
        ("hardware_tier", FieldType::Integer),
        ("has_code", FieldType::Bool),
    ] {
        client
            .create_field_index(CreateFieldIndexCollectionBuilder::new(BOOK, field, kind))
            .await
            .unwrap();
    }
}

fn chunk(number: u32, rows: Vec<Vec<f32>>, text: &str, module: &str) -> PointStruct {
    let vectors = NamedVectors::default()
        .add_vector("dense", Vector::from(rows))
        .add_vector("bm25", words(text));
    let payload = json!({
        "text": text,
        "module": module,
        "hardware_tier": number,
        "has_code": number == 1,
        "heading_path": ["Book", module],
    });
    PointStruct::new(id(number), vectors, Payload::try_from(payload).unwrap())
}

/// Returns a sparse vector with a dimension for each word, by its first letters.
fn words(text: &str) -> Vector {
    let (dimensions, weights) = word_weights(text);
    Vector::new_sparse(dimensions, weights)
}

fn word_weights(text: &str) -> (Vec<u32>, Vec<f32>) {
    let words: BTreeSet<u32> = text.split_whitespace().map(dimension).collect();
    words.into_iter().map(|dimension| (dimension, 1.0)).unzip()
}

fn dimension(word: &str) -> u32 {
    let mut letters = word.bytes().map(|byte| byte.to_ascii_lowercase());
    u32::from_be_bytes(std::array::from_fn(|_| letters.next().unwrap_or(0)))
}

fn id(number: u32) -> PointId {
    PointId::from(Uuid::from_u128(number.into()).to_string())
}

fn number(id: Option<&PointId>) -> u32 {
    let Some(point_id::PointIdOptions::Uuid(text)) = &id.unwrap().point_id_options else {
        panic!("the id is not a UUID");
    };
    u32::try_from(Uuid::parse_str(text).unwrap().as_u128()).unwrap()
}

fn numbers(points: &[ScoredPoint]) -> Vec<u32> {
    let ids = points.iter().map(|point| point.id.as_ref());
    ids.map(number).collect()
}

fn dense(vector: &[f32]) -> QueryPointsBuilder {
    QueryPointsBuilder::new(BOOK)
        .query(Query::new_nearest(vector.to_vec()))
        .using("dense")
}

fn by_words(text: &str) -> Query {
    let (dimensions, weights) = word_weights(text);
    Query::new_nearest(VectorInput::new_sparse(dimensions, weights))
}

fn lexical(text: &str) -> QueryPointsBuilder {
    QueryPointsBuilder::new(BOOK)
        .query(by_words(text))
        .using("bm25")
}

async fn search(client: &Qdrant, query: impl Into<QueryPoints>) -> Vec<ScoredPoint> {
    client.query(query).await.unwrap().result
}

async fn count(client: &Qdrant, request: impl Into<qdrant_client::qdrant::CountPoints>) -> u64 {
    client.count(request).await.unwrap().result.unwrap().count
}

async fn count_all(client: &Qdrant) -> u64 {
    count(client, CountPointsBuilder::new(BOOK).exact(true)).await
}
