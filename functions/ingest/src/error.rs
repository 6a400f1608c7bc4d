//! Why the function does not start, or an event is not served.

use bookrag::book::SettingsError;
use bookrag::catalog::CatalogError;
use bookrag::config::ConfigError;
use bookrag::context::StartError;
use bookrag::http::NotSent;
use bookrag::index::IndexError;
use bookrag::ingest::{IngestError, SyncError};
use bookrag::source::SourceError;
use lambda_runtime::Diagnostic;

use crate::{EventError, QueueError};
use bookrag::provider::ProviderError;

/// Why the function cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
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
    /// The function did not start.
    #[error("the function did not start: {0}")]
    NotStarted(String),
    /// It cannot be read.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The bucket.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A database, asked by a deployment.
    #[error("{setting}: {source}")]
    Database {
        /// The setting that holds its URL.
        setting: &'static str,
        /// What it answered.
        source: CatalogError,
    },
    /// A document.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A run over the whole book stopped.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The queue.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The vector store, asked whether it is there.
    #[error("the vector store at QDRANT_URL: {0}")]
    Index(#[from] IndexError),
    /// The embedder, asked whether it is there.
    #[error("the embedder {0}")]
    Embed(#[from] ProviderError),
    /// An answer to `CloudFormation` would go elsewhere.
    #[error("the ResponseURL is no address of S3")]
    AnswerUrl,
    /// An answer to `CloudFormation`.
    #[error(transparent)]
    NotSent(#[from] NotSent),
    /// The invocation's time is over. What was committed stays.
    #[error("it was not done before the invocation's deadline; what was done stays")]
    Deadline,
    /// A reindex waits for documents that do not come.
    #[error(
        "the new index is still not complete; see the status for what is pending, then reindex again"
    )]
    ReindexStuck,
    /// What was done was done under older settings.
    #[error("the site's settings changed meanwhile")]
    SettingsChanged,
}

impl HandlerError {
    /// The error in the site's settings that caused this one. To try again does not help: the author must correct the
    /// file, and the event of its upload has all pages read again.
    #[must_use]
    pub fn settings(&self) -> Option<&SettingsError> {
        match self {
            Self::Source(SourceError::Settings(error))
            | Self::Ingest(IngestError::Source(SourceError::Settings(error)))
            | Self::Sync(
                SyncError::Source(SourceError::Settings(error))
                | SyncError::Ingest(IngestError::Source(SourceError::Settings(error))),
            ) => Some(error),
            _ => None,
        }
    }

    /// Which of these it is, for logs and for Lambda's `errorType`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            _ if self.settings().is_some() => "Settings",
            Self::NotStarted(_) => "NotStarted",
            Self::Event(_) => "Event",
            Self::Source(_) => "Source",
            Self::Catalog(_) | Self::Database { .. } => "Catalog",
            Self::Ingest(_) => "Ingest",
            Self::Sync(_) => "Sync",
            Self::Queue(_) => "Queue",
            Self::Index(_) => "Index",
            Self::Embed(_) => "Embed",
            Self::AnswerUrl => "AnswerUrl",
            Self::NotSent(_) => "NotSent",
            Self::Deadline => "Deadline",
            Self::ReindexStuck => "ReindexStuck",
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
