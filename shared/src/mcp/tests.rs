//! Complete calls over HTTP, with a book indexed from its files into an in-memory catalog.

mod generated;
mod protocol;
mod reading;

use std::fs;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use futures::FutureExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;
use crate::api::{Limits, Origins, known_origin};
use answer::Rules;
use answer::generate::Generator;
use answer::retrieve::{Backends, OffTopicCache, QuestionCache, Retriever};
use book::chunk::ChunkPolicy;
use indexer::ingest::{Ingest, OpenMode, OpenOptions, Ports, SyncOptions, sync};
use indexer::source::{FolderSource, Source};
use models::embed::{Embedder, FakeEmbedder};
use models::rerank::Reranker;
use store::catalog::{Catalog, SqliteCatalog};
use store::index::{LocalIndex, VectorIndex};

const MODERN: &str = "2026-07-28";
const FORMER: &str = "2025-11-25";

const FROST: &str = "# Frost\n\nCover the seedlings before the night falls below zero.\n\n## Signs of frost\n\n\
    A clear sky, no wind and a low moon are `signs` of frost.\n\n### At dusk\n\nThe grass is dry.\n\n## Sensors\n\n\
    ```js\nread({sensor: \"dew\"});\n```\n";
const HIDDEN: &str = "---\nunlisted: true\n---\n\n# Draft\n\nThis page is in no list.\n";

/// A book that is served, and its caller.
pub(super) struct Served {
    pub(super) router: Router,
    pub(super) retriever: Retriever,
}

impl Served {
    pub(super) async fn book() -> Self {
        let long: String = (0..400)
            .map(|line| format!("Line {line} tells of \"compost\" and sand — ü.\n\n"))
            .collect();
        let long = format!("# Compost\n\n{long}");
        let code = format!(
            "# Code\n\n```text\n{}\n```\n",
            "a b c d e f g h ".repeat(900)
        );
        let guide = "# Guide\n\nStart here. See [frost](../frost.md).\n";
        Self::of_pages(
            &[
                ("frost.md", FROST),
                ("compost.md", &long),
                ("code.md", &code),
                ("guides/start.md", guide),
                ("draft.md", HIDDEN),
            ],
            Limits::NONE,
        )
        .await
    }

    pub(super) async fn of_pages(pages: &[(&str, &str)], limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in pages {
            let path = folder.path().join("docs").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tables = SqliteCatalog::in_memory().unwrap();
        let backends = Backends {
            embedder: Embedder::Fake(FakeEmbedder::new()),
            reranker: Reranker::None,
            vectors: VectorIndex::Local(LocalIndex::from_catalog(&tables)),
            catalog: Catalog::Sqlite(tables),
            off_topic: OffTopicCache::default(),
            questions: QuestionCache::default(),
        };
        let ports = Ports {
            source: Source::Folder(FolderSource::open(folder.path()).unwrap()),
            embedder: backends.embedder.clone(),
            index: backends.vectors.clone(),
            catalog: backends.catalog.clone(),
        };
        let options = OpenOptions {
            site: "garden".to_owned(),
            title: "Garden".to_owned(),
            policy: ChunkPolicy::ADAPTIVE,
            collection: "tests".to_owned(),
            mode: OpenMode::Write,
            retention: None,
        };
        let ingest = Ingest::open(ports, options).await.unwrap();
        let report = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
        assert_eq!(report.files_changed, pages.len(), "{report:?}");
        let index = backends.catalog.live_index().await.unwrap().unwrap();
        let retriever = Retriever { backends, index };
        Self {
            router: router(&retriever, limits),
            retriever,
        }
    }

    /// Sends a message and returns the response.
    pub(super) async fn send(&self, request: Request<Body>) -> (StatusCode, Value) {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&body).into_owned();
        (
            status,
            serde_json::from_slice(&body).unwrap_or(Value::String(text)),
        )
    }

    /// Calls a method of the newest protocol revision and returns its result.
    pub(super) async fn method(&self, method: &str, params: Value) -> Value {
        let (status, mut answer) = self.send(message("/mcp", method, params)).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(answer["error"], Value::Null, "{answer}");
        answer["result"].take()
    }

    /// Calls a tool and returns its result, which is given twice.
    pub(super) async fn tool(&self, name: &str, arguments: Value) -> Value {
        let mut result = self
            .method("tools/call", json!({"name": name, "arguments": arguments}))
            .await;
        assert_eq!(result["isError"], json!(false), "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let text: Value = serde_json::from_str(text).unwrap();
        assert_eq!(text, result["structuredContent"]);
        result["structuredContent"].take()
    }

    /// Calls a tool and returns its error message.
    pub(super) async fn refusal(&self, name: &str, arguments: Value) -> String {
        let result = self
            .method("tools/call", json!({"name": name, "arguments": arguments}))
            .await;
        assert_eq!(result["isError"], json!(true), "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

/// Returns the route as mounted by the query function.
fn router(retriever: &Retriever, limits: Limits) -> Router {
    let answerer = Answerer {
        retriever: retriever.clone(),
        generator: Generator::Extractive,
        rules: Rules::default(),
    };
    let caller = Caller {
        limiter: Limiter::new(retriever.catalog().clone(), limits),
        client_key: "client".to_owned(),
        asker: Arc::new(|_| Asker {
            address_hash: "address".to_owned(),
            question_hash: "question".to_owned(),
            session_hash: "session".to_owned(),
        }),
    };
    let book = Book {
        id: None,
        live: Arc::new(move || std::future::ready(Ok(answerer.clone())).boxed()),
        origin: Some("https://garden.example".to_owned()),
    };
    let origins = Origins::new(&["https://garden.example".to_owned()]);
    let called = post(async move |request| respond(book, caller, request).await);
    Router::new().route(
        "/mcp",
        called.route_layer(from_fn_with_state(origins, known_origin)),
    )
}

/// Returns a message of the newest protocol revision.
pub(super) fn message(uri: &str, method: &str, mut params: Value) -> Request<Body> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    });
    let name = params["name"]
        .as_str()
        .or(params["uri"].as_str())
        .map(str::to_owned);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request = Request::post(uri)
        .header(header::HOST, "garden.example")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", method);
    if let Some(name) = name.filter(|name| name.bytes().all(|byte| (0x20..0x7f).contains(&byte))) {
        request = request.header("mcp-name", name);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

/// Returns a message of former protocol revisions.
fn former(method: &str, params: Value) -> Request<Body> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    Request::post("/mcp")
        .header(header::HOST, "garden.example")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .body(Body::from(body.to_string()))
        .unwrap()
}

fn entries(value: &Value, list: &str) -> Vec<Value> {
    value[list].as_array().unwrap().clone()
}

#[tokio::test]
async fn whoever_accepts_json_is_answered() {
    let served = Served::book().await;
    for (accepted, status) in [
        (None, 200),
        (Some("*/*"), 200),
        (Some("application/json"), 200),
        (Some("application/*, text/*;q=0.5"), 200),
        (Some("application/json, text/event-stream"), 200),
        (Some("text/event-stream"), 406),
        (Some("text/html"), 406),
    ] {
        let mut request = former("tools/list", json!({}));
        request.headers_mut().remove(header::ACCEPT);
        if let Some(accepted) = accepted {
            let accepted = accepted.parse().unwrap();
            request.headers_mut().insert(header::ACCEPT, accepted);
        }
        let response = served.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{accepted:?}");
    }
}
