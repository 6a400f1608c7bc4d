//! Writes to the queue that triggers this function.

use std::fmt;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::DisplayErrorContext;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use bookrag::source::aws_config;

/// The most messages that SQS accepts in one request.
const BATCH: usize = 10;

/// An SQS queue.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    client: Client,
    url: String,
}

/// Messages that could not be put into the queue.
#[derive(Debug, thiserror::Error)]
#[error("the queue did not accept {count} messages: {reason}")]
pub struct QueueError {
    count: usize,
    reason: String,
}

impl Queue {
    pub(crate) async fn connect(url: &str) -> Self {
        Self {
            client: Client::new(&aws_config().await),
            url: url.to_owned(),
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
                    .message_body(body)
                    .delay_seconds(seconds)
                    .build();
                let entry = entry.map_err(|error| QueueError::new(batch.len(), &error))?;
                request = request.entries(entry);
            }
            let answer = request.send().await;
            let answer = answer
                .map_err(|error| QueueError::new(batch.len(), &DisplayErrorContext(error)))?;
            if let Some(first) = answer.failed().first() {
                let reason = first.message().unwrap_or(first.code());
                return Err(QueueError::new(answer.failed().len(), &reason));
            }
        }
        Ok(())
    }
}

impl QueueError {
    fn new(count: usize, reason: &impl fmt::Display) -> Self {
        Self {
            count,
            reason: reason.to_string(),
        }
    }
}
