use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::*;
use fakes::server::{Answer, Server};

const PATH: &str = "/v2/rerank";
const KEY: &str = "co-secret";

fn reranker(base_url: &str, timeout: Duration) -> CohereReranker {
    let options = CohereRerankOptions {
        base_url: base_url.to_owned(),
        api_key: SecretString::from(KEY),
        model: CohereReranker::DEFAULT_MODEL.to_owned(),
        timeout,
    };
    CohereReranker::new(options).unwrap()
}

fn documents(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Scores each document with the number that it contains, best first.
fn best_first(request: &Value) -> Response {
    let documents = request["documents"].as_array().unwrap();
    let scored = documents.iter().enumerate().map(|(index, document)| {
        let score: f64 = document.as_str().unwrap().parse().unwrap();
        (index, score)
    });
    let mut scored: Vec<_> = scored.collect();
    scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let results: Vec<_> = scored
        .into_iter()
        .map(|(index, score)| json!({ "index": index, "relevance_score": score }))
        .collect();
    Json(json!({
        "id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf",
        "results": results,
        "meta": { "api_version": { "version": "2" }, "billed_units": { "search_units": 1 } },
    }))
    .into_response()
}

/// True if Cohere's API description (`V2RerankRequest`) has the field and allows the value.
fn is_described(field: &str, value: &Value) -> bool {
    match field {
        "model" | "query" => value.is_string(),
        "documents" => value
            .as_array()
            .is_some_and(|texts| texts.iter().all(Value::is_string)),
        "top_n" => value.as_u64().is_some_and(|count| count >= 1),
        "max_tokens_per_doc" => value.is_u64(),
        "priority" => value.as_u64().is_some_and(|priority| priority <= 999),
        _ => false,
    }
}

/// The error for two documents.
async fn error_of(answer: Answer) -> ProviderError {
    let texts = documents(&["private words", "more"]);
    error_for(&texts, answer).await
}

async fn error_for(texts: &[String], answer: Answer) -> ProviderError {
    let server = Server::start(PATH, answer).await;
    let reranker = reranker(&server.origin, Duration::from_secs(30));
    let error = reranker.scores("private question", texts).await;
    let error = error.unwrap_err();
    let shown = format!("{error} {error:?} {reranker:?}");
    assert!(
        !shown.contains(KEY) && !shown.contains("private"),
        "{shown}"
    );
    error
}

#[tokio::test]
async fn scores_come_in_the_documents_order() {
    let server = Server::start(PATH, best_first).await;
    let reranker = reranker(&server.origin, Duration::from_secs(30));
    let texts = documents(&["0.25", "1", "0", "0.75"]);
    let scores = reranker.scores("which?", &texts).await.unwrap();
    let expected = [0.25, 1.0, 0.0, 0.75];
    assert_eq!(scores.len(), expected.len());
    for (score, expected) in scores.into_iter().zip(expected) {
        assert!((score - expected).abs() < f32::EPSILON, "{score}");
    }
}

#[tokio::test]
async fn requests_are_what_the_api_describes() {
    let server = Server::start(PATH, best_first).await;
    let reranker = reranker(&server.origin, Duration::from_secs(30));
    let texts = documents(&["0.5", "0.25"]);
    reranker.scores("which?", &texts).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    let (headers, body) = &seen[0];
    assert_eq!(headers[AUTHORIZATION], "Bearer co-secret");
    let fields = body.as_object().unwrap();
    for (field, value) in fields {
        assert!(is_described(field, value), "{field}: {value}");
    }
    for required in ["query", "documents", "model"] {
        assert!(fields.contains_key(required), "{required}");
    }
    let expected = json!({
        "model": "rerank-v3.5",
        "query": "which?",
        "documents": ["0.5", "0.25"],
    });
    assert_eq!(*body, expected);
}

#[tokio::test]
async fn no_documents_are_no_request() {
    let server = Server::start(PATH, best_first).await;
    let reranker = reranker(&server.origin, Duration::from_secs(30));
    let scores = reranker.scores("which?", &[]).await.unwrap();
    assert!(scores.is_empty());
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn wrong_answers_are_malformed() {
    let no_list = "gave no list of scores";
    let answers: [(Answer, &str); 9] = [
        (|_| "private words".into_response(), no_list),
        (|_| Json(json!({"id": "1"})).into_response(), no_list),
        (
            |_| Json(json!({"results": []})).into_response(),
            "no score came for document 0",
        ),
        (
            |_| Json(json!({"results": [{"index": 0, "relevance_score": 0.5}]})).into_response(),
            "no score came for document 1",
        ),
        (
            |_| {
                let score = json!({"index": 0, "relevance_score": 0.5});
                Json(json!({"results": [score, score]})).into_response()
            },
            "two scores came for document 0",
        ),
        (
            |_| {
                let scores = json!([
                    {"index": 1, "relevance_score": 0.9},
                    {"index": 2, "relevance_score": 0.5},
                ]);
                Json(json!({"results": scores})).into_response()
            },
            "a score came for document 2 of 2",
        ),
        (
            |_| Json(json!({"results": [{"index": -1, "relevance_score": 0.5}]})).into_response(),
            no_list,
        ),
        (
            |_| Json(json!({"results": [{"index": 0, "relevance_score": 1.5}]})).into_response(),
            "document 0 has the score 1.5",
        ),
        (
            |_| r#"{"results":[{"index":0,"relevance_score":NaN}]}"#.into_response(),
            no_list,
        ),
    ];
    for (answer, expected) in answers {
        let error = error_of(answer).await;
        let ProviderError::Malformed(message) = error else {
            panic!("{error}")
        };
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn a_rate_limit_is_one() {
    let error =
        error_of(|_| (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "7")], "").into_response())
            .await;
    assert!(
        matches!(error, ProviderError::RateLimited { retry_after: Some(wait) } if wait.as_secs() == 7),
        "{error}"
    );
}

/// Responds with the status code that the first document contains, and with a message that quotes the request.
fn as_told(request: &Value) -> Response {
    let status = request["documents"][0].as_str().unwrap().parse().unwrap();
    let body = json!({"id": "1", "message": "invalid api token co-secret for private words"});
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

#[tokio::test]
async fn refusals_name_the_host_and_status_only() {
    for status in ["401", "403"] {
        let error = error_for(&documents(&[status]), as_told).await;
        assert!(matches!(error, ProviderError::Unauthorized(_)), "{error}");
        let message = format!("refused: 127.0.0.1 answered {status}");
        assert_eq!(error.to_string(), message);
    }
    for status in ["400", "404", "422", "498"] {
        let error = error_for(&documents(&[status]), as_told).await;
        let ProviderError::Rejected(message) = error else {
            panic!("{error}")
        };
        assert_eq!(message, format!("127.0.0.1 answered {status}"));
    }
    for status in ["500", "501", "503", "504"] {
        let error = error_for(&documents(&[status]), as_told).await;
        assert!(matches!(error, ProviderError::Unavailable(_)), "{error}");
    }
}

#[tokio::test]
async fn a_silent_server_is_a_timeout_and_none_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let silent = reranker(&base_url, Duration::from_millis(100));
    let texts = documents(&["1"]);
    let error = silent.scores("which?", &texts).await.unwrap_err();
    assert!(matches!(error, ProviderError::Timeout), "{error}");
    drop(listener);
    let patient = reranker(&base_url, Duration::from_secs(30));
    let error = patient.scores("which?", &texts).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unavailable(_)), "{error}");
}
