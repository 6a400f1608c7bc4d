//! Replies to requests.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::wire::last_user_message;

/// The reply to a request. If no stream is requested, the same content is sent at once.
#[derive(Clone)]
pub enum Reply {
    /// These pieces, with this pause before each, and the reason `stop`.
    Text(Vec<String>, Duration),
    /// These pieces at once, and this reason. `stop`, `length` and `content_filter` are translated to Cohere's terms;
    /// any other reason is sent unchanged.
    FinishedBy(Vec<String>, &'static str),
    /// An error with this status, the whole seconds of `Retry-After`, and this code, which is part of the message if the API has
    /// no field for it. The message quotes the key and the prompt, neither of which may leak.
    Status(u16, Option<Duration>, &'static str),
    /// The first reply for this many requests since the script was set, then the second, which counts its requests from
    /// there.
    Times(usize, Box<Reply>, Box<Reply>),
    /// Never answers.
    Hangs,
    /// Sends these pieces at once, then nothing.
    HangsAfter(Vec<String>),
    /// Sends these pieces at once, then closes the connection in the middle of the answer.
    Breaks(Vec<String>),
    /// Writes this text, then calls these functions with these arguments, which need not be JSON.
    Calls(&'static str, Vec<(&'static str, String)>),
    /// Sends invalid JSON.
    Garbage,
    /// No pieces, and the reason `stop`.
    Empty,
    /// The user's last message, word by word.
    Echo,
    /// The reply that the function returns for the request's body.
    Function(Arc<dyn Fn(&Value) -> Reply + Send + Sync>),
}

/// The course of an answer.
pub(super) enum Course {
    Hangs,
    Refused {
        status: u16,
        retry_after: Option<Duration>,
        code: &'static str,
    },
    Answered {
        pieces: Vec<String>,
        /// The pause before each piece.
        pace: Duration,
        /// The names and arguments of functions.
        calls: Vec<(&'static str, String)>,
        end: End,
    },
}

/// The end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The finish reason and the regular end.
    Finished(&'static str),
    Hangs,
    Breaks,
    Garbage,
}

impl Reply {
    /// [`Reply::Text`] without pauses.
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

    /// Returns the course of the answer to this request, numbered from 0.
    pub(super) fn course(self, number: usize, request: &Value) -> Course {
        let at_once = |pieces, end| Course::Answered {
            pieces,
            pace: Duration::ZERO,
            calls: Vec::new(),
            end,
        };
        match self {
            Self::Text(pieces, pace) => Course::Answered {
                pieces,
                pace,
                calls: Vec::new(),
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
            Self::Calls(text, calls) => Course::Answered {
                pieces: text.split_inclusive(' ').map(str::to_owned).collect(),
                pace: Duration::ZERO,
                calls,
                end: End::Finished("tool_calls"),
            },
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
