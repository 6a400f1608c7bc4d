//! Cold start of the ingest function: configuration and ports, then its handler under the Lambda runtime.

use bookrag::config::{Config, Place};
use bookrag::telemetry;
use ingest::{Deadline, Function, HandlerError};
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init(Place::Lambda);
    let config = Config::from_env(Place::Lambda)?;
    let function = &Function::connect(&config).await?;
    // Boxed: in one piece with the runtime's futures it nests deeper than the compiler lays out.
    let handler = service_fn(|event: LambdaEvent<Value>| {
        let deadline = Deadline::before(event.context.deadline);
        Box::pin(serve(function, event.payload, deadline))
    });
    lambda_runtime::run(handler).await
}

async fn serve(
    function: &Function,
    event: Value,
    deadline: Deadline,
) -> Result<Value, HandlerError> {
    function.handle(event, deadline).await.inspect_err(|error| {
        tracing::error!(stage = "ingest", error.kind = error.kind(), error = %error, "the event failed");
    })
}
