use std::pin::pin;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::*;
use crate::ingest::simulation::stores::{Stores, options};
use crate::ingest::{Ingest, Ports, Report, SyncOptions, sync};
use crate::source::{MemorySource, Source};
use fakes::server::{Answer, Server};
use models::embed::{Dimensions, OpenAiEmbedder, OpenAiOptions};

async fn provider(answer: Answer) -> (Server, Embedder) {
    let server = Server::start("/v1/embeddings", answer).await;
    let options = OpenAiOptions {
        base_url: format!("{}/v1", server.origin),
        api_key: None,
        model: "text-embedding-3-small".to_owned(),
        dimensions: Dimensions::Native(2),
        timeout: Duration::from_secs(30),
    };
    let embedder = OpenAiEmbedder::new(options).unwrap();
    (server, Embedder::OpenAi(embedder))
}

fn calls(server: &Server) -> Vec<usize> {
    let texts = |request: &Value| request["input"].as_array().unwrap().len();
    server.seen().iter().map(|(_, body)| texts(body)).collect()
}

fn vectors(request: &Value) -> Response {
    let texts = request["input"].as_array().unwrap();
    let embedding = |index| json!({ "index": index, "embedding": [3.0, 4.0] });
    let data: Vec<Value> = (0..texts.len()).map(embedding).collect();
    Json(json!({ "data": data })).into_response()
}

/// Rejects every request that contains the word `poison`.
fn vectors_without_poison(request: &Value) -> Response {
    if request["input"].to_string().contains("poison") {
        return StatusCode::BAD_REQUEST.into_response();
    }
    vectors(request)
}

fn limited(_: &Value) -> Response {
    (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "3600")]).into_response()
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

async fn synced(embedder: Embedder, pages: &[String]) -> Report {
    let source = MemorySource::default();
    for (number, text) in pages.iter().enumerate() {
        let page = format!("# Page {number}\n\n{text}\n").into_bytes();
        source.files().insert(format!("docs/{number:02}.md"), page);
    }
    let ports = Ports {
        embedder,
        ..Stores::new().ports(Source::Memory(source))
    };
    let ingest = Ingest::open(ports, options()).await.unwrap();
    sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap()
}

#[tokio::test]
async fn short_pages_share_calls() {
    let (server, embedder) = provider(vectors).await;
    let pages: Vec<String> = (0..50).map(|page| format!("Text {page}.")).collect();
    let report = synced(embedder, &pages).await;
    assert_eq!((report.files_changed, report.embedded), (50, 50));
    let calls = calls(&server);
    // Calibration adds the off-topic questions, each whole and in a short form.
    let calibrating = 208_usize;
    assert!(
        calls.len() <= 50_usize.div_ceil(EMBED_BATCH) + 5 + calibrating.div_ceil(EMBED_BATCH),
        "{calls:?}"
    );
    assert_eq!(calls.iter().sum::<usize>(), 50 + calibrating);
}

#[tokio::test]
async fn what_is_not_embedded_changes_without_embedding() {
    let (_server, embedder) = provider(vectors).await;
    let source = MemorySource::default();
    let write = |text: &str| {
        let page = format!("# Page\n\n{text}\n").into_bytes();
        source.files().insert("docs/page.md".to_owned(), page);
    };
    write("See the map and the list.");
    let ports = Ports {
        embedder,
        ..Stores::new().ports(Source::Memory(source.clone()))
    };
    let ingest = Ingest::open(ports, options()).await.unwrap();
    let first = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    assert_eq!((first.files_changed, first.embedded), (1, 1));
    for text in [
        "See [the map](./map.md) and the *list*.",
        "See [the map](/docs/map) and `the list`.",
        "See ![the map](/img/map.png) and the **list**.",
    ] {
        write(text);
        let again = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
        assert_eq!((again.files_changed, again.embedded), (1, 0), "{text}");
    }
}

#[tokio::test]
async fn a_text_that_is_refused_fails_its_own_page() {
    let (_server, embedder) = provider(vectors_without_poison).await;
    let mut pages: Vec<String> = (0..6).map(|page| format!("Text {page}.")).collect();
    pages[2] = "This is poison.".to_owned();
    let report = synced(embedder, &pages).await;
    assert_eq!(report.files_changed, 5);
    assert_eq!(report.failed.len(), 1, "{:?}", report.failed);
    assert_eq!(report.failed[0].source, "docs/02.md");
}

#[tokio::test]
async fn a_text_of_several_documents_is_embedded_once_and_counted_once() {
    let (server, embedder) = provider(vectors).await;
    let batches = Batches::default();
    let _at_work = [batches.begin(), batches.begin()];
    let (one, other) = (texts(&["same", "own"]), texts(&["same"]));
    let (one, other) = futures::join!(
        batches.embed(&embedder, &one),
        batches.embed(&embedder, &other)
    );
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(calls(&server), [2]);
    assert_eq!((one.embeddings.len(), one.is_first), (2, vec![true, true]));
    assert_eq!((other.embeddings.len(), other.is_first), (1, vec![false]));
    assert_eq!(other.time, Duration::ZERO);
}

#[tokio::test]
async fn a_failure_that_may_pass_reaches_every_document_of_the_batch() {
    let (server, embedder) = provider(limited).await;
    let batches = Batches::default();
    let _at_work = [batches.begin(), batches.begin()];
    let (one, other) = (texts(&["one"]), texts(&["other"]));
    let (one, other) = futures::join!(
        batches.embed(&embedder, &one),
        batches.embed(&embedder, &other)
    );
    let wait = Some(Duration::from_hours(1));
    let limit = ProviderError::RateLimited { retry_after: wait };
    assert_eq!(
        [one.unwrap_err(), other.unwrap_err()],
        [limit.clone(), limit]
    );
    assert_eq!(calls(&server), [2]);
}

#[tokio::test]
async fn a_document_that_is_given_up_holds_no_other_back() {
    let (server, embedder) = provider(vectors).await;
    let batches = Batches::default();
    let _at_work = batches.begin();
    let (kept, dropped) = (texts(&["kept"]), texts(&["dropped"]));
    let mut kept = pin!(batches.embed(&embedder, &kept));
    {
        let _at_work = batches.begin();
        let mut dropped = pin!(batches.embed(&embedder, &dropped));
        let idle = batches.begin();
        assert!(futures::poll!(&mut kept).is_pending());
        assert!(futures::poll!(&mut dropped).is_pending());
        assert!(
            calls(&server).is_empty(),
            "a third document may still add texts"
        );
        // All documents now wait, so the call begins. The task that drives it is dropped next.
        drop(idle);
        assert!(futures::poll!(&mut dropped).is_pending());
    }
    assert_eq!(kept.await.unwrap().embeddings.len(), 1);
    assert_eq!(calls(&server).last(), Some(&2));
    // This document gives up before the batch starts, so the batch does not wait for it.
    let (kept, dropped) = (texts(&["kept"]), texts(&["dropped"]));
    {
        let _at_work = batches.begin();
        let mut dropped = pin!(batches.embed(&embedder, &dropped));
        assert!(futures::poll!(&mut dropped).is_pending());
    }
    assert_eq!(
        batches
            .embed(&embedder, &kept)
            .await
            .unwrap()
            .embeddings
            .len(),
        1
    );
    assert_eq!(calls(&server).last(), Some(&1));
}
