//! The log of questions, and readers' feedback.

use bookrag::catalog::{Feedback, QueryLog, QueryStatus, Rating};
use uuid::Uuid;

use super::Store;
use super::rows::live_index;

pub(super) fn log(status: QueryStatus) -> QueryLog {
    QueryLog {
        query_id: Uuid::new_v4(),
        user_ip_hash: "0f".to_owned(),
        question_hash: "1e".to_owned(),
        retrieved_chunk_ids: vec![Uuid::new_v4(), Uuid::new_v4()],
        cited_chunk_ids: vec![Uuid::new_v4()],
        response_time_ms: u64::MAX,
        status,
        answered: true,
        uncertain: false,
        tokens: 1_200,
        cost_micro_usd: 345,
        degraded: false,
        saved_micro_usd: None,
        question: None,
    }
}

pub(super) async fn a_question_is_logged_once(store: Store) {
    live_index(&store.catalog).await;
    for status in [
        QueryStatus::Success,
        QueryStatus::Error,
        QueryStatus::RateLimited,
        QueryStatus::Timeout,
        QueryStatus::Incomplete,
    ] {
        let log = log(status);
        store.catalog.log_query(&log).await.unwrap();
        store.catalog.log_query(&log).await.unwrap();
    }
    assert_eq!(store.value("SELECT count(*) FROM chat_queries").await, "5");
    let limited = store
        .value("SELECT count(*) FROM chat_queries WHERE status = 'rate_limited'")
        .await;
    assert_eq!(limited, "1");
}

pub(super) async fn an_answer_is_logged_as_it_begins_and_as_it_ends(store: Store) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    let begun = QueryLog {
        retrieved_chunk_ids: Vec::new(),
        cited_chunk_ids: Vec::new(),
        answered: false,
        tokens: 0,
        ..log(QueryStatus::Incomplete)
    };
    catalog.log_query(&begun).await.unwrap();
    let created = store.value("SELECT created_at FROM chat_queries").await;
    assert_eq!(
        store.value("SELECT status FROM chat_queries").await,
        "incomplete"
    );

    let ended = QueryLog {
        query_id: begun.query_id,
        degraded: true,
        question: Some("What's a \"node\"?".to_owned()),
        ..log(QueryStatus::Success)
    };
    catalog.log_query(&ended).await.unwrap();
    // The first write may arrive last.
    catalog.log_query(&begun).await.unwrap();
    for (column, expected) in [
        ("count(*)", "1"),
        ("min(status)", "success"),
        ("min(tokens)", "1200"),
        ("min(cost_micro_usd)", "345"),
        ("min(question)", "What's a \"node\"?"),
        ("min(created_at)", created.as_str()),
    ] {
        let query = format!("SELECT {column} FROM chat_queries WHERE degraded AND answered");
        assert_eq!(store.value(&query).await, expected, "{column}");
    }
    for (column, ids) in [
        ("retrieved_chunk_ids", &ended.retrieved_chunk_ids),
        ("cited_chunk_ids", &ended.cited_chunk_ids),
    ] {
        let query = format!("SELECT {column} FROM chat_queries");
        let stored = store.value(&query).await;
        assert!(
            ids.iter().all(|id| stored.contains(&id.to_string())),
            "{stored}"
        );
    }

    let failed = QueryLog {
        query_id: begun.query_id,
        ..log(QueryStatus::Error)
    };
    catalog.log_query(&failed).await.unwrap();
    assert_eq!(
        store.value("SELECT status FROM chat_queries").await,
        "error"
    );
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
    assert_eq!(store.value("SELECT count(*) FROM feedback").await, "2");
    let comment = store
        .value("SELECT comment FROM feedback WHERE rating = 'up'")
        .await;
    assert_eq!(Some(comment), feedback.comment);
    // Repeated feedback replaces the first, so that a message's id cannot be used to fill the table.
    feedback.rating = Rating::Down;
    for number in 0..20 {
        feedback.comment = Some(format!("comment {number}"));
        assert!(store.catalog.add_feedback(&feedback).await.unwrap());
    }
    assert_eq!(store.value("SELECT count(*) FROM feedback").await, "2");
    let newest = "SELECT comment FROM feedback WHERE rating = 'down'";
    assert_eq!(store.value(newest).await, "comment 19");
}
