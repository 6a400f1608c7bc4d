//! Answers end to end: the functions' own routers over a real Postgres, Qdrant's engine and a scripted chat model,
//! each behind a proxy that can break connections.

mod attacks;
mod attribution;
mod cached;
mod completions;
mod conversations;
mod degraded;
mod description;
mod extracts;
mod generators;
mod guard_rails;
mod journal;
mod lookups;
mod programs;
mod streams;
mod unlisted;

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use bookrag::config::{Config, Environment};
use bookrag::context::Context;
use bookrag_tests::backends::Backends;
use bookrag_tests::chat_model::{ChatModel, Reply};
use bookrag_tests::proxy::{Proxy, Target};
use futures::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The server's role; anyone with access to its socket is trusted.
const USER: &str = "rag";
/// The longest time for an answer, whatever fails.
const BOUND: Duration = Duration::from_mins(1);

/// The two pages of the book.
const FROST: &str = "# Frost\n\nCover the seedlings before the night falls below zero.\n\n\
    ## Signs of frost\n\nA clear sky, no wind and a low moon are signs of frost. See [the almanac](https://almanac.example/frost).\n";
const SOIL: &str = "# Soil\n\nSand drains quickly, clay holds water.\n\n\
    ## Compost\n\nCompost feeds the soil: spread three centimetres of compost every spring.\n";
/// A question that the book answers, then one that it does not.
const COVERED: &str = "What are the signs of frost?";
const NOT_COVERED: &str = "Who won the chess championship in Reykjavik?";

/// Returns what follows a sentence of doubt; `None` if the answer does not begin with one.
fn after_doubt(answer: &str) -> Option<&str> {
    answer.strip_prefix(bookrag::answer::UNCERTAIN)
}

struct Service {
    url: String,
    backends: Backends,
    model: ChatModel,
    /// The proxies of the stores.
    qdrant: Proxy,
    database: Proxy,
    client: reqwest::Client,
    server: JoinHandle<()>,
    book: TempDir,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Service {
    /// Serves the book with a scripted model.
    async fn with_model(database: &str, script: Reply) -> Self {
        Self::start(database, script, &[]).await
    }

    /// Serves the book with extractive answers.
    async fn extractive(database: &str) -> Self {
        let script = Reply::text(["no model is asked"]);
        Self::start(database, script, &[("BOOKRAG_GENERATOR", "extractive")]).await
    }

    /// Serves the book with a scripted model and the test's own variables.
    async fn start(database: &str, script: Reply, variables: &[(&str, &str)]) -> Self {
        Self::of_book(
            database,
            script,
            variables,
            &[("frost.md", FROST), ("soil.md", SOIL)],
        )
        .await
    }

    async fn of_book(
        database: &str,
        script: Reply,
        variables: &[(&str, &str)],
        pages: &[(&str, &str)],
    ) -> Self {
        let book = tempfile::tempdir().unwrap();
        fs::create_dir(book.path().join("docs")).unwrap();
        for (name, text) in pages {
            fs::write(book.path().join("docs").join(name), text).unwrap();
        }
        Self::of_folder(database, script, variables, book).await
    }

    /// Serves the book in a folder.
    async fn of_folder(
        database: &str,
        script: Reply,
        variables: &[(&str, &str)],
        book: TempDir,
    ) -> Self {
        let backends = Backends::start(database).await;
        backends.fill(book.path()).await;
        let model = ChatModel::start(script).await;
        let qdrant = Proxy::start(Target::http(backends.engine_url())).await;
        let proxied = Proxy::start(Target::postgres(backends.database_url())).await;
        let mut environment: HashMap<String, String> = backends
            .environment()
            .into_iter()
            .chain(model.cohere_environment())
            .chain(model.environment())
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let address = proxied.address();
        let url = format!("postgresql://{USER}@{address}/{database}?sslmode=disable");
        environment.insert("DATABASE_URL".to_owned(), url);
        let url = format!("http://{}", qdrant.address());
        environment.insert("QDRANT_URL".to_owned(), url);
        for route in ["CHAT", "SEARCH", "FEEDBACK", "MCP"] {
            environment.insert(format!("BOOKRAG_{route}_PER_MINUTE"), "0".to_owned());
        }
        for (name, value) in variables {
            environment.insert((*name).to_owned(), (*value).to_owned());
        }
        // Fails if another test has already installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = Config::read(Environment::Lambda, &environment).unwrap();
        let context = Arc::new(Context::hosted(&config).await.unwrap());
        let router = Router::new()
            .merge(query::routes(Arc::clone(&context)))
            .merge(search::routes(Arc::clone(&context)))
            .merge(health::routes(context));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let server = tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
        Self {
            url,
            backends,
            model,
            qdrant,
            database: proxied,
            client: reqwest::Client::new(),
            server,
            book,
        }
    }

    fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.url));
        request.timeout(BOUND).json(body)
    }

    /// Returns the status and envelope of an answer.
    async fn ask(&self, request: Value) -> (u16, Value) {
        let response = self.post("/api/v1/chat", &request).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Returns the data and meta of a successful answer.
    async fn answer(&self, question: &str) -> (Value, Value) {
        let (status, mut envelope) = self.ask(json!({"query": question})).await;
        assert_eq!(status, 200, "{envelope}");
        (envelope["data"].take(), envelope["meta"].take())
    }

    /// Returns the events of a streamed answer.
    async fn stream(&self, request: Value) -> Vec<(String, Value)> {
        let request = self.post("/api/v1/chat", &request);
        let response = request.header("accept", "text/event-stream").send().await;
        let response = response.unwrap();
        assert_eq!(response.status(), 200);
        let mut body = response.bytes_stream();
        let mut text = Vec::new();
        while let Some(bytes) = body.next().await {
            text.extend_from_slice(&bytes.unwrap());
        }
        events(&String::from_utf8(text).unwrap())
    }

    /// Returns a single value, read directly from the database.
    async fn row(&self, query: &str) -> Option<String> {
        let (client, connection) =
            tokio_postgres::connect(self.backends.database_url(), tokio_postgres::NoTls)
                .await
                .unwrap();
        let connection = tokio::spawn(connection);
        let rows = client.query(query, &[]).await.unwrap();
        let value = rows.first().map(|row| row.get(0));
        drop(client);
        connection.await.unwrap().unwrap();
        value
    }
}

/// Parses the events of a stream, without comments.
fn events(text: &str) -> Vec<(String, Value)> {
    let field = |event: &str, name: &str| -> Option<String> {
        let line = event.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim_start().to_owned())
    };
    text.split("\n\n")
        .filter_map(|event| {
            let data = field(event, "data:")?;
            let name = field(event, "event:").unwrap();
            Some((name, serde_json::from_str(&data).unwrap()))
        })
        .collect()
}

/// Concatenates the tokens of a stream.
fn text_of(events: &[(String, Value)]) -> String {
    events
        .iter()
        .filter(|(name, _)| name == "token")
        .map(|(_, data)| data["token"].as_str().unwrap())
        .collect()
}

fn degraded(meta: &Value) -> Vec<&str> {
    let names = meta["degraded"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap()).collect()
}
