use lambda_http::{RequestExt as _, request::RequestContext};
use serde_json::json;

use super::{Change, RestRequest, Sender, event_bridge, message_id, s3_notification, sqs_batch};

fn read(event: &serde_json::Value) -> lambda_http::Request {
    lambda_http::request::from_str(&event.to_string()).unwrap()
}

#[test]
fn lambda_http_reads_the_rest_request() {
    let request = RestRequest::post_json("/api/v1/chat", &json!({ "query": "What is a node?" }))
        .header("Origin", "https://book.example")
        .query("lang", "de")
        .query("lang", "en")
        .source_ip("198.51.100.9");

    let request = read(&request.into_event());

    assert_eq!(request.method(), "POST");
    assert_eq!(request.raw_http_path(), "/api/v1/chat");
    assert_eq!(request.headers()["content-type"], "application/json");
    assert_eq!(request.headers()["origin"], "https://book.example");
    assert_eq!(request.headers()["x-forwarded-for"], "198.51.100.9");
    assert_eq!(
        request.query_string_parameters().all("lang"),
        Some(vec!["de", "en"])
    );
    assert_eq!(request.body().as_ref(), br#"{"query":"What is a node?"}"#);
    let Some(RequestContext::ApiGatewayV1(context)) = request.request_context_ref() else {
        panic!("{:?}", request.request_context_ref());
    };
    assert_eq!(context.identity.source_ip.as_deref(), Some("198.51.100.9"));
    assert_eq!(context.path.as_deref(), Some("/dev/api/v1/chat"));
}

#[test]
fn lambda_http_reads_a_body_of_bytes() {
    let request = RestRequest::new("POST", "/api/v1/chat")
        .stage("prod")
        .binary_body(b"\xff\x00");
    let request = read(&request.into_event());
    assert_eq!(request.body().as_ref(), b"\xff\x00");
    assert_eq!(request.uri().path(), "/prod/api/v1/chat");
}

#[test]
fn s3_keeps_the_slashes_of_a_key_and_moto_does_not() {
    let key = |sender| {
        let event = s3_notification(
            sender,
            Change::Created,
            "book",
            &["docs/intro/chap one+ü.md"],
        );
        event["Records"][0]["s3"]["object"]["key"].clone()
    };
    assert_eq!(key(Sender::S3), "docs/intro/chap+one%2B%C3%BC.md");
    assert_eq!(key(Sender::Moto), "docs%2Fintro%2Fchap+one%2B%C3%BC.md");
    assert_eq!(
        event_bridge(Change::Created, "book", "docs/a b.md")["detail"]["object"]["key"],
        "docs/a b.md"
    );
}

#[test]
fn a_later_record_has_a_greater_sequencer() {
    let event = s3_notification(Sender::S3, Change::Removed, "book", &["a.md", "b.md"]);
    let sequencer = |record: usize| {
        event["Records"][record]["s3"]["object"]["sequencer"]
            .as_str()
            .unwrap()
    };
    assert!(sequencer(0) < sequencer(1));
}

#[test]
fn a_batch_carries_its_bodies_as_text_under_known_ids() {
    let notification = s3_notification(Sender::Moto, Change::Created, "book", &["a.md"]);
    let batch = sqs_batch(&[json!({}), notification.clone()]);
    let message = &batch["Records"][1];
    assert_eq!(message["messageId"], message_id(1));
    let body: serde_json::Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
    assert_eq!(body, notification);
}
