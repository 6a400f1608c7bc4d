//! Writes to the queue that triggers this function.

use std::fmt;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::DisplayErrorContext;
use aws_sdk_sqs::types::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry, SendMessageBatchRequestEntry,
};
use bookrag::config::BookId;
use bookrag::source::aws_config;
use serde_json::{Value, json};

use crate::books::BOOK;
use crate::events::Message;

/// The most messages that SQS accepts in one request.
const BATCH: usize = 10;
/// How long a message that failed for the first time is hidden: most failures pass soon.
const FIRST_RETRY: Duration = Duration::from_secs(30);
/// By this factor each wait is longer than the one before. The four waits before the dead letters are 40 minutes, so that messages outlive an outage.
const RETRY_FACTOR: u32 = 4;
/// The longest wait.
const LAST_RETRY: Duration = Duration::from_mins(30);

/// An SQS queue.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    client: Client,
    url: String,
    /// The book that commands are about, if the deployment has several.
    book: Option<BookId>,
}

/// Messages that could not be put into the queue.
#[derive(Debug, thiserror::Error)]
#[error("the queue did not accept {count} messages: {reason}")]
pub struct QueueError {
    count: usize,
    reason: String,
}

impl Queue {
    pub(crate) async fn connect(url: &str, book: Option<BookId>) -> Self {
        Self {
            client: Client::new(&aws_config().await),
            url: url.to_owned(),
            book,
        }
    }

    /// Adds the book to a command.
    fn addressed(&self, body: &str) -> String {
        match (&self.book, serde_json::from_str(body)) {
            (Some(book), Ok(Value::Object(mut command))) if command.contains_key("command") => {
                command.insert(BOOK.to_owned(), json!(book.as_str()));
                Value::Object(command).to_string()
            }
            _ => body.to_owned(),
        }
    }

    /// Puts messages into the queue, to be received after `delay`, at most 15 minutes.
    ///
    /// # Errors
    /// If a message was not accepted; others may have been.
    pub(crate) async fn send(&self, bodies: &[String], delay: Duration) -> Result<(), QueueError> {
        for batch in bodies.chunks(BATCH) {
            let seconds = i32::try_from(delay.as_secs()).unwrap_or(i32::MAX);
            let mut request = self.client.send_message_batch().queue_url(&self.url);
            for (id, body) in batch.iter().enumerate() {
                let entry = SendMessageBatchRequestEntry::builder()
                    .id(id.to_string())
                    .message_body(self.addressed(body))
                    .delay_seconds(seconds)
                    .build();
                let entry = entry.map_err(|error| QueueError::new(batch.len(), &error))?;
                request = request.entries(entry);
            }
            let answer = request.send().await;
            let answer = answer
                .map_err(|error| QueueError::new(batch.len(), &DisplayErrorContext(error)))?;
            all_accepted(answer.failed())?;
        }
        Ok(())
    }

    /// Makes messages that failed visible again soon: the queue itself hides them for many times the function's timeout.
    ///
    /// # Errors
    /// If that was not possible for a message, which is then hidden as long as the queue says.
    pub(crate) async fn retry_soon(&self, failed: &[&Message]) -> Result<(), QueueError> {
        for batch in failed.chunks(BATCH) {
            let mut request = self.client.change_message_visibility_batch();
            for message in batch {
                // No attempt will read what is no request, so it becomes a dead letter soon.
                let delay = match message.request() {
                    Ok(_) => retry_delay(message.receive_count()),
                    Err(_) => Duration::ZERO,
                };
                let entry = ChangeMessageVisibilityBatchRequestEntry::builder()
                    .id(&message.id)
                    .receipt_handle(&message.receipt)
                    .visibility_timeout(i32::try_from(delay.as_secs()).unwrap_or(i32::MAX))
                    .build();
                let entry = entry.map_err(|error| QueueError::new(batch.len(), &error))?;
                request = request.entries(entry);
            }
            let answer = request.queue_url(&self.url).send().await;
            let answer = answer
                .map_err(|error| QueueError::new(batch.len(), &DisplayErrorContext(error)))?;
            all_accepted(answer.failed())?;
        }
        Ok(())
    }
}

/// Fails with the reason for the first message of a batch that the queue refused.
fn all_accepted(refused: &[BatchResultErrorEntry]) -> Result<(), QueueError> {
    match refused.first() {
        None => Ok(()),
        Some(first) => {
            let reason = first.message().unwrap_or(first.code());
            Err(QueueError::new(refused.len(), &reason))
        }
    }
}

/// Returns how long a message is hidden that failed when it was received for the `receive_count`th time.
fn retry_delay(receive_count: u32) -> Duration {
    let factor = RETRY_FACTOR.saturating_pow(receive_count.saturating_sub(1));
    FIRST_RETRY.saturating_mul(factor).min(LAST_RETRY)
}

impl QueueError {
    fn new(count: usize, reason: &impl fmt::Display) -> Self {
        Self {
            count,
            reason: reason.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hiccup_is_retried_at_once_and_an_outage_is_waited_for() {
        let seconds = [1, 2, 3, 4, 5, u32::MAX].map(|count| retry_delay(count).as_secs());
        assert_eq!(seconds, [30, 120, 480, 1_800, 1_800, 1_800]);
    }
}
