//! An equal question gets the cached answer of a model.

use bookrag_tests::chat_model::Reply;
use serde_json::{Value, json};

use super::{COVERED, Service, text_of};

const ON: (&str, &str) = ("BOOKRAG_ANSWER_CACHE", "on");
const ANSWER: [&str; 2] = ["A clear sky ", "[1]."];
/// The book is found to cover it, but the model refuses.
const REFUSED: &str = "What are the signs of frost on a moon?";
const REFUSAL: &str = "This documentation does not cover that.";

async fn asked(service: &Service, request: Value) -> (Value, bool) {
    let (status, mut envelope) = service.ask(request).await;
    assert_eq!(status, 200, "{envelope}");
    let cached = envelope["meta"]["cached"].as_bool().unwrap();
    (envelope["data"].take(), cached)
}

/// Moves the chunks of the page about frost to new points, as an edit does.
const CHANGE: &str = "UPDATE document_chunks SET qdrant_point_id = gen_random_uuid()
    WHERE source_file = 'docs/frost.md' RETURNING 1::text";
/// Changes a page that no answer uses.
const CHANGE_ELSEWHERE: &str = "UPDATE index_counts SET number = number + 1
    WHERE field = '' AND value = 'revision' RETURNING 1::text";

#[tokio::test]
async fn an_equal_question_is_answered_from_the_cache_until_its_chunks_change() {
    let script = Reply::text(ANSWER);
    let service =
        Service::start("cached_equal", script, &[ON, ("BOOKRAG_CHAT_PRICE", "1/1")]).await;
    let (first, cached) = asked(&service, json!({"query": COVERED})).await;
    assert!(!cached);
    let variant = "  what are the signs  of FROST ";
    let (mut again, cached) = asked(&service, json!({"query": variant})).await;
    assert!(cached);
    assert_ne!(again["message_id"], first["message_id"]);
    again["message_id"] = first["message_id"].clone();
    assert_eq!(again, first);
    service.row(CHANGE_ELSEWHERE).await.unwrap();
    let events = service.stream(json!({"query": COVERED})).await;
    assert_eq!(text_of(&events), first["answer"]);
    let kinds: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(kinds, ["token", "citation", "token", "done"]);
    let done = &events.last().unwrap().1;
    assert_eq!(
        (&done["cached"], &done["total_tokens"]),
        (&json!(true), &json!(0))
    );
    assert_eq!(done["citations"], first["citations"]);
    assert_eq!(service.model.requests().len(), 1);
    let insights = service
        .backends
        .catalog
        .insights(super::BOUND)
        .await
        .unwrap();
    let [day] = &insights.days[..] else {
        panic!("{insights:?}");
    };
    assert_eq!((day.questions, day.cached), (3, 2));
    assert_eq!(day.saved_micro_usd, 2 * day.cost_micro_usd);
    assert!(day.cost_micro_usd > 0);
    service.row(CHANGE).await.unwrap();
    service.model.tell(Reply::text(["No wind [1]."]));
    let (changed, cached) = asked(&service, json!({"query": COVERED})).await;
    assert!(!cached, "{changed}");
}

#[tokio::test]
async fn a_refusal_of_the_model_ends_with_any_change_of_the_book() {
    let service = Service::start("cached_refusal", Reply::text([REFUSAL]), &[ON]).await;
    let (first, cached) = asked(&service, json!({"query": REFUSED})).await;
    assert_eq!((&first["answered"], cached), (&json!(false), false));
    let (again, cached) = asked(&service, json!({"query": REFUSED})).await;
    assert!(cached);
    assert_eq!(again["suggestions"], first["suggestions"]);
    service.row(CHANGE_ELSEWHERE).await.unwrap();
    let (_, cached) = asked(&service, json!({"query": REFUSED})).await;
    assert!(!cached);
}

#[tokio::test]
async fn questions_that_differ_in_more_than_their_writing_are_answered_anew() {
    let service = Service::start("cached_other", Reply::text(ANSWER), &[ON]).await;
    asked(&service, json!({"query": COVERED})).await;
    let history =
        json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]);
    for request in [
        json!({"query": "What are signs of frost?"}),
        json!({"query": COVERED, "history": history}),
        json!({"query": COVERED, "context": "in May"}),
        json!({"query": COVERED, "mode": "selected_text", "selected_text": "A clear sky, no wind and a low moon"}),
        json!({"query": COVERED, "selected_text": "A clear sky, no wind and a low moon"}),
        json!({"query": COVERED, "page_url": "/docs/soil"}),
        json!({"query": COVERED, "top_k": 3}),
        json!({"query": COVERED, "citation_style": "label"}),
        json!({"query": COVERED, "filters": {"source": "docs/frost.md"}}),
    ] {
        let (data, cached) = asked(&service, request.clone()).await;
        assert!(!cached, "{request} {data}");
    }
}

#[tokio::test]
async fn degraded_answers_and_readers_own_words_are_not_cached() {
    let truncated = Reply::FinishedBy(vec!["A clear sky [1].".to_owned()], "length");
    let service = Service::start("cached_none", truncated, &[ON]).await;
    let query = "My name is Zebulon: what are the signs of frost?";
    for script in [
        None,
        Some(Reply::text(["Zebulon, a clear sky [1]."])),
        Some(Reply::text(["It is so."])),
        Some(Reply::Status(500, None, "broken")),
    ] {
        if let Some(script) = script {
            service.model.tell(script);
        }
        asked(&service, json!({"query": query})).await;
        let kept = "SELECT count(*)::text FROM cached_answers";
        assert_eq!(service.row(kept).await.as_deref(), Some("0"));
    }
    service.model.tell(Reply::text(ANSWER));
    asked(&service, json!({"query": query})).await;
    let kept = "SELECT row_to_json(cached_answers)::text FROM cached_answers";
    let kept = service.row(kept).await.unwrap().to_lowercase();
    assert!(
        !kept.contains("zebulon") && !kept.contains("name is"),
        "{kept}"
    );
}

#[tokio::test]
async fn conversations_are_stored_and_extracts_are_not_cached() {
    let stored = ("BOOKRAG_STORE_CONVERSATIONS", "1");
    let service = Service::start("cached_stored", Reply::text(ANSWER), &[ON, stored]).await;
    asked(&service, json!({"query": COVERED})).await;
    let (data, cached) = asked(&service, json!({"query": COVERED})).await;
    assert!(cached);
    let answer = "SELECT answer FROM messages ORDER BY created_at DESC LIMIT 1";
    assert_eq!(
        service.row(answer).await.as_deref(),
        data["answer"].as_str()
    );
    // A follow-up question is a different question.
    let request = json!({"query": COVERED, "conversation_id": data["conversation_id"]});
    let (_, cached) = asked(&service, request).await;
    assert!(!cached);
    let extractive = ("BOOKRAG_GENERATOR", "extractive");
    let service = Service::start("cached_extract", Reply::Empty, &[ON, extractive]).await;
    asked(&service, json!({"query": COVERED})).await;
    let (_, cached) = asked(&service, json!({"query": COVERED})).await;
    assert!(!cached);
}
