//! Whole calls over HTTP, of a book that was indexed from its files into a catalog in memory.

mod generated;

use std::collections::BTreeSet;
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
use crate::answer::Rules;
use crate::api::{Limits, Origins, Route, known_origin};
use crate::catalog::{Catalog, SqliteCatalog};
use crate::chunk::{ChunkPolicy, count_tokens};
use crate::embed::{Embedder, FakeEmbedder};
use crate::generate::Generator;
use crate::index::{LocalIndex, VectorIndex};
use crate::ingest::{Ingest, OpenMode, OpenOptions, Ports, SyncOptions, sync};
use crate::rerank::Reranker;
use crate::retrieve::{Backends, Retriever};
use crate::source::{FolderSource, Source};

const MODERN: &str = "2026-07-28";
const FORMER: &str = "2025-11-25";

const FROST: &str = "# Frost\n\nCover the seedlings before the night falls below zero.\n\n## Signs of frost\n\n\
    A clear sky, no wind and a low moon are `signs` of frost.\n\n### At dusk\n\nThe grass is dry.\n\n## Sensors\n\n\
    ```js\nread({sensor: \"dew\"});\n```\n";
const HIDDEN: &str = "---\nunlisted: true\n---\n\n# Draft\n\nThis page is in no list.\n";

/// A book as it is served, and who asks it.
pub(super) struct Served {
    pub(super) router: Router,
    pub(super) retriever: Retriever,
}

impl Served {
    /// A small book.
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
            vectors: VectorIndex::Local(LocalIndex::of(&tables)),
            catalog: Catalog::Sqlite(tables),
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

    /// The response to a message.
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

    /// The result of a method of the newest revision.
    pub(super) async fn method(&self, method: &str, params: Value) -> Value {
        let (status, mut answer) = self.send(message("/mcp", method, params)).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(answer["error"], Value::Null, "{answer}");
        answer["result"].take()
    }

    /// What a tool returns. It says the same twice.
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

    /// What a tool says is wrong.
    pub(super) async fn refusal(&self, name: &str, arguments: Value) -> String {
        let result = self
            .method("tools/call", json!({"name": name, "arguments": arguments}))
            .await;
        assert_eq!(result["isError"], json!(true), "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

/// The route as the query function has it.
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
        live: Arc::new(move || std::future::ready(Ok(answerer.clone())).boxed()),
        origin: Some("https://garden.example".to_owned()),
    };
    let origins = Origins::new(&["https://garden.example".to_owned()], false);
    let called = post(async move |request| respond(book, caller, request).await);
    Router::new().route(
        "/mcp",
        called.route_layer(from_fn_with_state(origins, known_origin)),
    )
}

/// A message as a client of the newest revision sends it.
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

/// A message as clients of the former revisions send it.
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
async fn both_lifecycles_are_served_without_a_session() {
    let served = Served::book().await;
    let discovered = served.method("server/discover", json!({})).await;
    let versions = entries(&discovered, "supportedVersions");
    assert!(
        versions.contains(&json!(MODERN)) && versions.contains(&json!(FORMER)),
        "{discovered}"
    );
    assert!(
        discovered["instructions"]
            .as_str()
            .unwrap()
            .contains("Garden"),
        "{discovered}"
    );

    let params = json!({
        "protocolVersion": FORMER, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
    });
    let (status, answer) = served.send(former("initialize", params)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        answer["result"]["protocolVersion"],
        json!(FORMER),
        "{answer}"
    );
    // No session: the next message may meet another instance.
    let call = json!({"name": "fetch", "arguments": {"id": "/docs/frost"}});
    let (status, answer) = served.send(former("tools/call", call)).await;
    assert_eq!(status, StatusCode::OK);
    let text = answer["result"]["structuredContent"]["text"]
        .as_str()
        .unwrap();
    assert!(text.starts_with("# Frost"), "{answer}");
}

#[tokio::test]
async fn tools_have_a_fixed_order_and_say_that_they_only_read() {
    let served = Served::book().await;
    let listed = served.method("tools/list", json!({})).await;
    let tools = entries(&listed, "tools");
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, tools::NAMES);
    for tool in &tools {
        let annotations = &tool["annotations"];
        assert_eq!(annotations["readOnlyHint"], json!(true), "{tool}");
        assert_eq!(annotations["openWorldHint"], json!(false), "{tool}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], json!("object"), "{tool}");
            // Clients do not all follow references.
            assert!(!tool[schema].to_string().contains("$ref"), "{tool}");
        }
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["query"]));
}

#[tokio::test]
async fn what_a_search_returns_can_be_fetched_and_cited() {
    let served = Served::book().await;
    let found = served
        .tool("search", json!({"query": "What are the signs of frost?"}))
        .await;
    let best = &found["results"][0];
    assert_eq!(best["id"], json!("/docs/frost#signs-of-frost"), "{found}");
    assert_eq!(best["title"], json!("Frost – Signs of frost"));
    assert_eq!(
        best["url"],
        json!("https://garden.example/docs/frost#signs-of-frost")
    );
    assert_eq!(best["lines"], json!("5-7"));
    let fetched = served.tool("fetch", json!({"id": best["id"]})).await;
    assert_eq!(
        fetched["text"],
        json!(
            "## Signs of frost {#signs-of-frost}\n\nA clear sky, no wind and a low moon are `signs` of frost.\n\n\
             ### At dusk {#at-dusk}\n\nThe grass is dry."
        )
    );
    assert_eq!(fetched["url"], best["url"]);
    assert_eq!(fetched.get("next"), None);
}

#[tokio::test]
async fn the_shapes_are_those_of_connectors() {
    let served = Served::book().await;
    let found = served.tool("search", json!({"query": "compost"})).await;
    for result in entries(&found, "results") {
        for field in ["id", "title", "text", "url"] {
            assert!(
                !result[field].as_str().unwrap().is_empty(),
                "{field}: {result}"
            );
        }
        let fetched = served.tool("fetch", json!({"id": result["id"]})).await;
        for field in ["id", "title", "text", "url"] {
            assert!(
                !fetched[field].as_str().unwrap().is_empty(),
                "{field}: {fetched}"
            );
        }
        assert_eq!(fetched["id"], result["id"]);
    }
}

#[tokio::test]
async fn parts_of_a_text_are_the_whole_of_it() {
    let served = Served::book().await;
    for page in ["/docs/compost", "/docs/code"] {
        let whole = read_at(&served, page, "/mcp?max_tokens=100000").await;
        let parts = read_at(&served, page, "/mcp?max_tokens=1000").await;
        assert!(whole.len() == 1 && parts.len() > 2, "{} parts", parts.len());
        assert_eq!(parts.concat(), whole[0]);
        assert!(whole[0].len() > 10_000);
    }
}

/// All parts of a text.
async fn read_at(served: &Served, page: &str, uri: &str) -> Vec<String> {
    let (mut parts, mut next) = (Vec::new(), Some(page.to_owned()));
    while let Some(id) = next {
        let params = json!({"name": "fetch", "arguments": {"id": id}});
        let (_, answer) = served.send(message(uri, "tools/call", params)).await;
        let fetched = &answer["result"]["structuredContent"];
        let text = fetched["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"));
        assert!(!text.is_empty());
        parts.push(text.to_owned());
        next = fetched["next"].as_str().map(str::to_owned);
    }
    parts
}

#[tokio::test]
async fn an_answer_says_whether_it_is_one() {
    let served = Served::book().await;
    let answer = served
        .tool("ask", json!({"question": "What are the signs of frost?"}))
        .await;
    assert_eq!(answer["answerable"], json!(true), "{answer}");
    let cited = &answer["citations"][0];
    assert_eq!(cited["id"], json!("/docs/frost#signs-of-frost"), "{answer}");
    assert!(
        cited["quote"].as_str().unwrap().contains("clear sky"),
        "{answer}"
    );
    served.tool("fetch", json!({"id": cited["id"]})).await;

    // `query` is understood as well.
    let asked = json!({"query": "Who won the chess championship in Reykjavik?"});
    let refused = served.tool("ask", asked).await;
    assert_eq!(refused["answerable"], json!(false), "{refused}");
    for near in entries(&refused, "nearest") {
        served.tool("fetch", json!({"id": near["id"]})).await;
    }
}

#[tokio::test]
async fn an_outline_leads_to_every_listed_page_and_heading() {
    let served = Served::book().await;
    let pages = served.tool("outline", json!({})).await;
    let ids = |outline: &Value| -> BTreeSet<String> {
        let entries = entries(outline, "entries").into_iter();
        entries
            .map(|entry| entry["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = [
        "/docs/code",
        "/docs/compost",
        "/docs/frost",
        "/docs/guides/start",
    ];
    assert_eq!(ids(&pages), all.map(str::to_owned).into());
    let below = served
        .tool("outline", json!({"under": "/docs/guides"}))
        .await;
    assert_eq!(ids(&below), ["/docs/guides/start".to_owned()].into());

    let headings = served
        .tool("outline", json!({"under": "/docs/frost"}))
        .await;
    let headings = entries(&headings, "entries");
    let levels: Vec<(&str, u64)> = headings
        .iter()
        .map(|entry| {
            (
                entry["title"].as_str().unwrap(),
                entry["level"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        levels,
        [
            ("Frost", 1),
            ("Signs of frost", 2),
            ("At dusk", 3),
            ("Sensors", 2)
        ]
    );
    for heading in &headings {
        let fetched = served.tool("fetch", json!({"id": heading["id"]})).await;
        let tokens = fetched["tokens"].as_u64().unwrap();
        // Headings, anchors and the marks of code are not counted there.
        let listed = heading["tokens"].as_u64().unwrap();
        assert!(
            listed <= tokens && tokens < 3 * listed + 40,
            "{heading} {tokens}"
        );
    }
}

#[tokio::test]
async fn the_pages_are_resources_in_parts_of_the_budget() {
    let served = Served::book().await;
    let listed = served.method("resources/list", json!({})).await;
    let resources = entries(&listed, "resources");
    assert_eq!(resources.len(), 4, "{listed}");
    for resource in resources {
        assert_eq!(resource["mimeType"], json!("text/markdown"));
        let read = served
            .method("resources/read", json!({"uri": resource["uri"]}))
            .await;
        let text = read["contents"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("# "), "{text}");
        assert!(count_tokens(&read.to_string()) <= 6_000);
    }
    let absent = message(
        "/mcp",
        "resources/read",
        json!({"uri": "book:///docs/nowhere"}),
    );
    let (_, answer) = served.send(absent).await;
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("/docs/nowhere")
    );
}

#[tokio::test]
async fn lists_beyond_the_budget_go_on_where_they_ended() {
    let names: Vec<String> = (0..120).map(|page| format!("page-{page:03}.md")).collect();
    let pages: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "# A page\n\nText.\n"))
        .collect();
    let served = Served::of_pages(&pages, Limits::NONE).await;
    let (mut seen, mut under, mut parts) = (BTreeSet::new(), None, 0);
    loop {
        let params = json!({"name": "outline", "arguments": {"under": under}});
        let (_, answer) = served
            .send(message("/mcp?max_tokens=1000", "tools/call", params))
            .await;
        let outline = &answer["result"]["structuredContent"];
        for entry in entries(outline, "entries") {
            assert!(
                seen.insert(entry["id"].as_str().unwrap().to_owned()),
                "{entry} comes twice"
            );
        }
        parts += 1;
        under = outline["next"].as_str().map(str::to_owned);
        if under.is_none() {
            break;
        }
    }
    assert!(seen.len() == 120 && parts > 2, "{} in {parts}", seen.len());
    let (mut seen, mut cursor) = (0, None);
    loop {
        let params = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let (_, answer) = served
            .send(message("/mcp?max_tokens=1000", "resources/list", params))
            .await;
        seen += entries(&answer["result"], "resources").len();
        cursor = answer["result"]["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, 120);
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_told_so_that_it_can_be_corrected() {
    let served = Served::book().await;
    for (tool, arguments, told) in [
        ("fetch", json!({"id": "/docs/nowhere"}), "/docs/nowhere"),
        (
            "fetch",
            json!({"id": "67e55044-10b1-426f-9247-bb680e5fe0c8"}),
            "67e55044",
        ),
        ("fetch", json!({"id": "/docs/frost#nowhere"}), "#nowhere"),
        ("fetch", json!({"id": "/docs/frost~99999"}), "ends before"),
        ("fetch", json!({}), "id must not be empty"),
        ("fetch", json!({"id": 7}), "id"),
        ("search", json!({"query": ""}), "1 to 2000 characters"),
        (
            "search",
            json!({"query": "frost", "limit": 21}),
            "limit must be 1 to 20, it is 21",
        ),
        ("search", json!({"query": "frost", "version": "9.9"}), "9.9"),
        ("outline", json!({"version": "9.9"}), "there are current"),
        ("outline", json!({"under": "/blog"}), "/blog"),
        ("ask", json!({"question": "x".repeat(2_001)}), "2001"),
    ] {
        let message = served.refusal(tool, arguments.clone()).await;
        assert!(message.contains(told), "{tool} {arguments}: {message}");
        assert!(message.chars().count() < 400, "{message}");
    }
    let (_, answer) = served
        .send(message(
            "/mcp",
            "tools/call",
            json!({"name": "delete", "arguments": {}}),
        ))
        .await;
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("search, fetch, ask, outline")
    );
}

#[tokio::test]
async fn a_chunk_is_fetched_by_the_id_that_the_api_gives_it() {
    let served = Served::book().await;
    let catalog = served.retriever.catalog();
    let index_id = served.retriever.index.index_id;
    let page = catalog
        .pages_at(index_id, &["/docs/frost".to_owned()])
        .await
        .unwrap()
        .remove(0);
    let chunks = catalog.chunks(index_id, page.document_id).await.unwrap();
    assert!(chunks.len() > 2);
    for chunk in chunks {
        let fetched = served.tool("fetch", json!({"id": chunk.chunk_id})).await;
        let last = chunk.text.lines().last().unwrap();
        let last = last.trim_matches('`');
        assert!(
            fetched["text"]
                .as_str()
                .unwrap()
                .contains(last.split(' ').next().unwrap()),
            "{fetched}"
        );
    }
}

#[tokio::test]
async fn pages_of_other_sites_may_not_call() {
    let served = Served::book().await;
    for (origin, status) in [
        ("https://garden.example", StatusCode::OK),
        ("https://evil.example", StatusCode::FORBIDDEN),
        ("http://localhost:8080", StatusCode::FORBIDDEN),
        ("null", StatusCode::FORBIDDEN),
    ] {
        let mut request = message("/mcp", "tools/list", json!({}));
        request
            .headers_mut()
            .insert(header::ORIGIN, origin.parse().unwrap());
        assert_eq!(served.send(request).await.0, status, "{origin}");
    }
}

#[tokio::test]
async fn a_question_counts_as_a_readers_question() {
    let limits = Limits {
        chat: Some(2),
        ..Limits::NONE
    };
    let served = Served::of_pages(&[("frost.md", FROST)], limits).await;
    let question = json!({"question": "What are the signs of frost?"});
    for _ in 0..2 {
        served.tool("ask", question.clone()).await;
    }
    let told = served.refusal("ask", question).await;
    assert!(told.contains("too many questions, please wait"), "{told}");
    served.tool("search", json!({"query": "frost"})).await;
    // What readers are told by is not used up by what costs no model.
    let turn = Limiter::new(served.retriever.catalog().clone(), limits);
    assert!(turn.take(Route::Chat, "another client").await.is_ok());
}

#[tokio::test]
async fn a_message_is_bounded() {
    let served = Served::book().await;
    let huge = json!({"name": "fetch", "arguments": {"id": "x".repeat(MAX_BODY_BYTES)}});
    let (status, _) = served.send(message("/mcp", "tools/call", huge)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    for tokens in ["0", "many", "1000000"] {
        let uri = format!("/mcp?max_tokens={tokens}");
        let (status, answer) = served.send(message(&uri, "tools/list", json!({}))).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    }
    let get = Request::get("/mcp")
        .header(header::HOST, "garden.example")
        .body(Body::empty())
        .unwrap();
    assert_eq!(served.send(get).await.0, StatusCode::METHOD_NOT_ALLOWED);
}
