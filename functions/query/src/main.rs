//! Cold start of the query function: configuration and backends, then the router under the Lambda runtime.

use bookrag::api::Measuring;
use bookrag::books::Hosted;
use bookrag::config::{Config, Environment};
use bookrag::{lambda, telemetry};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init(Environment::Lambda);
    let config = Config::from_env(Environment::Lambda)?;
    let routes = Hosted::connect(&config).await?.router(query::router);
    let measuring = Measuring {
        metrics: config.metrics,
        function: "query",
    };
    let router = lambda::observed(routes, measuring);
    lambda::run_streaming(router).await
}
