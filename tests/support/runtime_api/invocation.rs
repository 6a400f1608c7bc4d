//! One event's way through a function.

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

/// How long an event waits to be fetched: the process may be starting, on a machine that compiles as well.
const FETCH_DEADLINE: Duration = Duration::from_mins(1);
/// How long the API may need to read what a process wrote before it ended.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// How an invocation ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The function answered in one piece.
    Buffered(Bytes),
    /// The function answered with a stream: the invocation's prelude and chunks.
    Streamed {
        /// The error in the stream's trailers. `lambda_runtime` 1.5 writes it into the body instead, as text.
        error: Option<FunctionError>,
    },
    /// The function reported an error, for this event or at its start.
    Failed(FunctionError),
    /// What came is not an answer, or it broke off.
    Broken(String),
    /// The process ended without an answer; with its exit status.
    Exited(String),
    /// The deadline came first.
    TimedOut,
}

/// An error as a function reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionError {
    /// The kind of error, `Runtime.…` when the runtime itself made it.
    pub error_type: String,
    /// What was wrong.
    pub message: String,
}

/// What stands before a streamed body.
#[derive(Debug, Clone)]
pub struct Prelude {
    /// The response's HTTP status.
    pub status: StatusCode,
    /// The response's headers, without the cookies.
    pub headers: HeaderMap,
    /// The values of the `Set-Cookie` headers.
    pub cookies: Vec<String>,
}

/// A piece of a streamed body, as the function's HTTP client sent it.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// When it arrived. The first may be 40 ms late: the runtime's client writes small pieces without `TCP_NODELAY`.
    pub at: Instant,
    /// What arrived; never empty.
    pub bytes: Bytes,
}

/// An invocation that ended. [`Invocation::http`] or [`Invocation::payload`] reads a good end; failures are in
/// `outcome`.
#[derive(Debug)]
pub struct Invocation {
    /// The request id the function was given.
    pub request_id: String,
    /// When the function was given the event; none if it never asked for it.
    pub handed_out: Option<Instant>,
    /// The head of a streamed answer.
    pub prelude: Option<Prelude>,
    /// The body of a streamed answer, in order of arrival; also what came of it before it failed.
    pub chunks: Vec<Chunk>,
    /// How it ended.
    pub outcome: Outcome,
    shared: Arc<Shared>,
}

/// What the API tells about an invocation, in this order; any number of chunks.
#[derive(Debug)]
pub(super) enum Message {
    HandedOut { at: Instant },
    Prelude(Prelude),
    Chunk(Chunk),
    Finished(Outcome),
}

/// An invocation that has not ended, as far as its reader knows.
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

    /// Waits for the next chunk of a streamed answer; none when the invocation has ended.
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

    /// What the API tells next, or the end of the process or of the time, whatever comes first.
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

/// The end of an invocation the API has dropped: its connection was cut while the answer was read.
fn lost() -> Message {
    Message::Finished(Outcome::Broken(
        "the function's connection was cut".to_owned(),
    ))
}

impl Invocation {
    /// The answer as API Gateway passes it on, whether it came in one piece or as a stream.
    ///
    /// # Panics
    ///
    /// When the invocation failed, or answered what API Gateway would call a malformed proxy response.
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

    /// The JSON a function answered in one piece.
    ///
    /// # Panics
    ///
    /// When the invocation ended otherwise.
    #[must_use]
    #[track_caller]
    pub fn payload(&self) -> Value {
        let Outcome::Buffered(payload) = &self.outcome else {
            self.panic("a buffered payload was expected");
        };
        serde_json::from_slice(payload)
            .unwrap_or_else(|cause| self.panic(&format!("the payload is not JSON: {cause}")))
    }

    /// The error the function reported.
    ///
    /// # Panics
    ///
    /// When it reported none.
    #[must_use]
    #[track_caller]
    pub fn error(&self) -> &FunctionError {
        match &self.outcome {
            Outcome::Failed(error) | Outcome::Streamed { error: Some(error) } => error,
            _ => self.panic("an error was expected"),
        }
    }

    /// All chunks together.
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
