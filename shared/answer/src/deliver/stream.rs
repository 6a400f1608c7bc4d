//! Streams an answer to its reader, with progress while a model reads, and caches it when it is complete.

use std::pin::pin;
use std::time::Duration;

use async_stream::stream;
use futures::{Stream, StreamExt};
use tokio::time::timeout;

use crate::error::Error;
use crate::generate::cache::Kept;
use crate::{Answer, AnswerEvent, Prepared};

/// How long a reader waits for a model's first text before progress is sent.
const QUIET: Duration = Duration::from_secs(2);

impl Prepared {
    /// Writes the answer, or the refusal if the book does not cover the question. The last event is [`AnswerEvent::Done`], or an error. Dropping the
    /// stream earlier stops the model and leaves the message incomplete; everything else is recorded when the stream ends.
    pub fn events(self) -> impl Stream<Item = Result<AnswerEvent, Error>> + Send + 'static {
        let keeper = self.keeper();
        let sections = self.texts.model_input.passages.len();
        stream! {
            let mut kept = Kept::default();
            let mut whole = None;
            let mut events = pin!(self.written_events());
            let mut next = match timeout(QUIET, events.next()).await {
                Ok(first) => first,
                Err(_) => {
                    if sections > 0 {
                        yield Ok(AnswerEvent::Reading(sections));
                    }
                    events.next().await
                }
            };
            while let Some(event) = next {
                if let (Some(_), Ok(event)) = (&keeper, &event) {
                    kept.push(event);
                    if let AnswerEvent::Done(answer) = event {
                        whole = Some(answer.clone());
                    }
                }
                yield event;
                next = events.next().await;
            }
            if let (Some(keeper), Some(answer)) = (keeper, whole) {
                keeper.keep(kept, &answer).await;
            }
        }
    }

    /// Returns the whole answer.
    ///
    /// # Errors
    /// If the model is overloaded or fails midway.
    pub async fn whole(self) -> Result<Answer, Error> {
        let mut events = pin!(self.events());
        let mut whole = None;
        while let Some(event) = events.next().await {
            if let AnswerEvent::Done(answer) = event? {
                whole = Some(*answer);
            }
        }
        Ok(whole.expect("events without an error end with the whole answer"))
    }
}
