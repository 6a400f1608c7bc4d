//! A deployment of three books in this process, one of them private.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use bookrag::api::{PlatformRequestId, not_found};
use bookrag::books::{self, Book, OpenBook};
use bookrag::catalog::{Catalog, SqliteCatalog};
use bookrag::chunk::ChunkPolicy;
use bookrag::config::{BookSettings, Config, Environment};
use bookrag::context::Context;
use bookrag::embed::{Embedder, FakeEmbedder};
use bookrag::index::{LocalIndex, VectorIndex};
use bookrag::ingest::{Ingest, OpenMode, OpenOptions, Ports, SyncOptions, sync};
use bookrag::rerank::Reranker;
use bookrag::retrieve::{Backends, OffTopicCache, QuestionCache};
use bookrag::source::{FolderSource, Source};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const BOOKS: &str = "garden https://garden.example, kitchen https://kitchen.example, cellar private https://cellar.example";
/// An id that no book has, as long as that of the private book.
pub(super) const UNKNOWN: &str = "celler";
pub(super) const PRIVATE: &str = "cellar";
const SECRET: &str = "a secret of thirty-two bytes or more, at least";
/// Signed with [`SECRET`], valid until 2100: `{"alg":"HS256","typ":"JWT"}` and `{"exp":4102444800}`.
const TOKEN: &str = "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjQxMDI0NDQ4MDB9.riYKgLc9yKFJEFyCwbarJEucJFt4oq4r5fvuysqIOt8"; // kingfisher:ignore: a token of this test

/// A word that only the pages of one book have, and that no request has.
pub(super) fn canary(book: &str) -> String {
    format!("canary{book}words")
}

/// The pages of the books, whose words are asked for.
pub(super) const PAGES: [(&str, &str, &str); 6] = [
    (
        "garden",
        "wheels",
        "Tighten the wheels with the blue wrench.",
    ),
    (
        "garden",
        "probe",
        "The moisture probe needs calibration in dry sand.",
    ),
    ("kitchen", "bread", "Let the dough rise for two hours."),
    (
        "kitchen",
        "probe",
        "The thermometer of the oven needs calibration in boiling water.",
    ),
    ("cellar", "wine", "The barrel of wine is tapped in autumn."),
    (
        "cellar",
        "probe",
        "The hydrometer needs calibration in distilled water.",
    ),
];

/// The books of a deployment, as its functions serve them.
pub(super) struct Deployment {
    router: Router,
    _folders: Vec<tempfile::TempDir>,
}

/// An answer: its status, its headers, and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: String,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.headers.contains(word) || self.body.contains(word)
    }

    /// Returns the answer to a request about [`UNKNOWN`] as if it had been about [`PRIVATE`].
    pub(super) fn about_private(&self) -> Self {
        Self {
            headers: self.headers.replace(UNKNOWN, PRIVATE),
            body: self.body.replace(UNKNOWN, PRIVATE),
            ..*self
        }
    }
}

impl Deployment {
    pub(super) async fn start() -> Self {
        let variables = [
            ("BOOKRAG_BOOKS", BOOKS),
            ("BOOKRAG_AUTH_SECRET", SECRET),
            ("BOOKRAG_STORE_CONVERSATIONS", "1"),
            ("BOOKRAG_STORE_QUESTIONS", "true"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let config = Config::read(Environment::Local, &HashMap::from(variables)).unwrap();
        let mut folders = Vec::new();
        let mut opened = Vec::new();
        for settings in &config.books {
            let folder = tempfile::tempdir().unwrap();
            let title = canary(settings.id.as_str());
            let site = format!("module.exports = {{title: '{title}', baseUrl: '/'}};");
            std::fs::write(folder.path().join("docusaurus.config.js"), site).unwrap();
            std::fs::create_dir(folder.path().join("docs")).unwrap();
            for (_, name, text) in PAGES.iter().filter(|(id, ..)| *id == settings.id.as_str()) {
                let page = format!("# {name} {title}\n\n{text} It is the {title}.\n");
                let path = folder.path().join(format!("docs/{name}.md"));
                std::fs::write(path, page).unwrap();
            }
            opened.push(book(settings, &config, &folder).await);
            folders.push(folder);
        }
        Self {
            router: books::router(opened).fallback(not_found),
            _folders: folders,
        }
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let mut request = request;
        let id = PlatformRequestId("request".to_owned());
        request.extensions_mut().insert(id);
        let response = self.router.clone().oneshot(request).await;
        let (head, body) = response.unwrap().into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: head.status.as_u16(),
            headers: format!("{:?}", head.headers),
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(request("POST", path, &[], body)).await
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path, &[], &Value::Null)).await
    }

    /// Sends a request as a reader who has signed in.
    pub(super) async fn signed_in(&self, method: &str, path: &str, body: &Value) -> Answer {
        let token = ("authorization", TOKEN);
        self.send(request(method, path, &[token], body)).await
    }
}

async fn book(settings: &BookSettings, config: &Config, folder: &tempfile::TempDir) -> Book {
    let config = config.of_book(settings);
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
        site: settings.id.to_string(),
        title: settings.id.to_string(),
        policy: ChunkPolicy::ADAPTIVE,
        collection: config.collection.clone(),
        mode: OpenMode::Write,
        retention: None,
    };
    let ingest = Ingest::open(ports, options).await.unwrap();
    sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    let context = Arc::new(Context::new(&config, backends).unwrap());
    let routes = query::routes(Arc::clone(&context))
        .merge(search::routes(Arc::clone(&context)))
        .merge(health::routes(Arc::clone(&context)))
        .fallback(not_found);
    let url = settings.origins.first().cloned();
    Book::of_open(settings.id.clone(), url, OpenBook { context, routes })
}

pub(super) fn request(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if headers.iter().all(|(name, _)| *name != "host") {
        request = request.header(header::HOST, "api.example");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if body.is_null() {
        return request.body(Body::empty()).unwrap();
    }
    request
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

/// Returns a call of a tool of the Model Context Protocol.
pub(super) fn call(tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}
