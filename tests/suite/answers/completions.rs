//! OpenAI-compatible clients use the book as a model.

use bookrag_tests::chat_model::Reply;
use serde_json::{Value, json};

use super::{COVERED, NOT_COVERED, Service};

const PATH: &str = "/v1/chat/completions";

fn asked(question: &str, more: &Value) -> Value {
    let mut request = json!({"model": "gpt", "messages": [{"role": "user", "content": question}]});
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

/// Returns the status and body of a completion.
async fn complete(service: &Service, request: &Value) -> (u16, Value) {
    let response = service.post(PATH, request).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn the_answer_of_the_chat_route_is_a_completion_with_footnotes() {
    let origin = ("BOOKRAG_ORIGINS", "https://book.example");
    let script = Reply::text(["A clear sky ", "[", "1", "]", ". No wind [1]."]);
    let service = Service::start("completions_whole", script, &[origin]).await;
    let (status, whole) = complete(&service, &asked(COVERED, &json!({}))).await;
    assert_eq!(status, 200, "{whole}");
    let content = whole["choices"][0]["message"]["content"].as_str().unwrap();
    let (answer, notes) = content.split_once("\n\n").unwrap();
    assert_eq!(answer, "A clear sky [^1]. No wind [^1].");
    let url = whole["citations"][0]["url"].as_str().unwrap();
    let expected = format!("[^1]: [Frost – Signs of frost](https://book.example{url})");
    assert_eq!(notes, expected);
    assert_eq!(whole["object"], "chat.completion");
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    assert!(whole["usage"]["total_tokens"].as_u64().unwrap() > 0);
    let models = service.client.get(format!("{}/v1/models", service.url));
    let models: Value = models.send().await.unwrap().json().await.unwrap();
    assert_eq!(models["data"][0]["id"], whole["model"]);

    let ask = |question: &str| {
        let url = format!("{}/api/v1/ask", service.url);
        let url = reqwest::Url::parse_with_params(&url, [("q", question)]).unwrap();
        service.client.get(url)
    };
    let response = ask(COVERED).send().await.unwrap();
    assert_eq!(
        response.headers()["content-type"],
        "text/markdown; charset=utf-8"
    );
    let text = response.text().await.unwrap();
    assert!(text.starts_with(content), "{text}");
    assert_eq!(ask(" ").send().await.unwrap().status(), 400);
    let (client, request) = ask(COVERED).build_split();
    let mut request = request.unwrap();
    *request.method_mut() = reqwest::Method::HEAD;
    let head = client.execute(request).await.unwrap();
    assert_eq!(head.status(), 405);
    let refused = ask(NOT_COVERED).send().await.unwrap();
    let refused = refused.text().await.unwrap();
    assert!(refused.contains("\n\nSee also:\n\n- ["), "{refused}");

    let streamed = asked(
        COVERED,
        &json!({"stream": true, "stream_options": {"include_usage": true}}),
    );
    let response = service.post(PATH, &streamed).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let body = response.text().await.unwrap();
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut data: Vec<&str> = data.collect();
    assert_eq!(data.pop(), Some("[DONE]"));
    let chunks = data.iter().map(|data| serde_json::from_str(data).unwrap());
    let chunks: Vec<Value> = chunks.collect();
    let text = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    assert_eq!(text.collect::<String>(), content);
    let last = &chunks[chunks.len() - 2];
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!(last["citations"][0]["url"], whole["citations"][0]["url"]);
    assert!(chunks[chunks.len() - 1]["usage"].is_object(), "{body}");
}

#[tokio::test]
async fn a_follow_up_is_answered_with_the_messages_before_it() {
    let script = Reply::text(["A clear sky [1]."]);
    let service = Service::with_model("completions_history", script).await;
    let request = json!({"messages": [
        {"role": "user", "content": COVERED},
        {"role": "assistant", "content": "A clear sky [^1].\n\n[^1]: [Frost](/docs/frost)"},
        {"role": "user", "content": "And why?"},
    ]});
    let (status, answer) = complete(&service, &request).await;
    assert_eq!(status, 200);
    assert_eq!(
        answer["citations"][0]["url"], "/docs/frost#signs-of-frost",
        "{answer}"
    );
    let (_, refused) = complete(&service, &asked(NOT_COVERED, &json!({}))).await;
    assert_eq!(refused["outcome"], "not_covered");
    assert_eq!(refused["citations"], json!([]));
}

#[tokio::test]
async fn limits_and_tokens_are_those_of_the_chat_route_and_refusals_have_the_clients_shape() {
    let variables = [
        ("BOOKRAG_GENERATOR", "extractive"),
        ("BOOKRAG_CHAT_PER_MINUTE", "1"),
    ];
    let service = Service::start("completions_limit", Reply::Empty, &variables).await;
    let (status, _) = service.ask(json!({"query": COVERED})).await;
    assert_eq!(status, 200);
    let response = service
        .post(PATH, &asked(COVERED, &json!({})))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 429);
    assert!(response.headers().contains_key("retry-after"));
    let refused: Value = response.json().await.unwrap();
    assert_eq!(refused["error"]["type"], "rate_limit_error", "{refused}");

    let secret = (
        "BOOKRAG_AUTH_SECRET",
        "a secret of thirty-two bytes or more",
    );
    let service = Service::start("completions_auth", Reply::Empty, &[variables[0], secret]).await;
    let (status, refused) = complete(&service, &asked(COVERED, &json!({}))).await;
    assert_eq!(
        (status, &refused["error"]["type"]),
        (401, &json!("authentication_error"))
    );
    let get = service
        .client
        .get(format!("{}/v1/models", service.url))
        .send()
        .await;
    assert_eq!(get.unwrap().status(), 401);
}
