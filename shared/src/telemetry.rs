//! Logs as JSON lines with fixed fields, and traces, both without questions, answers, prompts, addresses and keys.

#[cfg(feature = "cloud")]
mod traces;

use axum::Router;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::config::Environment;

#[cfg(feature = "cloud")]
pub use traces::traced_event;

/// Crates that log whole requests at low levels, limited to a safe level whatever is configured; and the target of spans, which are for traces
/// alone: in a log, the span of a line is the platform's.
const TALKATIVE: [&str; 8] = [
    "lambda_runtime=info",
    "lambda_http=info",
    "hyper=info",
    "h2=info",
    "tonic=info",
    "tokio_postgres=info",
    "rmcp=error",
    "spans=off",
];

/// Logs to standard error, as JSON in Lambda and as text on a laptop. `BOOKRAG_LOG` sets the levels. Sends traces if `OTEL_EXPORTER_OTLP_ENDPOINT`
/// is set.
///
/// Must be called in a Tokio runtime, which sends the traces.
pub fn init(environment: Environment) {
    let filter = EnvFilter::try_from_env("BOOKRAG_LOG").unwrap_or_else(|_| {
        EnvFilter::new(match environment {
            Environment::Lambda => "info",
            Environment::Local => "warn",
        })
    });
    let filter = TALKATIVE.iter().fold(filter, |filter, held| {
        filter.add_directive(held.parse().expect("a target and its level"))
    });
    let logs = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let logs = match environment {
        Environment::Lambda => {
            let json = logs.json().flatten_event(true).with_span_list(false);
            json.with_filter(filter).boxed()
        }
        Environment::Local => logs.with_filter(filter).boxed(),
    };
    // In tests, further calls have no effect.
    drop(with_traces(logs, environment).try_init());
    #[cfg(feature = "cloud")]
    traces::warn_if_unsent();
}

/// Adds the layer of traces, if they are sent.
fn with_traces(
    logs: Box<dyn Layer<Registry> + Send + Sync>,
    environment: Environment,
) -> impl SubscriberInitExt {
    let subscriber = tracing_subscriber::registry().with(logs);
    #[cfg(feature = "cloud")]
    return subscriber.with(traces::layer(environment));
    #[cfg(not(feature = "cloud"))]
    {
        let _ = environment;
        subscriber
    }
}

/// Adds a span to each request of a router, if traces are sent. Must be the outermost layer that is measured.
pub fn traced(router: Router) -> Router {
    #[cfg(feature = "cloud")]
    return router.layer(axum::middleware::from_fn(traces::traced));
    #[cfg(not(feature = "cloud"))]
    router
}

/// Sends the spans of the last requests before the process ends. Waits half a second at most.
pub async fn finish() {
    #[cfg(feature = "cloud")]
    traces::flush().await;
}
