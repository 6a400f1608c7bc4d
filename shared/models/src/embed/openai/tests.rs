use axum::http::header::{AUTHORIZATION, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::{Embedder, Embedding, Purpose};
use super::*;
use fakes::server::{Answer, Server};

/// A fake API that answers each request with `answer` and records the requests.
struct Provider(Server);

impl Provider {
    async fn start(answer: Answer) -> Self {
        Self(Server::start("/v1/embeddings", answer).await)
    }

    fn embedder(&self, dimensions: Dimensions) -> Embedder {
        let base_url = format!("{}/v1", self.0.origin);
        embedder(&base_url, dimensions, Duration::from_secs(30))
    }

    fn seen(&self) -> Vec<(HeaderMap, Value)> {
        self.0.seen()
    }
}

fn embedder(base_url: &str, dimensions: Dimensions, timeout: Duration) -> Embedder {
    let options = OpenAiOptions {
        base_url: base_url.to_owned(),
        api_key: Some(SecretString::from("sk-secret")),
        model: "text-embedding-3-small".to_owned(),
        dimensions,
        timeout,
    };
    Embedder::OpenAi(OpenAiEmbedder::new(options).unwrap())
}

/// Returns the vectors in reverse order. Their directions encode the texts' numbers.
fn vectors_in_reverse(request: &Value) -> Response {
    let texts = request["input"].as_array().unwrap();
    let embedding = |(index, text): (usize, &Value)| {
        let number: f64 = text.as_str().unwrap().parse().unwrap();
        json!({"index": index, "embedding": [number.cos() * 2.0, number.sin() * 2.0]})
    };
    let mut data: Vec<_> = texts.iter().enumerate().map(embedding).collect();
    data.reverse();
    axum::Json(json!({"object": "list", "data": data})).into_response()
}

async fn error_of(answer: Answer) -> ProviderError {
    let provider = Provider::start(answer).await;
    let embedder = provider.embedder(Dimensions::Native(2));
    let texts = ["private words".to_owned(), "more".to_owned()];
    let error = embedder.embed(&texts, Purpose::Query).await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(
        !shown.contains("sk-secret") && !shown.contains("private"),
        "{shown}"
    );
    error
}

#[tokio::test]
async fn texts_go_in_batches_and_vectors_come_in_order() {
    let provider = Provider::start(vectors_in_reverse).await;
    let texts: Vec<_> = (0..300).map(|number| number.to_string()).collect();
    let vectors = provider
        .embedder(Dimensions::Requested(2))
        .embed(&texts, Purpose::Document)
        .await
        .unwrap();
    for (number, Embedding { vector, .. }) in (0_u8..=255).zip(&vectors) {
        let angle = f32::from(number);
        assert!((vector[0] - angle.cos()).abs() < 1e-4 && (vector[1] - angle.sin()).abs() < 1e-4);
    }
    assert_eq!(vectors.len(), 300);
    let seen = provider.seen();
    let sizes = seen
        .iter()
        .map(|(_, body)| body["input"].as_array().unwrap().len());
    assert_eq!(sizes.collect::<Vec<_>>(), [128, 128, 44]);
    let (headers, body) = &seen[0];
    assert_eq!(headers[AUTHORIZATION], "Bearer sk-secret");
    assert_eq!(body["model"], "text-embedding-3-small");
    assert_eq!(body["dimensions"], 2);
}

#[tokio::test]
async fn native_dimensions_are_not_asked_for() {
    let provider = Provider::start(vectors_in_reverse).await;
    let embedder = provider.embedder(Dimensions::Native(2));
    let texts = ["1".to_owned()];
    embedder.embed(&texts, Purpose::Query).await.unwrap();
    assert!(provider.seen()[0].1.get("dimensions").is_none());
    let identity = embedder.identity();
    assert_eq!(identity.fingerprint, "127.0.0.1/text-embedding-3-small");
    assert_eq!((identity.dimensions, identity.max_tokens), (2, 8_000));
}

#[tokio::test]
async fn a_rate_limit_carries_the_wait() {
    let error =
        error_of(|_| (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "7")], "").into_response())
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

#[tokio::test]
async fn refusals_name_the_status_and_code_only() {
    let error = error_of(|_| {
        let body = json!({"error": {"message": "bad key sk-secret", "code": "invalid_api_key"}});
        (StatusCode::UNAUTHORIZED, axum::Json(body)).into_response()
    })
    .await;
    assert!(matches!(error, ProviderError::Unauthorized(_)));
    assert_eq!(
        error.to_string(),
        "refused: 127.0.0.1 answered 401 (invalid_api_key)"
    );
    let error = error_of(|_| {
        let body = json!({"error": {"code": "insufficient_quota"}});
        (StatusCode::TOO_MANY_REQUESTS, axum::Json(body)).into_response()
    })
    .await;
    assert!(matches!(error, ProviderError::Unauthorized(_)));
    let error = error_of(|_| {
        let body =
            json!({"error": {"message": "no model private-words", "code": "model_not_found"}});
        (StatusCode::NOT_FOUND, axum::Json(body)).into_response()
    })
    .await;
    assert!(matches!(error, ProviderError::Unauthorized(_)));
    let error = error_of(|_| (StatusCode::NOT_FOUND, "private words").into_response()).await;
    assert!(matches!(error, ProviderError::Rejected(_)));
    let error = error_of(|_| (StatusCode::FORBIDDEN, "private words").into_response()).await;
    assert!(matches!(error, ProviderError::Unauthorized(_)));
    let error = error_of(|request| {
        (
            StatusCode::BAD_REQUEST,
            axum::Json(json!({"error": {"code": request["input"][0]}})),
        )
            .into_response()
    })
    .await;
    assert!(matches!(error, ProviderError::Rejected(_)));
    let error = error_of(|_| StatusCode::TEMPORARY_REDIRECT.into_response()).await;
    assert!(matches!(error, ProviderError::Rejected(_)));
    let error = error_of(|_| StatusCode::BAD_GATEWAY.into_response()).await;
    assert!(matches!(error, ProviderError::Unavailable(_)));
}

#[tokio::test]
async fn wrong_answers_are_malformed() {
    let answers: [(Answer, &str); 6] = [
        (
            |_| "private words".into_response(),
            "gave no list of embeddings",
        ),
        (
            |_| axum::Json(json!({"data": []})).into_response(),
            "0 embeddings came for 2 texts",
        ),
        (
            |_| {
                axum::Json(json!({"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]})).into_response()
            },
            "no embedding has index 1",
        ),
        (
            |_| {
                axum::Json(json!({"data": [{"index": 0, "embedding": [1, 0]}, {"index": 2, "embedding": [1, 0]}]})).into_response()
            },
            "no embedding has index 1",
        ),
        (
            |_| {
                axum::Json(json!({"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1, 0, 0]}]})).into_response()
            },
            "embedding has 3 dimensions, the index expects 2",
        ),
        (
            |_| {
                r#"{"data":[{"index":0,"embedding":[1e39,0]},{"index":1,"embedding":[1,0]}]}"#
                    .into_response()
            },
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
async fn a_silent_server_is_a_timeout_and_none_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let silent = embedder(&base_url, Dimensions::Native(2), Duration::from_millis(100));
    assert!(matches!(silent.ping().await, Err(ProviderError::Timeout)));
    drop(listener);
    let patient = embedder(&base_url, Dimensions::Native(2), Duration::from_secs(30));
    let error = patient.ping().await.unwrap_err();
    assert!(matches!(error, ProviderError::Unavailable(_)), "{error}");
}

#[test]
fn a_base_url_that_is_none_is_refused() {
    for base_url in ["", "api.openai.com/v1", "file:///etc"] {
        let options = OpenAiOptions {
            base_url: base_url.to_owned(),
            api_key: None,
            model: "m".to_owned(),
            dimensions: Dimensions::Native(2),
            timeout: Duration::from_secs(1),
        };
        let error = OpenAiEmbedder::new(options).unwrap_err();
        assert!(matches!(error, ProviderError::Rejected(_)), "{error}");
    }
}

fn at(base_url: &str, model: &str, dimensions: Option<usize>) -> Embedder {
    let options = OpenAiOptions {
        base_url: base_url.to_owned(),
        api_key: None,
        model: model.to_owned(),
        dimensions: Dimensions::of_model(model, dimensions),
        timeout: Duration::from_secs(1),
    };
    Embedder::OpenAi(OpenAiEmbedder::new(options).unwrap())
}

#[test]
fn only_models_with_a_public_price_have_one() {
    let price = |base_url, model| at(base_url, model, None).dollars_per_million_tokens();
    assert_eq!(
        price("https://api.openai.com/v1", "text-embedding-3-small"),
        Some(0.02)
    );
    assert_eq!(price("https://api.openai.com/v1", "text-embedding-9"), None);
    assert_eq!(
        price("http://localhost:1234/v1", "text-embedding-3-small"),
        None
    );
}

#[test]
fn another_model_of_the_same_provider_can_be_had() {
    let openai = "https://api.openai.com/v1";
    let small = at(openai, "text-embedding-3-small", None);
    let short = at(openai, "text-embedding-3-large", Some(256));
    let wanted = short.identity();
    let had = small.of_model(&wanted.name, &wanted.fingerprint, wanted.dimensions);
    let Some(Embedder::OpenAi(had)) = had else {
        panic!("{had:?}")
    };
    assert_eq!(had.identity(), wanted);
    assert_eq!(had.requested_dimensions, Some(256));
    let native = small.of_model("text-embedding-3-large", &wanted.fingerprint, 3_072);
    let Some(Embedder::OpenAi(native)) = native else {
        panic!("{native:?}")
    };
    assert_eq!(native.requested_dimensions, None);
    // The fingerprint contains the provider: a model of the same name elsewhere is another model.
    let elsewhere = small.of_model("text-embedding-3-large", "example.org/x", 256);
    assert!(elsewhere.is_none());
}
