use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use axum::http::{HeaderMap, StatusCode};
use http_body_util::StreamBody;
use reqwest::{Body, Client, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::{StreamExt as _, wrappers::UnboundedReceiverStream};

use super::{Function, Invocation, Outcome, RuntimeApi};

type Frame = http_body::Frame<axum::body::Bytes>;

/// A runtime controlled by the test.
struct FakeRuntime {
    client: Client,
    base: String,
}

impl FakeRuntime {
    fn of(api: &RuntimeApi) -> Self {
        // Fails if it is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            client: Client::new(),
            base: format!("http://{}/2018-06-01/runtime", api.host_and_port()),
        }
    }

    async fn next(&self) -> (String, HeaderMap, Value) {
        let response = self
            .client
            .get(format!("{}/invocation/next", self.base))
            .send()
            .await
            .unwrap();
        let headers = response.headers().clone();
        let request_id = headers["lambda-runtime-aws-request-id"]
            .to_str()
            .unwrap()
            .to_owned();
        (request_id, headers, response.json().await.unwrap())
    }

    async fn post(&self, path: &str, body: impl Into<Body>) -> Response {
        self.client
            .post(format!("{}/{path}", self.base))
            .body(body)
            .send()
            .await
            .unwrap()
    }

    /// Starts a streamed response; its frames are sent through the returned channel.
    fn stream(
        &self,
        request_id: &str,
    ) -> (
        mpsc::UnboundedSender<Frame>,
        impl Future<Output = Response> + use<>,
    ) {
        let (frames, sent) = mpsc::unbounded_channel();
        let body = UnboundedReceiverStream::new(sent).map(Ok::<_, Infallible>);
        let request = self
            .client
            .post(format!("{}/invocation/{request_id}/response", self.base));
        let request = request
            .header("Lambda-Runtime-Function-Response-Mode", "streaming")
            .header(
                "Content-Type",
                "application/vnd.awslambda.http-integration-response",
            )
            .header(
                "Trailer",
                "Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body",
            );
        let response = request.body(Body::wrap(StreamBody::new(body))).send();
        (frames, async { response.await.unwrap() })
    }
}

fn data(text: &'static str) -> Frame {
    Frame::data(text.into())
}

async fn answered_with(path: &str, body: Value) -> Invocation {
    let api = RuntimeApi::start().await;
    let runtime = FakeRuntime::of(&api);
    let answer = async {
        let (request_id, ..) = runtime.next().await;
        runtime
            .post(&format!("invocation/{request_id}/{path}"), body.to_string())
            .await
    };
    let (invocation, response) = tokio::join!(api.invoke(json!({})), answer);
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    invocation
}

#[tokio::test]
async fn an_event_has_a_context_and_its_answer_is_returned() {
    let api = RuntimeApi::start().await;
    let runtime = FakeRuntime::of(&api);
    let pending = api.queue(json!({ "question": 1 }));

    let (request_id, headers, event) = runtime.next().await;
    runtime
        .post(
            &format!("invocation/{request_id}/response"),
            r#"{"answer":2}"#,
        )
        .await;
    let invocation = pending.finish().await;

    assert_eq!(event, json!({ "question": 1 }));
    assert_eq!(invocation.request_id, request_id);
    assert_eq!(invocation.payload(), json!({ "answer": 2 }));
    assert!(headers.contains_key("lambda-runtime-invoked-function-arn"));
    let deadline_ms: u128 = headers["lambda-runtime-deadline-ms"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    assert!(deadline_ms > now.as_millis() && deadline_ms <= (now + super::TIMEOUT).as_millis());
}

#[tokio::test]
async fn a_proxy_response_reads_as_http() {
    let response = json!({
        "statusCode": 201,
        "headers": { "content-type": "text/plain", "x-two": "b" },
        "multiValueHeaders": { "content-type": ["text/plain"], "x-two": ["a"] },
        "body": "aGVsbG8=",
        "isBase64Encoded": true
    });
    let response = answered_with("response", response).await.http();
    assert_eq!(response.status, StatusCode::CREATED);
    assert_eq!(response.headers.get_all("content-type").iter().count(), 1);
    assert_eq!(
        response.headers.get_all("x-two").iter().collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(response.text(), "hello");
}

#[tokio::test]
async fn a_reported_error_is_the_outcome() {
    let invocation = answered_with(
        "error",
        json!({ "errorType": "Bug", "errorMessage": "no index" }),
    )
    .await;
    assert_eq!(
        (
            &*invocation.error().error_type,
            &*invocation.error().message
        ),
        ("Bug", "no index")
    );
}

#[tokio::test]
#[should_panic(
    expected = "an HTTP response was expected: Failed(FunctionError { error_type: \"Bug\""
)]
async fn a_failure_does_not_pass_for_a_response() {
    let _ = answered_with("error", json!({ "errorType": "Bug" }))
        .await
        .http();
}

#[tokio::test]
async fn chunks_arrive_while_the_function_still_writes() {
    let api = RuntimeApi::start().await;
    let runtime = FakeRuntime::of(&api);
    let mut pending = api.queue(json!({}));
    let (request_id, ..) = runtime.next().await;
    let (frames, response) = runtime.stream(&request_id);
    let response = tokio::spawn(response);

    frames.send(data(r#"{"statusCode":200,"headers":{"content-type":"text/event-stream"},"cookies":["a=1"]}"#)).unwrap();
    frames.send(data("\0\0\0")).unwrap();
    frames.send(data("\0\0\0\0\0event: token")).unwrap();
    let first = pending.next_chunk().await.unwrap();
    frames.send(data("\n\n")).unwrap();
    let second = pending.next_chunk().await.unwrap();
    drop(frames);

    assert!(pending.next_chunk().await.is_none());
    assert_eq!(
        (&*first.bytes, &*second.bytes),
        (&b"event: token"[..], &b"\n\n"[..])
    );
    assert!(first.at <= second.at);
    let http = pending.finish().await.http();
    assert_eq!(http.header("content-type"), Some("text/event-stream"));
    assert_eq!(http.header("set-cookie"), Some("a=1"));
    assert_eq!(http.text(), "event: token\n\n");
    assert_eq!(response.await.unwrap().status(), StatusCode::ACCEPTED);
}

#[tokio::test]
async fn an_error_in_the_trailers_is_the_outcome_and_the_body_stays() {
    let api = RuntimeApi::start().await;
    let runtime = FakeRuntime::of(&api);
    let pending = api.queue(json!({}));
    let (request_id, ..) = runtime.next().await;
    let (frames, response) = runtime.stream(&request_id);
    let mut trailers = HeaderMap::new();
    trailers.insert(
        "lambda-runtime-function-error-type",
        "Runtime.StreamError".parse().unwrap(),
    );
    trailers.insert(
        "lambda-runtime-function-error-body",
        "Ym9vbQ==".parse().unwrap(),
    );

    frames
        .send(data("{\"statusCode\":200}\0\0\0\0\0\0\0\0half"))
        .unwrap();
    frames.send(Frame::trailers(trailers)).unwrap();
    drop(frames);
    response.await;

    let invocation = pending.finish().await;
    assert_eq!(invocation.error().error_type, "Runtime.StreamError");
    assert_eq!(invocation.error().message, "boom");
    assert_eq!(&*invocation.body(), b"half");
}

#[tokio::test]
async fn a_stream_without_a_prelude_is_invalid() {
    let api = RuntimeApi::start().await;
    let runtime = FakeRuntime::of(&api);
    let pending = api.queue(json!({}));
    let (request_id, ..) = runtime.next().await;
    let (frames, response) = runtime.stream(&request_id);
    frames.send(data("data: token\n\n")).unwrap();
    drop(frames);
    assert_eq!(response.await.status(), StatusCode::BAD_REQUEST);
    assert!(matches!(pending.finish().await.outcome, Outcome::Broken(_)));
}

#[tokio::test]
async fn a_response_beyond_lambdas_limit_is_refused() {
    let api = RuntimeApi::start().await;
    let runtime = FakeRuntime::of(&api);
    let pending = api.queue(json!({}));
    let (request_id, ..) = runtime.next().await;
    let response = runtime
        .post(
            &format!("invocation/{request_id}/response"),
            vec![b' '; 6_291_557],
        )
        .await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(
        pending.finish().await.error().error_type,
        "Function.ResponseSizeTooLarge"
    );
}

#[tokio::test]
async fn an_event_is_answered_once() {
    let api = RuntimeApi::start().await;
    let runtime = FakeRuntime::of(&api);
    let pending = api.queue(json!({}));
    let (request_id, ..) = runtime.next().await;
    let path = format!("invocation/{request_id}/response");
    assert_eq!(
        runtime.post(&path, "1").await.status(),
        StatusCode::ACCEPTED
    );
    assert_eq!(
        runtime.post(&path, "2").await.status(),
        StatusCode::BAD_REQUEST
    );
    assert_eq!(pending.finish().await.payload(), 1);
}

#[tokio::test]
async fn an_invocation_ends_at_its_deadline() {
    let api = RuntimeApi::start().await;
    let pending = api.queue_with_timeout(json!({}), Duration::from_millis(20));
    FakeRuntime::of(&api).next().await;
    assert!(matches!(pending.finish().await.outcome, Outcome::TimedOut));
}

#[tokio::test]
async fn a_process_that_ends_ends_the_invocation_and_leaves_its_log() {
    let api = RuntimeApi::start().await;
    let folder = tempfile::tempdir().unwrap();
    let program = program(
        folder.path(),
        "echo \"$GREETING in $AWS_REGION, home ${HOME-none}\"; echo oops >&2; exit 7",
    );
    let function = Function::spawn(&program, &api, &[("GREETING", "hello")]);

    let invocation = api.invoke(json!({})).await;

    assert!(
        matches!(&invocation.outcome, Outcome::Exited(status) if status.contains('7')),
        "{invocation:?}"
    );
    assert!(
        function.logs().contains("hello in eu-central-1, home none"),
        "{}",
        function.logs()
    );
    assert!(function.logs().contains("oops"), "{}", function.logs());
}

#[tokio::test]
async fn an_error_at_the_start_is_the_outcome() {
    let api = RuntimeApi::start().await;
    let runtime = FakeRuntime::of(&api);
    let error =
        json!({ "errorType": "Runtime.InitError", "errorMessage": "QDRANT_URL is missing" });
    runtime.post("init/error", error.to_string()).await;
    assert_eq!(
        api.invoke(json!({})).await.error().message,
        "QDRANT_URL is missing"
    );
}

#[tokio::test]
async fn the_cold_start_ends_with_the_first_request_for_an_event() {
    let api = RuntimeApi::start().await;
    let folder = tempfile::tempdir().unwrap();
    let function = Function::spawn(&program(folder.path(), "exec sleep 600"), &api, &[]);
    let runtime = FakeRuntime::of(&api);
    let pending = api.queue(json!({}));
    let (first_next, _) = tokio::join!(function.first_next_after(), runtime.next());
    assert!(first_next > Duration::ZERO && first_next < Duration::from_mins(1));
    drop(pending);
}

/// Creates a shell script to use as a function's binary.
///
/// Another process writes it: if this process has the file open for writing while another test forks, it cannot be executed.
fn program(folder: &Path, script: &str) -> PathBuf {
    let program = folder.join("bootstrap");
    let mut write = Command::new("sh");
    write
        .args([
            "-c",
            r#"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 755 "$0""#,
        ])
        .arg(&program)
        .arg(script);
    assert!(write.status().unwrap().success());
    program
}
