//! Rate limits, spending and conversations.

use std::time::Duration;

use bookrag::catalog::{
    Account, AgentReport, Catalog, Feedback, NewExchange, QueryStatus, RateLimit, Rating,
    StoredExchange,
};
use futures::future::try_join_all;
use uuid::Uuid;

use super::Store;

const HOUR: Duration = Duration::from_hours(1);
const MINUTE: Duration = Duration::from_mins(1);
/// The number of processes, and how often they all together act, in tests of concurrency.
const PROCESSES: usize = 4;
const AT_ONCE: usize = 20;

const SESSION: &str = "5e";

fn an_hour(permits: u32) -> RateLimit {
    RateLimit {
        permits,
        period: HOUR,
    }
}

/// True if a time is the expected one, minus the duration of the test.
fn near(time: Duration, expected: Duration) -> bool {
    expected.checked_sub(time).is_some_and(|late| late < MINUTE)
}

/// Opens more catalogs on the same data.
async fn processes(store: &Store) -> Vec<Catalog> {
    let mut catalogs = Vec::new();
    for _ in 0..PROCESSES {
        catalogs.push(store.reopened().await);
    }
    catalogs
}

pub(super) async fn the_whole_limit_may_be_used_at_once(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    for remaining in (0..5).rev() {
        let permit = catalog.acquire("reader", an_hour(5)).await.unwrap();
        assert_eq!((permit.allowed, permit.remaining), (true, remaining));
        assert!(near(permit.reset, HOUR / 5 * (5 - remaining)), "{permit:?}");
    }
    for _ in 0..3 {
        let permit = catalog.acquire("reader", an_hour(5)).await.unwrap();
        assert_eq!((permit.allowed, permit.remaining), (false, 0));
        assert!(near(permit.reset, HOUR / 5), "{permit:?}");
    }
    let none = catalog.acquire("other", an_hour(0)).await.unwrap();
    assert!(!none.allowed);
}

pub(super) async fn a_refused_request_costs_nothing_and_may_retry_at_the_stated_time(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let take = async || catalog.acquire("reader", an_hour(2)).await.unwrap();
    assert!(take().await.allowed && take().await.allowed);
    let refused = take().await;
    store.elapse(refused.reset.saturating_sub(MINUTE)).await;
    assert!(!take().await.allowed);
    store.elapse(MINUTE).await;
    assert!(take().await.allowed);
    assert!(!take().await.allowed);
    store.elapse(HOUR * 3).await;
    let rested = take().await;
    assert_eq!((rested.allowed, rested.remaining), (true, 1));
}

pub(super) async fn a_clock_that_is_set_back_locks_nobody_out(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let take = async || catalog.acquire("reader", an_hour(2)).await.unwrap();
    assert!(take().await.allowed && take().await.allowed);
    store.set_clock_back(MINUTE).await;
    assert!(!take().await.allowed, "a small correction restores nothing");
    store.set_clock_back(HOUR * 24 * 730).await;
    assert!(take().await.allowed && take().await.allowed);
    let refused = take().await;
    assert!(
        !refused.allowed && near(refused.reset, HOUR / 2),
        "{refused:?}"
    );
}

pub(super) async fn concurrent_requests_never_exceed_the_limit(store: Store) {
    store.catalog.migrate().await.unwrap();
    let catalogs = processes(&store).await;
    let takers =
        (0..AT_ONCE).map(|taker| catalogs[taker % PROCESSES].acquire("reader", an_hour(10)));
    let permits = try_join_all(takers).await.unwrap();
    assert_eq!(permits.iter().filter(|permit| permit.allowed).count(), 10);
}

pub(super) async fn keys_are_counted_apart(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    for key in ["a", "A", "it's", "", "节点"] {
        for allowed in [true, false] {
            let permit = catalog.acquire(key, an_hour(1)).await.unwrap();
            assert_eq!(permit.allowed, allowed, "{key}");
        }
    }
}

pub(super) async fn expired_limits_are_forgotten(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    catalog.acquire("reader", an_hour(1)).await.unwrap();
    for (time, expected) in [(Duration::ZERO, "1"), (HOUR, "1"), (HOUR, "0")] {
        store.elapse(time).await;
        catalog.forget_expired(HOUR, None).await.unwrap();
        let held = store.value("SELECT count(*) FROM rate_limits").await;
        assert_eq!(held, expected);
    }
}

pub(super) async fn concurrent_reservations_stay_within_the_budget(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    for too_much in [101, u64::MAX] {
        assert!(
            !catalog
                .reserve_spend(Account::Answers, too_much, 100)
                .await
                .unwrap()
        );
    }
    let catalogs = processes(&store).await;
    let takers = (0..AT_ONCE)
        .map(|taker| catalogs[taker % PROCESSES].reserve_spend(Account::Answers, 30, 100));
    let reserved = try_join_all(takers).await.unwrap();
    assert_eq!(reserved.iter().filter(|reserved| **reserved).count(), 3);
    assert!(
        catalog
            .reserve_spend(Account::Answers, 10, 100)
            .await
            .unwrap()
    );
    assert!(
        !catalog
            .reserve_spend(Account::Answers, 1, 100)
            .await
            .unwrap()
    );
    assert_eq!(store.value("SELECT sum(micro_usd) FROM spend").await, "100");
}

pub(super) async fn actual_spending_replaces_the_reservation(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let spent = async || store.value("SELECT sum(micro_usd) FROM spend").await;
    // As if the reservation was made before midnight.
    catalog.settle_spend(Account::Answers, 5, 0).await.unwrap();
    assert_eq!(spent().await, "0");
    assert!(
        catalog
            .reserve_spend(Account::Answers, 90, 100)
            .await
            .unwrap()
    );
    catalog
        .settle_spend(Account::Answers, 90, 20)
        .await
        .unwrap();
    assert_eq!(spent().await, "20");
    catalog.settle_spend(Account::Answers, 50, 0).await.unwrap();
    assert_eq!(spent().await, "0");
    catalog
        .settle_spend(Account::Answers, 10, 260)
        .await
        .unwrap();
    assert_eq!(spent().await, "250");
    assert!(
        !catalog
            .reserve_spend(Account::Answers, 1, 200)
            .await
            .unwrap()
    );
}

/// A question of [`SESSION`] with a retention of an hour.
fn question(conversation_id: Uuid, question: &str) -> NewExchange {
    NewExchange {
        conversation_id,
        session_hash: SESSION.to_owned(),
        exchange: StoredExchange {
            message_id: Uuid::new_v4(),
            question: question.to_owned(),
            answer: None,
        },
        keep: HOUR,
    }
}

/// The exchange with its answer.
fn answered(new: &NewExchange) -> NewExchange {
    let mut new = new.clone();
    new.exchange.answer = Some(format!("“{}” isn't in the book.", new.exchange.question));
    new.exchange.question.push_str("\nA selected node.");
    new
}

async fn save(catalog: &Catalog, new: &NewExchange) -> bool {
    catalog.save_exchange(new).await.unwrap()
}

/// Returns all exchanges of a conversation of [`SESSION`].
async fn all(catalog: &Catalog, conversation_id: Uuid) -> Option<Vec<StoredExchange>> {
    let exchanges = catalog.exchanges(conversation_id, SESSION, u32::MAX);
    exchanges.await.unwrap()
}

pub(super) async fn the_last_exchanges_are_read_oldest_first(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let id = Uuid::new_v4();
    assert_eq!(all(catalog, id).await, None);
    let questions = ["What's a node?", "", "And a topic?"].map(|text| question(id, text));
    for new in &questions {
        assert!(save(catalog, new).await);
        assert!(save(catalog, &answered(new)).await);
    }
    assert!(save(catalog, &question(Uuid::new_v4(), "Something else?")).await);
    let expected = questions.map(|new| answered(&new).exchange);
    for last in [0, 1, 2, 3, 4] {
        let exchanges = catalog.exchanges(id, SESSION, last).await.unwrap().unwrap();
        let first = expected.len().saturating_sub(last as usize);
        assert_eq!(exchanges, expected[first..]);
    }
}

pub(super) async fn an_exchange_waits_for_its_answer_and_keeps_it(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let id = Uuid::new_v4();
    let new = question(id, "What's a node?");
    let complete = answered(&new);
    // An answer alone does not begin a conversation.
    assert!(!save(catalog, &complete).await);
    assert_eq!(all(catalog, id).await, None);
    assert!(save(catalog, &new).await);
    assert_eq!(all(catalog, id).await, Some(vec![new.exchange.clone()]));
    assert!(save(catalog, &complete).await);
    // The first write may arrive last.
    assert!(save(catalog, &new).await);
    assert_eq!(all(catalog, id).await, Some(vec![complete.exchange]));
}

pub(super) async fn another_sessions_conversation_is_neither_read_nor_written_nor_deleted(
    store: Store,
) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let id = Uuid::new_v4();
    let own = question(id, "What's a node?");
    assert!(save(catalog, &own).await);
    let mut others = question(id, "What did they ask?");
    "0th".clone_into(&mut others.session_hash);
    let mut in_place = answered(&own);
    "0th".clone_into(&mut in_place.session_hash);
    for new in [&others, &answered(&others), &in_place] {
        assert!(!save(catalog, new).await);
    }
    let read = catalog.exchanges(id, "0th", 9).await.unwrap();
    assert_eq!(read, None);
    assert!(!catalog.delete_conversation(id, "0th").await.unwrap());
    assert_eq!(all(catalog, id).await, Some(vec![own.exchange]));

    store.elapse(HOUR * 2).await;
    assert!(!save(catalog, &others).await);
    let read = catalog.exchanges(id, "0th", 9).await.unwrap();
    assert_eq!(read, None);
}

pub(super) async fn a_conversation_expires_unless_it_goes_on(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let id = Uuid::new_v4();
    let first = question(id, "What's a node?");
    assert!(save(catalog, &first).await);
    store.elapse(HOUR / 3 * 2).await;
    assert!(save(catalog, &answered(&first)).await);
    store.elapse(HOUR / 3 * 2).await;
    assert!(save(catalog, &question(id, "And a topic?")).await);
    store.elapse(HOUR / 3 * 2).await;
    assert_eq!(all(catalog, id).await.map(|all| all.len()), Some(2));
    store.elapse(HOUR / 3 * 2).await;
    assert_eq!(all(catalog, id).await, None);
    assert!(!catalog.delete_conversation(id, SESSION).await.unwrap());
}

pub(super) async fn an_expired_conversation_begins_anew(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let id = Uuid::new_v4();
    let first = question(id, "What's a node?");
    assert!(save(catalog, &first).await);
    store.elapse(HOUR * 2).await;
    assert!(!save(catalog, &answered(&first)).await);
    let second = question(id, "And a topic?");
    assert!(save(catalog, &second).await);
    assert_eq!(all(catalog, id).await, Some(vec![second.exchange]));
    assert_eq!(store.value("SELECT count(*) FROM messages").await, "1");
}

pub(super) async fn a_late_answer_does_not_bring_a_deleted_conversation_back(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let id = Uuid::new_v4();
    let new = question(id, "What's a node?");
    assert!(save(catalog, &new).await);
    for deleted in [true, false] {
        let done = catalog.delete_conversation(id, SESSION).await.unwrap();
        assert_eq!(done, deleted);
    }
    assert!(!save(catalog, &answered(&new)).await);
    assert_eq!(all(catalog, id).await, None);
    assert_eq!(store.value("SELECT count(*) FROM conversations").await, "0");
}

pub(super) async fn a_deletion_concurrent_with_a_late_answer_leaves_nothing(store: Store) {
    store.catalog.migrate().await.unwrap();
    let other = store.reopened().await;
    for _ in 0..AT_ONCE {
        let id = Uuid::new_v4();
        let new = question(id, "What's a node?");
        assert!(save(&store.catalog, &new).await);
        let complete = answered(&new);
        let (deleted, _) = tokio::join!(
            other.delete_conversation(id, SESSION),
            save(&store.catalog, &complete)
        );
        assert!(deleted.unwrap());
    }
    for table in ["conversations", "messages"] {
        let rows = store.value(&format!("SELECT count(*) FROM {table}")).await;
        assert_eq!(rows, "0", "{table}");
    }
}

pub(super) async fn a_message_stays_in_its_conversation(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let (id, other) = (Uuid::new_v4(), Uuid::new_v4());
    let new = question(id, "What's a node?");
    assert!(save(catalog, &new).await);
    let mut moved = new.clone();
    moved.conversation_id = other;
    assert!(!save(catalog, &moved).await);
    assert_eq!(all(catalog, other).await, None);
    assert!(save(catalog, &question(other, "And a topic?")).await);
    assert!(!save(catalog, &answered(&moved)).await);
    assert_eq!(all(catalog, id).await, Some(vec![new.exchange]));
}

pub(super) async fn forgetting_deletes_expired_conversations(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let short = question(Uuid::new_v4(), "What's a node?");
    let mut long = question(Uuid::new_v4(), "And a topic?");
    long.keep = Duration::MAX;
    for new in [&short, &long] {
        assert!(save(catalog, new).await);
    }
    let forget = async |limits_age| catalog.forget_expired(limits_age, None).await.unwrap();
    forget(Duration::ZERO).await;
    assert_eq!(store.value("SELECT count(*) FROM messages").await, "2");
    store.elapse(HOUR * 2).await;
    forget(Duration::MAX).await;
    assert_eq!(store.value("SELECT count(*) FROM conversations").await, "1");
    assert_eq!(store.value("SELECT count(*) FROM messages").await, "1");
    assert_eq!(
        all(catalog, long.conversation_id).await,
        Some(vec![long.exchange])
    );
}

pub(super) async fn only_data_older_than_the_retention_is_deleted(store: Store) {
    let catalog = &store.catalog;
    catalog.migrate().await.unwrap();
    let leave = async || {
        let mut new = question(Uuid::new_v4(), "What's a node?");
        new.keep = Duration::MAX;
        assert!(save(catalog, &new).await);
        let log = super::logs::log(QueryStatus::Success);
        catalog.log_query(&log).await.unwrap();
        let feedback = Feedback {
            message_id: log.query_id,
            rating: Rating::Up,
            comment: Some("it's fine".to_owned()),
        };
        assert!(catalog.add_feedback(&feedback).await.unwrap());
        let report = AgentReport {
            message_id: Some(log.query_id),
            question: None,
            problem: "it's wrong".to_owned(),
            page: None,
        };
        assert!(catalog.add_report(&report).await.unwrap());
    };
    let tables = ["messages", "chat_queries", "feedback", "agent_reports"];
    let assert_rows = async |expected: &str| {
        for table in tables {
            let rows = store.value(&format!("SELECT count(*) FROM {table}")).await;
            assert_eq!(rows, expected, "{table}");
        }
    };
    leave().await;
    store.elapse(HOUR * 2).await;
    leave().await;
    for (retention, left) in [(None, "2"), (Some(HOUR * 3), "2"), (Some(HOUR), "1")] {
        catalog.forget_expired(HOUR, retention).await.unwrap();
        assert_rows(left).await;
    }
}
