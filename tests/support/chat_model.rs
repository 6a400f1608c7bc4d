//! A scripted chat model on loopback with the APIs of `OpenAI` and Cohere, streamed or not.

mod reply;
mod answer;
mod wire;
mod stream;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::serve::ListenerExt as _;
use serde_json::Value;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle, time::timeout};

use reply::Course;

pub use crate::openai::API_KEY;
pub use reply::Reply;

/// The only model that the server does not have.
pub const UNKNOWN_MODEL: &str = "no-such-model";
const MODEL: &str = "scripted";

/// The server. Dropping it stops it.
pub struct ChatModel {
    origin: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    told: Mutex<Told>,
    abandoned: watch::Sender<usize>,
}

struct Told {
    script: Reply,
    /// The number of requests answered by the script.
    decided: usize,
    seen: Vec<Seen>,
}

/// The parts of a request that tests check.
struct Seen {
    authorization: Option<String>,
    body: Value,
}

impl ChatModel {
    /// Starts a server on a free loopback port. Regardless of the script, it answers 401 to
    /// any key but [`API_KEY`], 404 to [`UNKNOWN_MODEL`] and 400 to a request without messages.
    pub async fn start(script: Reply) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            told: Mutex::new(Told {
                script,
                decided: 0,
                seen: Vec::new(),
            }),
            abandoned: watch::Sender::new(0),
        });
        let router = answer::router(Arc::clone(&shared));
        // Otherwise Nagle's algorithm and delayed acknowledgements would decide when a piece arrives.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let server = tokio::spawn(async move {
            axum::serve(listener, router)
                .await
                .expect("axum::serve returns no error");
        });
        Self {
            origin: format!("http://{address}"),
            shared,
            server,
        }
    }

    /// Changes the script and resets its counter; answers in progress are unaffected.
    pub fn tell(&self, script: Reply) {
        let mut told = self.shared.told();
        told.script = script;
        told.decided = 0;
    }

    /// The value of `OPENAI_BASE_URL`. The server also has the embeddings of [`crate::openai::OpenAi`].
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin)
    }

    /// The value of `COHERE_BASE_URL`.
    #[must_use]
    pub fn cohere_base_url(&self) -> String {
        self.origin.clone()
    }

    /// Returns the variables for answers through the API of `OpenAI`. They must follow those of an embeddings API, whose
    /// address they replace.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("BOOKRAG_GENERATOR", "openai".to_owned()),
            ("BOOKRAG_CHAT_MODEL", MODEL.to_owned()),
            ("OPENAI_BASE_URL", self.base_url()),
            ("OPENAI_API_KEY", API_KEY.to_owned()),
            // It calls no function unless a test asks for it, and does not decide.
            ("BOOKRAG_SMALL_MODEL", "true".to_owned()),
            // It has as little time as a hosted model, although its address is local.
            ("BOOKRAG_FIRST_TEXT_SECONDS", "30".to_owned()),
            ("BOOKRAG_ANSWER_SECONDS", "30".to_owned()),
            // Every question must reach the script, and nothing else.
            ("BOOKRAG_ANSWER_CACHE", "off".to_owned()),
            ("BOOKRAG_QUESTIONS_BUDGET", "0".to_owned()),
        ]
    }

    /// Like [`ChatModel::environment`], with Cohere's API.
    #[must_use]
    pub fn cohere_environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("BOOKRAG_GENERATOR", "cohere".to_owned()),
            ("BOOKRAG_CHAT_MODEL", MODEL.to_owned()),
            ("COHERE_BASE_URL", self.cohere_base_url()),
            ("COHERE_API_KEY", API_KEY.to_owned()),
            ("BOOKRAG_ANSWER_CACHE", "off".to_owned()),
            ("BOOKRAG_QUESTIONS_BUDGET", "0".to_owned()),
        ]
    }

    /// Returns the bodies of all chat requests so far, also refused ones, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        let told = self.shared.told();
        told.seen.iter().map(|seen| seen.body.clone()).collect()
    }

    /// Returns the `Authorization` header of each of [`ChatModel::requests`].
    #[must_use]
    pub fn authorizations(&self) -> Vec<Option<String>> {
        let told = self.shared.told();
        let seen = told.seen.iter();
        seen.map(|seen| seen.authorization.clone()).collect()
    }

    /// Returns the number of answers that the client abandoned before their end.
    #[must_use]
    pub fn abandoned(&self) -> usize {
        *self.shared.abandoned.borrow()
    }

    /// Waits until this many answers were abandoned.
    pub async fn until_abandoned(&self, count: usize, deadline: Duration) {
        let mut abandoned = self.shared.abandoned.subscribe();
        let reached = abandoned.wait_for(|abandoned| *abandoned >= count);
        let in_time = timeout(deadline, reached).await.is_ok();
        let so_far = self.abandoned();
        assert!(
            in_time,
            "{so_far} of {count} requests were abandoned in {deadline:?}"
        );
    }
}

impl Drop for ChatModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Prints only the address, since a script may be a function.
impl fmt::Debug for ChatModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ChatModel")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the script's course for the next request.
    fn decide(&self, request: &Value) -> Course {
        let (script, number) = {
            let mut told = self.told();
            let number = told.decided;
            told.decided += 1;
            (told.script.clone(), number)
        };
        // The lock is released first, since the script may call [`ChatModel::requests`].
        script.course(number, request)
    }
}
