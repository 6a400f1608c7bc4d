use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::{ChatModel, ChatOptions};
use super::*;
use fakes::server::{Answer, Server};

async fn ask(answer: Answer) -> (Vec<Result<Piece, ProviderError>>, Value) {
    let server = Server::start("/v1/chat/completions", answer).await;
    let options = ChatOptions {
        base_url: format!("{}/v1", server.origin),
        api_key: Some("sk-secret".into()),
        model: "a-model".to_owned(),
        timeout: Duration::from_secs(10),
        price: None,
    };
    let model = ChatModel::OpenAi(OpenAiChat::new(options).unwrap());
    let prompt = Prompt {
        system: "private rules".to_owned(),
        user: "private words".to_owned(),
        ..Prompt::default()
    };
    let pieces = match model.stream(&prompt, 80).await {
        Ok(pieces) => pieces.collect().await,
        Err(error) => vec![Err(error)],
    };
    let shown = format!("{pieces:?}");
    assert!(!shown.contains("sk-secret"), "{shown}");
    let (headers, request) = server.seen().remove(0);
    assert_eq!(headers["authorization"], "Bearer sk-secret");
    (pieces, request)
}

fn events(data: &[Value]) -> Response {
    let mut body: String = data
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect();
    body.push_str("data: [DONE]\n\n");
    ([("content-type", "text/event-stream")], body).into_response()
}

fn delta(content: Value, finish_reason: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish_reason}]})
}

fn answer(_: &Value) -> Response {
    events(&[
        delta(Value::Null, Value::Null),
        delta(json!("Nodes "), Value::Null),
        delta(json!("talk [1]."), Value::Null),
        delta(json!(""), json!("stop")),
        json!({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}}),
    ])
}

#[tokio::test]
async fn an_answer_comes_in_pieces_with_its_usage_at_the_end() {
    let (pieces, request) = ask(answer).await;
    let pieces: Vec<Piece> = pieces.into_iter().map(Result::unwrap).collect();
    let ending = Ending {
        finish: Finish::Complete,
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
    let expected = json!({
        "model": "a-model",
        "messages": [
            {"role": "system", "content": "private rules"},
            {"role": "user", "content": "private words"},
        ],
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.0,
        "max_tokens": 80,
    });
    assert_eq!(request, expected);
}

#[tokio::test]
async fn what_stopped_a_model_is_told() {
    for (reason, finish) in [
        ("length", Finish::Truncated),
        ("content_filter", Finish::Filtered),
    ] {
        let of: Answer = match finish {
            Finish::Truncated => |_| events(&[delta(json!("a"), json!("length"))]),
            _ => |_| events(&[delta(json!("a"), json!("content_filter"))]),
        };
        let (pieces, _) = ask(of).await;
        let Some(Ok(Piece::End(ending))) = pieces.last() else {
            panic!("{reason}: {pieces:?}");
        };
        assert_eq!(ending.finish, finish);
        assert_eq!(ending.usage, None);
    }
}

#[tokio::test]
async fn an_answer_without_an_end_broke_off() {
    for of in [
        (|_| events(&[delta(json!("a"), Value::Null)])) as Answer,
        |_| {
            events(&[
                delta(json!("a"), Value::Null),
                json!({"error": {"message": "sk-secret"}}),
            ])
        },
    ] {
        let (pieces, _) = ask(of).await;
        assert!(matches!(pieces[0], Ok(Piece::Text(_))));
        assert!(
            matches!(pieces[1], Err(ProviderError::Unavailable(_))),
            "{pieces:?}"
        );
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let refused: Answer = |_| {
        let body = json!({"error": {"message": "sk-secret is wrong", "code": "invalid_api_key"}});
        (StatusCode::UNAUTHORIZED, axum::Json(body)).into_response()
    };
    let (pieces, _) = ask(refused).await;
    let Err(ProviderError::Unauthorized(reason)) = &pieces[0] else {
        panic!("{pieces:?}");
    };
    assert!(
        reason.ends_with("answered 401 (invalid_api_key)"),
        "{reason}"
    );

    let busy: Answer = |_| (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "7")]).into_response();
    let (pieces, _) = ask(busy).await;
    let wait = Some(Duration::from_secs(7));
    assert!(
        matches!(pieces[0], Err(ProviderError::RateLimited { retry_after }) if retry_after == wait)
    );

    let garbage: Answer = |_| "data: {\n\n".into_response();
    let (pieces, _) = ask(garbage).await;
    assert!(
        matches!(pieces[0], Err(ProviderError::Malformed(_))),
        "{pieces:?}"
    );
}

#[test]
fn models_that_reason_take_no_temperature() {
    assert!(reasons("o3-mini") && reasons("gpt-5-mini"));
    assert!(!reasons("gpt-4.1") && !reasons("olmo") && !reasons("openchat"));
}
