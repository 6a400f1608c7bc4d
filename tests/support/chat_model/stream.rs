//! The body of an answer: what is sent when, and whether the client stayed for all of it.

use std::{collections::VecDeque, future, io, time::Duration};

use axum::body::{Body, Bytes};
use futures::stream;
use tokio::{sync::watch, task::yield_now, time::sleep};

/// What is sent at once.
pub(super) struct Frame {
    pub(super) text: String,
    /// The time before it.
    pub(super) pause: Duration,
}

/// What comes after the frames.
pub(super) enum Tail {
    /// The body's end.
    Ends,
    /// Nothing, ever.
    Hangs,
    /// The connection's end, before the body's.
    Breaks,
}

/// Counts the client as gone when it is dropped before the end of the answer.
pub(super) struct Presence {
    /// Until the end.
    abandoned: Option<watch::Sender<usize>>,
}

/// What is still to be sent.
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

    /// The answer is at its end: whoever leaves now had all of it.
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
                    // When the body fails, hyper drops what it has not written; when it is not ready, hyper writes.
                    yield_now().await;
                    self.presence.end();
                    Some((Err(io::Error::other("the script breaks it")), self))
                }
            };
        };
        if !frame.pause.is_zero() {
            sleep(frame.pause).await;
        }
        // Not only once the body has ended: a client that has read the last event need not wait for that.
        if self.frames.is_empty() && matches!(self.tail, Tail::Ends) {
            self.presence.end();
        }
        Some((Ok(Bytes::from(frame.text)), self))
    }
}
