//! Logs: JSON lines with fixed fields, never a question, an answer, a prompt, an address or a key.

use tracing_subscriber::EnvFilter;

/// What prints whole requests at its lower levels: held where it prints none, whatever is asked for.
const TALKATIVE: [&str; 7] = [
    "lambda_runtime=info",
    "lambda_http=info",
    "hyper=info",
    "h2=info",
    "tonic=info",
    "tokio_postgres=info",
    "rmcp=error",
];

/// Logs to standard error: as JSON in Lambda, as text on a laptop. `BOOKRAG_LOG` sets the levels.
pub fn init(place: crate::config::Place) {
    let filter = EnvFilter::try_from_env("BOOKRAG_LOG").unwrap_or_else(|_| {
        EnvFilter::new(match place {
            crate::config::Place::Lambda => "info",
            crate::config::Place::Laptop => "warn",
        })
    });
    let filter = TALKATIVE.iter().fold(filter, |filter, held| {
        filter.add_directive(held.parse().expect("a target and its level"))
    });
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let outcome = match place {
        crate::config::Place::Lambda => builder
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .try_init(),
        crate::config::Place::Laptop => builder.try_init(),
    };
    // A second call, in a test, changes nothing.
    drop(outcome);
}
