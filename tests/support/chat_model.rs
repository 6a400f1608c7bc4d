//! A scripted chat model on loopback, behind the APIs of `OpenAI` and of Cohere, streamed and whole.

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

/// A model that the server does not have. It has every other.
pub const UNKNOWN_MODEL: &str = "no-such-model";
const MODEL: &str = "scripted";

/// The API. Dropping it ends it.
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
    /// How many requests the script has decided on.
    decided: usize,
    seen: Vec<Seen>,
}

/// What came with a request.
struct Seen {
    authorization: Option<String>,
    body: Value,
}

impl ChatModel {
    /// Listens on a free port of the loopback interface. It answers as the script says; and, whatever that says, 401 to
    /// another key than [`API_KEY`], 404 to [`UNKNOWN_MODEL`] and 400 without messages.
    ///
    /// # Panics
    ///
    /// When the loopback interface gives no port.
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
        // Without it, Nagle's algorithm and delayed acknowledgements decide when a piece arrives.
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

    /// Changes the script, and counts its requests anew; answers that have begun go on as they were.
    pub fn tell(&self, script: Reply) {
        let mut told = self.shared.told();
        told.script = script;
        told.decided = 0;
    }

    /// What `OPENAI_BASE_URL` is set to. There are embeddings as well, those of [`crate::openai::OpenAi`].
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin)
    }

    /// What `COHERE_BASE_URL` is set to.
    #[must_use]
    pub fn cohere_base_url(&self) -> String {
        self.origin.clone()
    }

    /// The variables that make a process write its answers with it, by the API of `OpenAI`. They stand after those of
    /// an embeddings API, whose address they replace.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("BOOKRAG_GENERATOR", "openai".to_owned()),
            ("BOOKRAG_CHAT_MODEL", MODEL.to_owned()),
            ("OPENAI_BASE_URL", self.base_url()),
            ("OPENAI_API_KEY", API_KEY.to_owned()),
            // It stands in for a hosted model, although its address is this machine's.
            ("BOOKRAG_FIRST_TEXT_SECONDS", "30".to_owned()),
            ("BOOKRAG_ANSWER_SECONDS", "30".to_owned()),
            // Each question reaches the script.
            ("BOOKRAG_ANSWER_CACHE", "off".to_owned()),
        ]
    }

    /// As [`ChatModel::environment`], by Cohere's API.
    #[must_use]
    pub fn cohere_environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("BOOKRAG_GENERATOR", "cohere".to_owned()),
            ("BOOKRAG_CHAT_MODEL", MODEL.to_owned()),
            ("COHERE_BASE_URL", self.cohere_base_url()),
            ("COHERE_API_KEY", API_KEY.to_owned()),
            ("BOOKRAG_ANSWER_CACHE", "off".to_owned()),
        ]
    }

    /// The bodies of the requests for chat so far, refused ones too, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        let told = self.shared.told();
        told.seen.iter().map(|seen| seen.body.clone()).collect()
    }

    /// The `Authorization` of each of [`ChatModel::requests`].
    #[must_use]
    pub fn authorizations(&self) -> Vec<Option<String>> {
        let told = self.shared.told();
        let seen = told.seen.iter();
        seen.map(|seen| seen.authorization.clone()).collect()
    }

    /// On how many requests the client left before it had the whole answer.
    #[must_use]
    pub fn abandoned(&self) -> usize {
        *self.shared.abandoned.borrow()
    }

    /// Waits until so many were abandoned.
    ///
    /// # Panics
    ///
    /// When the deadline passes before.
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

/// Says where it is only: a script may be a function.
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

    /// What the script says to the next request.
    fn decide(&self, request: &Value) -> Course {
        let (script, number) = {
            let mut told = self.told();
            let number = told.decided;
            told.decided += 1;
            (told.script.clone(), number)
        };
        // The lock is free again: a function may ask what came so far.
        script.course(number, request)
    }
}
