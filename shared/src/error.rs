//! The one error a handler sees: a kind, a message for the reader, and the cause for the log.

use std::fmt;
use std::time::Duration;

/// What a client can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Change the request.
    Invalid,
    /// Sign in: the token is missing or does not count.
    Unauthorized,
    /// The request comes from where none may come from.
    Forbidden,
    /// There is nothing under this name.
    NotFound,
    /// The route has other methods.
    MethodNotAllowed,
    /// The body is too large.
    TooLarge,
    /// The body is of another type.
    UnsupportedMediaType,
    /// Wait, then try again.
    RateLimited,
    /// A dependency is down or still starting; wait, then try again.
    Unavailable,
    /// A bug.
    Internal,
}

/// An error at the edge. Its message goes to the client, its source never does.
#[derive(Debug)]
pub struct Error {
    /// What a client can do.
    pub kind: ErrorKind,
    /// What the client is told.
    pub message: String,
    /// The field of the request that is wrong.
    pub field: Option<&'static str>,
    /// When to try again.
    pub retry_after: Option<Duration>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// How long clients are asked to wait for a dependency.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// How long clients are asked to wait for a busy model.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(30);

impl Error {
    /// An error with a message for the client.
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

    /// A field of the request that is wrong.
    #[must_use]
    pub fn field(field: &'static str, message: impl Into<String>) -> Self {
        Self {
            field: Some(field),
            ..Self::new(ErrorKind::Invalid, message)
        }
    }

    /// A client that comes too often.
    #[must_use]
    pub fn rate_limited(retry_after: Duration, message: impl Into<String>) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(ErrorKind::RateLimited, message)
        }
    }

    /// A dependency that is down.
    #[must_use]
    pub fn unavailable(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self {
            retry_after: Some(RETRY_AFTER),
            source: Some(Box::new(source)),
            ..Self::new(
                ErrorKind::Unavailable,
                "the book is temporarily unavailable, please try again in a few seconds",
            )
        }
    }

    /// A process that works on as many requests as it can.
    #[must_use]
    pub fn overloaded() -> Self {
        Self {
            retry_after: Some(RETRY_AFTER),
            ..Self::new(
                ErrorKind::Unavailable,
                "too many readers are asking at once, please try again in a few seconds",
            )
        }
    }

    /// A model that is overloaded.
    #[must_use]
    pub fn busy() -> Self {
        Self {
            retry_after: Some(BUSY_RETRY_AFTER),
            ..Self::new(
                ErrorKind::Unavailable,
                "High traffic, please wait 30 seconds...",
            )
        }
    }

    /// An answer that broke off after its beginning was sent.
    #[must_use]
    pub fn broken_off(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self {
            message: "the answer broke off, please ask again".to_owned(),
            ..Self::unavailable(source)
        }
    }

    /// A bug.
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
