//! Follow-up questions, with the history sent by the client or stored by the server.

use bookrag_tests::chat_model::Reply;
use serde_json::{Value, json};

use super::{COVERED, Service};

const FOLLOW_UP: &str = "And how do I protect them?";
const EXTRACTIVE: (&str, &str) = ("BOOKRAG_GENERATOR", "extractive");
const STORED: (&str, &str) = ("BOOKRAG_STORE_CONVERSATIONS", "24");

fn history() -> Value {
    json!([
        {"role": "user", "content": "What are the signs of frost?"},
        {"role": "assistant", "content": "A clear sky [1]."},
    ])
}

#[tokio::test]
async fn a_follow_up_is_rewritten_by_the_model_and_answered_with_the_conversation() {
    let script = Reply::function(|request| {
        let system = request["messages"][0]["content"].as_str().unwrap();
        if system.contains("understood alone") {
            Reply::text(["How do I protect seedlings before frost falls?"])
        } else {
            Reply::text(["Cover the seedlings [1]."])
        }
    });
    let service = Service::with_model("talk_model", script).await;
    let (_, envelope) = service
        .ask(json!({"query": FOLLOW_UP, "history": history()}))
        .await;
    assert_eq!(envelope["data"]["answered"], true, "{envelope}");
    let requests = service.model.requests();
    assert_eq!(requests.len(), 2);
    let asked = requests[1]["messages"][1]["content"].as_str().unwrap();
    assert!(
        asked.contains("A clear sky [1].") && asked.contains(FOLLOW_UP),
        "{asked}"
    );
}

#[tokio::test]
async fn without_a_model_the_question_before_is_searched_for_too() {
    let service = Service::extractive("talk_extractive").await;
    let (_, alone) = service
        .ask(json!({"query": "And what about the sky?"}))
        .await;
    let (_, envelope) = service
        .ask(json!({"query": "And what about the sky?", "history": history()}))
        .await;
    let url = &envelope["data"]["citations"][0]["url"];
    assert_eq!(
        url, "/docs/frost#signs-of-frost",
        "{envelope}, alone: {alone}"
    );
}

#[tokio::test]
async fn a_follow_up_for_another_form_is_answered_from_the_sections_of_the_answer() {
    let page = "# Probe\n\nThe probe measures moisture.\n\n## Calibration\n\nCalibrate the probe in dry air, then in water. The offset is stored in \
        the probe.\n\nRun this:\n\n```sh\nprobe calibrate --dry\n```\n";
    let soil = super::SOIL;
    let service = Service::of_book(
        "talk_form",
        Reply::Empty,
        &[EXTRACTIVE],
        &[("probe.md", page), ("soil.md", soil)],
    )
    .await;
    let ask = async |query: &str, before: &[&str]| {
        let said = before.iter().flat_map(|question| {
            let answer = json!({"role": "assistant", "content": "Dry air [1]."});
            [json!({"role": "user", "content": question}), answer]
        });
        let history: Vec<Value> = said.collect();
        let request = json!({"query": query, "history": history});
        service.ask(request).await.1["data"].take()
    };
    let first = "How do I calibrate the probe?";
    let whole = ask(first, &[]).await;
    for (query, before) in [
        ("In simpler words, please", &[first][..]),
        ("Tell me more", &[first, "Shorter, please"]),
    ] {
        let again = ask(query, before).await;
        let (again_text, text) = (&again["answer"], whole["answer"].as_str().unwrap());
        assert!(
            again_text.as_str().unwrap().contains(text),
            "{query}: {again}"
        );
    }
}

#[tokio::test]
async fn with_a_model_a_follow_up_in_another_language_is_searched_for_with_the_conversation() {
    let script = Reply::function(|request| {
        let system = request["messages"][0]["content"].as_str().unwrap();
        if system.contains("understood alone") {
            Reply::text(["What are the signs of frost?"])
        } else {
            Reply::text(["Klarer Himmel [1]."])
        }
    });
    let service = Service::with_model("talk_language", script).await;
    let query = "In einfacheren Worten bitte";
    let (_, alone) = service.ask(json!({"query": query})).await;
    assert_eq!(alone["data"]["outcome"], "not_covered");
    let (_, envelope) = service
        .ask(json!({"query": query, "history": history()}))
        .await;
    let url = &envelope["data"]["citations"][0]["url"];
    assert_eq!(url, "/docs/frost#signs-of-frost", "{envelope}");
}

#[tokio::test]
async fn a_history_of_other_roles_is_refused() {
    let service = Service::extractive("talk_refused").await;
    let history = json!([{"role": "system", "content": "x"}]);
    let (status, envelope) = service
        .ask(json!({"query": COVERED, "history": history}))
        .await;
    assert_eq!(
        (status, &envelope["error"]["field"]),
        (400, &json!("history.role")),
        "{envelope}"
    );
}

#[tokio::test]
async fn a_stored_conversation_is_its_sessions_alone_until_it_is_deleted() {
    let script = Reply::text(["Cover the seedlings [1]."]);
    let service = Service::start("talk_stored", script, &[STORED]).await;
    let ask = async |conversation: &Value, session: &str| {
        let request =
            json!({"query": COVERED, "conversation_id": conversation, "session_id": session});
        let (status, envelope) = service.ask(request).await;
        assert_eq!(status, 200, "{envelope}");
        let asked = service.model.requests().pop().unwrap();
        let remembered = asked["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("asked earlier");
        (envelope["data"]["conversation_id"].clone(), remembered)
    };
    let (conversation, remembered) = ask(&Value::Null, "mine").await;
    assert!(conversation.is_string() && !remembered);
    assert_eq!(
        ask(&conversation, "mine").await,
        (conversation.clone(), true)
    );
    let (other, remembered) = ask(&conversation, "another").await;
    assert!(other != conversation && !remembered);

    let path = format!(
        "{}/api/v1/conversations/{}",
        service.url,
        conversation.as_str().unwrap()
    );
    let delete = async |session: &str| {
        let request = service.client.delete(&path).header("x-session-id", session);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(delete("another").await, 404);
    assert_eq!(delete("mine").await, 200);
    assert_eq!(delete("mine").await, 404);
    let (new, remembered) = ask(&conversation, "mine").await;
    assert!(new != conversation && !remembered);
    let left = service
        .row("SELECT count(*)::text FROM messages WHERE question LIKE '%frost%'")
        .await;
    assert_eq!(left.as_deref(), Some("2"));
}

#[tokio::test]
async fn an_abandoned_stream_has_named_its_conversation() {
    let service = Service::start("talk_left", Reply::Empty, &[STORED, EXTRACTIVE]).await;
    let request = json!({"query": COVERED, "session_id": "mine"});
    let request = service.post("/api/v1/chat", &request);
    let stream = request.header("accept", "text/event-stream").send().await;
    let stream = stream.unwrap();
    let named = stream.headers()["x-conversation-id"].to_str().unwrap();
    let path = format!("{}/api/v1/conversations/{named}", service.url);
    // The client disconnects before reading any text.
    drop(stream);
    let delete = service.client.delete(&path).header("x-session-id", "mine");
    assert_eq!(delete.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn nothing_is_stored_unless_it_is_asked_for() {
    let service = Service::extractive("talk_unstored").await;
    let (_, envelope) = service
        .ask(json!({"query": COVERED, "session_id": "mine"}))
        .await;
    assert_eq!(envelope["data"]["conversation_id"], Value::Null);
    let stored = "SELECT (SELECT count(*) FROM messages) || ' ' || (SELECT count(question) FROM chat_queries)";
    assert_eq!(service.row(stored).await.as_deref(), Some("0 0"));
}

#[tokio::test]
async fn a_follow_up_is_joined_with_the_selection_of_the_question_before() {
    let pump = "# Pump\n\nThe pump gives water. How much water it gives is set by its valve.\n";
    let service = Service::of_book(
        "talk_selection",
        Reply::Empty,
        &[EXTRACTIVE, STORED],
        &[("pump.md", pump), ("soil.md", super::SOIL)],
    )
    .await;
    let selected = "spread three centimetres of compost every spring";
    let asked = "How much water?";
    let first = json!({
        "query": asked,
        "mode": "selected_text",
        "selected_text": selected,
        "page_url": "/docs/soil",
        "session_id": "mine",
    });
    let first = service.ask(first).await.1["data"].take();
    assert_eq!(first["answered"], true, "{first}");
    let said = |question: &str| {
        json!([
            {"role": "user", "content": question},
            {"role": "assistant", "content": first["answer"]},
        ])
    };
    let follow_up = "And how often?";
    let conversation = &first["conversation_id"];
    for (request, url) in [
        (
            json!({"query": follow_up, "conversation_id": conversation, "session_id": "mine"}),
            "/docs/soil#compost",
        ),
        (
            json!({"query": follow_up, "history": said(&format!("{asked}\n{selected}"))}),
            "/docs/soil#compost",
        ),
        (
            json!({"query": follow_up, "history": said(asked)}),
            "/docs/soil#compost",
        ),
    ] {
        let (_, envelope) = service.ask(request).await;
        assert_eq!(envelope["data"]["citations"][0]["url"], url, "{envelope}");
    }
}
