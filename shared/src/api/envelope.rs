//! The common format of JSON responses.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use answer::Outcome;
use answer::degradation::Degradation;
use answer::error::{Error, ErrorKind};
use answer::retrieve::StageTimes;
use store::catalog::Freshness;

/// The common format of JSON responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Envelope<T> {
    /// True if `data` is present.
    pub success: bool,
    /// The result.
    pub data: Option<T>,
    /// The error.
    pub error: Option<ErrorBody>,
    /// Metadata of the result.
    pub meta: Meta,
}

/// The confirmation of an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// Feedback was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<bool>,
    /// A conversation was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
}

/// An error as sent to a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// A code for programs.
    pub code: String,
    /// A message for people.
    pub message: String,
    /// The invalid field of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Seconds to wait before retrying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// Metadata of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Meta {
    /// The request's id, as in the logs.
    pub request_id: String,
    /// Milliseconds from the request to the answer.
    pub latency_ms: f64,
    /// The number of cited sources or of results.
    pub source_count: usize,
    /// The number of candidates found.
    pub num_candidates: usize,
    /// The ranking scores of the passages used or of the results, best first.
    pub score_distribution: Vec<f32>,
    /// The duration of each stage, in milliseconds.
    #[serde(skip_deserializing)]
    pub stages_ms: StageTimes,
    /// The dependencies that were bypassed.
    pub degraded: Vec<Degradation>,
    /// Model tokens spent; 0 without a model.
    pub tokens: u64,
    /// The cost of these tokens, in US dollars.
    pub cost_usd: f64,
    /// True if a model's answer to an equal question was reused.
    #[serde(default)]
    pub cached: bool,
    /// Whether the book answered; only present with an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// When the index was made that the result is from, and from which commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Freshness>,
}

/// Returns a successful response.
pub fn success<T: Serialize>(data: T, meta: Meta) -> Response {
    let envelope = Envelope {
        success: true,
        data: Some(data),
        error: None,
        meta,
    };
    Json(envelope).into_response()
}

static OVERLOAD: OncePerSecond = OncePerSecond::new();

/// Counts what happens often, to report it once a second.
struct OncePerSecond(Mutex<(u64, Option<Instant>)>);

impl OncePerSecond {
    const fn new() -> Self {
        Self(Mutex::new((0, None)))
    }

    /// Counts one event. If the last report is a second ago, returns how many were counted since.
    fn count(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, last) = &mut *state;
        *count += 1;
        if last.is_some_and(|last| now.duration_since(last) < Duration::from_secs(1)) {
            return None;
        }
        *last = Some(now);
        Some(std::mem::take(count))
    }
}

/// Returns an error response. The error is logged here, once, with its cause; the client only gets the message.
#[must_use]
pub fn failure(error: &Error, request_id: &str) -> Response {
    let (status, code) = status_of(error.kind);
    let cause = std::error::Error::source(error).map(ToString::to_string);
    if error.kind == ErrorKind::Overloaded {
        // A flood must not flood the log, which costs money.
        if let Some(count) = OVERLOAD.count(Instant::now()) {
            tracing::warn!(
                count,
                "requests refused because too many were answered at once"
            );
        }
    } else if status.is_server_error() {
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
    // For routes with another error format.
    response.extensions_mut().insert(body);
    if let Some(seconds) = seconds {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Maps an error to its status and code; the only place that does.
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
        ErrorKind::Unavailable | ErrorKind::Overloaded => {
            (StatusCode::SERVICE_UNAVAILABLE, "service_unavailable")
        }
        ErrorKind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
    }
}

/// Returns the code of an error, for stream events.
#[must_use]
pub(super) fn code_of(kind: ErrorKind) -> &'static str {
    status_of(kind).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_one_line_a_second_with_its_count() {
        let counter = OncePerSecond::new();
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let counted = [0, 1, 999, 1_000, 1_001, 2_000].map(|time| counter.count(at(time)));
        assert_eq!(counted, [Some(1), None, None, Some(3), None, Some(2)]);
    }
}
