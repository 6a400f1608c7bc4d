use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::{Embedder, Embedding};
use super::*;
use fakes::server::{Answer, Server};

const PATH: &str = "/v2/embed";
const KEY: &str = "co-secret";
const MODEL: &str = "embed-v4.0";

fn embedder(base_url: &str, model: &str, dimensions: Dimensions) -> Embedder {
    let options = CohereOptions {
        base_url: base_url.to_owned(),
        api_key: SecretString::from(KEY),
        model: model.to_owned(),
        dimensions,
        timeout: Duration::from_secs(30),
    };
    Embedder::Cohere(CohereEmbedder::new(options).unwrap())
}

fn at_cohere(model: &str, dimensions: Option<usize>) -> Embedder {
    let dimensions = Dimensions::of_model(model, dimensions);
    embedder("https://api.cohere.com", model, dimensions)
}

/// Returns a vector for each text, of 256 numbers or of two. Its direction encodes the text's number.
fn vectors(request: &Value) -> Response {
    let texts = request["texts"].as_array().unwrap();
    let length = if request.get("output_dimension").is_some() {
        256
    } else {
        2
    };
    let vector = |text: &Value| {
        let number: f64 = text.as_str().unwrap().parse().unwrap();
        let mut vector = vec![0.0; length];
        vector[0] = number.cos() * 2.0;
        vector[1] = number.sin() * 2.0;
        vector
    };
    let vectors: Vec<_> = texts.iter().map(vector).collect();
    Json(json!({
        "id": "da6e531f-54c6-4a73-bf92-f60566d8d753",
        "response_type": "embeddings_by_type",
        "embeddings": { "float": vectors },
        "texts": texts,
        "meta": { "api_version": { "version": "2" }, "billed_units": { "input_tokens": 2 } },
    }))
    .into_response()
}

/// True if Cohere's API description (`V2EmbedRequest`) has the field and allows the value.
fn is_described(field: &str, value: &Value) -> bool {
    let is_one_of = |value: &Value, names: &[&str]| names.iter().any(|name| value == name);
    match field {
        "model" => value.is_string(),
        "texts" => value.as_array().is_some_and(|texts| {
            (1..=96).contains(&texts.len()) && texts.iter().all(Value::is_string)
        }),
        "images" | "inputs" => value.is_array(),
        "input_type" => is_one_of(
            value,
            &[
                "search_document",
                "search_query",
                "classification",
                "clustering",
                "image",
            ],
        ),
        "embedding_types" => value.as_array().is_some_and(|types| {
            let names = ["float", "int8", "uint8", "binary", "ubinary", "base64"];
            types.iter().all(|value| is_one_of(value, &names))
        }),
        "truncate" => is_one_of(value, &["NONE", "START", "END"]),
        "output_dimension" => value
            .as_u64()
            .is_some_and(|length| [256, 512, 1_024, 1_536].contains(&length)),
        "max_tokens" => value.is_u64(),
        "priority" => value.as_u64().is_some_and(|priority| priority <= 999),
        _ => false,
    }
}

fn assert_described(request: &Value) {
    let fields = request.as_object().unwrap();
    for (field, value) in fields {
        assert!(is_described(field, value), "{field}: {value}");
    }
    for required in ["model", "input_type"] {
        assert!(fields.contains_key(required), "{required}");
    }
}

async fn error_of(answer: Answer) -> ProviderError {
    let texts = ["private words".to_owned(), "more".to_owned()];
    error_for(&texts, answer).await
}

async fn error_for(texts: &[String], answer: Answer) -> ProviderError {
    let server = Server::start(PATH, answer).await;
    let embedder = embedder(&server.origin, MODEL, Dimensions::Native(2));
    let error = embedder.embed(texts, Purpose::Document).await.unwrap_err();
    let shown = format!("{error} {error:?} {embedder:?}");
    assert!(
        !shown.contains(KEY) && !shown.contains("private"),
        "{shown}"
    );
    error
}

#[tokio::test]
async fn texts_go_in_batches_and_vectors_come_in_order() {
    let server = Server::start(PATH, vectors).await;
    let embedder = embedder(&server.origin, MODEL, Dimensions::Requested(256));
    let texts: Vec<_> = (0..200).map(|number| number.to_string()).collect();
    let vectors = embedder.embed(&texts, Purpose::Document).await.unwrap();
    for (number, Embedding { vector, .. }) in (0_u8..200).zip(&vectors) {
        let angle = f32::from(number);
        assert!((vector[0] - angle.cos()).abs() < 1e-4 && (vector[1] - angle.sin()).abs() < 1e-4);
    }
    assert_eq!(vectors.len(), 200);
    let seen = server.seen();
    let sizes = seen.iter().map(|(headers, body)| {
        assert_eq!(headers[AUTHORIZATION], "Bearer co-secret");
        assert_described(body);
        body["texts"].as_array().unwrap().len()
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [96, 96, 8]);
}

#[tokio::test]
async fn questions_and_passages_are_asked_for_as_such() {
    let server = Server::start(PATH, vectors).await;
    let texts = ["1".to_owned()];
    let native = embedder(&server.origin, MODEL, Dimensions::Native(2));
    native.embed(&texts, Purpose::Document).await.unwrap();
    native.embed(&texts, Purpose::Query).await.unwrap();
    let short = embedder(&server.origin, MODEL, Dimensions::Requested(256));
    short.embed(&texts, Purpose::Query).await.unwrap();
    let bodies: Vec<_> = server.seen().into_iter().map(|(_, body)| body).collect();
    bodies.iter().for_each(assert_described);
    assert_eq!(
        bodies,
        [
            json!({
                "model": "embed-v4.0",
                "texts": ["1"],
                "input_type": "search_document",
                "embedding_types": ["float"],
                "truncate": "NONE",
            }),
            json!({
                "model": "embed-v4.0",
                "texts": ["1"],
                "input_type": "search_query",
                "embedding_types": ["float"],
                "truncate": "END",
            }),
            json!({
                "model": "embed-v4.0",
                "texts": ["1"],
                "input_type": "search_query",
                "embedding_types": ["float"],
                "truncate": "END",
                "output_dimension": 256,
            }),
        ]
    );
}

#[tokio::test]
async fn a_rate_limit_carries_the_wait() {
    let error = error_of(|_| {
        let body = json!({"message": "too many requests: private words"});
        (
            StatusCode::TOO_MANY_REQUESTS,
            [(RETRY_AFTER, "7")],
            Json(body),
        )
            .into_response()
    })
    .await;
    assert!(
        matches!(error, ProviderError::RateLimited { retry_after: Some(wait) } if wait.as_secs() == 7)
    );
    let error = error_of(|_| StatusCode::TOO_MANY_REQUESTS.into_response()).await;
    assert!(matches!(
        error,
        ProviderError::RateLimited { retry_after: None }
    ));
}

/// Responds with the status code that the first text contains, and with a message that quotes the request.
fn as_told(request: &Value) -> Response {
    let status = request["texts"][0].as_str().unwrap().parse().unwrap();
    let body = json!({"id": "1", "message": "invalid api token co-secret for private words"});
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

#[tokio::test]
async fn refusals_name_the_host_and_status_only() {
    for status in ["401", "403"] {
        let error = error_for(&[status.to_owned()], as_told).await;
        assert!(matches!(error, ProviderError::Unauthorized(_)), "{error}");
        let message = format!("refused: 127.0.0.1 answered {status}");
        assert_eq!(error.to_string(), message);
    }
    for status in ["400", "404", "422", "498"] {
        let error = error_for(&[status.to_owned()], as_told).await;
        assert!(matches!(error, ProviderError::Rejected(_)), "{error}");
        let message = format!("refused: 127.0.0.1 answered {status}");
        assert_eq!(error.to_string(), message);
    }
    for status in ["500", "501", "503", "504"] {
        let error = error_for(&[status.to_owned()], as_told).await;
        assert!(matches!(error, ProviderError::Unavailable(_)), "{error}");
    }
}

#[tokio::test]
async fn wrong_answers_are_malformed() {
    let no_list = "gave no list of embeddings";
    let answers: [(Answer, &str); 8] = [
        (|_| "private words".into_response(), no_list),
        (
            |_| Json(json!({"id": "1", "embeddings": {}})).into_response(),
            no_list,
        ),
        (
            |_| Json(json!({"embeddings": {"int8": [[1, 0], [1, 0]]}})).into_response(),
            no_list,
        ),
        (
            |_| Json(json!({"embeddings": {"float": [[1, 0]]}})).into_response(),
            "1 embeddings came for 2 texts",
        ),
        (
            |_| Json(json!({"embeddings": {"float": [[1, 0], [1, 0], [1, 0]]}})).into_response(),
            "3 embeddings came for 2 texts",
        ),
        (
            |_| Json(json!({"embeddings": {"float": [[1, 0], [1, 0, 0]]}})).into_response(),
            "embedding has 3 dimensions, the index expects 2",
        ),
        (
            |_| r#"{"embeddings":{"float":[[NaN,0],[1,0]]}}"#.into_response(),
            no_list,
        ),
        (
            |_| r#"{"embeddings":{"float":[[1e39,0],[1,0]]}}"#.into_response(),
            "embedding",
        ),
    ];
    for (answer, message) in answers {
        let error = error_of(answer).await;
        assert!(matches!(error, ProviderError::Malformed(_)), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test]
async fn no_batch_fills_the_gap_of_another() {
    let texts: Vec<_> = (0..192).map(|number| number.to_string()).collect();
    // 95 vectors for the first 96 texts, 97 for the others.
    let error = error_for(&texts, |request| {
        let count = if request["texts"][0] == "0" { 95 } else { 97 };
        Json(json!({"embeddings": {"float": vec![[1, 0]; count]}})).into_response()
    })
    .await;
    assert_eq!(
        error.to_string(),
        "gave a malformed answer: 95 embeddings came for 96 texts"
    );
}

#[test]
fn a_base_url_that_is_none_is_refused() {
    for base_url in ["", "api.cohere.com", "file:///etc"] {
        let error = CohereEmbedder::new(CohereOptions {
            base_url: base_url.to_owned(),
            api_key: SecretString::from(KEY),
            model: MODEL.to_owned(),
            dimensions: Dimensions::Native(2),
            timeout: Duration::from_secs(1),
        })
        .unwrap_err();
        assert!(matches!(error, ProviderError::Rejected(_)), "{error}");
    }
}

#[test]
fn windows_fit_the_model_that_reads_them() {
    let text = "A node publishes on a topic.\n".repeat(200);
    let windows = |model| at_cohere(model, None).windows("ROS > Nodes", &text).texts;
    let short = windows("embed-multilingual-v3.0");
    assert!(short.len() > 1);
    assert!(short.iter().all(|window| estimate_tokens(window) <= 500));
    assert_eq!(windows("embed-v4.0").len(), 1);
}

#[test]
fn only_models_with_a_public_price_have_one() {
    let price = |model| at_cohere(model, None).dollars_per_million_tokens();
    assert_eq!(price("embed-multilingual-v3.0"), Some(0.10));
    assert_eq!(price("embed-v4.0"), Some(0.12));
    assert_eq!(price("embed-v9.0"), None);
    let elsewhere = embedder("http://localhost:1234", MODEL, Dimensions::Native(2));
    assert_eq!(elsewhere.dollars_per_million_tokens(), None);
}

#[test]
fn another_model_of_the_same_provider_can_be_had() {
    let multilingual = at_cohere("embed-multilingual-v3.0", None);
    let identity = multilingual.identity();
    assert_eq!(
        identity.fingerprint,
        "api.cohere.com/embed-multilingual-v3.0"
    );
    assert_eq!((identity.dimensions, identity.max_tokens), (1_024, 500));
    let short = at_cohere("embed-v4.0", Some(256));
    let wanted = short.identity();
    let had = multilingual.of_model(&wanted.name, &wanted.fingerprint, wanted.dimensions);
    let Some(Embedder::Cohere(had)) = had else {
        panic!("{had:?}")
    };
    assert_eq!(had.identity(), wanted);
    assert_eq!(had.requested_dimensions, Some(256));
    let native = multilingual.of_model("embed-v4.0", &wanted.fingerprint, 1_536);
    let Some(Embedder::Cohere(native)) = native else {
        panic!("{native:?}")
    };
    assert_eq!(native.requested_dimensions, None);
    let elsewhere = multilingual.of_model("embed-v4.0", "api.openai.com/embed-v4.0", 1_536);
    assert!(elsewhere.is_none());
}
