//! Reads the responses that a function posts.

use std::time::Instant;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, StatusCode, header::CONTENT_TYPE},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::sync::mpsc;

use super::invocation::{Chunk, FunctionError, Message, Outcome, Prelude};

/// Lambda's limit of a buffered response, from its own error message.
const MAX_RESPONSE_BYTES: usize = 6_291_556;
/// The content type of a stream with a prelude, as API Gateway expects it.
const HTTP_INTEGRATION: &str = "application/vnd.awslambda.http-integration-response";
/// Separates the prelude from the body.
const PRELUDE_END: [u8; 8] = [0; 8];
const ERROR_TYPE: &str = "lambda-runtime-function-error-type";
const ERROR_BODY: &str = "lambda-runtime-function-error-body";

/// True if the body must be forwarded as it arrives.
pub(super) fn is_stream(headers: &HeaderMap) -> bool {
    text(headers, "lambda-runtime-function-response-mode") == "streaming"
}

pub(super) async fn buffered(body: Body) -> Outcome {
    let received = match body.collect().await {
        Ok(received) => received.to_bytes(),
        Err(cause) => return Outcome::Broken(cause.to_string()),
    };
    if received.len() > MAX_RESPONSE_BYTES {
        let message = format!(
            "the response has {} bytes, Lambda takes {MAX_RESPONSE_BYTES}",
            received.len()
        );
        return Outcome::Failed(FunctionError {
            error_type: "Function.ResponseSizeTooLarge".to_owned(),
            message,
        });
    }
    Outcome::Buffered(received)
}

/// Forwards the prelude and each chunk as they arrive.
pub(super) async fn stream(
    headers: &HeaderMap,
    mut body: Body,
    messages: &mpsc::UnboundedSender<Message>,
) -> Outcome {
    if text(headers, CONTENT_TYPE.as_str()) != HTTP_INTEGRATION {
        return Outcome::Broken(format!(
            "the stream's content type is not {HTTP_INTEGRATION}"
        ));
    }
    let mut head = Some(Vec::new());
    let mut trailers = HeaderMap::new();
    while let Some(frame) = body.frame().await {
        let frame = match frame {
            Ok(frame) => frame,
            Err(cause) => return Outcome::Broken(cause.to_string()),
        };
        let at = Instant::now();
        let mut bytes = match frame.into_data() {
            Ok(bytes) => bytes,
            Err(frame) => {
                trailers.extend(frame.into_trailers().unwrap_or_default());
                continue;
            }
        };
        if let Some(mut started) = head.take() {
            started.extend_from_slice(&bytes);
            let Some(end) = started
                .windows(PRELUDE_END.len())
                .position(|window| window == PRELUDE_END)
            else {
                head = Some(started);
                continue;
            };
            match prelude(&started[..end]) {
                Ok(prelude) => _ = messages.send(Message::Prelude(prelude)),
                Err(cause) => return Outcome::Broken(cause),
            }
            bytes = Bytes::copy_from_slice(&started[end + PRELUDE_END.len()..]);
        }
        if !bytes.is_empty() {
            let _ = messages.send(Message::Chunk(Chunk { at, bytes }));
        }
    }
    if head.is_some() {
        return Outcome::Broken("the stream ended within its prelude".to_owned());
    }
    Outcome::Streamed {
        error: trailing_error(&trailers),
    }
}

pub(super) async fn error(headers: &HeaderMap, body: Body) -> Outcome {
    let received = match body.collect().await {
        Ok(received) => received.to_bytes(),
        Err(cause) => return Outcome::Broken(cause.to_string()),
    };
    let reported: Value = serde_json::from_slice(&received).unwrap_or_default();
    let field = |name: &str| reported[name].as_str().map(str::to_owned);
    Outcome::Failed(FunctionError {
        error_type: field("errorType").unwrap_or_else(|| text(headers, ERROR_TYPE).to_owned()),
        message: field("errorMessage")
            .unwrap_or_else(|| String::from_utf8_lossy(&received).into_owned()),
    })
}

/// Returns the error in a stream's trailers, with a Base64 body.
fn trailing_error(trailers: &HeaderMap) -> Option<FunctionError> {
    let error_type = trailers
        .get(ERROR_TYPE)?
        .to_str()
        .unwrap_or_default()
        .to_owned();
    let encoded = text(trailers, ERROR_BODY);
    let message = BASE64_STANDARD
        .decode(encoded)
        .map_or(encoded.to_owned(), |decoded| {
            String::from_utf8_lossy(&decoded).into_owned()
        });
    Some(FunctionError {
        error_type,
        message,
    })
}

/// Reads `{"statusCode", "headers", "cookies"}`; a header has one value, as API Gateway requires.
fn prelude(json: &[u8]) -> Result<Prelude, String> {
    let read: Value = serde_json::from_slice(json)
        .map_err(|cause| format!("the prelude is not JSON: {cause}"))?;
    let status = status(&read)?;
    let mut headers = HeaderMap::new();
    let repeated = read["headers"].as_object().into_iter().flatten();
    if let Some((name, values)) = repeated.into_iter().find(|(_, value)| value.is_array()) {
        return Err(format!("the prelude's header {name} repeats: {values}"));
    }
    append(&mut headers, &read["headers"])?;
    let cookies = read["cookies"].as_array().map_or(&[][..], Vec::as_slice);
    let cookies = cookies
        .iter()
        .filter_map(|cookie| Some(cookie.as_str()?.to_owned()))
        .collect();
    Ok(Prelude {
        status,
        headers,
        cookies,
    })
}

pub(super) fn status(response: &Value) -> Result<StatusCode, String> {
    let number = response["statusCode"]
        .as_u64()
        .and_then(|number| u16::try_from(number).ok());
    let status = number.and_then(|number| StatusCode::from_u16(number).ok());
    status.ok_or_else(|| format!("statusCode is {}", response["statusCode"]))
}

/// Appends a JSON object of headers, whose values are strings or lists of strings.
pub(super) fn append(headers: &mut HeaderMap, object: &Value) -> Result<(), String> {
    for (name, values) in object.as_object().into_iter().flatten() {
        let parsed: HeaderName = name
            .parse()
            .map_err(|cause| format!("header {name}: {cause}"))?;
        let values = values
            .as_array()
            .map_or(std::slice::from_ref(values), Vec::as_slice);
        for value in values {
            let value = value
                .as_str()
                .ok_or_else(|| format!("header {name} is {value}"))?;
            let value = value
                .parse()
                .map_err(|cause| format!("header {name}: {cause}"))?;
            headers.append(parsed.clone(), value);
        }
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}
