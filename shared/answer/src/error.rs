//! The error type of handlers: a kind, a message for the reader, and the cause for the log.

use std::fmt;
use std::time::Duration;

/// The kind of an error, which decides the HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is invalid; the client must change it.
    Invalid,
    /// The token is missing or invalid; the client must sign in.
    Unauthorized,
    /// The request's origin is not allowed.
    Forbidden,
    /// The resource does not exist.
    NotFound,
    /// The route does not support this method.
    MethodNotAllowed,
    /// The body is too large.
    TooLarge,
    /// The body has the wrong content type.
    UnsupportedMediaType,
    /// The client sent too many requests in a period; it may retry after a delay.
    RateLimited,
    /// A dependency is down or still starting; the client may retry after a delay.
    Unavailable,
    /// Too many requests are being handled; the client may retry after a delay.
    Overloaded,
    /// The service has a bug.
    Internal,
}

/// An error of a request. Its message is sent to the client, its source never is.
#[derive(Debug)]
pub struct Error {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The message for the client.
    pub message: String,
    /// The invalid field of the request.
    pub field: Option<&'static str>,
    /// The delay before a retry.
    pub retry_after: Option<Duration>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The retry delay for an unavailable dependency.
const RETRY_AFTER: Duration = Duration::from_secs(5);

impl Error {
    /// Creates an error with a message for the client.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            field: None,
            retry_after: None,
            source: None,
        }
    }

    /// Creates the error for an invalid field.
    #[must_use]
    pub fn field(field: &'static str, message: impl Into<String>) -> Self {
        Self {
            field: Some(field),
            ..Self::new(ErrorKind::Invalid, message)
        }
    }

    /// Creates the error for a client over its rate limit.
    #[must_use]
    pub fn rate_limited(retry_after: Duration, message: impl Into<String>) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(ErrorKind::RateLimited, message)
        }
    }

    /// Creates the error for an unavailable dependency.
    #[must_use]
    pub fn unavailable(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self {
            retry_after: Some(RETRY_AFTER),
            source: Some(Box::new(source)),
            ..Self::new(
                ErrorKind::Unavailable,
                "the documentation is temporarily unavailable, please try again in a few seconds",
            )
        }
    }

    /// Creates the error for a process at its limit of concurrent requests.
    #[must_use]
    pub fn overloaded() -> Self {
        Self {
            retry_after: Some(RETRY_AFTER),
            ..Self::new(
                ErrorKind::Overloaded,
                "too many readers are asking at once, please try again in a few seconds",
            )
        }
    }

    /// Creates the error for an answer that failed after its beginning was sent.
    #[must_use]
    pub fn broken_off(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self {
            message: "the answer broke off, please ask again".to_owned(),
            ..Self::unavailable(source)
        }
    }

    /// Creates the error for a bug.
    #[must_use]
    pub fn internal(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self {
            source: Some(Box::new(source)),
            ..Self::new(ErrorKind::Internal, "something went wrong on our side")
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
