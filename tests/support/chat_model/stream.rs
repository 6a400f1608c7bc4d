//! The body of an answer: its timing, and whether the client received all of it.

use std::{collections::VecDeque, future, io, time::Duration};

use axum::body::{Body, Bytes};
use futures::stream;
use tokio::{sync::watch, task::yield_now, time::sleep};

/// A part that is sent at once.
pub(super) struct Frame {
    pub(super) text: String,
    /// The pause before it.
    pub(super) pause: Duration,
}

/// What follows the frames.
pub(super) enum Tail {
    /// Ends the body.
    Ends,
    /// Never ends.
    Hangs,
    /// Closes the connection before the body's end.
    Breaks,
}

/// Counts the client as gone if dropped before the end of the answer.
pub(super) struct Presence {
    /// `None` once the answer ended.
    abandoned: Option<watch::Sender<usize>>,
}

/// The rest of the body.
struct Rest {
    frames: VecDeque<Frame>,
    tail: Tail,
    presence: Presence,
}

pub(super) fn body(frames: Vec<Frame>, tail: Tail, presence: Presence) -> Body {
    let rest = Rest {
        frames: frames.into(),
        tail,
        presence,
    };
    Body::from_stream(stream::unfold(rest, Rest::advance))
}

impl Frame {
    pub(super) fn at_once(text: String) -> Self {
        Self {
            text,
            pause: Duration::ZERO,
        }
    }
}

impl Presence {
    pub(super) fn new(abandoned: watch::Sender<usize>) -> Self {
        Self {
            abandoned: Some(abandoned),
        }
    }

    /// Marks the answer as complete: a client that disconnects now received all of it.
    pub(super) fn end(&mut self) {
        self.abandoned = None;
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(abandoned) = &self.abandoned {
            abandoned.send_modify(|count| *count += 1);
        }
    }
}

impl Rest {
    async fn advance(mut self) -> Option<(io::Result<Bytes>, Self)> {
        let Some(frame) = self.frames.pop_front() else {
            return match self.tail {
                Tail::Ends => None,
                Tail::Hangs => future::pending().await,
                Tail::Breaks => {
                    // If the body fails, hyper drops what it has not written; if the body is pending, hyper writes it.
                    yield_now().await;
                    self.presence.end();
                    Some((Err(io::Error::other("the script breaks it")), self))
                }
            };
        };
        if !frame.pause.is_zero() {
            sleep(frame.pause).await;
        }
        // Not only at the end of the body: a client with the last event need not wait for that.
        if self.frames.is_empty() && matches!(self.tail, Tail::Ends) {
            self.presence.end();
        }
        Some((Ok(Bytes::from(frame.text)), self))
    }
}
