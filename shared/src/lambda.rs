//! Adapts requests and responses to Lambda and API Gateway.

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::{from_fn_with_state, map_request};
use axum::response::Response;
use lambda_http::RequestExt;
use lambda_http::request::RequestContext;
use lambda_http::tower::util::MapResponse;

use crate::api::{ClientAddress, Measuring, PlatformRequestId, Stage, measure};
use crate::telemetry::traced;

/// Adds request ids, measurements and traces to a function's router.
pub fn observed(router: Router, measuring: Measuring) -> Router {
    let measured = traced(router.layer(from_fn_with_state(measuring, measure)));
    // Outermost, because measuring needs the name.
    measured.layer(map_request(named))
}

/// Serves a router under the Lambda runtime, with streamed responses.
///
/// # Errors
/// If the runtime cannot be reached.
pub async fn run_streaming(router: Router) -> Result<(), lambda_http::Error> {
    // Not a layer, because a router adds Content-Length outside its layers.
    lambda_http::run_with_streaming_response(MapResponse::new(router, streamable)).await
}

/// Prepares a response for streaming.
///
/// An empty streamed response leaves the connection open in some accounts (<https://github.com/aws/aws-lambda-web-adapter/issues/499>), so an empty
/// body becomes a line break. Content-Length is removed because it is then wrong, and API Gateway sends streams in chunks.
fn streamable(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    let body = if body.is_end_stream() {
        Body::from("\n")
    } else {
        body
    };
    Response::from_parts(head, body)
}

/// Returns the stage that begins the paths of a deployment's addresses. Those of a domain of its own have none.
fn stage_in_address(domain: Option<&str>, stage: Option<&str>) -> Option<Stage> {
    let stage = stage.filter(|_| domain.is_some_and(|domain| domain.contains(".execute-api.")));
    stage.map(|stage| Stage(format!("/{stage}")))
}

/// Reads the client's address and the stage from API Gateway, and the request's id from Lambda.
pub async fn named(mut request: Request) -> Request {
    let address = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV1(context)) => context.identity.source_ip.clone(),
        Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.clone(),
        _ => None,
    };
    let id = request
        .lambda_context_ref()
        .map(|context| context.request_id.clone());
    let stage = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV1(context)) => {
            stage_in_address(context.domain_name.as_deref(), context.stage.as_deref())
        }
        _ => None,
    };
    let extensions = request.extensions_mut();
    if let Some(stage) = stage {
        extensions.insert(stage);
    }
    if let Some(address) = address {
        extensions.insert(ClientAddress(address));
    }
    if let Some(id) = id {
        extensions.insert(PlatformRequestId(id));
    }
    request
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, header};
    use axum::routing::get;
    use lambda_http::tower::ServiceExt;

    use super::*;
    use crate::api::{Origins, cors};

    /// Returns a route with CORS headers, as in the functions.
    fn router() -> Router {
        let origins = ["https://book.example".to_owned()];
        let routes = Router::new().route("/", get(async || "text"));
        routes.layer(cors(Origins::new(&origins)))
    }

    async fn streamed(method: Method) -> (Response<()>, Vec<u8>) {
        let request = Request::builder()
            .method(method)
            .uri("/")
            .header(header::ORIGIN, "https://book.example")
            .header(header::ACCESS_CONTROL_REQUEST_METHOD, "GET");
        let request = request.body(Body::empty()).unwrap();
        let service = MapResponse::new(router(), streamable);
        let (head, body) = service.oneshot(request).await.unwrap().into_parts();
        let body = axum::body::to_bytes(body, 100).await.unwrap();
        (Response::from_parts(head, ()), body.to_vec())
    }

    #[tokio::test]
    async fn no_streamed_response_is_empty_or_says_its_length() {
        for (method, body) in [(Method::GET, "text"), (Method::OPTIONS, "\n")] {
            let (head, streamed) = streamed(method.clone()).await;
            assert_eq!(streamed, body.as_bytes(), "{method}");
            assert_eq!(head.headers().get(CONTENT_LENGTH), None, "{method}");
        }
    }

    #[tokio::test]
    async fn no_header_of_a_streamed_response_repeats() {
        // The prelude of a stream has one value for each header name; API Gateway rejects lists.
        for method in [Method::GET, Method::OPTIONS] {
            let (head, _) = streamed(method.clone()).await;
            let headers = head.headers();
            assert_eq!(headers.keys_len(), headers.len(), "{method}: {headers:?}");
        }
    }
}
