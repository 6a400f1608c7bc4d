//! Cold start of the ingest function: configuration and backends, then its handler under the Lambda runtime.

use bookrag::config::{Config, Environment};
use bookrag::telemetry;
use ingest::{Books, ConnectError, Deadline, HandlerError, not_started};
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init(Environment::Lambda);
    let started = &start().await;
    // Boxed, because the runtime's nested futures otherwise exceed the compiler's layout limit.
    let handler = service_fn(|event: LambdaEvent<Value>| {
        let LambdaEvent { payload, context } = event;
        let serving = serve(started, payload, Deadline::before(context.deadline));
        Box::pin(async move {
            telemetry::traced_event("ingest", context.xray_trace_id.as_deref(), serving).await
        })
    });
    lambda_runtime::run(handler).await
}

async fn start() -> Result<Books, ConnectError> {
    let config = Config::from_env(Environment::Lambda)?;
    Books::connect(&config).await
}

/// Handles an event. If the function could not start, a deployment is told why.
async fn serve(
    started: &Result<Books, ConnectError>,
    event: Value,
    deadline: Deadline,
) -> Result<Value, HandlerError> {
    let served = match started {
        Ok(books) => books.handle(event, deadline).await,
        Err(reason) => not_started(reason, event).await,
    };
    served.inspect_err(|error| {
        tracing::error!(stage = "ingest", error.kind = error.kind(), error = %error, "the event failed");
    })
}
