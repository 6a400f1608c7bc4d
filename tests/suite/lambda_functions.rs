//! The functions as Lambda runs them: their own binaries, with the events that AWS sends.

mod books;
mod health;
mod ingest;
mod query;
mod search;
mod telemetry;
mod traces;

use std::path::PathBuf;

use bookrag_tests::{
    backends::Backends,
    events::RestRequest,
    functions::function_binary,
    runtime_api::{Function, HttpResponse, Invocation, RuntimeApi},
};
use serde_json::Value;

/// A running function.
pub(crate) struct Lambda {
    api: RuntimeApi,
    function: Function,
}

impl Lambda {
    pub(crate) async fn start(name: &str, environment: &[(&str, String)]) -> Self {
        let binary = function_binary(name).await;
        let environment: Vec<(&str, &str)> = environment
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let api = RuntimeApi::start().await;
        let function = Function::spawn(&binary, &api, &environment);
        Self { api, function }
    }

    async fn invoke(&self, event: Value) -> Invocation {
        self.api.invoke(event).await
    }

    pub(crate) async fn send(&self, request: RestRequest) -> HttpResponse {
        self.invoke(request.into_event()).await.http()
    }
}

/// Starts backends with the book about garden robots.
pub(crate) async fn filled(database: &str) -> Backends {
    let backends = Backends::start(database).await;
    backends.fill(&book()).await;
    backends
}

fn book() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "fixtures", "book"]
        .iter()
        .collect()
}

/// Asserts a failure: its status, its code, and the field it names.
#[track_caller]
fn assert_failure(response: &HttpResponse, status: u16, code: &str, field: Option<&str>) {
    let body = response.json();
    assert_eq!(response.status, status, "{body}");
    assert_eq!(body["success"], false, "{body}");
    assert_eq!(body["error"]["code"], code, "{body}");
    assert_eq!(body["error"]["field"].as_str(), field, "{body}");
    assert!(
        !body["meta"]["request_id"].as_str().unwrap().is_empty(),
        "{body}"
    );
}
