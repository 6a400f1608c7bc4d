//! API Gateway's response for a function's answer.

use axum::{
    body::Bytes,
    http::{HeaderMap, StatusCode},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::receive;

/// A function's answer as a client of API Gateway receives it.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers, cookies included.
    pub headers: HeaderMap,
    /// The body, decoded if it was Base64.
    pub body: Bytes,
}

impl HttpResponse {
    /// Reads a proxy response, version 1.0: `{"statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded"}`.
    pub(super) fn proxy(payload: &Value) -> Result<Self, String> {
        let status = receive::status(payload)?;
        let mut headers = HeaderMap::new();
        receive::append(&mut headers, &payload["multiValueHeaders"])?;
        let mut single = HeaderMap::new();
        receive::append(&mut single, &payload["headers"])?;
        for (name, value) in &single {
            // The two maps are merged; values in both count once.
            if !headers.get_all(name).iter().any(|other| other == value) {
                headers.append(name, value.clone());
            }
        }
        let body = match &payload["body"] {
            Value::Null => Bytes::new(),
            Value::String(body) if payload["isBase64Encoded"] == true => BASE64_STANDARD
                .decode(body)
                .map_err(|cause| format!("the body is not Base64: {cause}"))?
                .into(),
            Value::String(body) => Bytes::copy_from_slice(body.as_bytes()),
            other => return Err(format!("the body is neither text nor null: {other}")),
        };
        Ok(Self {
            status,
            headers,
            body,
        })
    }

    /// Returns the value of a header, if present.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body as text.
    #[must_use]
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is UTF-8")
    }

    /// Parses the body as JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|cause| panic!("{cause}: {:?}", self.body))
    }
}
