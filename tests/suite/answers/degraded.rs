//! Outages: what still works without each dependency, and how answers report it.

use bookrag_tests::chat_model::Reply;
use bookrag_tests::proxy::Fault;
use serde_json::{Value, json};

use super::{COVERED, NOT_COVERED, Service, degraded};

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
async fn without_the_catalog_answers_come_from_payloads_and_nothing_is_stored() {
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
    // The next question uses the restored catalog; the fallback is not remembered.
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
async fn without_the_embedder_search_is_full_text_only() {
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

#[tokio::test]
async fn while_the_book_is_indexed_for_the_first_time_answers_and_searches_say_so() {
    let service = Service::extractive("degraded_indexing").await;
    let expecting = "UPDATE indexes SET pages_expected = 63 RETURNING pages_expected::text";
    service.row(expecting).await.unwrap();
    let (status, envelope) = service.ask(json!({"query": NOT_COVERED})).await;
    assert_eq!(status, 200, "{envelope}");
    assert_eq!(degraded(&envelope["meta"]), ["indexing"]);
    let told = envelope["data"]["answer"].as_str().unwrap();
    assert!(
        told.contains("still being indexed (2 of 63 pages)"),
        "{told}"
    );
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["answered"], true, "{data}");
    assert_eq!(degraded(&meta), ["indexing"]);
    let (_, found) = search(&service).await;
    assert_eq!(degraded(&found["meta"]), ["indexing"], "{found}");
}

#[tokio::test]
async fn a_filter_value_that_the_book_does_not_have_is_refused_with_those_it_has() {
    let service = Service::extractive("degraded_filters").await;
    for (filters, field, listed) in [
        (json!({"locale": "fr"}), "filters.locale", "`en`"),
        (json!({"version": "99"}), "filters.version", "`current`"),
        (json!({"module": 7}), "filters.module", "none"),
        (
            json!({"source": "docs/x.md"}),
            "filters.source",
            "`docs/frost.md`",
        ),
    ] {
        let body = json!({"query": COVERED, "filters": filters});
        let searched = service.post("/api/v1/search", &body).send().await.unwrap();
        let (status, asked) = service.ask(body.clone()).await;
        for (status, envelope) in [
            (status, asked),
            (searched.status().as_u16(), searched.json().await.unwrap()),
        ] {
            assert_eq!(status, 400, "{envelope}");
            assert_eq!(envelope["error"]["field"], field, "{envelope}");
            let message = envelope["error"]["message"].as_str().unwrap();
            assert!(message.contains(listed), "{message}");
        }
    }
    // Unknown conditions of a filter are ignored; while the catalog is down, they cannot be checked.
    let (status, envelope) = service
        .ask(json!({"query": COVERED, "filters": {"colour": "red"}}))
        .await;
    assert_eq!((status, &envelope["data"]["answered"]), (200, &json!(true)));
    service.database.set(Fault::Refuse);
    let (status, envelope) = service
        .ask(json!({"query": COVERED, "filters": {"locale": "fr"}}))
        .await;
    assert_eq!(
        (status, &envelope["data"]["answered"]),
        (200, &json!(false))
    );
}

#[tokio::test]
async fn a_page_url_of_any_locale_is_accepted() {
    let service = Service::extractive("degraded_page").await;
    for page_url in ["/fr/docs/frost", "https://x.org/docs/99/frost", "/"] {
        let (status, envelope) = service
            .ask(json!({"query": COVERED, "page_url": page_url}))
            .await;
        assert_eq!(
            (status, &envelope["data"]["answered"]),
            (200, &json!(true)),
            "{page_url}"
        );
    }
}
