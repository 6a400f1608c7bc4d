//! A fake API of a hosted model on loopback, for tests. It sends scripted answers and records requests.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use serde_json::Value;

/// Returns the response to a request's body.
pub type Answer = fn(&Value) -> Response;

type Seen = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// A fake API, which runs until the test's runtime ends.
pub struct Server {
    /// The address without a path, such as `http://127.0.0.1:40000`.
    pub origin: String,
    seen: Seen,
}

impl Server {
    /// Listens on a free loopback port for `POST {origin}{path}`.
    pub async fn start(path: &str, answer: Answer) -> Self {
        let seen = Seen::default();
        let router = Router::new()
            .route(path, post(answered))
            .with_state((answer, Arc::clone(&seen)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, seen }
    }

    /// Returns the requests so far, in order.
    #[must_use]
    pub fn seen(&self) -> Vec<(HeaderMap, Value)> {
        self.seen.lock().unwrap().clone()
    }
}

async fn answered(
    State((answer, seen)): State<(Answer, Seen)>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let response = answer(&body);
    seen.lock().unwrap().push((headers, body));
    response
}
