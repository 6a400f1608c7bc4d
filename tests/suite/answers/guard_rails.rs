//! Limits per client, the daily budget, and sign-in.

use bookrag_tests::chat_model::Reply;
use bookrag_tests::proxy::Fault;
use futures::future::join_all;
use serde_json::json;

use super::{COVERED, Service, degraded};

const LIMIT: (&str, &str) = ("BOOKRAG_CHAT_PER_MINUTE", "5");
const EXTRACTIVE: (&str, &str) = ("BOOKRAG_GENERATOR", "extractive");

#[tokio::test]
async fn concurrent_requests_do_not_exceed_a_clients_limit() {
    let service = Service::start("rails_limit", Reply::Empty, &[LIMIT, EXTRACTIVE]).await;
    let body = json!({"query": COVERED});
    let asked = (0..12).map(|_| service.post("/api/v1/chat", &body).send());
    let responses = join_all(asked).await;
    let mut allowed = 0;
    for response in responses {
        let response = response.unwrap();
        let headers = response.headers().clone();
        assert!(headers.contains_key("ratelimit") && headers.contains_key("ratelimit-policy"));
        if response.status() == 200 {
            allowed += 1;
            continue;
        }
        assert_eq!(response.status(), 429);
        let seconds: u64 = headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds));
        let envelope: serde_json::Value = response.json().await.unwrap();
        let message = envelope["error"]["message"].as_str().unwrap();
        assert!(message.contains(&seconds.to_string()), "{message}");
        assert_eq!(envelope["error"]["code"], "rate_limited");
    }
    assert_eq!(allowed, 5);
}

#[tokio::test]
async fn limits_apply_while_the_catalog_is_down() {
    let service = Service::start("rails_away", Reply::Empty, &[LIMIT, EXTRACTIVE]).await;
    service.answer(COVERED).await;
    service.database.set(Fault::Refuse);
    let mut statuses = Vec::new();
    for _ in 0..7 {
        statuses.push(service.ask(json!({"query": COVERED})).await.0);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
}

#[tokio::test]
async fn beyond_the_daily_budget_answers_are_extractive() {
    // An answer of 100 tokens costs at most 0.1 cents plus its input, so a budget of one cent pays for a few.
    let variables = [
        ("BOOKRAG_CHAT_PRICE", "1/10"),
        ("BOOKRAG_ANSWER_TOKENS", "100"),
        ("BOOKRAG_DAILY_BUDGET_USD", "0.01"),
    ];
    let script = Reply::text(["A clear sky ", "and no wind ", "[1]."]);
    let service = Service::start("rails_budget", script, &variables).await;
    let mut spent = 0.0;
    let mut answers = 0;
    loop {
        let (data, meta) = service.answer(COVERED).await;
        spent += meta["cost_usd"].as_f64().unwrap();
        if !degraded(&meta).is_empty() {
            assert_eq!(degraded(&meta), ["budget"]);
            assert!(
                data["answer"]
                    .as_str()
                    .unwrap()
                    .contains("are signs of frost")
            );
            break;
        }
        answers += 1;
        assert!(answers < 100, "the budget is never spent: {spent}");
    }
    assert!(
        answers > 2 && (0.005..=0.01).contains(&spent),
        "{answers}: {spent}"
    );
    // The budget counts actual spending, not reservations.
    let counted = service.row("SELECT micro_usd::text FROM spend").await;
    let counted: f64 = counted.unwrap().parse().unwrap();
    assert!((counted / 1e6 - spent).abs() < 1e-9, "{counted}: {spent}");
    // Search is free and always available.
    let found = service
        .post("/api/v1/search", &json!({"query": COVERED}))
        .send()
        .await;
    assert_eq!(found.unwrap().status(), 200);
}

#[tokio::test]
async fn an_empty_answer_of_a_model_is_paid_for() {
    let variables = [
        ("BOOKRAG_CHAT_PRICE", "100/100"),
        ("BOOKRAG_DAILY_BUDGET_USD", "100"),
    ];
    let service = Service::start("rails_silent", Reply::Empty, &variables).await;
    let (_, meta) = service.answer(COVERED).await;
    assert_eq!(degraded(&meta), ["generator"]);
    let cost = meta["cost_usd"].as_f64().unwrap();
    assert!(cost > 0.0, "{meta}");
    let counted = service.row("SELECT micro_usd::text FROM spend").await;
    let counted: f64 = counted.unwrap().parse().unwrap();
    assert!((counted / 1e6 - cost).abs() < 1e-9, "{counted}: {cost}");
}

#[tokio::test]
async fn money_is_not_spent_uncounted() {
    let variables = [
        ("BOOKRAG_CHAT_PRICE", "1/10"),
        ("BOOKRAG_DAILY_BUDGET_USD", "100"),
    ];
    let service = Service::start(
        "rails_uncounted",
        Reply::text(["A clear sky [1]."]),
        &variables,
    )
    .await;
    service.answer(COVERED).await;
    service.database.set(Fault::Refuse);
    let (_, meta) = service.answer(COVERED).await;
    assert!(degraded(&meta).contains(&"budget"), "{meta}");
    assert_eq!(service.model.requests().len(), 1);
}

#[tokio::test]
async fn readers_need_a_token_where_one_is_asked_for() {
    let secret = (
        "BOOKRAG_AUTH_SECRET",
        "a secret of thirty-two bytes or more",
    );
    let service = Service::start("rails_auth", Reply::Empty, &[secret, EXTRACTIVE]).await;
    let ask = async |token: Option<&str>| {
        let mut request = service.post("/api/v1/chat", &json!({"query": COVERED}));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        request.send().await.unwrap()
    };
    for token in [None, Some("eyJhbGciOiJub25lIn0.e30.")] {
        let response = ask(token).await;
        assert_eq!(response.status(), 401);
        assert!(response.headers().contains_key("www-authenticate"));
        let envelope: serde_json::Value = response.json().await.unwrap();
        assert_eq!(envelope["error"]["code"], "unauthorized");
    }
    let health = service
        .client
        .get(format!("{}/api/v1/health", service.url))
        .send()
        .await;
    assert_eq!(health.unwrap().status(), 200);
}
