//! Clients of the Model Context Protocol get the same answers as readers, and are logged and limited like them.

use bookrag_tests::chat_model::Reply;
use bookrag_tests::proxy::Fault;
use serde_json::{Value, json};

use super::attacks::{PAGE, attacks, book};
use super::{COVERED, NOT_COVERED, Service};

/// The attackers' host in the fixture.
const EVIL: &str = "evil.example";

impl Service {
    /// Returns the status and the response to a message.
    async fn message(&self, method: &str, params: Value) -> (u16, Value) {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = self.post("/mcp", &body);
        let request = request.header("accept", "application/json, text/event-stream");
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Calls a tool and returns its result.
    pub(super) async fn tool(&self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let (status, mut answer) = self.message("tools/call", params).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
        answer["result"]["structuredContent"].take()
    }
}

#[tokio::test]
async fn a_program_is_answered_like_a_reader_and_logged_like_one() {
    let service = Service::extractive("programs").await;
    let (data, _) = service.answer(COVERED).await;
    let told = service.tool("ask", json!({"question": COVERED})).await;
    assert_eq!(told["answer"], data["answer"]);
    assert_eq!(told["answerable"], json!(true));
    assert_eq!(told["citations"][0]["quote"], data["citations"][0]["quote"]);
    let refused = service.tool("ask", json!({"question": NOT_COVERED})).await;
    assert_eq!(refused["answerable"], json!(false));
    let count = "SELECT count(*)::text FROM chat_queries";
    assert_eq!(service.row(count).await.as_deref(), Some("3"));

    let found = service.tool("search", json!({"query": COVERED})).await;
    let id = &found["results"][0]["id"];
    let fetched = service.tool("fetch", json!({"id": id})).await;
    assert!(
        fetched["text"].as_str().unwrap().contains("A clear sky"),
        "{fetched}"
    );
    let chunk = &data["citations"][0]["chunk_id"];
    let fetched = service.tool("fetch", json!({"id": chunk})).await;
    assert!(
        fetched["text"].as_str().unwrap().contains("A clear sky"),
        "{fetched}"
    );
    let pages = service.tool("outline", json!({})).await;
    assert_eq!(pages["entries"].as_array().unwrap().len(), 2, "{pages}");
}

#[tokio::test]
async fn programs_have_a_limit_of_their_own() {
    let variables = [
        ("BOOKRAG_GENERATOR", "extractive"),
        ("BOOKRAG_MCP_PER_MINUTE", "3"),
        ("BOOKRAG_CHAT_PER_MINUTE", "1"),
    ];
    let service = Service::start("programs_limit", Reply::Hangs, &variables).await;
    service.answer(COVERED).await;
    // The reader's question used up this minute's limit.
    let params = json!({"name": "ask", "arguments": {"question": COVERED}});
    let (status, answer) = service.message("tools/call", params).await;
    assert_eq!(
        (status, &answer["result"]["isError"]),
        (200, &json!(true)),
        "{answer}"
    );
    for status in [200, 200, 429] {
        let (answered, answer) = service.message("tools/list", json!({})).await;
        assert_eq!(answered, status, "{answer}");
    }
}

#[tokio::test]
async fn a_program_is_told_that_the_stores_are_down() {
    let service = Service::extractive("programs_away").await;
    service.database.set(Fault::Refuse);
    service.qdrant.set(Fault::Refuse);
    for (tool, arguments) in [
        ("ask", json!({"question": COVERED})),
        ("fetch", json!({"id": "/docs/frost"})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        let (status, answer) = service.message("tools/call", params).await;
        assert_eq!(status, 200, "{answer}");
        let told = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(told.contains("temporarily unavailable"), "{answer}");
    }
    let (_, answer) = service.message("tools/list", json!({})).await;
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn hostile_lessons_reach_a_program_as_text_alone() {
    let variables = [("BOOKRAG_GENERATOR", "extractive")];
    let service = Service::of_folder("programs_attacks", Reply::Hangs, &variables, book()).await;
    let page = service
        .tool("search", json!({"query": "wheel drive", "limit": 20}))
        .await;
    let results = page["results"].as_array().unwrap().iter();
    let id = results
        .clone()
        .find(|result| result["source"] == json!(PAGE));
    let id = id.unwrap()["id"]
        .as_str()
        .unwrap()
        .split('#')
        .next()
        .unwrap()
        .to_owned();
    let before = service.tool("fetch", json!({"id": id})).await;
    let before = before["text"].as_str().unwrap().matches(EVIL).count();
    assert_eq!(before, 0);
    let folder = service.book.path().to_owned();
    for attack in attacks(&["book"]) {
        let ask = async || {
            let told = service
                .tool("ask", json!({"question": attack.question()}))
                .await;
            attack.check(&told);
            let mut next = Some(id.clone());
            while let Some(part) = next {
                let fetched = service.tool("fetch", json!({"id": part})).await;
                check_text(
                    fetched["text"].as_str().unwrap(),
                    &attack.text,
                    &attack.name,
                );
                let url = fetched["url"].as_str().unwrap();
                assert!(url.starts_with("https://book.example/"), "{url}");
                next = fetched["next"].as_str().map(str::to_owned);
            }
        };
        service.with_page(&folder, &attack.text, ask).await;
    }
}

/// Asserts that a page's text contains nothing invisible to its reader: no address of a link or image, no comment, no invisible character.
fn check_text(text: &str, attack: &str, name: &str) {
    assert_eq!(bookrag::invisible::visible(text), text, "{name}");
    for hidden in [
        "](http", "](//", "](java", "](data", "<!--", "<img", "<script",
    ] {
        // Code and escaped text are visible.
        let is_shown = attack.contains('`') || attack.contains('\\') || attack.contains("&lt;");
        assert!(
            is_shown || !text.contains(hidden),
            "{name}: {hidden} in {text}"
        );
    }
}

#[tokio::test]
async fn attacks_in_questions_reach_no_further_than_a_readers() {
    let variables = [("BOOKRAG_GENERATOR", "extractive")];
    let service = Service::of_folder("programs_questions", Reply::Hangs, &variables, book()).await;
    for attack in attacks(&["question"]) {
        let told = service
            .tool("ask", json!({"question": attack.question()}))
            .await;
        attack.check(&told);
    }
}
