//! Traces: what a collector is sent of a request, and that no answer waits for it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bookrag_tests::{
    chat_model::{ChatModel, Reply},
    collector::{Collector, Span, Value},
    events::RestRequest,
};
use serde_json::json;

use super::telemetry::{CANARIES, QUESTION, canary_requests, chat, streamed};
use super::{Lambda, filled};

/// The caller's trace and span, and a vendor's state.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";
/// The trace that the tests' Runtime API passes on, which is not sampled.
const XRAY_TRACE: &str = "5759e988bd862e3fe1be46a994272793";

fn from_caller(request: RestRequest) -> RestRequest {
    request
        .header("traceparent", &format!("00-{TRACE}-{CALLER}-01"))
        .header("tracestate", "canary=canarystate")
}

fn search() -> RestRequest {
    RestRequest::new("GET", "/api/v1/search").query("q", QUESTION)
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attribute<'a>(span: &'a Span, key: &str) -> Option<&'a Value> {
    let attribute = span.attributes.iter().find(|it| it.key == key)?;
    attribute.value.as_ref()?.value.as_ref()
}

/// Returns the names of each span and its parents, from the root down, with the number of such spans.
fn paths(spans: &[Span]) -> BTreeMap<String, usize> {
    let mut paths = BTreeMap::new();
    for span in spans {
        let (mut path, mut parent) = (span.name.clone(), &span.parent_span_id);
        while let Some(span) = spans.iter().find(|span| span.span_id == *parent) {
            path = format!("{} > {path}", span.name);
            parent = &span.parent_span_id;
        }
        *paths.entry(path).or_default() += 1;
    }
    paths
}

#[tokio::test]
async fn a_collector_has_all_spans_of_an_answer_when_it_ends() {
    let backends = filled("traces_query").await;
    let model = ChatModel::start(Reply::text(["Water is a dipole", " [1]."])).await;
    let collector = Collector::start().await;
    let mut environment = backends.environment();
    environment.extend(model.environment());
    environment.push(collector.environment());
    environment.push(("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret".to_owned()));
    environment.push(("OTEL_SERVICE_NAME", "robots".to_owned()));
    // As template.yaml sets it by default.
    environment.push(("OTEL_TRACES_SAMPLER", String::new()));
    let lambda = Lambda::start("query", &environment).await;
    for request in [streamed(chat(QUESTION)), chat(QUESTION)] {
        let before = collector.spans().len();
        let response = lambda.send(from_caller(request)).await;
        assert_eq!(response.status, 200, "{}", response.text());
        // Not awaited: the process may be frozen from now on.
        let spans = collector.spans().split_off(before);

        let root = spans.iter().find(|it| it.name == "POST /api/v1/chat");
        let root = root.unwrap_or_else(|| panic!("{:?}", paths(&spans)));
        assert_eq!(hex(&root.parent_span_id), CALLER);
        let status = attribute(root, "http.response.status_code");
        assert_eq!(status, Some(&Value::IntValue(200)), "{root:?}");
        for span in &spans {
            assert_eq!(hex(&span.trace_id), TRACE, "{}", span.name);
            assert_eq!(span.trace_state, "", "{}", span.name);
            assert!(root.start_time_unix_nano <= span.start_time_unix_nano);
            assert!(span.start_time_unix_nano < span.end_time_unix_nano);
            assert!(span.end_time_unix_nano <= root.end_time_unix_nano);
        }
        let paths = paths(&spans);
        for path in [
            "embed",
            "catalog.document_frequencies",
            "search > vector_store.search",
            "search > join > catalog.join",
            "fuse",
            "model",
        ] {
            let path = format!("POST /api/v1/chat > {path}");
            assert!(paths.contains_key(&path), "{path}: {paths:#?}");
        }
    }
    let (headers, _) = &collector.requests()[0];
    assert_eq!(headers["x-key"], "secret");
    let resource = collector.exports()[0].resource_spans[0].resource.clone();
    let resource = format!("{resource:?}");
    assert!(resource.contains("robots"), "{resource}");
}

#[tokio::test]
async fn a_line_of_a_traced_stream_has_the_id_of_its_request() {
    let backends = filled("traces_logs").await;
    let pieces = ["Water is a dipole", " [1].", " And so", " on"];
    let breaks = Reply::Breaks(pieces.map(str::to_owned).to_vec());
    let model = ChatModel::start(breaks).await;
    let collector = Collector::start().await;
    let mut environment = backends.environment();
    environment.extend(model.environment());
    environment.push(collector.environment());
    let lambda = Lambda::start("query", &environment).await;
    let event = from_caller(streamed(chat(QUESTION))).into_event();
    let invocation = lambda.invoke(event).await;
    let id = invocation.request_id.clone();
    let logs = lambda
        .function
        .logged(|logs| logs.contains("request failed"));
    let logs = logs.await;
    let line = logs
        .lines()
        .find(|line| line.contains("request failed"))
        .unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["span"]["requestId"], *id, "{line}");
}

#[tokio::test]
async fn nothing_of_a_reader_and_no_key_is_in_a_span() {
    let backends = filled("traces_canaries").await;
    let model = ChatModel::start(Reply::times(
        2,
        Reply::Echo,
        Reply::Status(500, None, "down"),
    ))
    .await;
    let collector = Collector::start().await;
    let secret = "postgres://reader:canarypassword@127.0.0.1:9/x".to_owned();
    let away = [
        ("QDRANT_URL", "http://127.0.0.1:9".to_owned()),
        ("DATABASE_URL", secret),
    ];
    for variables in [Vec::new(), away.to_vec()] {
        for function in ["query", "search"] {
            let mut environment = backends.environment();
            environment.extend(model.environment());
            environment.push(collector.environment());
            environment.push(("BOOKRAG_STORE_CONVERSATIONS", "1".to_owned()));
            environment.push(("BOOKRAG_CHAT_PER_MINUTE", "0".to_owned()));
            environment.push(("OTEL_EXPORTER_OTLP_HEADERS", "x-key=canarykey".to_owned()));
            environment.extend(variables.clone());
            let lambda = Lambda::start(function, &environment).await;
            let before = collector.spans().len();
            let requests = canary_requests();
            let count = requests.len();
            for request in requests {
                lambda.send(from_caller(request)).await;
            }
            lambda
                .send(from_caller(RestRequest::new(
                    "CANARYMETHOD",
                    "/api/v1/chat",
                )))
                .await;
            let spans = collector.spans().split_off(before);
            assert!(spans.len() > count, "{:?}", paths(&spans));
        }
    }
    for (_, body) in collector.requests() {
        let body = String::from_utf8_lossy(&body).to_lowercase();
        for canary in CANARIES.iter().chain(&[
            "canarystate",
            "canarymethod",
            "canarypassword",
            "canarykey",
            "test-salt",
            "capacitive",
            bookrag_tests::chat_model::API_KEY,
        ]) {
            assert!(!body.contains(canary), "{canary}: {body}");
        }
    }
}

#[tokio::test]
async fn a_function_continues_the_trace_of_x_ray() {
    let backends = filled("traces_xray").await;
    let collector = Collector::start().await;
    let mut environment = backends.environment();
    environment.push(collector.environment());
    let lambda = Lambda::start("search", &environment).await;
    assert_eq!(lambda.send(search()).await.status, 200);
    assert_eq!(collector.spans(), [], "X-Ray did not choose this request");

    environment.push(("OTEL_TRACES_SAMPLER", "always_on".to_owned()));
    for (function, name) in [
        ("search", "GET /api/v1/search"),
        ("health", "GET /api/v1/health"),
    ] {
        let lambda = Lambda::start(function, &environment).await;
        let path = name.trim_start_matches("GET ");
        let request = RestRequest::new("GET", path).query("q", QUESTION);
        assert_eq!(lambda.send(request).await.status, 200);
        let spans = collector.spans();
        let root = spans.iter().find(|span| span.name == name).unwrap();
        assert_eq!(hex(&root.trace_id), XRAY_TRACE);
        assert_eq!(hex(&root.parent_span_id), "53995c3f42cd8ad8");
    }

    let mut environment = backends.ingest_environment();
    environment.push(collector.environment());
    environment.push(("OTEL_TRACES_SAMPLER", "always_on".to_owned()));
    environment.push(("BOOKRAG_SOURCE", "s3://books/site/".to_owned()));
    let lambda = Lambda::start("ingest", &environment).await;
    let _ = lambda.invoke(json!({ "command": "sweep" })).await;
    let spans = collector.spans();
    let paths = paths(&spans);
    let calls = paths
        .keys()
        .filter(|path| path.starts_with("ingest > catalog."));
    assert!(calls.count() > 0, "{paths:?}");
    let root = spans.iter().find(|span| span.name == "ingest").unwrap();
    assert_eq!(hex(&root.trace_id), XRAY_TRACE);
}

#[tokio::test]
async fn a_collector_that_is_not_wanted_is_sent_nothing() {
    let backends = filled("traces_off").await;
    let collector = Collector::start().await;
    for variables in [
        [
            ("OTEL_SDK_DISABLED", "true"),
            ("OTEL_EXPORTER_OTLP_HEADERS", ""),
        ],
        [("OTEL_TRACES_EXPORTER", "none"), ("OTEL_SERVICE_NAME", "")],
        [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
            ("OTEL_TRACES_SAMPLER", "always_on"),
        ],
    ] {
        let mut environment = backends.environment();
        environment.push(collector.environment());
        environment.extend(variables.map(|(name, value)| (name, value.to_owned())));
        let lambda = Lambda::start("search", &environment).await;
        assert_eq!(lambda.send(from_caller(search())).await.status, 200);
        assert_eq!(collector.requests().len(), 0, "{variables:?}");
    }
}

/// The longest time that an answer may wait for the collector, and what a slow machine may add. The exporter's own limits are 5 and 10 s.
const BOUND: Duration = Duration::from_millis(500);
const SLACK: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_collector_that_hangs_delays_one_answer_by_the_bound_and_fails_none() {
    let backends = filled("traces_hanging").await;
    let collector = Collector::hanging().await;
    let mut environment = backends.environment();
    environment.push(collector.environment());
    for function in ["search", "query"] {
        let lambda = Lambda::start(function, &environment).await;
        for _ in 0..4 {
            let request = match function {
                "search" => search(),
                _ => streamed(chat(QUESTION)),
            };
            let started = Instant::now();
            assert_eq!(lambda.send(from_caller(request)).await.status, 200);
            assert!(started.elapsed() < BOUND + SLACK, "{:?}", started.elapsed());
        }
        let logs = lambda.function.logged(|logs| logs.contains("in time"));
        // The others did not wait.
        assert_eq!(
            logs.await.matches("did not accept spans in time").count(),
            1
        );
    }

    // Nothing listens on this port.
    let (name, _) = collector.environment();
    environment.push((name, "http://127.0.0.1:9".to_owned()));
    let lambda = Lambda::start("search", &environment).await;
    assert_eq!(lambda.send(from_caller(search())).await.status, 200);
    let logged = lambda
        .function
        .logged(|logs| logs.contains("cannot be reached"));
    logged.await;

    environment.push((name, "no address".to_owned()));
    let lambda = Lambda::start("search", &environment).await;
    assert_eq!(lambda.send(from_caller(search())).await.status, 200);
    let logged = lambda
        .function
        .logged(|logs| logs.contains("no traces are sent"));
    logged.await;
}
