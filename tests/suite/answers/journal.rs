//! The journal of answers.

use bookrag_tests::chat_model::Reply;
use serde_json::{Value, json};

use super::{COVERED, NOT_COVERED, Service};

#[tokio::test]
async fn an_answer_is_logged_by_hashes_with_what_it_took() {
    let service = Service::with_model("journal_log", Reply::text(["A clear sky [1]."])).await;
    let (data, meta) = service.answer(COVERED).await;
    let row = service
        .row("SELECT row_to_json(chat_queries)::text FROM chat_queries")
        .await;
    let row: Value = serde_json::from_str(&row.unwrap()).unwrap();
    assert_eq!(row["query_id"], data["message_id"]);
    assert_eq!(
        (&row["status"], &row["answered"]),
        (&json!("success"), &json!(true))
    );
    assert_eq!(row["tokens"], meta["tokens"]);
    assert_eq!(
        row["cited_chunk_ids"],
        json!([data["citations"][0]["chunk_id"]])
    );
    assert_eq!(row["question"], Value::Null);
    let text = row.to_string();
    assert!(
        !text.contains("frost") && !text.contains("127.0.0.1"),
        "{text}"
    );
}

#[tokio::test]
async fn questions_are_kept_where_the_operator_says_so() {
    let variables = [
        ("BOOKRAG_STORE_QUESTIONS", "true"),
        ("BOOKRAG_GENERATOR", "extractive"),
    ];
    let service = Service::start("journal_text", Reply::Empty, &variables).await;
    service.answer(NOT_COVERED).await;
    let insights = service
        .backends
        .catalog
        .insights(super::BOUND)
        .await
        .unwrap();
    assert_eq!(
        insights.not_covered[0].question.as_deref(),
        Some(NOT_COVERED)
    );
    assert_eq!(insights.days[0].not_covered, 1);
}

#[tokio::test]
async fn only_given_answers_can_be_rated() {
    let service = Service::extractive("journal_rating").await;
    let (data, _) = service.answer(COVERED).await;
    let rate = async |id: &Value, rating: &str| {
        let request = json!({"message_id": id, "rating": rating, "comment": "good"});
        let request = service.post("/api/v1/feedback", &request);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(rate(&data["message_id"], "down").await, 200);
    assert_eq!(rate(&json!(uuid::Uuid::new_v4()), "down").await, 404);
    assert_eq!(rate(&data["message_id"], "sideways").await, 400);
    let insights = service
        .backends
        .catalog
        .insights(super::BOUND)
        .await
        .unwrap();
    assert_eq!(insights.most_disliked[0].title, "Frost");
}
