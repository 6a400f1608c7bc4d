//! Events that AWS, or its imitation moto, sends to the functions.

mod rest;
mod storage;
#[cfg(test)]
mod tests;

pub use rest::RestRequest;
pub use storage::{
    Change, Sender, event_bridge, message_id, s3_notification, s3_test_event, sqs_batch,
    sqs_batch_of_received, sqs_batch_of_text,
};

const ACCOUNT: &str = "123456789012";
const REGION: &str = "eu-central-1";
const CLIENT_IP: &str = "203.0.113.7";
