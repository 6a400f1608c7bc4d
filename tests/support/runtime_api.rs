//! A Lambda Runtime API on loopback, and the functions that run against it.
//!
//! It sits between an invoker and a function's process, like Lambda: it queues events, and the process fetches
//! them one by one and posts its responses. Protocol: <https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>
//! and, for streams, <https://docs.aws.amazon.com/lambda/latest/dg/runtimes-custom.html#runtimes-custom-response-streaming>.

mod function;
mod http_response;
mod invocation;
mod receive;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fmt,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinHandle,
};

pub use function::Function;
pub use http_response::HttpResponse;
pub use invocation::{Chunk, FunctionError, Invocation, Outcome, Pending, Prelude};

use invocation::Message;

/// The default timeout of a function: API Gateway's integration timeout.
const TIMEOUT: Duration = Duration::from_secs(29);
const FUNCTION_ARN: &str = "arn:aws:lambda:eu-central-1:123456789012:function:bookrag-test";
const TRACE_ID: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0";

/// The Runtime API for one function's process. Dropping it ends the functions that poll it.
#[derive(Debug)]
pub struct RuntimeApi {
    shared: Arc<Shared>,
    queue: mpsc::UnboundedSender<Queued>,
    address: SocketAddr,
    server: JoinHandle<()>,
}

/// State shared by the API's routes, the pending invocations and the function's process.
struct Shared {
    queue: tokio::sync::Mutex<mpsc::UnboundedReceiver<Queued>>,
    /// Senders of the running invocations, by request id.
    running: Mutex<HashMap<String, mpsc::UnboundedSender<Message>>>,
    process: watch::Sender<Process>,
    logs: watch::Sender<String>,
}

/// The state of the function's process.
#[derive(Debug, Default)]
struct Process {
    spawned: bool,
    first_next: Option<Instant>,
    end: Option<Outcome>,
}

/// An event that the function has not fetched yet.
#[derive(Debug)]
struct Queued {
    request_id: String,
    event: Value,
    timeout: Duration,
    messages: mpsc::UnboundedSender<Message>,
}

impl RuntimeApi {
    /// Starts a server on a free loopback port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let (queue, events) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            queue: events.into(),
            running: Mutex::default(),
            process: watch::Sender::default(),
            logs: watch::Sender::default(),
        });
        let router = router(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            axum::serve(listener, router)
                .await
                .expect("axum::serve returns no error");
        });
        Self {
            shared,
            queue,
            address,
            server,
        }
    }

    /// The value of `AWS_LAMBDA_RUNTIME_API`: host and port, without a scheme.
    #[must_use]
    pub fn host_and_port(&self) -> String {
        self.address.to_string()
    }

    /// Invokes the function and waits for its whole response or failure.
    pub async fn invoke(&self, event: Value) -> Invocation {
        self.queue(event).finish().await
    }

    /// Queues an event for the function. The response can be read by chunk or as a whole.
    #[must_use]
    pub fn queue(&self, event: Value) -> Pending {
        self.queue_with_timeout(event, TIMEOUT)
    }

    /// Like [`RuntimeApi::queue`], with a timeout that begins when the function fetches the event.
    ///
    /// Unlike in Lambda, the timeout ends only the invocation, not the process.
    #[must_use]
    pub fn queue_with_timeout(&self, event: Value, timeout: Duration) -> Pending {
        let (messages, received) = mpsc::unbounded_channel();
        let request_id = uuid::Uuid::new_v4().to_string();
        let queued = Queued {
            request_id: request_id.clone(),
            event,
            timeout,
            messages,
        };
        self.queue
            .send(queued)
            .expect("the queue lives as long as the API");
        Pending::new(request_id, timeout, received, Arc::clone(&self.shared))
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn sender_of(&self, request_id: &str) -> Option<mpsc::UnboundedSender<Message>> {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(request_id)
    }

    fn append_log(&self, line: &str) {
        self.logs.send_modify(|logs| {
            logs.push_str(line);
            logs.push('\n');
        });
    }

    fn logs(&self) -> String {
        self.logs.borrow().clone()
    }

    /// Records the end of the process. The first record wins, since a reported error explains the later exit.
    fn end(&self, outcome: Outcome) {
        self.process.send_modify(|process| {
            process.end.get_or_insert(outcome);
        });
    }
}

/// Prints nothing: it is part of every invocation, whose outcome matters when printed.
impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shared").finish_non_exhaustive()
    }
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route(
            "/2018-06-01/runtime/invocation/{request_id}/response",
            post(response),
        )
        .route(
            "/2018-06-01/runtime/invocation/{request_id}/error",
            post(error),
        )
        .route("/2018-06-01/runtime/init/error", post(init_error))
        .with_state(shared)
}

/// Waits for an event and returns it to the function.
async fn next(State(shared): State<Arc<Shared>>) -> Response {
    shared.process.send_modify(|process| {
        process.first_next.get_or_insert_with(Instant::now);
    });
    let Some(queued) = shared.queue.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let headers = [
        ("Lambda-Runtime-Aws-Request-Id", queued.request_id.clone()),
        (
            "Lambda-Runtime-Deadline-Ms",
            (now + queued.timeout).as_millis().to_string(),
        ),
        (
            "Lambda-Runtime-Invoked-Function-Arn",
            FUNCTION_ARN.to_owned(),
        ),
        ("Lambda-Runtime-Trace-Id", TRACE_ID.to_owned()),
    ];
    // The test may have dropped its `Pending`; the function gets the event anyway.
    let _ = queued
        .messages
        .send(Message::HandedOut { at: Instant::now() });
    shared
        .running
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(queued.request_id, queued.messages);
    (headers, Json(queued.event)).into_response()
}

async fn response(
    State(shared): State<Arc<Shared>>,
    Path(request_id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Some(messages) = shared.sender_of(&request_id) else {
        return unknown(&request_id);
    };
    let outcome = if receive::is_stream(&headers) {
        receive::stream(&headers, body, &messages).await
    } else {
        receive::buffered(body).await
    };
    let status = match outcome {
        Outcome::Failed(_) => StatusCode::PAYLOAD_TOO_LARGE,
        Outcome::Broken(_) => StatusCode::BAD_REQUEST,
        _ => StatusCode::ACCEPTED,
    };
    let _ = messages.send(Message::Finished(outcome));
    (status, Json(json!({ "status": "OK" }))).into_response()
}

async fn error(
    State(shared): State<Arc<Shared>>,
    Path(request_id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Some(messages) = shared.sender_of(&request_id) else {
        return unknown(&request_id);
    };
    let _ = messages.send(Message::Finished(receive::error(&headers, body).await));
    (StatusCode::ACCEPTED, Json(json!({ "status": "OK" }))).into_response()
}

async fn init_error(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Body) -> Response {
    shared.end(receive::error(&headers, body).await);
    (StatusCode::ACCEPTED, Json(json!({ "status": "OK" }))).into_response()
}

/// Responds to a post for an unknown or finished invocation.
fn unknown(request_id: &str) -> Response {
    let error = json!({ "errorMessage": format!("no invocation {request_id} runs"), "errorType": "InvalidRequestID" });
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}
