//! A scripted embeddings API.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header::RETRY_AFTER},
    response::{IntoResponse as _, Response},
    routing::post,
};
use bookrag::embed::{Dimensions, Embedder, FakeEmbedder, OpenAiEmbedder, OpenAiOptions, Purpose};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::PATIENT;

pub(super) enum Reply {
    /// One vector per text.
    Vectors,
    Half,
    /// Vectors with one number too many.
    Longer,
    /// Vectors in which every number is this text.
    Of(&'static str),
    /// 429, with these seconds in `Retry-After`.
    RateLimit(&'static str),
    /// 500.
    Failure,
}

/// Returns the reply to a request, numbered from 1.
pub(super) type Script = fn(usize) -> Reply;

/// The API; it ends with the test's runtime.
pub(super) struct Provider {
    base_url: String,
    told: Arc<Mutex<Told>>,
}

struct Told {
    script: Script,
    requests: usize,
}

impl Provider {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let told = Arc::new(Mutex::new(Told {
            script: |_| Reply::Vectors,
            requests: 0,
        }));
        let router = Router::new()
            .route("/v1/embeddings", post(embeddings))
            .with_state(Arc::clone(&told));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base_url, told }
    }

    /// Returns its embedder, with the identity of `like`, so that it can use the same index.
    pub(super) fn embedder(&self, like: &Embedder) -> Embedder {
        let identity = like.identity();
        let embedder = OpenAiEmbedder::new(OpenAiOptions {
            base_url: self.base_url.clone(),
            api_key: None,
            model: identity.name.clone(),
            dimensions: Dimensions::Requested(identity.dimensions),
            timeout: PATIENT,
        });
        Embedder::OpenAi(embedder.unwrap())
    }

    /// Changes the script and resets the counter of requests.
    pub(super) fn tell(&self, script: Script) {
        *self.told.lock().unwrap() = Told {
            script,
            requests: 0,
        };
    }

    /// Returns the number of requests so far.
    pub(super) fn requests(&self) -> usize {
        self.told.lock().unwrap().requests
    }
}

async fn embeddings(State(told): State<Arc<Mutex<Told>>>, Json(request): Json<Value>) -> Response {
    let reply = {
        let mut told = told.lock().unwrap();
        told.requests += 1;
        (told.script)(told.requests)
    };
    let texts: Vec<String> = serde_json::from_value(request["input"].clone()).unwrap();
    let fake = Embedder::Fake(FakeEmbedder::new());
    let embeddings = fake.embed(&texts, Purpose::Document).await.unwrap();
    let vectors = embeddings.into_iter().map(|embedding| embedding.vector);
    let mut vectors: Vec<Vec<f32>> = vectors.collect();
    match reply {
        Reply::Vectors => {}
        Reply::Half => vectors.truncate(texts.len() / 2),
        Reply::Longer => {
            for vector in &mut vectors {
                vector.push(0.0);
            }
        }
        Reply::Of(number) => return numbers(number, &vectors).into_response(),
        Reply::RateLimit(seconds) => {
            return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, seconds)]).into_response();
        }
        Reply::Failure => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
    let data = vectors.iter().enumerate();
    let data = data.map(|(index, vector)| json!({ "index": index, "embedding": vector }));
    Json(json!({ "data": data.collect::<Vec<_>>() })).into_response()
}

/// Formats a response with every number replaced by `number`; it may be invalid JSON.
fn numbers(number: &str, vectors: &[Vec<f32>]) -> String {
    let data: Vec<String> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| {
            let embedding = vec![number; vector.len()].join(",");
            format!(r#"{{"index":{index},"embedding":[{embedding}]}}"#)
        })
        .collect();
    format!(r#"{{"data":[{}]}}"#, data.join(","))
}
