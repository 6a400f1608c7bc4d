//! What still works while something is away, and how it is marked.

use bookrag_tests::chat_model::Reply;
use bookrag_tests::proxy::Fault;
use serde_json::{Value, json};

use super::{COVERED, Service, degraded};

async fn search(service: &Service) -> (u16, Value) {
    let request = service.post("/api/v1/search", &json!({"query": COVERED}));
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn without_the_vector_store_the_catalog_is_searched() {
    let service = Service::extractive("degraded_store").await;
    let (whole, _) = service.answer(COVERED).await;
    service.qdrant.set(Fault::Refuse);
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(degraded(&meta), ["vector_store"]);
    assert_eq!(data["answered"], true, "{data}");
    assert_eq!(data["citations"][0]["url"], whole["citations"][0]["url"]);
    let (status, found) = search(&service).await;
    assert_eq!(status, 200, "{found}");
    assert_eq!(
        found["data"]["results"][0]["url"], "/docs/frost#signs-of-frost",
        "{found}"
    );
    assert_eq!(degraded(&found["meta"]), ["vector_store"]);
    service.qdrant.set(Fault::None);
    let (_, meta) = service.answer(COVERED).await;
    assert!(degraded(&meta).is_empty(), "{meta}");
}

#[tokio::test]
async fn without_the_catalog_the_payload_answers_and_nothing_is_written_down() {
    let service = Service::extractive("degraded_catalog").await;
    service.answer(COVERED).await;
    service.database.set(Fault::Refuse);
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(degraded(&meta), ["catalog"]);
    assert_eq!(data["citations"][0]["url"], "/docs/frost#signs-of-frost");
    let asked = service.row("SELECT count(*)::text FROM chat_queries").await;
    assert_eq!(asked.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_process_that_starts_without_the_catalog_finds_the_index_by_its_alias() {
    let service = Service::extractive("degraded_cold").await;
    service.database.set(Fault::Refuse);
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(degraded(&meta), ["catalog"]);
    assert_eq!(data["citations"][0]["url"], "/docs/frost#signs-of-frost");
    // Back with the next question: what stood in is not remembered.
    service.database.set(Fault::None);
    let (data, meta) = service.answer(COVERED).await;
    assert!(degraded(&meta).is_empty(), "{meta}");
    assert_eq!(data["answered"], true, "{data}");
}

#[tokio::test]
async fn without_both_stores_readers_are_asked_to_come_back() {
    let service = Service::extractive("degraded_both").await;
    service.answer(COVERED).await;
    service.database.set(Fault::Refuse);
    service.qdrant.set(Fault::Refuse);
    let (status, envelope) = service.ask(json!({"query": COVERED})).await;
    assert_eq!(status, 503, "{envelope}");
    assert!(envelope["error"]["retry_after"].as_u64().unwrap() > 0);
    let (status, envelope) = search(&service).await;
    assert_eq!(status, 503, "{envelope}");
}

#[tokio::test]
async fn without_the_embedder_words_alone_are_searched_for() {
    let service = Service::start(
        "degraded_embedder",
        Reply::text(["unused"]),
        &[
            ("BOOKRAG_GENERATOR", "extractive"),
            ("OPENAI_API_KEY", "another-key"),
        ],
    )
    .await;
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(degraded(&meta), ["embedder"]);
    assert_eq!(data["citations"][0]["url"], "/docs/frost#signs-of-frost");
}

#[tokio::test]
async fn search_needs_no_model_that_writes() {
    let service = Service::with_model("degraded_search", Reply::Hangs).await;
    let (status, found) = search(&service).await;
    assert_eq!(status, 200);
    assert!(degraded(&found["meta"]).is_empty(), "{found}");
    assert!(service.model.requests().is_empty());
}
