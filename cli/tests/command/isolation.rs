//! Nothing of a book shows in the answers of another, and nothing of a private one to a reader who has not signed in.

mod deployment;
mod hostile;

use serde_json::{Value, json};

use deployment::{Answer, Deployment, PAGES, PRIVATE, call, canary, request};
use hostile::{Pair, Pairs};

/// Returns the words that are asked for: of all books, and of none.
fn asked(place: usize) -> String {
    let words: Vec<&str> = PAGES
        .iter()
        .flat_map(|(_, _, text)| text.split(' '))
        .collect();
    let word = |place: usize| words[place % words.len()].trim_end_matches('.');
    format!(
        "{} {} {}",
        word(place),
        word(place * 7 + 3),
        word(place * 13 + 5)
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_requests_to_a_book_show_nothing_of_another() {
    let deployment = Deployment::start().await;
    let ids = ["garden", "kitchen", PRIVATE];
    let mut own = 0;
    for place in 0..1_000 {
        let id = ids[place % ids.len()];
        let asked = asked(place);
        let encoded = asked.replace(' ', "+");
        let path = |route: &str| format!("/books/{id}{route}");
        let query = json!({"query": asked, "top_k": 20, "books": ids, "page_url": "/docs/probe"});
        let messages = json!({"model": ids[(place + 1) % 3], "messages": [{"role": "user", "content": asked}]});
        let [post, get] = ["POST", "GET"];
        let (method, route, body) = match place % 16 {
            0 => (post, path("/api/v1/chat"), query),
            1 => (get, path(&format!("/api/v1/ask?q={encoded}")), Value::Null),
            2 => (post, path("/v1/chat/completions"), messages),
            3 => (
                post,
                path("/mcp"),
                call("search", &json!({"query": asked, "books": ids})),
            ),
            4 => (post, path("/mcp"), call("ask", &json!({"question": asked}))),
            5 => (
                post,
                path("/mcp"),
                call("fetch", &json!({"id": "/docs/probe"})),
            ),
            6 => (post, path("/mcp"), call("outline", &json!({}))),
            7 => (get, path("/api/v1/page?url=/docs/probe"), Value::Null),
            8 => (
                get,
                path("/api/v1/questions?page_url=/docs/probe"),
                Value::Null,
            ),
            9 => (get, path("/v1/models"), Value::Null),
            10..13 => (
                get,
                path(&format!("/api/v1/search?q={encoded}")),
                Value::Null,
            ),
            _ => (post, path("/api/v1/search"), query),
        };
        let answer = deployment.signed_in(method, &route, &body).await;
        assert_eq!(answer.status, 200, "{route} {answer:?}");
        own += usize::from(answer.has(&canary(id)));
        for other in ids.into_iter().filter(|other| *other != id) {
            assert!(!answer.has(&canary(other)), "{route} {body} {answer:?}");
        }
    }
    // Otherwise the canaries would show nothing.
    assert!(own > 500, "{own}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_requests_show_nothing_of_a_private_book() {
    let deployment = Deployment::start().await;
    let mut pairs = Pairs::default();
    pairs.add_routes();
    pairs.add_addresses();
    pairs.add_bodies();
    pairs.add_headers();
    assert!(pairs.0.len() >= 200, "{}", pairs.0.len());
    for Pair {
        name,
        private,
        unknown,
    } in pairs.0
    {
        let private = deployment.send(private).await;
        let unknown = deployment.send(unknown).await.about_private();
        assert!(!private.has(&canary(PRIVATE)), "{name}: {private:?}");
        assert_eq!(lasting(&private), lasting(&unknown), "{name}");
    }
    for path in [
        "/api/v1/books",
        "/api/v1/health",
        "/api/v1/health?deep=true",
        "/v1/models",
        "/api/v1/questions",
    ] {
        let answer = deployment.get(path).await;
        assert!(!answer.has(PRIVATE), "{path}: {answer:?}");
    }
    for method in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "initialize",
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
        }});
        let answer = deployment.post("/mcp", &body).await;
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
        assert!(!answer.has(PRIVATE), "{method}: {answer:?}");
    }
}

/// Returns an answer without what differs each time.
fn lasting(answer: &Answer) -> Answer {
    let mut body = answer.json();
    if !body.is_object() {
        return answer.clone();
    }
    for (parent, name) in [("data", "message_id"), ("data", "conversation_id")] {
        if body[parent].is_object() {
            body[parent][name] = Value::Null;
        }
    }
    for name in ["meta", "created", "id"] {
        if body.get(name).is_some() {
            body[name] = Value::Null;
        }
    }
    Answer {
        body: body.to_string(),
        // The length of a body depends on the times in it.
        headers: answer
            .headers
            .split(", ")
            .filter(|header| !header.contains("content-length"))
            .collect(),
        ..*answer
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_private_book_knows_is_only_for_readers_who_signed_in() {
    let deployment = Deployment::start().await;
    let question = json!({"query": "When is the barrel of wine tapped?", "session_id": "reader"});
    let scoped = format!("/books/{PRIVATE}/api/v1/chat");
    let answered = deployment.signed_in("POST", &scoped, &question).await;
    assert!(answered.has(&canary(PRIVATE)), "{answered:?}");
    let answered = answered.json();
    let names = |name: &str| answered["data"][name].as_str().unwrap().to_owned();
    let (message, conversation) = (names("message_id"), names("conversation_id"));

    // Without a token, an answer and a conversation of the private book are like those that do not exist.
    let unknown = "00000000-0000-4000-8000-000000000000";
    let mut answers = Vec::new();
    for (message, conversation) in [
        (message.as_str(), conversation.as_str()),
        (unknown, unknown),
    ] {
        let rated = json!({"message_id": message, "rating": "up"});
        let deleted = format!("/api/v1/conversations/{conversation}");
        let headers = [("x-session-id", "reader")];
        let follow_up = json!({
            "query": "And when?", "conversation_id": conversation, "session_id": "reader", "books": ["garden"]
        });
        let followed = deployment.post("/api/v1/chat", &follow_up).await;
        assert!(!followed.has(&canary(PRIVATE)), "{followed:?}");
        answers.push([
            deployment.post("/api/v1/feedback", &rated).await,
            deployment
                .send(request("DELETE", &deleted, &headers, &Value::Null))
                .await,
        ]);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0][0].status, 404);

    // With one, every way leads to the book.
    let named = json!({"query": question["query"], "books": [PRIVATE]});
    let tool = call(
        "search",
        &json!({"query": question["query"], "books": [PRIVATE]}),
    );
    let page = call("fetch", &json!({"id": "https://cellar.example/docs/wine"}));
    for (method, path, body) in [
        ("POST", "/api/v1/chat", &named),
        ("POST", "/api/v1/search", &named),
        ("POST", "/mcp", &tool),
        ("POST", "/mcp", &page),
        ("GET", "/api/v1/books", &Value::Null),
    ] {
        let answer = deployment.signed_in(method, path, body).await;
        assert!(answer.has(&canary(PRIVATE)), "{path} {body}: {answer:?}");
    }
}
