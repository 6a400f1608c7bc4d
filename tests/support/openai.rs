//! A fake OpenAI-compatible embeddings API on loopback: deterministic, with similar vectors for texts that share words.

use std::time::Duration;

use axum::{
    Json, Router,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::post,
};
use bookrag::embed::{Dimensions, Embedder, FakeEmbedder, OpenAiEmbedder, OpenAiOptions, Purpose};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// The required API key.
pub const API_KEY: &str = "test-openai-key";
const MODEL: &str = "hashed-words";
/// Dimensions of the fake embedder's vectors.
const DIMENSIONS: usize = 64;
const TIMEOUT: Duration = Duration::from_secs(20);

/// The server. Dropping it stops it.
#[derive(Debug)]
pub struct OpenAi {
    base_url: String,
    server: JoinHandle<()>,
}

impl OpenAi {
    /// Starts a server on a free loopback port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let server = tokio::spawn(async move {
            // Like a key with permission to embed only: it cannot list models.
            axum::serve(listener, router())
                .await
                .expect("axum::serve returns no error");
        });
        Self {
            base_url: format!("http://{address}/v1"),
            server,
        }
    }

    /// Returns the variables for processes that embed with it.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("BOOKRAG_EMBEDDER", "openai".to_owned()),
            ("BOOKRAG_EMBEDDING_MODEL", MODEL.to_owned()),
            ("BOOKRAG_EMBEDDING_DIMENSIONS", DIMENSIONS.to_string()),
            ("OPENAI_BASE_URL", self.base_url.clone()),
            ("OPENAI_API_KEY", API_KEY.to_owned()),
        ]
    }

    /// Returns the embedder of such a process.
    #[must_use]
    pub fn embedder(&self) -> Embedder {
        let embedder = OpenAiEmbedder::new(OpenAiOptions {
            base_url: self.base_url.clone(),
            api_key: Some(API_KEY.into()),
            model: MODEL.to_owned(),
            dimensions: Dimensions::Requested(DIMENSIONS),
            timeout: TIMEOUT,
        });
        Embedder::OpenAi(embedder.expect("the address is one"))
    }
}

impl Drop for OpenAi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The routes, for other servers that include embeddings.
pub(crate) fn router() -> Router {
    Router::new().route("/v1/embeddings", post(embeddings))
}

/// Lists the models to clients with the key.
pub(crate) async fn models(headers: HeaderMap) -> Response {
    let authorization = headers.get(header::AUTHORIZATION);
    if authorization.map(HeaderValue::as_bytes) != Some(format!("Bearer {API_KEY}").as_bytes()) {
        return refusal(StatusCode::UNAUTHORIZED, "invalid_api_key");
    }
    let model = json!({"id": MODEL, "object": "model", "created": 0, "owned_by": "test"});
    Json(json!({"object": "list", "data": [model]})).into_response()
}

async fn embeddings(headers: HeaderMap, Json(request): Json<Value>) -> Response {
    let authorization = headers
        .get(header::AUTHORIZATION)
        .map(HeaderValue::as_bytes);
    if authorization != Some(format!("Bearer {API_KEY}").as_bytes()) {
        return refusal(StatusCode::UNAUTHORIZED, "invalid_api_key");
    }
    if request["model"] != MODEL {
        return refusal(StatusCode::NOT_FOUND, "model_not_found");
    }
    if request["dimensions"] != DIMENSIONS {
        return refusal(StatusCode::BAD_REQUEST, "invalid_dimensions");
    }
    let texts: Option<Vec<String>> = serde_json::from_value(request["input"].clone()).ok();
    let Some(texts) = texts.filter(|texts| !texts.is_empty()) else {
        return refusal(StatusCode::BAD_REQUEST, "invalid_input");
    };
    let fake = Embedder::Fake(FakeEmbedder::new());
    let embeddings = fake
        .embed(&texts, Purpose::Document)
        .await
        .expect("the fake embeds every text");
    let data = embeddings.iter().enumerate().map(|(index, embedding)| {
        json!({ "object": "embedding", "index": index, "embedding": embedding.vector })
    });
    let data: Vec<Value> = data.collect();
    Json(json!({ "object": "list", "model": MODEL, "data": data })).into_response()
}

fn refusal(status: StatusCode, code: &str) -> Response {
    let error = json!({ "error": { "message": "see the code", "type": "invalid_request_error", "code": code } });
    (status, Json(error)).into_response()
}
