//! Errors of a call.

use std::io;

use qdrant_edge::OperationError;
use thiserror::Error;
use tonic::Status;

/// The error of a call, converted to [`Status`] with the codes that a Qdrant server uses.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    #[error("Not found: Collection `{0}` doesn't exist!")]
    UnknownCollection(String),
    #[error("Wrong input: Collection `{0}` already exists!")]
    CollectionExists(String),
    /// The request contradicts itself or the collection.
    #[error("Wrong input: {0}")]
    Invalid(String),
    /// A Qdrant server supports this, the test engine does not.
    #[error("the test engine does not support {0}")]
    Unsupported(String),
    #[error(transparent)]
    Storage(#[from] io::Error),
    #[error(transparent)]
    Engine(#[from] OperationError),
    /// Qdrant's engine panicked; the call may have been partly executed.
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

/// True if the engine rejected the content of a request.
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
