//! A model that writes an answer. Its text is read until it ends, or until nothing more of it may be shown.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::{Instant, timeout_at};

use crate::AnswerEvent;
use crate::generate::first_token::PendingGeneration;
use crate::generate::limits::ModelLimits;
use crate::guard::output_filter::{OutputFilter, Stop};
use models::chat::{ChatModel, Ending, Finish, FunctionCall, Piece, Pieces, Prompt, Usage};
use models::provider::ProviderError;
use store::budget::{Reserved, estimated};

/// A model's text while it is read.
///
/// Its beginning is withheld until it is supported, or until the first sentence takes too long. So a reader never sees an invented
/// opening that is corrected at the end, and a model may call functions after a sentence that announces them.
pub(crate) struct Generation {
    pub(crate) model: ChatModel,
    pub(crate) prompt: Prompt,
    pub(crate) reserved: Reserved,
    pub(crate) draft: OutputFilter,
    /// When the answer must be complete.
    pub(crate) deadline: Instant,
    /// The functions that the model calls instead of answering.
    pub(crate) calls: Vec<FunctionCall>,
    /// The first piece, until it is read.
    first: Option<Piece>,
    /// Time for the first sentence.
    first_sentence: Duration,
    /// When the last piece was read, and the longest silence after it.
    heard: Instant,
    silence: Duration,
    opening: Opening,
    state: State,
}

/// The events of the text's beginning.
enum Opening {
    /// The events are withheld until this time at the latest, which is known once there are events.
    Withheld(Vec<AnswerEvent>, Option<Instant>),
    Shown,
}

/// What a model's text turned out to be.
pub(crate) enum GenerationEnding {
    /// A refusal.
    Refused,
    /// Calls of functions, instead of an answer.
    Calls,
    /// White space.
    Blank(Finish),
    /// A text, whole or cut off.
    Text(Finish),
    /// A text that an error cut off.
    BrokenOff(ProviderError),
}

enum State {
    Writing(Pieces),
    Ended(Result<Ending, ProviderError>),
}

impl Generation {
    pub(crate) fn new(
        asking: PendingGeneration,
        draft: OutputFilter,
        limits: &ModelLimits,
    ) -> Self {
        Self {
            model: asking.model,
            prompt: asking.prompt,
            reserved: asking.reserved,
            draft,
            deadline: asking.deadline,
            calls: Vec::new(),
            first: Some(asking.first),
            first_sentence: limits.first_sentence,
            heard: Instant::now(),
            silence: limits.silence,
            opening: Opening::Withheld(Vec::new(), None),
            state: State::Writing(asking.pieces),
        }
    }

    /// Reads the next piece, and returns the events to show; `None` after the end.
    pub(crate) async fn events(&mut self) -> Option<Vec<AnswerEvent>> {
        let State::Writing(pieces) = &mut self.state else {
            return None;
        };
        let end = self.deadline.min(self.heard + self.silence);
        let until = self.opening.until().unwrap_or(end);
        let piece = match self.first.take() {
            Some(first) => Ok(first),
            None => match timeout_at(until.min(end), pieces.next()).await {
                Ok(piece) => {
                    self.heard = Instant::now();
                    piece.unwrap_or(Err(ProviderError::Timeout))
                }
                Err(_) if until < end => return Some(self.opening.show()),
                Err(_) => Err(ProviderError::Timeout),
            },
        };
        let (mut events, ended) = match piece {
            Ok(Piece::Text(piece)) => (
                self.draft.push(&piece),
                self.draft.stopped().map(ending).map(Ok),
            ),
            Ok(Piece::Calls(mut calls)) => {
                // A text that readers see is an answer.
                if self.is_withheld() {
                    calls.truncate(self.prompt.functions.left);
                    self.calls = calls;
                }
                (Vec::new(), None)
            }
            Ok(Piece::End(ending)) => (Vec::new(), Some(Ok(ending))),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        if let Some(ended) = ended {
            let is_cut = matches!(&ended, Err(error) if *error != ProviderError::Timeout);
            // Dropping the stream stops the model; nothing more is read.
            self.state = State::Ended(ended);
            events.extend(self.draft.finish());
            if is_cut && self.is_withheld() {
                // Half an opening is worth less than a quote.
                return Some(Vec::new());
            }
        }
        let is_supported = self.draft.writer.is_supported();
        Some(self.opening.push(events, is_supported, self.first_sentence))
    }

    /// Returns the tokens used, estimated if the provider did not count them.
    pub(crate) fn usage(&self) -> Usage {
        let counted = self.ended().ok().and_then(|ending| ending.usage);
        counted.unwrap_or_else(|| estimated(&self.prompt, self.draft.written))
    }

    /// Returns what the text turned out to be.
    pub(crate) fn ending(&self) -> GenerationEnding {
        match self.ended() {
            Ok(_) if self.draft.stopped() == Some(Stop::Refused) => GenerationEnding::Refused,
            Ok(_) if !self.calls.is_empty() => GenerationEnding::Calls,
            ended if self.draft.writer.is_blank() => {
                let finish = ended.map_or(Finish::Complete, |ending| ending.finish);
                GenerationEnding::Blank(finish)
            }
            Ok(ending) => GenerationEnding::Text(ending.finish),
            Err(ProviderError::Timeout) => GenerationEnding::Text(Finish::Truncated),
            Err(error) => GenerationEnding::BrokenOff(error),
        }
    }

    /// Returns how the stream ended; while it is read, as if it had been cut off.
    fn ended(&self) -> Result<Ending, ProviderError> {
        match &self.state {
            State::Writing(_) => Err(ProviderError::Timeout),
            State::Ended(ended) => ended.clone(),
        }
    }

    /// True if readers have seen nothing of the text.
    pub(crate) fn is_withheld(&self) -> bool {
        matches!(self.opening, Opening::Withheld(..))
    }

    /// Returns the events that were withheld.
    pub(crate) fn withheld(&mut self) -> Vec<AnswerEvent> {
        self.opening.show()
    }
}

impl Opening {
    /// Returns when the opening is shown at the latest.
    fn until(&self) -> Option<Instant> {
        match self {
            Self::Withheld(_, until) => *until,
            Self::Shown => None,
        }
    }

    /// Adds events; returns those to show. `is_supported` is `None` before a sentence was checked, which may take as long as `first_sentence`.
    fn push(
        &mut self,
        events: Vec<AnswerEvent>,
        is_supported: Option<bool>,
        first_sentence: Duration,
    ) -> Vec<AnswerEvent> {
        let Self::Withheld(withheld, until) = self else {
            return events;
        };
        withheld.extend(events);
        match is_supported {
            Some(true) => return self.show(),
            // An unsupported beginning is withheld until a later sentence is supported.
            Some(false) => *until = None,
            None if withheld.is_empty() => {}
            None => {
                until.get_or_insert_with(|| Instant::now() + first_sentence);
            }
        }
        Vec::new()
    }

    fn show(&mut self) -> Vec<AnswerEvent> {
        match std::mem::replace(self, Self::Shown) {
            Self::Withheld(events, _) => events,
            Self::Shown => Vec::new(),
        }
    }
}

/// Returns the ending of a text that is not read further.
fn ending(stop: Stop) -> Ending {
    let finish = match stop {
        Stop::Ended => Finish::Complete,
        Stop::Full => Finish::Truncated,
        Stop::Refused => Finish::Filtered,
    };
    Ending {
        finish,
        usage: None,
    }
}
