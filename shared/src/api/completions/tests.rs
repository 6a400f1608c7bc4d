use axum::body::to_bytes;
use futures::stream;

use super::*;
use crate::api::envelope::failure;
use answer::error::ErrorKind;
use book::ContentKind;

fn request(json: Value) -> CompletionRequest {
    serde_json::from_value(json).unwrap()
}

fn question(messages: Value) -> Result<Question, Error> {
    Question::try_from(request(
        json!({"model": "any", "messages": messages, "temperature": 0.2}),
    ))
}

#[test]
fn the_last_message_of_the_user_is_the_question_and_what_is_before_it_the_history() {
    let asked = question(json!([
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": "How tight?"},
        {"role": "assistant", "content": "2.2 N·m [^1].\n\n[^1]: [Wheels](https://book.example/wheels)"},
        {"role": "tool", "content": "{}", "tool_call_id": "x"},
        {"role": "user", "content": [
            {"type": "text", "text": "And the"},
            {"type": "image_url", "image_url": {"url": "data:"}},
            {"type": "text", "text": "tank?"},
        ]},
        {"role": "assistant", "content": null},
    ]));
    let asked = asked.unwrap();
    assert_eq!(asked.query, "And the\ntank?");
    assert_eq!(asked.labels_in_text, LabelsInText::Footnotes);
    let [turn] = &asked.history[..] else {
        panic!("{asked:?}");
    };
    assert_eq!(turn.question, "How tight?");
    assert_eq!(turn.answer.as_deref(), Some("2.2 N·m [1]."));
}

#[test]
fn a_wrong_request_is_told_by_the_field_that_clients_sent() {
    for messages in [
        json!([]),
        json!([{"role": "assistant", "content": "Hello."}]),
        json!([{"role": "user", "content": " "}]),
        json!([{"role": "user", "content": "x".repeat(2_001)}]),
    ] {
        let error = question(messages).unwrap_err();
        assert_eq!(
            (error.kind, error.field),
            (ErrorKind::Invalid, Some("messages"))
        );
    }
}

fn citation(n: usize, section: &str, url: &str) -> Citation {
    Citation {
        n,
        chunk_id: Uuid::nil(),
        module: String::new(),
        chapter: String::new(),
        title: "Wheels [new]".to_owned(),
        section: section.to_owned(),
        section_id: None,
        url: url.to_owned(),
        source: "docs/wheels.md".to_owned(),
        start_line: 1,
        end_line: 2,
        page: 1,
        confidence: 1.0,
        quote: String::new(),
        kind: ContentKind::Docs,
        instance: "default".to_owned(),
        date: None,
        label: String::new(),
        supported: None,
        support: Vec::new(),
    }
}

#[test]
fn each_citation_is_a_footnote_that_links_to_its_section() {
    let citations = [
        citation(1, "Torque", "/docs/wheels#torque"),
        citation(2, "Wheels [new]", "https://elsewhere.example/wheels"),
    ];
    let written = format!(
        "Tight [^1] [^2].{}",
        footnotes(&citations, Some("https://book.example"))
    );
    let mut html = String::new();
    let options = pulldown_cmark::Options::ENABLE_FOOTNOTES;
    let mut links = Vec::new();
    for event in pulldown_cmark::Parser::new_ext(&written, options) {
        match event {
            pulldown_cmark::Event::Start(pulldown_cmark::Tag::Link { dest_url, .. }) => {
                links.push(dest_url.to_string());
            }
            pulldown_cmark::Event::FootnoteReference(name) => html += &format!("({name})"),
            pulldown_cmark::Event::Text(text) => html += &text,
            _ => {}
        }
    }
    assert_eq!(html, "Tight (1) (2).Wheels [new] – TorqueWheels [new]");
    assert_eq!(
        links,
        [
            "https://book.example/docs/wheels#torque",
            "https://elsewhere.example/wheels"
        ]
    );
    assert_eq!(footnotes(&[], None), "");
    assert!(footnotes(&citations[..1], None).ends_with("](/docs/wheels#torque)"));
}

/// Returns the data of a stream's events.
async fn streamed_data(events: Vec<Result<AnswerEvent, Error>>) -> Vec<String> {
    let observed = Observed {
        request_id: "r".to_owned(),
        measured: crate::api::Measured::default(),
        book: None,
    };
    let request = CompletionRequest {
        stream_options: Some(StreamOptions {
            include_usage: Some(true),
        }),
        ..CompletionRequest::default()
    };
    let chunks = CompletionChunks::new(&request, Uuid::nil(), "The book".to_owned(), None);
    let response = completion_stream(stream::iter(events), chunks, observed).await;
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_stream_that_breaks_off_ends_with_an_error_and_without_an_end() {
    let events = vec![
        Ok(AnswerEvent::Reading(3)),
        Ok(AnswerEvent::Token("A clear sky".to_owned())),
        Err(Error::broken_off(std::io::Error::other("gone"))),
    ];
    let data = streamed_data(events).await;
    let parsed: Vec<Value> = data
        .iter()
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let delta = |at: usize| &parsed[at]["choices"][0]["delta"];
    assert_eq!(*delta(0), json!({"role": "assistant", "content": ""}));
    assert_eq!(*delta(1), json!({"content": "A clear sky"}));
    assert_eq!(parsed[2]["error"]["type"], "server_error");
    assert_eq!(parsed.len(), 3);
}

#[tokio::test]
async fn errors_of_every_kind_have_the_shape_that_clients_read() {
    for (kind, status, name) in [
        (ErrorKind::Invalid, 400, "invalid_request_error"),
        (ErrorKind::Unauthorized, 401, "authentication_error"),
        (ErrorKind::RateLimited, 429, "rate_limit_error"),
        (ErrorKind::Unavailable, 503, "server_error"),
    ] {
        let response = in_openai_shape(failure(&Error::new(kind, "no"), "r")).await;
        assert_eq!(response.status().as_u16(), status);
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["type"], name);
        assert_eq!(body["error"]["message"], "no");
        assert!(
            body["error"]["param"].is_null() && body["error"]["code"].is_string(),
            "{body}"
        );
    }
    let other = in_openai_shape(Json(json!({"success": true})).into_response()).await;
    let body = to_bytes(other.into_body(), usize::MAX).await.unwrap();
    assert_eq!(&body[..], br#"{"success":true}"#);
}
