//! The one shape of every JSON answer.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::answer::Outcome;
use crate::degradation::Degradation;
use crate::error::{Error, ErrorKind};
use crate::retrieve::StageTimes;

/// The form of every JSON response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Envelope<T> {
    /// Whether `data` is there.
    pub success: bool,
    /// The answer.
    pub data: Option<T>,
    /// What went wrong.
    pub error: Option<ErrorBody>,
    /// How the answer came about.
    pub meta: Meta,
}

/// That something was done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// A judgement was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<bool>,
    /// A conversation was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
}

/// An error on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// A name for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The field of the request that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Seconds to wait before trying again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// How an answer came about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Meta {
    /// The request's id, as in the logs.
    pub request_id: String,
    /// Milliseconds from the request to the answer.
    pub latency_ms: f64,
    /// How many sources are cited, or results returned.
    pub source_count: usize,
    /// How many candidates were found.
    pub num_candidates: usize,
    /// What the passages used, or the results, are ranked by, best first.
    pub score_distribution: Vec<f32>,
    /// Milliseconds of each stage.
    #[serde(skip_deserializing)]
    pub stages_ms: StageTimes,
    /// What the answer went without.
    pub degraded: Vec<Degradation>,
    /// Model tokens spent; 0 without a model.
    pub tokens: u64,
    /// What they cost, in US dollars.
    pub cost_usd: f64,
    /// True if a model's former answer to an equal question was given again.
    #[serde(default)]
    pub cached: bool,
    /// Whether the book answered; only with an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// A successful answer.
pub fn success<T: Serialize>(data: T, meta: Meta) -> Response {
    let envelope = Envelope {
        success: true,
        data: Some(data),
        error: None,
        meta,
    };
    Json(envelope).into_response()
}

/// A failure: logged here, once, with its cause; the client gets the message alone.
#[must_use]
pub fn failure(error: &Error, request_id: &str) -> Response {
    let (status, code) = status_of(error.kind);
    let cause = std::error::Error::source(error).map(ToString::to_string);
    if status.is_server_error() {
        tracing::error!(request.id = request_id, code, cause, "request failed");
    } else {
        tracing::info!(
            request.id = request_id,
            code,
            error.field = error.field,
            "request refused"
        );
    }
    let seconds = error.retry_after.map(|wait| wait.as_secs().max(1));
    let body = ErrorBody {
        code: code.to_owned(),
        message: error.message.clone(),
        field: error.field.map(str::to_owned),
        retry_after: seconds,
    };
    let envelope = Envelope::<()> {
        success: false,
        data: None,
        error: Some(body.clone()),
        meta: Meta {
            request_id: request_id.to_owned(),
            ..Meta::default()
        },
    };
    let mut response = (status, Json(envelope)).into_response();
    // For routes whose errors have another shape.
    response.extensions_mut().insert(body);
    if let Some(seconds) = seconds {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The status and the code of an error: the only place where that is decided.
pub(super) fn status_of(kind: ErrorKind) -> (StatusCode, &'static str) {
    match kind {
        ErrorKind::Invalid => (StatusCode::BAD_REQUEST, "invalid_request"),
        ErrorKind::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
        ErrorKind::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
        ErrorKind::NotFound => (StatusCode::NOT_FOUND, "not_found"),
        ErrorKind::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        ErrorKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large"),
        ErrorKind::UnsupportedMediaType => {
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type")
        }
        ErrorKind::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
        ErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "service_unavailable"),
        ErrorKind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
    }
}

/// The code of an error, for stream events.
#[must_use]
pub(super) fn code_of(kind: ErrorKind) -> &'static str {
    status_of(kind).1
}
