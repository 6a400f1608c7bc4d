//! Cold start of the health function: configuration and backends, then the router under the Lambda runtime.

use axum::middleware::map_request;
use bookrag::books::Hosted;
use bookrag::config::{Config, Environment};
use bookrag::{lambda, telemetry};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init(Environment::Lambda);
    let config = Config::from_env(Environment::Lambda)?;
    let books = Hosted::connect(&config).await?;
    let scheduled = health::scheduled(books.contexts(), config.metrics);
    let router = books.router(health::router).merge(scheduled);
    let router = telemetry::traced(router).layer(map_request(lambda::named));
    lambda_http::run(router).await
}
