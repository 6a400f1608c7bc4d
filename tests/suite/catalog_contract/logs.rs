//! What readers asked and how they judged the answers.

use bookrag::catalog::{Feedback, QueryLog, QueryStatus, Rating};
use uuid::Uuid;

use super::Store;
use super::rows::live_index;

fn log(status: QueryStatus) -> QueryLog {
    QueryLog {
        query_id: Uuid::new_v4(),
        user_ip_hash: "0f".to_owned(),
        question_hash: "1e".to_owned(),
        retrieved_chunk_ids: vec![Uuid::new_v4(), Uuid::new_v4()],
        response_time_ms: u64::MAX,
        status,
        answered: true,
    }
}

pub(super) async fn a_question_is_logged_once(store: Store) {
    live_index(&store.catalog).await;
    for status in [
        QueryStatus::Success,
        QueryStatus::Error,
        QueryStatus::RateLimited,
        QueryStatus::Timeout,
    ] {
        let log = log(status);
        store.catalog.log_query(&log).await.unwrap();
        store.catalog.log_query(&log).await.unwrap();
    }
    assert_eq!(store.value("SELECT count(*) FROM chat_queries").await, "4");
    let limited = store
        .value("SELECT count(*) FROM chat_queries WHERE status = 'rate_limited'")
        .await;
    assert_eq!(limited, "1");
}

pub(super) async fn feedback_needs_a_message(store: Store) {
    live_index(&store.catalog).await;
    let log = log(QueryStatus::Success);
    let mut feedback = Feedback {
        message_id: log.query_id,
        rating: Rating::Down,
        comment: Some("Robert'); DROP TABLE feedback;--".to_owned()),
    };
    assert!(!store.catalog.add_feedback(&feedback).await.unwrap());
    store.catalog.log_query(&log).await.unwrap();
    for rating in [Rating::Down, Rating::Up, Rating::CitationClicked] {
        feedback.rating = rating;
        assert!(store.catalog.add_feedback(&feedback).await.unwrap());
    }
    assert_eq!(store.value("SELECT count(*) FROM feedback").await, "3");
    let comment = store
        .value("SELECT comment FROM feedback WHERE rating = 'up'")
        .await;
    assert_eq!(Some(comment), feedback.comment);
}
