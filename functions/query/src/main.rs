//! Cold start of the query function: configuration and backends, then the router under the Lambda runtime.

use std::sync::Arc;

use bookrag::api::Measuring;
use bookrag::config::{Config, Environment};
use bookrag::context::Context;
use bookrag::{lambda, telemetry};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init(Environment::Lambda);
    let config = Config::from_env(Environment::Lambda)?;
    let context = Arc::new(Context::hosted(&config).await?);
    let measuring = Measuring {
        metrics: config.metrics,
        function: "query",
    };
    let router = lambda::observed(query::router(context), measuring);
    lambda::run_streaming(router).await
}
