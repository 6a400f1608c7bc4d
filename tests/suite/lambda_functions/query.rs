use bookrag_tests::{backends::ORIGIN, events::RestRequest};
use serde_json::{Value, json};

use super::{Lambda, assert_failure, filled};

/// The book answers it under "Why Capacitance Works".
const QUESTION: &str = "why does a capacitive probe react to water in dry soil?";
const PAGE: &str = "/docs/module-1-foundations/sensing/soil-moisture";

fn chat(body: &Value) -> RestRequest {
    RestRequest::post_json("/api/v1/chat", body)
}

/// Parses server-sent events into names and data.
fn events(stream: &str) -> Vec<(String, Value)> {
    let blocks = stream
        .split("\n\n")
        .filter(|block| !block.trim().is_empty() && !block.starts_with(':'));
    blocks
        .map(|block| {
            let field = |name: &str| {
                let value = block.lines().find_map(|line| line.strip_prefix(name));
                value
                    .unwrap_or_else(|| panic!("no {name} in {block:?}"))
                    .trim()
            };
            let data = serde_json::from_str(field("data:")).unwrap();
            (field("event:").to_owned(), data)
        })
        .collect()
}

#[tokio::test]
async fn query_answers_as_json_and_as_a_stream() {
    let backends = filled("lambda_query_answers").await;
    let lambda = Lambda::start("query", &backends.environment()).await;

    // The stage is not part of the route, whatever its name.
    let response = lambda
        .send(chat(&json!({ "query": QUESTION })).stage("prod"))
        .await;
    let body = response.json();
    assert_eq!(response.status, 200, "{body}");
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(
        (&body["success"], &body["error"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(body["data"]["answered"], true, "{body}");
    let url = body["data"]["citations"][0]["url"].as_str().unwrap();
    assert!(url.contains("/docs/"), "{body}");

    let request = chat(&json!({ "question": QUESTION })).header("Accept", "text/event-stream");
    let invocation = lambda.invoke(request.into_event()).await;
    let response = invocation.http();
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    let events = events(response.text());
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.first(), Some(&"token"), "{names:?}");
    assert_eq!(names.last(), Some(&"done"), "{names:?}");
    assert!(names.contains(&"citation"), "{names:?}");
    let tokens = events.iter().filter(|(name, _)| name == "token");
    let text: String = tokens
        .map(|(_, data)| data["token"].as_str().unwrap())
        .collect();
    assert_eq!(
        text, body["data"]["answer"],
        "the stream and the JSON differ"
    );

    let logs = lambda.function.logs();
    assert!(
        !logs.contains("capacitive"),
        "the question is in the log:\n{logs}"
    );
    assert!(
        !logs.contains("203.0.113.7"),
        "the address is in the log:\n{logs}"
    );
}

#[tokio::test]
async fn query_takes_other_names_and_feedback() {
    let backends = filled("lambda_query_names").await;
    let lambda = Lambda::start("query", &backends.environment()).await;
    let mut message_id = Value::Null;
    for path in ["/api/query", "/api/chat"] {
        let request =
            RestRequest::post_json(path, &json!({ "message": QUESTION, "page_url": PAGE }));
        let response = lambda.send(request).await;
        assert_eq!(response.status, 200, "{path}");
        message_id = response.json()["data"]["message_id"].clone();
    }
    let feedback = |message_id: &Value, rating: &str| {
        let body = json!({ "message_id": message_id, "rating": rating });
        RestRequest::post_json("/api/v1/feedback", &body)
    };
    assert_eq!(lambda.send(feedback(&message_id, "up")).await.status, 200);
    let response = lambda.send(feedback(&message_id, "great")).await;
    assert_failure(&response, 400, "invalid_request", Some("rating"));
    let unknown = json!("8e4a6b9c-7b5e-4b0a-9d2f-1c3f5e7a9b1d");
    let response = lambda.send(feedback(&unknown, "up")).await;
    assert_failure(&response, 404, "not_found", None);
}

#[tokio::test]
async fn query_says_what_is_wrong_with_a_request() {
    let backends = filled("lambda_query_refuses").await;
    let lambda = Lambda::start("query", &backends.environment()).await;

    let response = lambda.send(chat(&json!({ "query": "  \n " }))).await;
    assert_failure(&response, 400, "invalid_request", Some("query"));
    let response = lambda
        .send(chat(&json!({ "query": "a", "top_k": 21 })))
        .await;
    assert_failure(&response, 400, "invalid_request", Some("top_k"));
    // An error before the first byte is never streamed, even if a stream was requested.
    let request = chat(&json!({ "query": "" })).header("Accept", "text/event-stream");
    assert_failure(
        &lambda.send(request).await,
        400,
        "invalid_request",
        Some("query"),
    );

    let response = lambda.send(RestRequest::new("POST", "/api/v2/chat")).await;
    assert_failure(&response, 404, "not_found", None);
    let response = lambda.send(RestRequest::new("GET", "/api/v1/chat")).await;
    assert_failure(&response, 405, "method_not_allowed", None);
    let response = lambda
        .send(chat(&json!({ "query": "a".repeat(65 * 1024) })))
        .await;
    assert_failure(&response, 413, "payload_too_large", None);
    let request = RestRequest::new("POST", "/api/v1/chat").body("query=a");
    assert_failure(
        &lambda.send(request).await,
        415,
        "unsupported_media_type",
        None,
    );
}

#[tokio::test]
async fn query_lets_the_books_own_pages_call() {
    let backends = filled("lambda_query_origins").await;
    let lambda = Lambda::start("query", &backends.environment()).await;
    let preflight = |origin: &str| {
        RestRequest::new("OPTIONS", "/api/v1/chat")
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "content-type")
    };
    let allowed = "access-control-allow-origin";
    let response = lambda.send(preflight(ORIGIN)).await;
    assert!(response.status.is_success(), "{}", response.status);
    assert_eq!(response.header(allowed), Some(ORIGIN));
    assert_eq!(response.header("access-control-max-age"), Some("7200"));
    assert_eq!(response.header("content-length"), None);
    assert_eq!(response.text(), "\n", "a stream without a byte may not end");
    for stranger in ["https://evil.example", "http://localhost:3000"] {
        let response = lambda.send(preflight(stranger)).await;
        assert_eq!(response.header(allowed), None, "{stranger}");
    }
    let request = chat(&json!({ "query": QUESTION })).header("Origin", ORIGIN);
    assert_eq!(lambda.send(request).await.header(allowed), Some(ORIGIN));
    let request = chat(&json!({ "query": "" })).header("Origin", ORIGIN);
    assert_eq!(lambda.send(request).await.header(allowed), Some(ORIGIN));
}

#[tokio::test]
async fn query_without_an_index_asks_to_try_later() {
    let backends = bookrag_tests::backends::Backends::start("lambda_query_empty").await;
    let lambda = Lambda::start("query", &backends.environment()).await;
    let response = lambda.send(chat(&json!({ "query": QUESTION }))).await;
    assert_failure(&response, 503, "service_unavailable", None);
}
