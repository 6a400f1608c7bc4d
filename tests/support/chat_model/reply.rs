//! What a request is answered with.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::wire::last_user_message;

/// What requests are answered with. Where no stream is asked for, the same comes whole.
#[derive(Clone)]
pub enum Reply {
    /// These pieces, each so long after what came before, and the reason `stop`.
    Text(Vec<String>, Duration),
    /// These pieces at once, and this reason. Cohere's API has other words for `stop`, `length` and `content_filter`,
    /// which are put in their place; any other reason is given as it is.
    FinishedBy(Vec<String>, &'static str),
    /// An error of this status, with the whole seconds of `Retry-After`, and this code, which stands in the message
    /// where the API has no place for it. The message quotes the key and the prompt, which must not get any further.
    Status(u16, Option<Duration>, &'static str),
    /// To so many requests, counted since the script was told, the first; to all after them the second, which counts
    /// from there.
    Times(usize, Box<Reply>, Box<Reply>),
    /// Nothing, ever.
    Hangs,
    /// These pieces at once, then nothing, ever.
    HangsAfter(Vec<String>),
    /// These pieces at once, then the connection is closed, in the middle of the answer.
    Breaks(Vec<String>),
    /// What is no JSON.
    Garbage,
    /// No piece at all, and the reason `stop`.
    Empty,
    /// What the user said last, word by word.
    Echo,
    /// What the function makes of the request's body.
    Function(Arc<dyn Fn(&Value) -> Reply + Send + Sync>),
}

/// How an answer goes.
pub(super) enum Course {
    Hangs,
    Refused {
        status: u16,
        retry_after: Option<Duration>,
        code: &'static str,
    },
    Answered {
        pieces: Vec<String>,
        /// The time before each piece.
        pace: Duration,
        end: End,
    },
}

/// What comes after the pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The reason for the end, and the end.
    Finished(&'static str),
    Hangs,
    Breaks,
    Garbage,
}

impl Reply {
    /// [`Reply::Text`], at once.
    #[must_use]
    pub fn text<const COUNT: usize>(pieces: [&str; COUNT]) -> Self {
        Self::Text(Vec::from(pieces.map(str::to_owned)), Duration::ZERO)
    }

    /// [`Reply::Times`].
    #[must_use]
    pub fn times(count: usize, first: Self, then: Self) -> Self {
        Self::Times(count, Box::new(first), Box::new(then))
    }

    /// [`Reply::Function`].
    #[must_use]
    pub fn function(decide: impl Fn(&Value) -> Self + Send + Sync + 'static) -> Self {
        Self::Function(Arc::new(decide))
    }

    /// How the request of this number, from 0, is answered.
    pub(super) fn course(self, number: usize, request: &Value) -> Course {
        let at_once = |pieces, end| Course::Answered {
            pieces,
            pace: Duration::ZERO,
            end,
        };
        match self {
            Self::Text(pieces, pace) => Course::Answered {
                pieces,
                pace,
                end: End::Finished("stop"),
            },
            Self::FinishedBy(pieces, reason) => at_once(pieces, End::Finished(reason)),
            Self::Status(status, retry_after, code) => Course::Refused {
                status,
                retry_after,
                code,
            },
            Self::Times(count, first, then) => match number.checked_sub(count) {
                None => first.course(number, request),
                Some(number) => then.course(number, request),
            },
            Self::Hangs => Course::Hangs,
            Self::HangsAfter(pieces) => at_once(pieces, End::Hangs),
            Self::Breaks(pieces) => at_once(pieces, End::Breaks),
            Self::Garbage => at_once(Vec::new(), End::Garbage),
            Self::Empty => at_once(Vec::new(), End::Finished("stop")),
            Self::Echo => {
                let said = last_user_message(request);
                let words = said.split_inclusive(' ').map(str::to_owned);
                at_once(words.collect(), End::Finished("stop"))
            }
            Self::Function(decide) => decide(request).course(number, request),
        }
    }
}
