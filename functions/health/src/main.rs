//! Cold start of the health function: configuration and backends, then the router under the Lambda runtime.

use std::sync::Arc;

use axum::middleware::map_request;
use bookrag::config::{Config, Environment};
use bookrag::context::Context;
use bookrag::{lambda, telemetry};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init(Environment::Lambda);
    let config = Config::from_env(Environment::Lambda)?;
    let context = Arc::new(Context::hosted(&config).await?);
    let scheduled = health::scheduled(Arc::clone(&context), config.metrics);
    let router = health::router(context).merge(scheduled);
    let router = telemetry::traced(router).layer(map_request(lambda::named));
    lambda_http::run(router).await
}
