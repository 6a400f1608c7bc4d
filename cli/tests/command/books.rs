//! One server with several books.

use serde_json::{Value, json};

use crate::client::client;
use crate::support::{Server, Workshop};

/// Words that only one of the two books has.
const OF_GARDEN: [&str; 3] = ["wrench", "moisture", "Garden"];
const OF_KITCHEN: [&str; 3] = ["dough", "oven", "Kitchen"];

/// A workshop with the site of [`Workshop::small`] and another one.
fn two_sites() -> Workshop {
    let workshop = Workshop::small();
    let kitchen = workshop.path().join("kitchen");
    std::fs::create_dir_all(kitchen.join("docs")).unwrap();
    let config = "module.exports = {title: 'Kitchen', baseUrl: '/'};";
    std::fs::write(kitchen.join("docusaurus.config.js"), config).unwrap();
    for (name, text) in [
        (
            "docs/bread.md",
            "# Bread\n\nLet the dough rise for two hours; then [bake](./probe.md) it.\n",
        ),
        (
            "docs/probe.md",
            "# Probe\n\nThe thermometer of the oven needs calibration in boiling water.\n",
        ),
    ] {
        std::fs::write(kitchen.join(name), text).unwrap();
    }
    workshop
}

/// The same with their server.
fn library() -> (Workshop, Server) {
    let workshop = two_sites();
    let stored = [("BOOKRAG_STORE_CONVERSATIONS", "1")];
    let server = workshop.serve_with(&stored, &["kitchen"]);
    server.wait_for("/local/book", |book| {
        book["pages"] == 4 && book["indexing"].is_null()
    });
    (workshop, server)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns an answer without what differs each time.
fn lasting(mut answer: Value) -> Value {
    answer["meta"] = Value::Null;
    for name in ["message_id", "conversation_id"] {
        answer["data"][name] = Value::Null;
    }
    answer
}

#[test]
fn a_question_goes_to_the_book_that_is_nearest() {
    let (_workshop, server) = library();
    for (question, book, path) in [
        ("How do I tighten the wheels?", "garden", "/docs/wheels"),
        ("How long does the dough rise?", "kitchen", "/docs/bread"),
    ] {
        let (status, answer) = server.post("/api/v1/chat", &json!({ "query": question }));
        assert_eq!(status, 200, "{answer}");
        let data = &answer["data"];
        assert_eq!(data["book"]["id"], book, "{answer}");
        let url = format!("{}/books/{book}", server.url);
        assert_eq!(data["book"]["url"], url);
        let cited = data["citations"][0]["url"].as_str().unwrap();
        assert!(cited.starts_with(&format!("{url}{path}")), "{cited}");
        // The address leads to the page.
        let page = client().get(cited).send().unwrap();
        assert_eq!(page.status(), 200);

        let body = json!({
            "model": "any", "messages": [{"role": "user", "content": question}]
        });
        let (_, completed) = server.post("/v1/chat/completions", &body);
        let content = completed["choices"][0]["message"]["content"].as_str();
        assert!(
            content.unwrap().contains(&format!("({url}{path}")),
            "{completed}"
        );

        let (_, markdown) = server.get(&format!("/api/v1/ask?q={}", question.replace(' ', "+")));
        assert!(markdown.contains(&format!("({url}{path}")), "{markdown}");

        // The model that a client names may be a book.
        let other = if book == "garden" {
            "kitchen"
        } else {
            "garden"
        };
        let of_other = json!({ "model": other, "messages": body["messages"] });
        let (_, completed) = server.post("/v1/chat/completions", &of_other);
        let cited = completed["citations"].to_string();
        assert!(!cited.contains(path), "{completed}");

        let rated = json!({ "message_id": data["message_id"], "rating": "up" });
        assert_eq!(server.post("/api/v1/feedback", &rated).0, 200);
        let (status, _) = server.post(&format!("/books/{other}/api/v1/feedback"), &rated);
        assert_eq!(status, 404);
    }
}

#[test]
fn a_conversation_may_change_the_book() {
    let (_workshop, server) = library();
    let mut conversation = Value::Null;
    for (question, book) in [
        ("How do I tighten the wheels?", "garden"),
        ("And with which wrench?", "garden"),
        ("How long does the dough of the bread rise?", "kitchen"),
    ] {
        let body =
            json!({ "query": question, "conversation_id": conversation, "session_id": "reader" });
        let (_, answer) = server.post("/api/v1/chat", &body);
        assert_eq!(answer["data"]["book"]["id"], book, "{question}: {answer}");
        conversation = answer["data"]["conversation_id"].clone();
        assert!(conversation.is_string(), "{answer}");
    }
}

#[test]
fn a_named_book_answers_as_it_does_alone() {
    let (workshop, library) = library();
    let question = json!({ "query": "Which tool do I need for the probe?" });
    let named = |book: &str| {
        let body = json!({ "query": question["query"], "books": [book] });
        library.post("/api/v1/chat", &body).1
    };
    let mut scoped = Vec::new();
    for book in ["garden", "kitchen"] {
        let (_, answer) = library.post(&format!("/books/{book}/api/v1/chat"), &question);
        assert_eq!(answer["data"]["answer"], named(book)["data"]["answer"]);
        assert_eq!(named(book)["data"]["book"]["id"], book);
        let (_, found) = library.post(&format!("/books/{book}/api/v1/search"), &question);
        scoped.push((lasting(answer), lasting(found)));
    }
    drop(library);
    for (site, (answer, found)) in ["book", "kitchen"].into_iter().zip(scoped) {
        let alone = workshop.serve_site(site, &[], &[]);
        let (_, answered) = alone.post("/api/v1/chat", &question);
        assert_eq!(lasting(answered).to_string(), answer.to_string(), "{site}");
        let (_, searched) = alone.post("/api/v1/search", &question);
        assert_eq!(lasting(searched).to_string(), found.to_string(), "{site}");
        assert_eq!(
            parsed(&alone.get("/api/v1/books").1)["data"]["books"],
            json!([])
        );
    }
}

#[test]
fn a_search_covers_all_books_and_a_book_shows_nothing_of_another() {
    let (_workshop, server) = library();
    let (_, found) = server.post("/api/v1/search", &json!({ "query": "calibration" }));
    let results = found["data"]["results"].as_array().unwrap();
    for book in ["garden", "kitchen"] {
        let of_book = results.iter().find(|result| result["book"] == book);
        let url = of_book.unwrap()["url"].as_str().unwrap();
        assert!(
            url.starts_with(&format!("{}/books/{book}/docs/probe", server.url)),
            "{url}"
        );
    }
    // Both books have a page with this path.
    for (book, word) in [("garden", "moisture"), ("kitchen", "oven")] {
        let path = format!("/api/v1/page?url={}/books/{book}/docs/probe", server.url);
        let (status, page) = server.get(&path);
        assert_eq!(status, 200, "{page}");
        assert!(page.contains(word), "{page}");
    }
    let (_, one) = server.get("/api/v1/search?q=calibration&books=kitchen");
    let one = parsed(&one);
    assert!(!one["data"]["results"].as_array().unwrap().is_empty());

    for (book, others) in [("garden", OF_KITCHEN), ("kitchen", OF_GARDEN)] {
        for asked in [
            "wrench",
            "dough",
            "oven",
            "wheels",
            "probe",
            "everything",
            "Garden or Kitchen",
        ] {
            let body = json!({ "query": asked, "top_k": 20, "history": [{"role": "user", "content": "wheels and bread"}] });
            let mut shown: Vec<String> = ["chat", "search"]
                .map(|route| {
                    server
                        .post(&format!("/books/{book}/api/v1/{route}"), &body)
                        .1["data"]
                        .to_string()
                })
                .into();
            for path in [
                "api/v1/questions",
                "api/v1/page?url=/docs/probe",
                "llms.txt",
                "docs/probe",
                "local/book",
                "v1/models",
                "api/v1/health?deep=true",
            ] {
                shown.push(server.get(&format!("/books/{book}/{path}")).1);
            }
            for text in shown {
                assert!(
                    !others.iter().any(|other| text.contains(other)),
                    "{book} {asked}: {text}"
                );
            }
        }
    }
}

/// Calls a tool of the Model Context Protocol.
fn called(server: &Server, path: &str, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let (status, mut answer) = server.post(path, &message);
    assert_eq!(status, 200, "{answer}");
    answer["result"].take()
}

#[test]
fn programs_search_and_read_all_books() {
    let (_workshop, server) = library();
    let tool = |name: &str, arguments: Value| {
        let result = called(&server, "/mcp", name, &arguments);
        assert_eq!(result["isError"], json!(false), "{result}");
        result["structuredContent"].clone()
    };
    let listed = tool("books", json!({}));
    assert_eq!(listed["books"][1]["id"], "kitchen", "{listed}");

    // A result names its book and can be read by its id and by its address.
    let found = tool("search", json!({ "query": "calibration" }));
    let results = found["results"].as_array().unwrap();
    for (book, word) in [("garden", "moisture"), ("kitchen", "oven")] {
        let of_book = results.iter().find(|result| result["book"] == book);
        let of_book = of_book.unwrap();
        let address = format!("{}/books/{book}/docs/probe", server.url);
        assert!(of_book["url"].as_str().unwrap().starts_with(&address));
        for id in [
            of_book["id"].clone(),
            of_book["url"].clone(),
            json!(address),
        ] {
            let text = tool("fetch", json!({ "id": id }));
            assert!(text["text"].as_str().unwrap().contains(word), "{text}");
            assert_eq!(text["book"], book);
        }
        let pages = tool("outline", json!({ "books": [book] }));
        let page = pages["entries"][0]["id"].as_str().unwrap();
        assert!(page.starts_with(&format!("book://{book}/docs/")), "{pages}");
        let headings = tool("outline", json!({ "under": page }));
        assert_eq!(headings["book"], book);
    }
    let one = tool(
        "search",
        json!({ "query": "calibration", "books": ["kitchen"] }),
    );
    let results = one["results"].as_array().unwrap();
    assert!(
        results.iter().all(|result| result["book"] == "kitchen"),
        "{one}"
    );

    let answer = tool(
        "ask",
        json!({ "question": "How long does the dough rise?" }),
    );
    assert_eq!(answer["book"], "kitchen", "{answer}");
    let cited = answer["citations"][0]["url"].as_str().unwrap();
    assert!(cited.starts_with(&format!("{}/books/kitchen/docs/bread", server.url)));
    let other = tool(
        "ask",
        json!({ "question": "How long does the dough rise?", "books": ["garden"] }),
    );
    assert_eq!(other["book"], "garden", "{other}");
    let limited = called(
        &server,
        "/mcp?books=garden",
        "search",
        &json!({ "query": "dough" }),
    );
    assert!(!limited.to_string().contains("rise"), "{limited}");

    let unknown = called(
        &server,
        "/mcp",
        "search",
        &json!({ "query": "wine", "books": ["cellar"] }),
    );
    assert_eq!(unknown["isError"], json!(true), "{unknown}");
    assert!(
        unknown.to_string().contains("there is no book `cellar`"),
        "{unknown}"
    );

    // The pages of all books are resources, one book after the other.
    let mut resources = Vec::new();
    let mut cursor = Value::Null;
    for _ in 0..2 {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": { "cursor": cursor }
        });
        let mut list = server.post("/mcp", &message).1["result"].take();
        cursor = list["nextCursor"].take();
        resources.extend(list["resources"].as_array().unwrap().clone());
    }
    assert_eq!(
        (resources.len(), &cursor),
        (4, &Value::Null),
        "{resources:?}"
    );
    for resource in &resources {
        let params = json!({ "uri": resource["uri"] });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params });
        let (_, read) = server.post("/mcp", &message);
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["uri"], resource["uri"], "{read}");
    }
}

#[test]
fn books_are_listed_and_kept_up_to_date_one_by_one() {
    let (workshop, server) = library();
    let listed = parsed(&server.get("/api/v1/books").1);
    let books = listed["data"]["books"].as_array().unwrap();
    let listed: Vec<_> = books
        .iter()
        .map(|book| (&book["id"], &book["title"]))
        .collect();
    assert_eq!(
        listed,
        [
            (&json!("garden"), &json!("Garden")),
            (&json!("kitchen"), &json!("Kitchen"))
        ]
    );
    let (status, insights) = server.get("/insights");
    assert_eq!(status, 200);
    assert!(
        insights.contains("href=\"/books/kitchen/insights\">Kitchen"),
        "{insights}"
    );
    let (status, refused) = server.post("/books/cellar/api/v1/chat", &json!({ "query": "wine" }));
    assert_eq!(
        (status, &refused["error"]["code"]),
        (404, &json!("not_found"))
    );
    let unknown = json!({ "query": "wine", "books": ["cellar"] });
    let (status, refused) = server.post("/api/v1/chat", &unknown);
    assert_eq!((status, &refused["error"]["field"]), (400, &json!("books")));

    let wine = "# Wine\n\nThe barrel of wine is tapped in autumn.\n";
    std::fs::write(workshop.path().join("kitchen/docs/wine.md"), wine).unwrap();
    let synced = workshop.json(&["sync", "kitchen"]);
    assert_eq!(synced["status"], "success", "{synced}");
    let (_, answer) = server.post(
        "/api/v1/chat",
        &json!({ "query": "When is the wine tapped?" }),
    );
    assert_eq!(answer["data"]["book"]["id"], "kitchen", "{answer}");
    assert!(
        answer["data"]["answer"]
            .as_str()
            .unwrap()
            .contains("autumn"),
        "{answer}"
    );
}

/// Other pages would spend the questions of their visitors.
#[test]
fn no_get_answers_a_foreign_page_or_counts_it() {
    let (_workshop, server) = library();
    for path in ["ask", "search", "page", "questions", "books", "health"] {
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("sec-fetch-dest", "image"),
        ] {
            let request = client().get(format!("{}/api/v1/{path}?q=wheels", server.url));
            let response = request.header(name, value).send().unwrap();
            assert_eq!(response.status(), 403, "{path} {name}");
            assert!(!response.headers().contains_key("ratelimit"), "{path}");
        }
    }
}

#[test]
fn a_book_that_cannot_be_opened_does_not_stop_the_others() {
    let workshop = two_sites();
    let stores = workshop.path().join("kitchen/.bookrag");
    std::fs::create_dir(&stores).unwrap();
    std::fs::write(stores.join("book.sqlite"), "no database".repeat(1_000)).unwrap();
    // The damaged book has the first turn.
    let server = workshop.serve_site("kitchen", &[], &["book"]);
    let question = json!({ "query": "How do I tighten the wheels?" });
    let (status, answer) = server.post("/books/garden/api/v1/chat", &question);
    assert_eq!(status, 200, "{answer}");
    assert!(
        answer["data"]["answer"]
            .as_str()
            .unwrap()
            .contains("wrench"),
        "{answer}"
    );
    let (status, refused) = server.post("/books/kitchen/api/v1/chat", &question);
    assert_eq!(status, 503, "{refused}");
    let (status, page) = server.get("/?books=kitchen");
    assert_eq!(status, 200);
    assert!(page.contains("<title>Kitchen</title>"), "{page}");
}

#[test]
fn two_books_need_different_names() {
    let workshop = Workshop::small();
    let refused = workshop.run(&["serve", "book", "book", "--port", "0"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains("two books would be called `garden`"),
        "{told}"
    );
}

#[test]
fn a_book_that_is_in_use_is_not_deleted() {
    let workshop = Workshop::small();
    let variables = [
        ("BOOKRAG_BOOKS", "garden, kitchen private"),
        ("DATABASE_URL", "postgres://user@127.0.0.1:1/bookrag"),
        ("QDRANT_URL", "http://127.0.0.1:1"),
    ];
    for (arguments, problem) in [
        (vec!["garden", "--yes"], "still lists the book `garden`"),
        (vec!["cellar"], "add --yes"),
        (vec!["../cellar", "--yes"], "../cellar"),
    ] {
        let mut command = workshop.command(&[&["books", "delete"], &arguments[..]].concat());
        command.envs(variables).env_remove("BOOKRAG_AUTH_SECRET");
        let refused = command.output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(told.contains(problem), "{told}");
    }
    let mut unnamed = workshop.command(&["books", "delete", "garden", "--yes"]);
    let refused = unnamed.output().unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("set BOOKRAG_BOOKS"), "{told}");
}
