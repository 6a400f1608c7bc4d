//! Cold start of the search function: configuration and ports, then the router under the Lambda runtime.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::map_request;
use bookrag::api::ClientAddress;
use bookrag::config::{Config, Place};
use bookrag::context::Context;
use bookrag::telemetry;
use lambda_http::RequestExt;
use lambda_http::request::RequestContext;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init(Place::Lambda);
    let config = Config::from_env(Place::Lambda)?;
    let context = Arc::new(Context::hosted(&config)?);
    let router = search::router(context).layer(map_request(name_client));
    lambda_http::run(router).await
}

/// Takes the client's address from API Gateway.
async fn name_client(mut request: Request) -> Request {
    let address = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV1(context)) => context.identity.source_ip.clone(),
        Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.clone(),
        _ => None,
    };
    if let Some(address) = address {
        request.extensions_mut().insert(ClientAddress(address));
    }
    request
}
