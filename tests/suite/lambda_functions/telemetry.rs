//! Metrics and logs: what operators see of requests, and what they must not see.

use std::collections::BTreeSet;

use bookrag::metrics::Metric;
use bookrag_tests::{
    backends::Backends,
    chat_model::{ChatModel, Reply},
    events::RestRequest,
};
use serde_json::{Value, json};

use super::{Lambda, filled};

/// A question that the book answers.
pub(super) const QUESTION: &str = "why does a capacitive probe react to water in dry soil?";
/// A question that the book does not answer.
const FOREIGN: &str = "which king signed the Magna Carta?";
const NAMESPACE: &str = "bookrag/test";

pub(super) fn chat(question: &str) -> RestRequest {
    RestRequest::post_json("/api/v1/chat", &json!({ "query": question }))
}

pub(super) fn streamed(request: RestRequest) -> RestRequest {
    request.header("Accept", "text/event-stream")
}

/// Returns the metrics of a function's first `count` requests, in order.
async fn measured(lambda: &Lambda, count: usize) -> Vec<Value> {
    let lines = |logs: &str| -> Vec<Value> {
        let lines = logs.lines().filter(|line| line.contains("\"_aws\""));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let logs = lambda.function.logged(|logs| lines(logs).len() >= count);
    let lines = lines(&logs.await);
    assert_eq!(lines.len(), count, "{lines:#?}");
    lines
}

/// Returns the names of a line's metrics, after checking that each has a documented unit and a value.
fn names(line: &Value, function: &str) -> BTreeSet<&'static str> {
    assert_eq!(line["function"], function);
    let told = &line["_aws"]["CloudWatchMetrics"][0];
    assert_eq!(told["Namespace"], NAMESPACE);
    assert_eq!(told["Dimensions"], json!([["function"]]));
    let metrics = told["Metrics"].as_array().unwrap().iter();
    let known = metrics.map(|metric| {
        let is_it = |known: &&Metric| known.name() == metric["Name"];
        let known = Metric::ALL.iter().find(is_it).unwrap();
        assert_eq!(metric["Unit"], known.unit().name(), "{metric}");
        assert!(known.functions().contains(&function), "{metric}");
        assert!(line[known.name()].is_number(), "{line}");
        known.name()
    });
    known.collect()
}

fn all_of(function: &str) -> BTreeSet<&'static str> {
    let metrics = Metric::ALL.iter();
    let of = metrics.filter(|metric| metric.functions().contains(&function));
    of.map(|metric| metric.name()).collect()
}

#[tokio::test]
async fn each_request_of_query_is_measured_once() {
    let backends = filled("telemetry_query").await;
    let model = ChatModel::start(Reply::text(["Water is a dipole", " [1]."])).await;
    let mut environment = backends.environment();
    environment.extend(model.environment());
    environment.push(("BOOKRAG_CHAT_PRICE", "1/1".to_owned()));
    environment.push(("BOOKRAG_METRICS_NAMESPACE", NAMESPACE.to_owned()));
    environment.push(("BOOKRAG_METRICS", "all".to_owned()));
    environment.push(("BOOKRAG_CHAT_PER_MINUTE", "5".to_owned()));
    let lambda = Lambda::start("query", &environment).await;

    let response = lambda.send(streamed(chat(QUESTION))).await;
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(lambda.send(chat(FOREIGN)).await.status, 200);
    assert_eq!(lambda.send(chat("")).await.status, 400);
    let pieces = ["Water is a dipole", " [1].", " And so", " on"];
    model.tell(Reply::Breaks(pieces.map(str::to_owned).to_vec()));
    let broken = lambda.send(streamed(chat(QUESTION))).await;
    assert!(broken.text().contains("event: error"), "{}", broken.text());
    let preflight = RestRequest::new("OPTIONS", "/api/v1/chat");
    lambda.send(preflight).await;
    model.tell(Reply::Status(500, None, "down"));
    assert_eq!(lambda.send(chat(QUESTION)).await.status, 200);
    assert_eq!(lambda.send(chat(QUESTION)).await.status, 429);

    let lines = measured(&lambda, 6).await;
    let [answered, refused, invalid, broken, extracted, limited] = &lines[..] else {
        panic!("{lines:#?}");
    };
    assert_eq!(names(answered, "query"), all_of("query"));
    assert_eq!(
        (
            &answered["answered"],
            &answered["answers_uncertain"],
            &answered["not_covered"]
        ),
        (&json!(1), &json!(0), &json!(0))
    );
    assert!(answered["tokens"].as_u64().unwrap() > 0, "{answered}");
    assert!(answered["cost_usd"].as_f64().unwrap() > 0.0, "{answered}");
    let first_token = answered["first_token_ms"].as_f64().unwrap();
    assert!(
        first_token <= answered["latency_ms"].as_f64().unwrap(),
        "{answered}"
    );

    assert_eq!(
        (
            &refused["answered"],
            &refused["answers_uncertain"],
            &refused["not_covered"]
        ),
        (&json!(0), &json!(0), &json!(1))
    );
    assert_eq!(refused["tokens"], 0);
    let mut whole = all_of("query");
    whole.remove("first_token_ms");
    assert_eq!(
        names(refused, "query"),
        whole,
        "what is not streamed has no first token"
    );

    let unserved = BTreeSet::from(["degraded", "errors", "limited", "requests"]);
    let rates = |line: &Value| {
        let rate = |name: &str| line[name].as_u64().unwrap();
        (rate("errors"), rate("limited"), rate("degraded"))
    };
    assert_eq!(
        (names(invalid, "query"), rates(invalid)),
        (unserved.clone(), (0, 0, 0))
    );
    assert_eq!(rates(broken), (1, 0, 0));
    assert_eq!(broken.get("answered"), None);
    assert_eq!(rates(extracted), (0, 0, 1));
    assert_eq!(
        (names(limited, "query"), rates(limited)),
        (unserved, (0, 1, 0))
    );
}

#[tokio::test]
async fn each_request_of_search_is_measured_once_and_what_fails_is_an_error() {
    let backends = filled("telemetry_search").await;
    let mut environment = backends.environment();
    environment.push(("BOOKRAG_METRICS_NAMESPACE", NAMESPACE.to_owned()));
    environment.push(("BOOKRAG_METRICS", "all".to_owned()));
    let lambda = Lambda::start("search", &environment).await;
    let search = || RestRequest::new("GET", "/api/v1/search").query("q", QUESTION);
    assert_eq!(lambda.send(search()).await.status, 200);
    assert_eq!(
        lambda
            .send(RestRequest::new("GET", "/nowhere"))
            .await
            .status,
        404
    );
    let lines = measured(&lambda, 2).await;
    assert_eq!(names(&lines[0], "search"), all_of("search"));
    assert_eq!(lines[0]["errors"], 0);
    assert_eq!(lines[1]["requests"], 1);

    // Nothing listens on this port.
    environment.push(("QDRANT_URL", "http://127.0.0.1:9".to_owned()));
    environment.push(("DATABASE_URL", "postgres://nobody@127.0.0.1:9/x".to_owned()));
    let lambda = Lambda::start("search", &environment).await;
    assert_eq!(lambda.send(search()).await.status, 503);
    let lines = measured(&lambda, 1).await;
    assert_eq!(lines[0]["errors"], 1);
}

#[tokio::test]
async fn a_request_has_one_id_in_its_answer_its_logs_and_lambda() {
    let backends = filled("telemetry_ids").await;
    for (function, request) in [
        ("query", chat("")),
        ("search", RestRequest::new("GET", "/api/v1/search")),
        ("health", RestRequest::new("GET", "/nowhere")),
    ] {
        let mut environment = backends.environment();
        environment.push(("BOOKRAG_METRICS", "all".to_owned()));
        let lambda = Lambda::start(function, &environment).await;
        let invocation = lambda.invoke(request.into_event()).await;
        let id = invocation.request_id.clone();
        let body = invocation.http().json();
        assert_eq!(body["meta"]["request_id"], *id, "{function}: {body}");
        let logs = lambda
            .function
            .logged(|logs| logs.contains("refused"))
            .await;
        let line = logs.lines().find(|line| line.contains("refused")).unwrap();
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["request.id"], *id, "{line}");
        if function != "health" {
            assert_eq!(measured(&lambda, 1).await[0]["requestId"], *id);
        }
        // The runtime's span has the id by which all lines of an invocation are found.
        assert_eq!(line["span"]["requestId"], *id, "{line}");
        let trace = line["span"]["xrayTraceId"].as_str().unwrap();
        assert!(trace.starts_with("Root=1-"), "{line}");
    }
}

/// Distinct values sent by readers that must not appear in logs and traces.
pub(super) const CANARIES: [&str; 14] = [
    "canaryquery",
    "canarycontext",
    "canaryselection",
    "canarypage",
    "canaryhistory",
    "canarysession",
    "canaryfilter",
    "canarytoken",
    "canaryagent",
    "canarycomment",
    "canarypath",
    "canaryurl",
    "canarybody",
    "203.0.113.7",
];

/// Requests with the canaries in every field and header that readers control.
pub(super) fn canary_requests() -> Vec<RestRequest> {
    let whole = json!({
        "query": format!("{QUESTION} canaryquery"),
        "context": "canarycontext",
        "selected_text": "canaryselection",
        "page_url": "/docs/canarypage",
        "history": [{ "role": "user", "content": "canaryhistory" }],
        "session_id": "canarysession",
    });
    let with = |field: &str, value: Value| {
        let mut body = whole.clone();
        body[field] = value;
        RestRequest::post_json("/api/v1/chat", &body)
    };
    let requests = vec![
        with("mode", json!("global_book")),
        streamed(with("mode", json!("global_book"))),
        with("mode", json!("selected_text")),
        with("mode", json!("canaryfilter")),
        with(
            "filters",
            json!({ "locale": "canaryfilter", "version": "canaryfilter" }),
        ),
        with("filters", json!({ "hardware_tier": "canaryfilter" })),
        with("query", json!("canaryquery ".repeat(400))),
        with("conversation_id", json!("canarysession")),
        with(
            "history",
            json!([{ "role": "canaryhistory", "content": "canaryhistory" }]),
        ),
        RestRequest::post_json(
            "/api/v1/feedback",
            &json!({ "message_id": "canarybody", "rating": "up" }),
        ),
        RestRequest::post_json(
            "/api/v1/feedback",
            &json!({ "message_id": "8e4a6b9c-7b5e-4b0a-9d2f-1c3f5e7a9b1d", "rating": "down", "comment": "canarycomment" }),
        ),
        RestRequest::new("POST", "/api/v1/chat")
            .header("Content-Type", "application/json")
            .body("{\"query\": canarybody"),
        RestRequest::new("POST", "/api/v1/chat").body("canarybody"),
        RestRequest::new("GET", "/canarypath/canarypath"),
        RestRequest::new("DELETE", "/api/v1/chat/canarypath"),
        RestRequest::new("DELETE", "/api/v1/conversations/canarypath")
            .header("X-Session-Id", "canarysession"),
        RestRequest::new("GET", "/api/v1/search").query("q", "canaryurl canaryquery"),
        RestRequest::new("GET", "/api/v1/search").query("top_k", "canaryurl"),
        RestRequest::post_json(
            "/api/v1/search",
            &json!({ "query": "canaryquery", "top_k": "canarybody" }),
        ),
    ];
    let headers = |request: RestRequest| {
        request
            .header("Authorization", "Bearer canarytoken")
            .header("User-Agent", "canaryagent")
            .header("Referer", "https://book.example/canarypage")
    };
    requests.into_iter().map(headers).collect()
}

/// Returns a function's whole output after `count` responses.
async fn output(lambda: Lambda, count: usize) -> String {
    measured(&lambda, count).await;
    lambda.function.logs()
}

#[tokio::test]
async fn nothing_of_a_reader_and_no_key_is_printed() {
    let backends = filled("telemetry_canaries").await;
    // Its refusals quote the key and the prompt.
    let model = ChatModel::start(Reply::times(
        2,
        Reply::Echo,
        Reply::Status(500, None, "down"),
    ))
    .await;
    let secret = "postgres://reader:canarypassword@127.0.0.1:9/x";
    let all = [
        ("BOOKRAG_LOG", "trace"),
        ("BOOKRAG_METRICS_NAMESPACE", NAMESPACE),
        ("BOOKRAG_METRICS", "all"),
        ("BOOKRAG_CHAT_PER_MINUTE", "0"),
        ("BOOKRAG_SEARCH_PER_MINUTE", "0"),
        ("BOOKRAG_FEEDBACK_PER_MINUTE", "0"),
        ("BOOKRAG_MCP_PER_MINUTE", "0"),
        ("BOOKRAG_STORE_CONVERSATIONS", "1"),
        ("QDRANT_API_KEY", "canaryqdrantkey"),
    ];
    let environments: [(&str, &[(&str, &str)]); 3] = [
        ("all is well", &[]),
        (
            "readers must sign in",
            &[(
                "BOOKRAG_AUTH_SECRET",
                "canarysecretcanarysecretcanarysecret",
            )],
        ),
        (
            "all is away",
            &[
                ("QDRANT_URL", "http://127.0.0.1:9"),
                ("DATABASE_URL", secret),
            ],
        ),
    ];
    let (mut keys, keys_of_ours) = (
        vec![
            "canarypassword",
            "canaryqdrantkey",
            "canarysecret",
            "test-salt",
        ],
        bookrag_tests::chat_model::API_KEY,
    );
    keys.push(keys_of_ours);
    for (when, variables) in environments {
        for function in ["query", "search"] {
            let mut environment = backends.environment();
            environment.extend(model.environment());
            for (name, value) in all.iter().chain(variables) {
                environment.push((*name, (*value).to_owned()));
            }
            let lambda = Lambda::start(function, &environment).await;
            let requests = canary_requests();
            let count = requests.len();
            for request in requests {
                lambda.send(request).await;
            }
            let output = output(lambda, count).await;
            assert!(output.lines().count() > count, "{output}");
            for canary in CANARIES.iter().chain(&keys) {
                let line = output.lines().find(|line| line.contains(canary));
                assert_eq!(line, None, "{when}, {function}: {canary}");
            }
        }
    }
}

#[tokio::test]
async fn a_scheduled_check_says_which_component_is_down() {
    let backends = filled("telemetry_check").await;
    let mut environment = backends.environment();
    environment.push(("BOOKRAG_METRICS_NAMESPACE", NAMESPACE.to_owned()));
    environment.push(("BOOKRAG_METRICS", "all".to_owned()));
    let lambda = Lambda::start("health", &environment).await;
    let check = || lambda.invoke(json!({ "command": "check" }));
    assert_eq!(check().await.payload()["status"], "healthy");

    let index = backends.catalog.live_index().await.unwrap().unwrap();
    let dropped = backends.index.drop_collection(&index.collection);
    dropped.await.unwrap();
    let health = check().await.payload();
    assert_eq!(health["vector_store"]["status"], "unhealthy", "{health}");
    // What anybody asks for is not measured.
    let deep = RestRequest::new("GET", "/api/v1/health").query("deep", "true");
    assert_eq!(lambda.send(deep).await.json()["data"]["status"], "degraded");

    let lines = measured(&lambda, 2).await;
    let down = |line: &Value| {
        let is_down = |name: &&str| line[*name] == 1;
        let all = all_of("health").into_iter();
        all.filter(is_down).collect::<Vec<_>>()
    };
    assert_eq!(names(&lines[0], "health"), all_of("health"));
    assert_eq!(down(&lines[0]), Vec::<&str>::new());
    assert_eq!(down(&lines[1]), ["components_down", "vector_store_down"]);

    // Nothing listens on this port.
    environment.push(("DATABASE_URL", "postgres://nobody@127.0.0.1:9/x".to_owned()));
    environment.push(("OPENAI_BASE_URL", "http://127.0.0.1:9/v1".to_owned()));
    let lambda = Lambda::start("health", &environment).await;
    let health = lambda.invoke(json!({ "command": "check" })).await.payload();
    assert_eq!(health["status"], "degraded", "{health}");
    let line = measured(&lambda, 1).await.remove(0);
    assert_eq!(line["components_down"], 2, "{line}");
    assert_eq!(line["catalog_down"], 1, "{line}");
    assert_eq!(line["embedder_down"], 1, "{line}");
    assert_eq!(line["index_missing"], 0, "{line}");
}

#[tokio::test]
async fn a_scheduled_check_of_an_empty_catalog_misses_the_index() {
    let backends = Backends::start("telemetry_check_empty").await;
    let lambda = Lambda::start("health", &backends.environment()).await;
    let health = lambda.invoke(json!({ "command": "check" })).await.payload();
    assert_eq!(health["status"], "degraded", "{health}");
    let line = measured(&lambda, 1).await.remove(0);
    assert_eq!(line["index_missing"], 1, "{line}");
    // CloudWatch keeps one metric.
    let kept = &line["_aws"]["CloudWatchMetrics"][0]["Metrics"];
    assert_eq!(kept[0]["Name"], "components_down", "{kept}");
    assert_eq!(kept.as_array().unwrap().len(), 1, "{kept}");
}
