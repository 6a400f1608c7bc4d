//! What can go wrong: with the engine as a whole, and with one call to it.

use std::io;
use std::path::{Path, PathBuf};

use qdrant_edge::OperationError;
use thiserror::Error;
use tonic::Status;

use super::space::StorageFull;

/// Why the engine could not start or stop.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Another engine, in this process or another one, holds the folder.
    #[error(
        "the index folder {} is in use by {holder}. Wait until it ends, or stop it; beside `bookrag serve`, the commands \
         `ask`, `search`, `sync` and `doctor` work through it",
        folder.display()
    )]
    InUse {
        /// The folder that is held.
        folder: PathBuf,
        /// The process that holds it, as far as it is known.
        holder: String,
    },
    /// The folder's disk is too full.
    #[error("no space for the vector store: {0}")]
    StorageFull(#[from] StorageFull),
    /// Files of the engine are missing, or hold something else than it wrote.
    #[error(
        "the vector store in {} is damaged ({reason}); run `bookrag doctor SITE --repair` to index the book again",
        folder.display()
    )]
    Damaged {
        /// The index folder.
        folder: PathBuf,
        /// The file, and what is wrong with it.
        reason: String,
    },
    /// The folder or a file in it could not be read or written.
    #[error("cannot use the index folder: {}: {source}", path.display())]
    Folder {
        /// The file or folder that failed.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
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
    /// The disk is too full for a change.
    #[error(transparent)]
    StorageFull(#[from] StorageFull),
    /// Qdrant's engine refused or failed.
    #[error(transparent)]
    Engine(#[from] OperationError),
    /// Qdrant's engine failed on its own files, or panicked.
    #[error(
        "the vector store failed on its files in {} ({reason}); if that stays, run `bookrag doctor SITE --repair`",
        folder.display()
    )]
    Failed {
        /// The collection's folder.
        folder: PathBuf,
        /// What the engine said.
        reason: String,
    },
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

    /// Names the folder if the engine, and not the request, is to blame.
    pub(super) fn in_folder(self, folder: &Path) -> Self {
        match self {
            Self::Engine(error) if !is_of_the_request(&error) => Self::Failed {
                folder: folder.to_path_buf(),
                reason: error.to_string(),
            },
            other => other,
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
            CallError::StorageFull(_) => Status::resource_exhausted(message),
            CallError::Engine(error) if is_of_the_request(&error) => {
                Status::invalid_argument(format!("Wrong input: {message}"))
            }
            CallError::Storage { .. }
            | CallError::Engine(_)
            | CallError::Failed { .. }
            | CallError::Panicked => {
                tracing::error!(error = %message, "embedded engine call failed");
                Status::internal(message)
            }
        }
    }
}

/// True if the engine refused what a request holds.
fn is_of_the_request(error: &OperationError) -> bool {
    matches!(
        error,
        OperationError::PointIdError { .. }
            | OperationError::WrongVectorDimension { .. }
            | OperationError::VectorNameNotExists { .. }
            | OperationError::ValidationError { .. }
            | OperationError::TypeError { .. }
            | OperationError::TypeInferenceError { .. }
            | OperationError::WrongSparse
            | OperationError::WrongMulti
    )
}
