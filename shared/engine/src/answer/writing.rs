//! A model that writes an answer. Its text is read until it ends, or until nothing more of it may be shown.

use futures::StreamExt;
use tokio::time::{Instant, timeout_at};

use super::AnswerEvent;
use super::draft::{Draft, Stop};
use super::spending::Reserved;
use crate::generate::{ChatModel, Ending, Finish, Piece, Pieces, Prompt};
use crate::provider::ProviderError;

/// A model that has begun to write.
pub(super) struct Asking {
    pub(super) model: ChatModel,
    pub(super) prompt: Prompt,
    pub(super) reserved: Reserved,
    /// When the answer must be complete.
    pub(super) deadline: Instant,
    pub(super) first: String,
    pub(super) pieces: Pieces,
}

/// A model's text while it is read.
pub(super) struct Writing {
    pub(super) model: ChatModel,
    pub(super) prompt: Prompt,
    pub(super) reserved: Reserved,
    pub(super) draft: Draft,
    deadline: Instant,
    /// The first piece, until it is read.
    first: Option<String>,
    state: State,
}

enum State {
    Writing(Pieces),
    Ended(Result<Ending, ProviderError>),
}

impl Writing {
    pub(super) fn new(asking: Asking, draft: Draft) -> Self {
        Self {
            model: asking.model,
            prompt: asking.prompt,
            reserved: asking.reserved,
            draft,
            deadline: asking.deadline,
            first: Some(asking.first),
            state: State::Writing(asking.pieces),
        }
    }

    /// Reads the next piece, and returns its events; `None` after the end.
    pub(super) async fn events(&mut self) -> Option<Vec<AnswerEvent>> {
        let State::Writing(pieces) = &mut self.state else {
            return None;
        };
        let piece = match self.first.take() {
            Some(first) => Ok(Piece::Text(first)),
            None => timeout_at(self.deadline, pieces.next())
                .await
                .ok()
                .flatten()
                .unwrap_or(Err(ProviderError::Timeout)),
        };
        let (mut events, ended) = match piece {
            Ok(Piece::Text(piece)) => (
                self.draft.push(&piece),
                self.draft.stopped().map(ending).map(Ok),
            ),
            Ok(Piece::End(ending)) => (Vec::new(), Some(Ok(ending))),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        if let Some(ended) = ended {
            // Dropping the stream stops the model; nothing more is read.
            self.state = State::Ended(ended);
            events.extend(self.draft.finish());
        }
        Some(events)
    }

    /// Returns how the text ended; while it is written, as if it had been cut off.
    pub(super) fn ended(&self) -> Result<Ending, ProviderError> {
        match &self.state {
            State::Writing(_) => Err(ProviderError::Timeout),
            State::Ended(ended) => ended.clone(),
        }
    }
}

/// Returns the ending of a text that is not read further.
fn ending(stop: Stop) -> Ending {
    let finish = match stop {
        Stop::Ended => Finish::Complete,
        Stop::Full => Finish::Truncated,
        Stop::Refused | Stop::Leaked => Finish::Filtered,
    };
    Ending {
        finish,
        usage: None,
    }
}
