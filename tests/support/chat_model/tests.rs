use std::time::Duration;

use reqwest::{Client, Response, header::RETRY_AFTER};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::{API_KEY, ChatModel, Reply, UNKNOWN_MODEL};

const OPENAI: &str = "/v1/chat/completions";
const COHERE: &str = "/v2/chat";
const QUESTION: &str = "What is a node?";
/// Longer than any step here takes.
const DEADLINE: Duration = Duration::from_secs(20);

fn whole() -> Value {
    json!({
        "model": "any",
        "messages": [
            { "role": "system", "content": "Answer." },
            { "role": "user", "content": [{ "type": "text", "text": QUESTION }] }
        ]
    })
}

fn streamed() -> Value {
    let mut request = whole();
    request["stream"] = json!(true);
    request["stream_options"] = json!({ "include_usage": true });
    request
}

async fn ask_with(key: &str, model: &ChatModel, path: &str, request: &Value) -> Response {
    // Fails if it is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().build().unwrap();
    let request = client.post(format!("{}{path}", model.origin)).json(request);
    request.bearer_auth(key).send().await.unwrap()
}

async fn ask(model: &ChatModel, path: &str, request: &Value) -> Response {
    ask_with(API_KEY, model, path, request).await
}

/// Returns the values of a field, in order.
fn fields<'a>(events: &'a str, name: &str) -> Vec<&'a str> {
    let lines = events.lines();
    lines.filter_map(|line| line.strip_prefix(name)).collect()
}

/// Returns the data of each event except the last, which ends the stream.
fn data(events: &str) -> Vec<Value> {
    let mut data = fields(events, "data: ");
    assert_eq!(data.pop(), Some("[DONE]"));
    let parsed = data.into_iter().map(serde_json::from_str);
    parsed.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn openai_streams_deltas_then_the_reason_then_the_usage() {
    let model = ChatModel::start(Reply::text(["Nodes ", "talk [1]."])).await;

    let answer = ask(&model, OPENAI, &streamed()).await;

    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let events = data(&answer.text().await.unwrap());
    let choices: Vec<Value> = events
        .iter()
        .map(|event| event["choices"].clone())
        .collect();
    let choice = |delta: Value, reason: Value| {
        let choice =
            json!({ "index": 0, "finish_reason": reason, "logprobs": null, "delta": delta });
        json!([choice])
    };
    assert_eq!(
        choices,
        [
            choice(json!({ "role": "assistant", "content": null }), Value::Null),
            choice(json!({ "content": "Nodes " }), Value::Null),
            choice(json!({ "content": "talk [1]." }), Value::Null),
            choice(json!({}), json!("stop")),
            json!([]),
        ]
    );
    assert_eq!(events[0]["usage"], Value::Null);
    let usage = json!({ "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7 });
    assert_eq!(events[4]["usage"], usage);
    assert_eq!(model.requests(), [streamed()]);
    assert_eq!(model.authorizations(), [Some(format!("Bearer {API_KEY}"))]);
}

#[tokio::test]
async fn cohere_streams_events_of_a_type_each() {
    let pieces = vec!["Nodes ".to_owned(), "talk".to_owned()];
    let model = ChatModel::start(Reply::FinishedBy(pieces, "length")).await;

    let events = ask(&model, COHERE, &streamed()).await.text().await.unwrap();

    let names = [
        "message-start",
        "content-start",
        "content-delta",
        "content-delta",
        "content-end",
        "message-end",
    ];
    assert_eq!(fields(&events, "event: "), names);
    let data = data(&events);
    let types: Vec<&Value> = data.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, names);
    assert_eq!(data[3]["delta"]["message"]["content"]["text"], "talk");
    assert_eq!(data[5]["delta"]["finish_reason"], "MAX_TOKENS");
    let tokens = json!({ "input_tokens": 5, "output_tokens": 2 });
    assert_eq!(data[5]["delta"]["usage"]["tokens"], tokens);
}

#[tokio::test]
async fn without_streaming_the_answer_is_sent_whole() {
    let model = ChatModel::start(Reply::text(["Nodes ", "talk"])).await;

    let answer: Value = ask(&model, OPENAI, &whole()).await.json().await.unwrap();
    assert_eq!(answer["choices"][0]["message"]["content"], "Nodes talk");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["usage"]["total_tokens"], 7);

    let answer: Value = ask(&model, COHERE, &whole()).await.json().await.unwrap();
    assert_eq!(answer["message"]["content"][0]["text"], "Nodes talk");
    assert_eq!(answer["finish_reason"], "COMPLETE");
}

#[tokio::test]
async fn refusals_quote_the_key_and_the_prompt() {
    let wait = Some(Duration::from_secs(7));
    let model = ChatModel::start(Reply::Status(429, wait, "rate_limit_exceeded")).await;
    let mut of_no_model = whole();
    of_no_model["model"] = json!(UNKNOWN_MODEL);
    for path in [OPENAI, COHERE] {
        let cases = [
            ("wrong", whole(), 401, "invalid_api_key"),
            (API_KEY, of_no_model.clone(), 404, "model_not_found"),
            (
                API_KEY,
                json!({ "model": "any" }),
                400,
                "missing_required_parameter",
            ),
            (API_KEY, whole(), 429, "rate_limit_exceeded"),
        ];
        for (key, request, status, code) in cases {
            let refusal = ask_with(key, &model, path, &request).await;
            assert_eq!(refusal.status().as_u16(), status);
            let seconds = (status == 429).then_some("7");
            let retry_after = refusal.headers().get(RETRY_AFTER);
            assert_eq!(retry_after.map(|value| value.to_str().unwrap()), seconds);
            let body: Value = refusal.json().await.unwrap();
            let message = if path == OPENAI {
                assert_eq!(body["error"]["code"], code);
                &body["error"]["message"]
            } else {
                &body["message"]
            };
            let message = message.as_str().unwrap();
            assert!(message.contains(key), "{message}");
            if !request["messages"].is_null() {
                assert!(message.contains(QUESTION), "{message}");
            }
        }
    }
    assert_eq!(model.requests().len(), 8);
    assert_eq!(model.abandoned(), 0);
}

#[tokio::test]
async fn only_clients_that_leave_early_are_counted() {
    let model = ChatModel::start(Reply::HangsAfter(vec!["One".to_owned()])).await;
    let mut answer = ask(&model, OPENAI, &streamed()).await;
    assert!(answer.chunk().await.unwrap().is_some());
    assert_eq!(model.abandoned(), 0);
    drop(answer);
    model.until_abandoned(1, DEADLINE).await;

    let (asked, mut was_asked) = unbounded_channel();
    model.tell(Reply::function(move |_| {
        let _ = asked.send(());
        Reply::Hangs
    }));
    let request = whole();
    tokio::select! {
        _ = ask(&model, OPENAI, &request) => panic!("it answers"),
        _ = was_asked.recv() => {}
    }
    model.until_abandoned(2, DEADLINE).await;

    model.tell(Reply::text(["One", "Two"]));
    ask(&model, OPENAI, &streamed()).await.text().await.unwrap();
    assert_eq!(model.abandoned(), 2);
}

#[tokio::test]
async fn a_broken_answer_is_cut_after_its_pieces() {
    let model = ChatModel::start(Reply::Breaks(vec!["Half".to_owned()])).await;
    for path in [OPENAI, COHERE] {
        let mut answer = ask(&model, path, &streamed()).await;
        let mut received = Vec::new();
        let broken = loop {
            match answer.chunk().await {
                Ok(Some(chunk)) => received.extend_from_slice(&chunk),
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        assert!(broken);
        assert!(String::from_utf8(received).unwrap().contains("Half"));
    }
    assert_eq!(model.abandoned(), 0);
}

#[tokio::test]
async fn a_script_decides_by_number_and_by_request() {
    let by_request = Reply::function(|request| {
        if request["stream"] == true {
            Reply::Garbage
        } else {
            Reply::Echo
        }
    });
    let failure = Reply::Status(500, None, "server_error");
    let model = ChatModel::start(Reply::times(1, failure, by_request)).await;

    let first = ask(&model, OPENAI, &whole()).await;
    assert_eq!(first.status().as_u16(), 500);
    let second: Value = ask(&model, OPENAI, &whole()).await.json().await.unwrap();
    assert_eq!(second["choices"][0]["message"]["content"], QUESTION);
    let third = ask(&model, OPENAI, &streamed()).await.text().await.unwrap();
    let last = fields(&third, "data: ").pop().unwrap();
    assert!(serde_json::from_str::<Value>(last).is_err());
}

#[tokio::test]
async fn it_has_embeddings_too() {
    let model = ChatModel::start(Reply::Empty).await;
    let request = json!({ "model": "hashed-words", "input": ["a node"], "dimensions": 64 });
    let answer = ask(&model, "/v1/embeddings", &request).await;
    assert_eq!(answer.status().as_u16(), 200);
    assert!(model.requests().is_empty());
}
