//! Requests that try to reach a private book.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::deployment::{PRIVATE, UNKNOWN, call, request};

/// The claims of a token without a signature: `{"alg":"none"}`.
const UNSIGNED: &str = "Bearer eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9."; // kingfisher:ignore: a token without a signature

/// Ids that name the private book in another way, or lead out of a book.
const HOSTILE: [&str; 22] = [
    "../cellar",
    "..%2fcellar",
    "%2e%2e/cellar",
    "%2e%2e%2fcellar",
    "garden/../cellar",
    "garden/..%2fcellar",
    "garden%2f..%2fcellar",
    "garden/%2e%2e/cellar",
    "./cellar",
    "/cellar",
    "%2fcellar",
    "cellar%00",
    "%00cellar",
    "cellar%20",
    "cellar%09",
    "cellar;",
    "CELLAR",
    "%63ellar",
    "%D1%81ellar",
    "%EF%BD%83ellar",
    "garden,cellar",
    "*",
];

/// The same in a text, where nothing is encoded.
const HOSTILE_TEXTS: [&str; 12] = [
    "../cellar",
    "garden/../cellar",
    "cellar\0",
    "\0cellar",
    "cellar ",
    "cellar\n",
    "CELLAR",
    "\u{441}ellar",
    "\u{ff43}ellar",
    "cel\u{200b}lar",
    "%63ellar",
    "*",
];

/// Headers by which proxies and clients name another address, another method or another reader.
const HOSTILE_HEADERS: [(&str, &str); 13] = [
    ("host", "cellar.example"),
    ("x-forwarded-host", "cellar.example"),
    ("x-original-url", "/books/cellar/api/v1/chat"),
    ("x-rewrite-url", "/books/cellar/api/v1/chat"),
    ("x-forwarded-prefix", "/books/cellar"),
    ("x-http-method-override", "GET"),
    ("x-book", PRIVATE),
    ("cookie", "book=cellar"),
    ("referer", "https://cellar.example/docs/wine"),
    ("x-forwarded-for", "127.0.0.1"),
    ("authorization", UNSIGNED),
    ("authorization", "Bearer"),
    ("authorization", "Basic Y2VsbGFyOmNlbGxhcg=="),
];

/// Returns the routes of a book: those of the description of the API, and some more.
fn routes() -> Vec<String> {
    let described = include_str!("../../../../docs/openapi.json");
    let described: Value = serde_json::from_str(described).unwrap();
    let paths = described["paths"].as_object().unwrap().keys().cloned();
    let id = "00000000-0000-4000-8000-000000000000";
    let more = [
        "/mcp",
        "/",
        "",
        "/docs/wine",
        "/insights",
        "/local/book",
        "/local/sync",
    ];
    let paths = paths.map(|path| path.replace("{id}", id));
    paths.chain(more.map(str::to_owned)).collect()
}

/// Two requests with a name: about the private book, and about one that does not exist.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) private: Request<Body>,
    pub(super) unknown: Request<Body>,
}

/// Pairs of requests.
#[derive(Default)]
pub(super) struct Pairs(pub(super) Vec<Pair>);

impl Pairs {
    /// Adds a pair. `build` makes a request about the book with an id.
    fn add(&mut self, name: String, build: impl Fn(&str) -> Request<Body>) {
        self.0.push(Pair {
            name,
            private: build(PRIVATE),
            unknown: build(UNKNOWN),
        });
    }

    /// Adds requests to all routes of a book.
    pub(super) fn add_routes(&mut self) {
        for route in routes() {
            for method in ["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS"] {
                self.add(format!("{method} {route}"), |id| {
                    request(method, &format!("/books/{id}{route}"), &[], &question())
                });
            }
        }
    }

    /// Adds requests whose addresses name a book in a hostile way.
    pub(super) fn add_addresses(&mut self) {
        for hostile in HOSTILE {
            for route in ["/api/v1/chat", "/mcp"] {
                self.add(format!("{hostile} {route}"), |id| {
                    let path = format!("/books/{}{route}", about(id, hostile));
                    request("POST", &path, &[], &question())
                });
            }
            self.add(format!("?books={hostile}"), |id| {
                let path = format!("/api/v1/search?q=wine&books={}", about(id, hostile));
                request("GET", &path, &[], &Value::Null)
            });
        }
        let page = "https://cellar.example/docs/wine";
        self.add("page".to_owned(), |id| {
            let path = format!("/api/v1/page?url={}", about(id, page));
            request("GET", &path, &[], &Value::Null)
        });
        self.add("fetch".to_owned(), |id| {
            let arguments = json!({"id": about(id, page)});
            request("POST", "/mcp", &[], &call("fetch", &arguments))
        });
    }

    /// Adds requests whose bodies name a book.
    pub(super) fn add_bodies(&mut self) {
        for hostile in HOSTILE_TEXTS.into_iter().chain([PRIVATE]) {
            self.add(format!("books {hostile:?}"), |id| {
                let mut body = question();
                body["books"] = json!([about(id, hostile), "garden"]);
                request("POST", "/api/v1/chat", &[], &body)
            });
            self.add(format!("model {hostile:?}"), |id| {
                let messages = json!([{"role": "user", "content": question()["query"]}]);
                let body = json!({"model": about(id, hostile), "messages": messages});
                request("POST", "/v1/chat/completions", &[], &body)
            });
            for (tool, name) in [("search", "query"), ("ask", "question")] {
                self.add(format!("{tool} {hostile:?}"), |id| {
                    let arguments =
                        json!({name: question()["query"], "books": [about(id, hostile)]});
                    request("POST", "/mcp", &[], &call(tool, &arguments))
                });
            }
            for (tool, name) in [("fetch", "id"), ("outline", "under")] {
                self.add(format!("{tool} {hostile:?}"), |id| {
                    let place = format!("book://{}/docs/wine", about(id, hostile));
                    request("POST", "/mcp", &[], &call(tool, &json!({name: place})))
                });
            }
        }
    }

    /// Adds requests with headers that name a book.
    pub(super) fn add_headers(&mut self) {
        for (name, value) in HOSTILE_HEADERS {
            for (method, path) in [
                ("POST", "/api/v1/chat"),
                ("POST", "/books/cellar/api/v1/chat"),
                ("POST", "/api/v1/search"),
                ("POST", "/mcp"),
                ("GET", "/api/v1/page?url=/docs/wine"),
                ("GET", "/api/v1/books"),
            ] {
                self.add(format!("{name}: {value} {path}"), |id| {
                    let value = about(id, value);
                    request(
                        method,
                        &about(id, path),
                        &[(name, value.as_str())],
                        &question(),
                    )
                });
            }
        }
    }
}

/// Returns a text about the private book as one about another.
fn about(id: &str, text: &str) -> String {
    text.replace(PRIVATE, id)
}

/// A question that only the private book answers.
fn question() -> Value {
    json!({"query": "When is the barrel of wine tapped?"})
}
