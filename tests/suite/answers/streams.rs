//! The order of events: tokens as the model writes them, each citation with its first marker, then the end.

use std::time::Duration;

use bookrag_tests::chat_model::Reply;
use futures::StreamExt as _;
use serde_json::json;

use super::{BOUND, COVERED, NOT_COVERED, Service, degraded, text_of};

fn names(events: &[(String, serde_json::Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[tokio::test]
async fn a_stream_has_tokens_citations_and_one_end() {
    let script = Reply::text(["A clear sky ", "[", "1", "]", ". No wind [1]."]);
    let service = Service::with_model("streams_model", script).await;
    let events = service.stream(json!({"query": COVERED})).await;
    assert_eq!(text_of(&events), "A clear sky [1]. No wind [1].");
    let kinds = names(&events);
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "citation").count(),
        1,
        "{kinds:?}"
    );
    assert_eq!(kinds.last(), Some(&"done"));
    let at = kinds.iter().position(|kind| *kind == "citation").unwrap();
    assert_eq!(
        events[at + 1].1["token"],
        "[1]",
        "the citation comes with its marker"
    );
    let done = &events.last().unwrap().1;
    assert_eq!(done["answered"], true);
    assert!(
        done["total_tokens"].as_u64().unwrap() > 0 && done["latency_ms"].as_f64().unwrap() > 0.0
    );
    assert_eq!(done["citations"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_first_token_comes_before_the_model_has_ended() {
    let script = Reply::HangsAfter(vec!["A clear sky ".to_owned(), "is".to_owned()]);
    let service = Service::with_model("streams_first", script).await;
    let request = service.post("/api/v1/chat", &json!({"query": COVERED}));
    let response = request.header("accept", "text/event-stream").send().await;
    let mut body = response.unwrap().bytes_stream();
    let first_token = async {
        // The progress comes before, and the first sentence may take some seconds.
        while let Some(chunk) = body.next().await {
            if String::from_utf8_lossy(&chunk.unwrap()).contains("A clear sky") {
                return true;
            }
        }
        false
    };
    let is_seen = tokio::time::timeout(BOUND, first_token).await;
    assert!(is_seen.unwrap(), "the stream has ended without a token");
    assert_eq!(service.model.abandoned(), 0);
}

#[tokio::test]
async fn a_reader_who_leaves_stops_the_model_and_leaves_an_incomplete_message() {
    let script = Reply::HangsAfter(vec!["A clear sky ".to_owned(), "is".to_owned()]);
    let service = Service::with_model("streams_left", script).await;
    let request = service.post("/api/v1/chat", &json!({"query": COVERED}));
    let response = request.header("accept", "text/event-stream").send().await;
    let mut body = response.unwrap().bytes_stream();
    body.next().await.unwrap().unwrap();
    drop(body);
    service.model.until_abandoned(1, BOUND).await;
    let status = service.row("SELECT status FROM chat_queries").await;
    assert_eq!(status.as_deref(), Some("incomplete"));
}

#[tokio::test]
async fn a_model_that_breaks_off_ends_the_stream_with_an_error() {
    let pieces = ["A clear sky is a sign of frost", " [1].", " And so", " on"];
    let script = Reply::Breaks(pieces.map(str::to_owned).to_vec());
    let service = Service::with_model("streams_broken", script).await;
    let events = service.stream(json!({"query": COVERED})).await;
    let text = text_of(&events);
    assert!(
        text.starts_with("A clear sky is a sign of frost [1]. And"),
        "{text}"
    );
    let (last, error) = events.last().unwrap();
    assert_eq!(
        (last.as_str(), &error["code"]),
        ("error", &json!("service_unavailable"))
    );
    let status = service.row("SELECT status FROM chat_queries").await;
    assert_eq!(status.as_deref(), Some("error"));
    let (status, envelope) = service.ask(json!({"query": COVERED})).await;
    assert_eq!(status, 503, "{envelope}");

    // Nothing was shown yet.
    service
        .model
        .tell(Reply::Breaks(vec!["A clear sky ".to_owned()]));
    let events = service.stream(json!({"query": COVERED})).await;
    assert!(
        text_of(&events).contains("A clear sky, no wind and a low moon"),
        "{events:?}"
    );
    let (last, done) = events.last().unwrap();
    assert_eq!((last.as_str(), degraded(done)), ("done", vec!["generator"]));
}

#[tokio::test]
async fn a_refusal_streams_too() {
    let service = Service::extractive("streams_refusal").await;
    let events = service.stream(json!({"query": NOT_COVERED})).await;
    assert_eq!(names(&events), ["token", "done"]);
    assert_eq!(events[1].1["answered"], false);
    assert!(!events[1].1["suggestions"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_waiting_reader_gets_progress_and_heartbeats() {
    // Longer than the time to the first progress event plus the heartbeat interval of 10 s, shorter than the limit of an answer.
    let pieces = vec!["A clear sky [1]".to_owned()];
    let service = Service::with_model(
        "streams_quiet",
        Reply::Text(pieces, Duration::from_secs(16)),
    )
    .await;
    let request = service.post("/api/v1/chat", &json!({"query": COVERED}));
    let response = request
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    let text = response.text().await.unwrap();
    assert!(text.starts_with("event: progress\n"), "{text}");
    let events = super::events(&text);
    assert_eq!(names(&events)[..2], ["progress", "token"]);
    assert_eq!(events[0].1, json!({"stage": "reading", "sections": 4}));
    assert!(text.contains("\n:"), "{text}");
    assert!(text.contains("event: done"), "{text}");
}
