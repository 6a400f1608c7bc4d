//! What the servers of one request share: its budget, its permits, and how its failures are reported.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonObject};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use uuid::Uuid;

use super::budget::Budget;
use super::server::TITLE_CHARACTERS;
use crate::api::{Measured, Observed, failure};
use answer::error::{Error, ErrorKind};

/// The calls that are answered at the same time; the others wait.
const MAX_CALLS: usize = 4;

/// A request, or a client over standard input and output.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) budget: Budget,
    request_id: String,
    /// Permits for calls at the same time. One program may send many at once, and each would contend for the processor and the deadline.
    permits: Arc<Semaphore>,
    /// Taken by the first call, so that nothing is left to be measured after its answer.
    measured: Arc<Mutex<Option<Measured>>>,
}

impl Call {
    pub(super) fn local(budget: Budget) -> Self {
        Self {
            budget,
            request_id: Uuid::new_v4().to_string(),
            permits: Arc::new(Semaphore::new(MAX_CALLS)),
            measured: Arc::default(),
        }
    }

    pub(super) fn of_request(budget: Budget, observed: Observed) -> Self {
        Self {
            request_id: observed.request_id,
            measured: Arc::new(Mutex::new(Some(observed.measured))),
            ..Self::local(budget)
        }
    }

    pub(super) async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.acquire().await.ok()
    }

    pub(super) fn measure(&self, note: impl FnOnce(&Measured)) {
        let measured = self
            .measured
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(measured) = measured {
            note(&measured);
        }
    }

    /// Logs a failure and returns its message for the program.
    fn message_of(&self, error: &Error) -> String {
        drop(failure(error, &self.request_id));
        error.message.clone()
    }

    /// Calls a tool. Invalid arguments are reported like other failures, so that the program can correct them.
    pub(super) async fn called<Arguments, Output, Outcome>(
        &self,
        given: Option<JsonObject>,
        tool: impl FnOnce(Arguments) -> Outcome,
    ) -> CallToolResult
    where
        Arguments: DeserializeOwned,
        Output: Serialize,
        Outcome: Future<Output = Result<Output, Error>>,
    {
        let outcome = match arguments(given) {
            Ok(arguments) => tool(arguments).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(output) => succeeded(&output),
            Err(error) => self.failed(&error),
        }
    }

    /// Returns the result of a call that failed.
    pub(super) fn failed(&self, error: &Error) -> CallToolResult {
        if matches!(
            error.kind,
            ErrorKind::Unavailable | ErrorKind::Overloaded | ErrorKind::Internal
        ) {
            self.measure(Measured::broke_off);
        }
        CallToolResult::error(vec![ContentBlock::text(self.message_of(error))])
    }

    /// Returns a protocol error, for methods whose result cannot report one.
    pub(super) fn refused(&self, error: &Error, uri: &str) -> ErrorData {
        let message = self.message_of(error);
        match error.kind {
            ErrorKind::NotFound => {
                let uri: String = uri.chars().take(TITLE_CHARACTERS).collect();
                ErrorData::resource_not_found(message, Some(serde_json::json!({"uri": uri})))
            }
            ErrorKind::Invalid => ErrorData::invalid_params(message, None),
            _ => ErrorData::internal_error(message, None),
        }
    }
}

/// Returns the result of a call.
pub(super) fn succeeded(output: &impl Serialize) -> CallToolResult {
    let text = serde_json::to_string(output).expect("texts and numbers are JSON");
    let value = serde_json::to_value(output).expect("texts and numbers are JSON");
    let mut result = CallToolResult::structured(value);
    // The same content as the structured result, in the order of its fields.
    result.content = vec![ContentBlock::text(text)];
    result
}

/// Reads the arguments of a call.
fn arguments<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, Error> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let (path, reason) = (error.path().to_string(), error.into_inner().to_string());
        // The message may quote a value as long as the request.
        let reason: String = reason.chars().take(2 * TITLE_CHARACTERS).collect();
        Error::new(
            ErrorKind::Invalid,
            format!("the arguments are not valid: {path}: {reason}"),
        )
    })
}
