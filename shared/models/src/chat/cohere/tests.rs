use std::time::Duration;

use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::{ChatModel, ChatOptions};
use super::*;
use fakes::server::{Answer, Server};

async fn ask(answer: Answer) -> (Vec<Result<Piece, ProviderError>>, Value) {
    let server = Server::start("/v2/chat", answer).await;
    let options = ChatOptions {
        base_url: server.origin.clone(),
        api_key: Some("co-secret".into()),
        model: "command-a-03-2025".to_owned(),
        timeout: Duration::from_secs(10),
        price: None,
    };
    let model = ChatModel::Cohere(CohereChat::new(options).unwrap());
    let prompt = Prompt {
        system: "rules".to_owned(),
        user: "words".to_owned(),
        ..Prompt::default()
    };
    let pieces = model.stream(&prompt, 80).await.unwrap().collect().await;
    let (headers, request) = server.seen().remove(0);
    assert_eq!(headers["authorization"], "Bearer co-secret");
    (pieces, request)
}

fn events(data: &[Value]) -> Response {
    let line = |data: &Value| {
        format!(
            "event: {}\ndata: {data}\n\n",
            data["type"].as_str().unwrap()
        )
    };
    let body: String = data.iter().map(line).collect();
    ([("content-type", "text/event-stream")], body).into_response()
}

fn delta(text: &str) -> Value {
    json!({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}})
}

#[tokio::test]
async fn an_answer_comes_in_pieces_with_what_is_billed_at_the_end() {
    let answer: Answer = |_| {
        events(&[
            json!({"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant"}}}),
            json!({"type": "content-start", "index": 0}),
            delta("Nodes "),
            delta("talk [1]."),
            json!({"type": "content-end", "index": 0}),
            json!({"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS", "usage": {
                "billed_units": {"input_tokens": 12.0, "output_tokens": 3},
                "tokens": {"input_tokens": 80, "output_tokens": 3},
            }}}),
        ])
    };
    let (pieces, request) = ask(answer).await;
    let pieces: Vec<Piece> = pieces.into_iter().map(Result::unwrap).collect();
    let ending = Ending {
        finish: Finish::Truncated,
        usage: Some(Usage {
            input_tokens: 12,
            output_tokens: 3,
        }),
    };
    let expected = [
        Piece::Text("Nodes ".to_owned()),
        Piece::Text("talk [1].".to_owned()),
        Piece::End(ending),
    ];
    assert_eq!(pieces, expected);
    assert_eq!(
        request["messages"][0],
        json!({"role": "system", "content": "rules"})
    );
    assert_eq!(request["max_tokens"], 80);
    assert_eq!(request["stream"], true);
}

#[tokio::test]
async fn an_answer_without_an_end_broke_off() {
    for of in [(|_| events(&[delta("a")])) as Answer, |_| {
        events(&[
            delta("a"),
            json!({"type": "message-end", "delta": {"finish_reason": "ERROR"}}),
        ])
    }] {
        let (pieces, _) = ask(of).await;
        assert!(
            matches!(pieces[1], Err(ProviderError::Unavailable(_))),
            "{pieces:?}"
        );
    }
}
