//! Logs as JSON lines with fixed fields, without questions, answers, prompts, addresses and keys.

use tracing_subscriber::EnvFilter;

/// Crates that log whole requests at low levels, limited to a safe level whatever is configured.
const TALKATIVE: [&str; 7] = [
    "lambda_runtime=info",
    "lambda_http=info",
    "hyper=info",
    "h2=info",
    "tonic=info",
    "tokio_postgres=info",
    "rmcp=error",
];

/// Logs to standard error, as JSON in Lambda and as text on a laptop. `BOOKRAG_LOG` sets the levels.
pub fn init(environment: crate::config::Environment) {
    let filter = EnvFilter::try_from_env("BOOKRAG_LOG").unwrap_or_else(|_| {
        EnvFilter::new(match environment {
            crate::config::Environment::Lambda => "info",
            crate::config::Environment::Local => "warn",
        })
    });
    let filter = TALKATIVE.iter().fold(filter, |filter, held| {
        filter.add_directive(held.parse().expect("a target and its level"))
    });
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let outcome = match environment {
        crate::config::Environment::Lambda => builder
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .try_init(),
        crate::config::Environment::Local => builder.try_init(),
    };
    // In tests, further calls have no effect.
    drop(outcome);
}
