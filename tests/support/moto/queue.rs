//! Queues, over the JSON protocol of SQS. Requests are unsigned: moto only reads the region of a signature.
//!
//! Protocol: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html>

#[cfg(test)]
mod tests;

use std::time::Duration;

use aws_sdk_s3::types::{Event, NotificationConfiguration, QueueConfiguration};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value, json};

use super::Moto;

/// The service and region of the client in `super`; moto needs them to find the queue.
const CREDENTIAL: &str = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/sqs/aws4_request";
const JSON: &str = "application/x-amz-json-1.0";

/// The destination of messages that were received too often.
#[derive(Debug, Clone, Copy)]
pub struct DeadLetters<'a> {
    /// The dead-letter queue.
    pub queue_url: &'a str,
    /// How often a message is received before it is moved, from 1.
    pub max_receive_count: u32,
}

/// A received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// The message's id, the same for every receive.
    pub message_id: String,
    /// Acknowledges this receive.
    pub receipt_handle: String,
    /// The text that was sent.
    pub body: String,
    /// How often it was received, from 1.
    pub receive_count: u32,
}

impl Moto {
    /// Creates a queue and returns its URL.
    ///
    /// A received message is hidden for `visibility_timeout`, in whole seconds. With zero it is visible again at once,
    /// so tests need not wait for a timeout.
    pub async fn create_queue(
        &self,
        name: &str,
        visibility_timeout: Duration,
        dead_letters: Option<DeadLetters<'_>>,
    ) -> String {
        let mut attributes =
            json!({ "VisibilityTimeout": visibility_timeout.as_secs().to_string() });
        if let Some(dead_letters) = dead_letters {
            let target = self.queue_arn(dead_letters.queue_url).await;
            let policy = json!({
                "deadLetterTargetArn": target,
                "maxReceiveCount": dead_letters.max_receive_count
            });
            attributes["RedrivePolicy"] = policy.to_string().into();
        }
        let request = json!({ "QueueName": name, "Attributes": attributes });
        let created = self.call_queues("CreateQueue", request).await;
        text(&created, "QueueUrl")
    }

    /// Makes a bucket notify a queue of each object created or deleted. The first message is an `s3:TestEvent`.
    pub async fn notify(&self, bucket: &str, queue_url: &str) {
        // Asking for the ARN checks that the queue exists: moto accepts any, and silently drops its messages.
        let queue = QueueConfiguration::builder()
            .queue_arn(self.queue_arn(queue_url).await)
            .events(Event::S3ObjectCreated)
            .events(Event::S3ObjectRemoved)
            .build()
            .expect("a queue and its events are given");
        let notifications = NotificationConfiguration::builder()
            .queue_configurations(queue)
            .build();
        let request = self
            .client
            .put_bucket_notification_configuration()
            .bucket(bucket)
            .notification_configuration(notifications);
        request.send().await.expect("notifications are set up");
    }

    /// Receives at most `max` visible messages; SQS allows 1 to 10.
    pub async fn receive(&self, queue_url: &str, max: usize) -> Vec<ReceivedMessage> {
        let request = json!({
            "QueueUrl": queue_url,
            "MaxNumberOfMessages": max,
            "MessageSystemAttributeNames": ["ApproximateReceiveCount"]
        });
        let received = self.call_queues("ReceiveMessage", request).await;
        // The field is missing if the queue is empty.
        let messages = received["Messages"].as_array().into_iter().flatten();
        messages
            .map(|message| ReceivedMessage {
                message_id: text(message, "MessageId"),
                receipt_handle: text(message, "ReceiptHandle"),
                body: text(message, "Body"),
                receive_count: number(&message["Attributes"], "ApproximateReceiveCount"),
            })
            .collect()
    }

    /// Deletes a message by its receipt handle. Idempotent.
    pub async fn acknowledge(&self, queue_url: &str, receipt_handle: &str) {
        let request = json!({ "QueueUrl": queue_url, "ReceiptHandle": receipt_handle });
        self.call_queues("DeleteMessage", request).await;
    }

    /// Sends a message.
    pub async fn send(&self, queue_url: &str, body: &str) {
        let request = json!({ "QueueUrl": queue_url, "MessageBody": body });
        self.call_queues("SendMessage", request).await;
    }

    /// Returns the numbers of visible and of hidden messages.
    pub async fn queue_depth(&self, queue_url: &str) -> (u32, u32) {
        let (visible, in_flight) = (
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
        );
        let attributes = self.attributes(queue_url, &[visible, in_flight]).await;
        (number(&attributes, visible), number(&attributes, in_flight))
    }

    async fn queue_arn(&self, queue_url: &str) -> String {
        text(&self.attributes(queue_url, &["QueueArn"]).await, "QueueArn")
    }

    async fn attributes(&self, queue_url: &str, names: &[&str]) -> Value {
        let request = json!({ "QueueUrl": queue_url, "AttributeNames": names });
        let mut answer = self.call_queues("GetQueueAttributes", request).await;
        answer["Attributes"].take()
    }

    async fn call_queues(&self, action: &str, request: Value) -> Value {
        let response = self
            .queues
            .post(&self.url)
            .header(AUTHORIZATION, CREDENTIAL)
            .header("X-Amz-Target", format!("AmazonSQS.{action}"))
            .header(CONTENT_TYPE, JSON)
            .body(request.to_string())
            .send()
            .await
            .unwrap_or_else(|cause| panic!("moto does not answer {action}: {cause}"));
        let status = response.status();
        let answer = response
            .text()
            .await
            .unwrap_or_else(|cause| panic!("moto's answer to {action} broke off: {cause}"));
        assert!(status.is_success(), "{action}: {status}: {answer}");
        serde_json::from_str(&answer).unwrap_or_else(|cause| panic!("{action}: {cause}: {answer}"))
    }
}

/// Returns a client for servers on this machine, which bypasses proxies.
#[must_use]
pub fn no_proxy_client() -> reqwest::Client {
    // Fails if it is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client without options of its own can be built")
}

fn text(object: &Value, field: &str) -> String {
    let text = object[field].as_str();
    text.unwrap_or_else(|| panic!("no {field} in {object}"))
        .to_owned()
}

/// Parses a number, which SQS writes as text.
fn number(object: &Value, field: &str) -> u32 {
    let text = text(object, field);
    text.parse()
        .unwrap_or_else(|cause| panic!("{field} is {text}: {cause}"))
}
