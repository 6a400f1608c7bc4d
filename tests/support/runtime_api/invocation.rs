//! The invocation of a function with one event.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Bytes,
    http::{HeaderMap, StatusCode},
};
use serde_json::Value;
use tokio::{
    sync::mpsc,
    time::{sleep_until, timeout},
};

use super::{HttpResponse, Shared};

/// The longest time until an event is fetched: the process may be starting while the machine is compiling.
const FETCH_DEADLINE: Duration = Duration::from_mins(1);
/// How long the API may need to read what a process wrote before it ended.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// The result of an invocation.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The function sent a buffered response.
    Buffered(Bytes),
    /// The function streamed its response: see the invocation's prelude and chunks.
    Streamed {
        /// The error in the stream's trailers. `lambda_runtime` 1.5 writes it into the body as text instead.
        error: Option<FunctionError>,
    },
    /// The function reported an error, for this event or while starting.
    Failed(FunctionError),
    /// The response is malformed or incomplete.
    Broken(String),
    /// The process ended without a response; with its exit status.
    Exited(String),
    /// The deadline passed.
    TimedOut,
}

/// An error reported by a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionError {
    /// The kind of error, `Runtime.…` if from the runtime itself.
    pub error_type: String,
    /// The error message.
    pub message: String,
}

/// The head of a streamed response.
#[derive(Debug, Clone)]
pub struct Prelude {
    /// The response's HTTP status.
    pub status: StatusCode,
    /// The response's headers, without the cookies.
    pub headers: HeaderMap,
    /// The values of the `Set-Cookie` headers.
    pub cookies: Vec<String>,
}

/// A piece of a streamed body, as sent by the function's HTTP client.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// The time of arrival. The first chunk may be 40 ms late: the runtime's client writes small pieces without `TCP_NODELAY`.
    pub at: Instant,
    /// The bytes; never empty.
    pub bytes: Bytes,
}

/// A finished invocation. [`Invocation::http`] or [`Invocation::payload`] reads a successful response; `outcome` has the
/// failures.
#[derive(Debug)]
pub struct Invocation {
    /// The request id given to the function.
    pub request_id: String,
    /// When the function fetched the event; `None` if it never did.
    pub handed_out: Option<Instant>,
    /// The head of a streamed response.
    pub prelude: Option<Prelude>,
    /// The body of a streamed response, in order of arrival; also the part before a failure.
    pub chunks: Vec<Chunk>,
    /// The result.
    pub outcome: Outcome,
    shared: Arc<Shared>,
}

/// Messages of the API about an invocation, in this order; any number of chunks.
#[derive(Debug)]
pub(super) enum Message {
    HandedOut { at: Instant },
    Prelude(Prelude),
    Chunk(Chunk),
    Finished(Outcome),
}

/// An invocation whose end has not been read.
#[derive(Debug)]
pub struct Pending {
    messages: mpsc::UnboundedReceiver<Message>,
    timeout: Duration,
    deadline: Instant,
    request_id: String,
    handed_out: Option<Instant>,
    prelude: Option<Prelude>,
    chunks: Vec<Chunk>,
    outcome: Option<Outcome>,
    shared: Arc<Shared>,
}

impl Pending {
    pub(super) fn new(
        request_id: String,
        timeout: Duration,
        messages: mpsc::UnboundedReceiver<Message>,
        shared: Arc<Shared>,
    ) -> Self {
        let deadline = Instant::now() + FETCH_DEADLINE;
        let (handed_out, prelude, chunks, outcome) = (None, None, Vec::new(), None);
        Self {
            messages,
            timeout,
            deadline,
            request_id,
            handed_out,
            prelude,
            chunks,
            outcome,
            shared,
        }
    }

    /// Waits for the next chunk of a streamed response; `None` after the end.
    pub async fn next_chunk(&mut self) -> Option<Chunk> {
        let read = self.chunks.len();
        while self.outcome.is_none() && self.chunks.len() == read {
            self.advance().await;
        }
        self.chunks.get(read).cloned()
    }

    /// Waits for the end.
    pub async fn finish(mut self) -> Invocation {
        loop {
            if let Some(outcome) = self.outcome.take() {
                let Self {
                    request_id,
                    handed_out,
                    prelude,
                    chunks,
                    shared,
                    ..
                } = self;
                return Invocation {
                    request_id,
                    handed_out,
                    prelude,
                    chunks,
                    outcome,
                    shared,
                };
            }
            self.advance().await;
        }
    }

    async fn advance(&mut self) {
        match self.next_message().await {
            Message::HandedOut { at } => {
                self.handed_out = Some(at);
                self.deadline = at + self.timeout;
            }
            Message::Prelude(prelude) => self.prelude = Some(prelude),
            Message::Chunk(chunk) => self.chunks.push(chunk),
            Message::Finished(outcome) => self.outcome = Some(outcome),
        }
    }

    /// Returns the API's next message, the end of the process, or the timeout, whichever is first.
    async fn next_message(&mut self) -> Message {
        let mut process = self.shared.process.subscribe();
        let ended = tokio::select! {
            biased;
            message = self.messages.recv() => return message.unwrap_or_else(lost),
            ended = process.wait_for(|process| process.end.is_some()) => {
                ended.ok().and_then(|process| process.end.clone())
            }
            () = sleep_until(self.deadline.into()) => return Message::Finished(Outcome::TimedOut),
        };
        match timeout(EXIT_GRACE, self.messages.recv()).await {
            Ok(message) => message.unwrap_or_else(lost),
            Err(_) => Message::Finished(ended.unwrap_or(Outcome::TimedOut)),
        }
    }
}

/// The end of an invocation whose connection was cut during the response.
fn lost() -> Message {
    Message::Finished(Outcome::Broken(
        "the function's connection was cut".to_owned(),
    ))
}

impl Invocation {
    /// Returns the response as sent by API Gateway, buffered or streamed.
    #[must_use]
    #[track_caller]
    pub fn http(&self) -> HttpResponse {
        match (&self.outcome, &self.prelude) {
            (Outcome::Streamed { error: None }, Some(prelude)) => {
                let mut headers = prelude.headers.clone();
                for cookie in &prelude.cookies {
                    headers.append(
                        "set-cookie",
                        cookie.parse().expect("a cookie is a header's value"),
                    );
                }
                HttpResponse {
                    status: prelude.status,
                    headers,
                    body: self.body(),
                }
            }
            (Outcome::Buffered(_), _) => HttpResponse::proxy(&self.payload())
                .unwrap_or_else(|malformed| self.panic(&malformed)),
            _ => self.panic("an HTTP response was expected"),
        }
    }

    /// Returns the JSON of a buffered response.
    #[must_use]
    #[track_caller]
    pub fn payload(&self) -> Value {
        let Outcome::Buffered(payload) = &self.outcome else {
            self.panic("a buffered payload was expected");
        };
        serde_json::from_slice(payload)
            .unwrap_or_else(|cause| self.panic(&format!("the payload is not JSON: {cause}")))
    }

    /// Returns the error reported by the function.
    #[must_use]
    #[track_caller]
    pub fn error(&self) -> &FunctionError {
        match &self.outcome {
            Outcome::Failed(error) | Outcome::Streamed { error: Some(error) } => error,
            _ => self.panic("an error was expected"),
        }
    }

    /// Concatenates all chunks.
    #[must_use]
    pub fn body(&self) -> Bytes {
        self.chunks
            .iter()
            .flat_map(|chunk| chunk.bytes.iter().copied())
            .collect()
    }

    #[track_caller]
    fn panic(&self, what: &str) -> ! {
        let body = String::from_utf8_lossy(&self.body()).into_owned();
        panic!(
            "{what}: {:?}\nstreamed so far: {body:?}\nlog of the function:\n{}",
            self.outcome,
            self.shared.logs()
        );
    }
}
