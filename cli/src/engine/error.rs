//! What can go wrong: with the engine as a whole, and with one call to it.

use std::io;
use std::path::{Path, PathBuf};

use qdrant_edge::OperationError;
use thiserror::Error;
use tonic::Status;

/// Why the engine could not start or stop.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Another engine, in this process or another one, holds the folder.
    #[error("the index folder {} is in use by another process", folder.display())]
    InUse {
        /// The folder that is held.
        folder: PathBuf,
    },
    /// The folder or a file in it could not be read or written.
    #[error("cannot use the index folder: {}: {source}", path.display())]
    Folder {
        /// The file or folder that failed.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A collection in the folder could not be opened.
    #[error("cannot open collection `{collection}`: {reason}")]
    Collection {
        /// The collection's name.
        collection: String,
        /// What the engine said.
        reason: String,
    },
    /// No loopback port could be opened.
    #[error("cannot listen on a loopback port: {0}")]
    Listen(#[source] io::Error),
    /// The server ended with an error.
    #[error("the index server failed: {0}")]
    Serve(#[source] tonic::transport::Error),
    /// Qdrant's engine panicked while it opened or closed its files.
    #[error("the index engine panicked while it was {during}: {reason}")]
    Panicked {
        /// What it was doing.
        during: &'static str,
        /// The panic's message.
        reason: String,
    },
}

impl EngineError {
    /// Names the path at which an I/O error happened.
    pub(super) fn folder(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Folder {
            path: path.to_path_buf(),
            source,
        }
    }
}

/// Why one call was not answered; [`Status`] is made of it, with the codes a Qdrant server uses.
#[derive(Debug, Error)]
pub(super) enum CallError {
    /// The collection or alias does not exist.
    #[error("Not found: Collection `{0}` doesn't exist!")]
    UnknownCollection(String),
    /// The name is taken.
    #[error("Wrong input: Collection `{0}` already exists!")]
    CollectionExists(String),
    /// The request contradicts itself or the collection.
    #[error("Wrong input: {0}")]
    Invalid(String),
    /// A Qdrant server would do this, the embedded engine does not.
    #[error("the embedded engine does not support {0}")]
    Unsupported(String),
    /// Files could not be written or removed.
    #[error("{}: {source}", path.display())]
    Storage {
        /// The file or folder that failed.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Qdrant's engine refused or failed.
    #[error(transparent)]
    Engine(#[from] OperationError),
    /// Qdrant's engine panicked; the call may have been done in part.
    #[error("the engine panicked")]
    Panicked,
}

impl CallError {
    /// Names the path at which an I/O error happened.
    pub(super) fn storage(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Storage {
            path: path.to_path_buf(),
            source,
        }
    }

    /// Refuses an option that is set.
    pub(super) fn refuse<T>(option: &str, value: Option<&T>) -> Result<(), Self> {
        match value {
            Some(_) => Err(Self::Unsupported(format!("the option `{option}`"))),
            None => Ok(()),
        }
    }
}

impl From<CallError> for Status {
    fn from(error: CallError) -> Self {
        let message = error.to_string();
        match error {
            CallError::UnknownCollection(_)
            | CallError::Engine(OperationError::PointIdError { .. }) => Status::not_found(message),
            CallError::CollectionExists(_) => Status::already_exists(message),
            CallError::Invalid(_) => Status::invalid_argument(message),
            CallError::Unsupported(_) => Status::unimplemented(message),
            CallError::Engine(
                OperationError::WrongVectorDimension { .. }
                | OperationError::VectorNameNotExists { .. }
                | OperationError::ValidationError { .. }
                | OperationError::TypeError { .. }
                | OperationError::TypeInferenceError { .. }
                | OperationError::WrongSparse
                | OperationError::WrongMulti,
            ) => Status::invalid_argument(format!("Wrong input: {message}")),
            CallError::Storage { .. } | CallError::Engine(_) | CallError::Panicked => {
                tracing::error!(error = %message, "embedded engine call failed");
                Status::internal(message)
            }
        }
    }
}
