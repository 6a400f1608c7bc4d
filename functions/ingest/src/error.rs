//! Why the function does not start, or an event is not served.

use bookrag::catalog::CatalogError;
use bookrag::context::StartError;
use bookrag::ingest::{IngestError, SyncError};
use bookrag::source::SourceError;
use lambda_runtime::Diagnostic;

use crate::EventError;

/// Why the function cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A port.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The bucket.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// Why an event, or a message of a batch, was not served. All but [`HandlerError::Event`] may pass.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// It cannot be read.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The bucket.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A document.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A run over the whole book stopped.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// A run over the whole book left documents at their last revision.
    #[error("{failed} documents failed, the first of them {first}")]
    Incomplete {
        /// How many.
        failed: usize,
        /// One of them and why.
        first: String,
    },
    /// What was done was done under older settings.
    #[error("the site's settings changed meanwhile")]
    SettingsChanged,
}

impl HandlerError {
    /// Which of these it is, for logs and for Lambda's `errorType`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Event(_) => "Event",
            Self::Source(_) => "Source",
            Self::Catalog(_) => "Catalog",
            Self::Ingest(_) => "Ingest",
            Self::Sync(_) => "Sync",
            Self::Incomplete { .. } => "Incomplete",
            Self::SettingsChanged => "SettingsChanged",
        }
    }
}

impl From<HandlerError> for Diagnostic {
    fn from(error: HandlerError) -> Self {
        Self {
            error_type: error.kind().to_owned(),
            error_message: error.to_string(),
        }
    }
}
