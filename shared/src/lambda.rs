//! What Lambda and API Gateway know of a request, for the functions behind them.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{from_fn_with_state, map_request};
use lambda_http::RequestExt;
use lambda_http::request::RequestContext;

use crate::api::{ClientAddress, Measuring, PlatformRequestId, measure};

/// A function's router with its requests named and measured.
pub fn observed(router: Router, measuring: Measuring) -> Router {
    let measured = router.layer(from_fn_with_state(measuring, measure));
    // Outermost: what measures needs the name.
    measured.layer(map_request(named))
}

/// Takes the client's address from API Gateway, and the request's id from Lambda.
pub async fn named(mut request: Request) -> Request {
    let address = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV1(context)) => context.identity.source_ip.clone(),
        Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.clone(),
        _ => None,
    };
    let id = request
        .lambda_context_ref()
        .map(|context| context.request_id.clone());
    let extensions = request.extensions_mut();
    if let Some(address) = address {
        extensions.insert(ClientAddress(address));
    }
    if let Some(id) = id {
        extensions.insert(PlatformRequestId(id));
    }
    request
}
