use serde_json::{Value, json};

use super::{API_KEY, Llama, client};

#[tokio::test]
async fn it_streams_to_clients_with_the_key() {
    let llama = Llama::start().await;
    let request = json!({
        "model": "smollm2",
        "messages": [{ "role": "user", "content": "Why is the sky blue?" }],
        "max_tokens": 4,
        "stream": true,
        "stream_options": { "include_usage": true }
    });
    let url = format!("{}/chat/completions", llama.base_url());
    let ask = |key: &str| client().post(&url).bearer_auth(key).json(&request).send();

    assert_eq!(ask("wrong").await.unwrap().status().as_u16(), 401);
    let events = ask(API_KEY).await.unwrap().text().await.unwrap();

    let mut data: Vec<&str> = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .collect();
    assert_eq!(data.pop(), Some("[DONE]"));
    let chunks: Vec<Value> = data
        .into_iter()
        .map(|chunk| serde_json::from_str(chunk).unwrap())
        .collect();
    let first = &chunks[0]["choices"][0]["delta"];
    assert_eq!(*first, json!({ "role": "assistant", "content": null }));
    let written: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert!(!written.is_empty());
    let [.., last, usage] = chunks.as_slice() else {
        panic!("{chunks:?}");
    };
    assert_eq!(last["choices"][0]["finish_reason"], "length");
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["completion_tokens"], 4);
}
