//! Cold start of the search function: configuration and backends, then the router under the Lambda runtime.

use bookrag::api::Measuring;
use bookrag::books::Hosted;
use bookrag::config::{Config, Environment};
use bookrag::{lambda, telemetry};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init(Environment::Lambda);
    let config = Config::from_env(Environment::Lambda)?;
    let routes = Hosted::connect(&config).await?.router(search::router);
    let measuring = Measuring {
        metrics: config.metrics,
        function: "search",
    };
    let router = lambda::observed(routes, measuring);
    lambda_http::run(router).await
}
