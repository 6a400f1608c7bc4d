//! Why a call was not answered.

use std::io;

use qdrant_edge::OperationError;
use thiserror::Error;
use tonic::Status;

/// Why one call was not answered; [`Status`] is made of it, with the codes a Qdrant server uses.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    /// The collection or alias does not exist.
    #[error("Not found: Collection `{0}` doesn't exist!")]
    UnknownCollection(String),
    /// The name is taken.
    #[error("Wrong input: Collection `{0}` already exists!")]
    CollectionExists(String),
    /// The request contradicts itself or the collection.
    #[error("Wrong input: {0}")]
    Invalid(String),
    /// A Qdrant server would do this, the test engine does not.
    #[error("the test engine does not support {0}")]
    Unsupported(String),
    /// Files could not be written or removed.
    #[error(transparent)]
    Storage(#[from] io::Error),
    /// Qdrant's engine refused or failed.
    #[error(transparent)]
    Engine(#[from] OperationError),
    /// Qdrant's engine panicked; the call may have been done in part.
    #[error("the engine panicked")]
    Panicked,
}

impl CallError {
    /// Refuses an option that is set.
    pub(crate) fn refuse<T>(option: &str, value: Option<&T>) -> Result<(), Self> {
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
            CallError::Engine(error) if is_of_the_request(&error) => {
                Status::invalid_argument(format!("Wrong input: {message}"))
            }
            CallError::Storage(_) | CallError::Engine(_) | CallError::Panicked => {
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
