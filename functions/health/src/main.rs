//! Cold start of the health function: configuration and ports, then the router under the Lambda runtime.

use std::sync::Arc;

use bookrag::config::{Config, Place};
use bookrag::context::Context;
use bookrag::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init(Place::Lambda);
    let config = Config::from_env(Place::Lambda)?;
    let context = Arc::new(Context::hosted(&config)?);
    lambda_http::run(health::router(context)).await
}
