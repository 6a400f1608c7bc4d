//! Errors of starting, and of handling an event.

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

/// The reason why the function cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A backend cannot be created.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The bucket's setting is invalid.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// The reason why an event or a message of a batch failed. All but [`HandlerError::Event`] may be temporary.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// The function did not start.
    #[error("the function did not start: {0}")]
    NotStarted(String),
    /// The event cannot be read.
    #[error(transparent)]
    Event(#[from] EventError),
    /// A command names a book that the deployment does not have.
    #[error("there is no book `{0}`; BOOKRAG_BOOKS lists the books")]
    UnknownBook(String),
    /// The bucket failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The catalog failed.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A database failed during a deployment.
    #[error("{setting}: {source}")]
    Database {
        /// The setting with the database's URL.
        setting: &'static str,
        /// The database's error.
        source: CatalogError,
    },
    /// A document failed.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A run over the whole book stopped.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The vector store is unavailable.
    #[error("the vector store at QDRANT_URL: {0}")]
    Index(#[from] IndexError),
    /// The embedder is unavailable.
    #[error("the embedder {0}")]
    Embed(#[from] ProviderError),
    /// The URL for an answer to `CloudFormation` is not an S3 URL.
    #[error("the ResponseURL is not an S3 URL")]
    AnswerUrl,
    /// An answer to `CloudFormation` could not be sent.
    #[error(transparent)]
    NotSent(#[from] NotSent),
    /// The invocation's time is used up. Committed work is kept.
    #[error("it was not finished before the invocation's deadline; finished work is kept")]
    Deadline,
    /// A reindex waited too long for documents.
    #[error(
        "the new index is still not complete; `status` lists what is pending; then run `reindex` again"
    )]
    ReindexStuck,
    /// The work was done under older settings.
    #[error("the site's settings changed meanwhile")]
    SettingsChanged,
}

impl HandlerError {
    /// Returns the error in the site's settings that caused this one. A retry does not help: the author must correct the file, and its upload
    /// triggers reading all pages again.
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

    /// Returns the error's name, for logs and for Lambda's `errorType`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            _ if self.settings().is_some() => "Settings",
            Self::NotStarted(_) => "NotStarted",
            Self::Event(_) => "Event",
            Self::UnknownBook(_) => "UnknownBook",
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
