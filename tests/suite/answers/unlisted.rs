//! Unlisted pages: no client finds them, except a reader who has the page open.

use bookrag_tests::chat_model::Reply;
use serde_json::{Value, json};

use super::{FROST, Service};

const NOTES: &str = "---\nunlisted: true\n---\n\n# Notes for teachers\n\n\
    The final exam asks about hoarfrost on seedlings.\n";
const QUESTION: &str = "What does the final exam ask about hoarfrost?";
/// Words of the unlisted page that neither the question nor another page has.
const HIDDEN: &str = "hoarfrost on seedlings";

async fn service(database: &str, script: Reply, variables: &[(&str, &str)]) -> Service {
    let pages = [("frost.md", FROST), ("notes.md", NOTES)];
    Service::of_book(database, script, variables, &pages).await
}

/// Returns the answer of the chat route.
async fn chat(service: &Service, page_url: Option<&str>) -> String {
    let request = json!({"query": QUESTION, "page_url": page_url});
    let (status, envelope) = service.ask(request).await;
    assert_eq!(status, 200, "{envelope}");
    envelope["data"].to_string()
}

/// Returns the answer to a question in an address.
async fn ask(service: &Service, page_url: &str) -> String {
    let url = format!("{}/api/v1/ask", service.url);
    let parameters = [("q", QUESTION), ("page_url", page_url)];
    let url = reqwest::Url::parse_with_params(&url, parameters).unwrap();
    let response = service.client.get(url).send().await.unwrap();
    response.text().await.unwrap()
}

#[tokio::test]
async fn no_client_finds_an_unlisted_page_unless_it_is_open() {
    let extractive = [("BOOKRAG_GENERATOR", "extractive")];
    let service = service("unlisted", Reply::Hangs, &extractive).await;
    let completion = json!({"model": "gpt", "messages": [{"role": "user", "content": QUESTION}]});
    let completion = service.post("/v1/chat/completions", &completion);
    let search = json!({"query": QUESTION, "page_url": "/docs/notes"});
    let search = service.post("/api/v1/search", &search);
    for hidden in [
        chat(&service, None).await,
        chat(&service, Some("/docs/frost")).await,
        ask(&service, "/docs/frost").await,
        completion.send().await.unwrap().text().await.unwrap(),
        search.send().await.unwrap().text().await.unwrap(),
        service
            .tool("ask", json!({"question": QUESTION}))
            .await
            .to_string(),
        service
            .tool("search", json!({"query": QUESTION}))
            .await
            .to_string(),
    ] {
        assert!(
            !hidden.contains(HIDDEN) && !hidden.contains("/docs/notes"),
            "{hidden}"
        );
    }
    for found in [
        chat(&service, Some("/docs/notes")).await,
        ask(&service, "https://book.example/docs/notes#x").await,
    ] {
        assert!(
            found.contains(HIDDEN) && found.contains("/docs/notes"),
            "{found}"
        );
    }
}

#[tokio::test]
async fn a_model_does_not_look_up_an_unlisted_page() {
    let calls = vec![
        ("search", json!({"query": "final exam"}).to_string()),
        ("fetch", json!({"page": "/docs/notes"}).to_string()),
    ];
    let script = Reply::times(1, Reply::Calls("", calls), Reply::text(["No wind [1]."]));
    let lookups = [("BOOKRAG_LOOKUPS", "2")];
    let service = service("unlisted_lookups", script, &lookups).await;
    let (data, _) = service.answer("What are the signs of frost?").await;
    assert_eq!(data["citations"][0]["section"], "Signs of frost", "{data}");
    for request in service.model.requests() {
        assert!(!messages(&request).contains(HIDDEN), "{request:#}");
    }
}

fn messages(request: &Value) -> String {
    request["messages"].to_string()
}
