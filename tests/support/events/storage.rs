//! Events of a bucket, sent directly, through a queue or through `EventBridge`.
//!
//! Formats: Amazon S3's "event message structure" and "`EventBridge` event message structure", Lambda's "Using Lambda
//! with Amazon SQS"; moto 5.2, `s3/notifications.py`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{ACCOUNT, CLIENT_IP, REGION};
use crate::moto::ReceivedMessage;

const TIME: &str = "2026-01-02T03:04:05.678Z";
const ETAG: &str = "d41d8cd98f00b204e9800998ecf8427e";
const VERSION: &str = "1QW9g1Z99LUNbvaaYVpW9xDlOLU.qxgF";

/// The sender of a notification. Senders differ in fields and in the escaping of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// Amazon S3: slashes are kept, spaces become `+`, the rest is percent-encoded.
    S3,
    /// moto: slashes are percent-encoded too; no `sequencer`, `userIdentity`, `versionId`.
    Moto,
}

/// A change of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Created or overwritten.
    Created,
    /// Deleted.
    Removed,
    /// Deleted in a versioned bucket, by a delete marker.
    Marked,
}

/// A notification with one record per object, in the given order.
///
/// S3 sends one record per notification but does not guarantee it.
#[must_use]
pub fn s3_notification(sender: Sender, change: Change, bucket: &str, keys: &[&str]) -> Value {
    let records = keys.iter().enumerate().map(|(number, key)| match sender {
        Sender::S3 => s3_record(change, bucket, key, number),
        Sender::Moto => moto_record(change, bucket, key),
    });
    json!({ "Records": records.collect::<Vec<_>>() })
}

/// The test event that S3 sends when notifications are set up.
#[must_use]
pub fn s3_test_event(bucket: &str) -> Value {
    json!({
        "Service": "Amazon S3",
        "Event": "s3:TestEvent",
        "Time": TIME,
        "Bucket": bucket,
        "RequestId": "5582815E1AEA5ADF",
        "HostId": "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE"
    })
}

/// A batch of queue messages with these bodies, as a function receives it.
///
/// Message ids come from [`message_id`], by position.
#[must_use]
pub fn sqs_batch(bodies: &[Value]) -> Value {
    sqs_batch_of_text(&bodies.iter().map(Value::to_string).collect::<Vec<_>>())
}

/// Like [`sqs_batch`], for bodies that may be invalid JSON.
#[must_use]
pub fn sqs_batch_of_text(bodies: &[String]) -> Value {
    let messages = bodies
        .iter()
        .enumerate()
        .map(|(number, body)| ReceivedMessage {
            message_id: message_id(number),
            receipt_handle: format!("AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a{number}"),
            body: body.clone(),
            receive_count: 1,
        });
    sqs_batch_of_received(&messages.collect::<Vec<_>>())
}

/// A batch of messages received from a queue, as Lambda sends them to a function.
#[must_use]
pub fn sqs_batch_of_received(messages: &[ReceivedMessage]) -> Value {
    let records: Vec<Value> = messages.iter().map(sqs_record).collect();
    json!({ "Records": records })
}

fn sqs_record(message: &ReceivedMessage) -> Value {
    json!({
        "messageId": message.message_id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": message.receive_count.to_string(),
            "SentTimestamp": "1767323045678",
            "SenderId": "AIDAJXNJGGKNS7OSV23OI",
            "ApproximateFirstReceiveTimestamp": "1767323045690"
        },
        "messageAttributes": {},
        "md5OfBody": ETAG,
        "eventSource": "aws:sqs",
        "eventSourceARN": format!("arn:aws:sqs:{REGION}:{ACCOUNT}:bookrag-ingest"),
        "awsRegion": REGION
    })
}

/// Returns the id of a message by its position in the batch, from 0; partial failures name it.
#[must_use]
pub fn message_id(number: usize) -> String {
    format!("059f36b4-87a3-44ab-83d2-{number:012x}")
}

/// `EventBridge`'s `Object Created` or `Object Deleted`. The key is not escaped.
#[must_use]
pub fn event_bridge(change: Change, bucket: &str, key: &str) -> Value {
    let (detail_type, detail) = match change {
        Change::Created => {
            let object =
                json!({ "key": key, "size": 1024, "etag": ETAG, "sequencer": sequencer(0) });
            (
                "Object Created",
                json!({ "object": object, "reason": "PutObject" }),
            )
        }
        Change::Removed => {
            let object = json!({ "key": key, "sequencer": sequencer(0) });
            let deletion = "Permanently Deleted";
            (
                "Object Deleted",
                json!({ "object": object, "reason": "DeleteObject", "deletion-type": deletion }),
            )
        }
        Change::Marked => {
            let object = json!({ "key": key, "etag": ETAG, "version-id": VERSION,
                "sequencer": sequencer(0) });
            let deletion = "Delete Marker Created";
            (
                "Object Deleted",
                json!({ "object": object, "reason": "DeleteObject", "deletion-type": deletion }),
            )
        }
    };
    let mut event = json!({
        "version": "0",
        "id": "17793124-05d4-b198-2fde-7ededc63b103",
        "detail-type": detail_type,
        "source": "aws.s3",
        "account": ACCOUNT,
        "time": "2026-01-02T03:04:05Z",
        "region": REGION,
        "resources": [format!("arn:aws:s3:::{bucket}")],
        "detail": {
            "version": "0",
            "bucket": { "name": bucket },
            "request-id": "C3D13FE58DE4C810",
            "requester": ACCOUNT,
            "source-ip-address": CLIENT_IP
        }
    });
    extend(&mut event["detail"], detail);
    event
}

fn s3_record(change: Change, bucket: &str, key: &str, number: usize) -> Value {
    let key = percent_encoded(key, b"/-_.*");
    let (name, object) = match change {
        Change::Created => ("ObjectCreated:Put", json!({ "size": 1024, "eTag": ETAG })),
        Change::Removed => ("ObjectRemoved:Delete", json!({})),
        Change::Marked => (
            "ObjectRemoved:DeleteMarkerCreated",
            json!({ "eTag": ETAG, "versionId": VERSION }),
        ),
    };
    let mut record = json!({
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": REGION,
        "eventTime": TIME,
        "eventName": name,
        "userIdentity": { "principalId": format!("AWS:{ACCOUNT}") },
        "requestParameters": { "sourceIPAddress": CLIENT_IP },
        "responseElements": {
            "x-amz-request-id": "C3D13FE58DE4C810",
            "x-amz-id-2": "FMyUVURIY8/IgAtTv8xRjskZQpcIZ9KG4V5Wp6S7S/JRWeUWerMUE5JgHvANOjpD"
        },
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "bookrag-ingest",
            "bucket": {
                "name": bucket,
                "ownerIdentity": { "principalId": "A3NL1KOZZKExample" },
                "arn": format!("arn:aws:s3:::{bucket}")
            },
            "object": { "key": key, "sequencer": sequencer(number) }
        }
    });
    extend(&mut record["s3"]["object"], object);
    record
}

/// Unlike S3, moto also reports the size and tag of a deleted object.
fn moto_record(change: Change, bucket: &str, key: &str) -> Value {
    let name = match change {
        Change::Created => "ObjectCreated:Put",
        Change::Removed => "ObjectRemoved:Delete",
        Change::Marked => "ObjectRemoved:DeleteMarkerCreated",
    };
    json!({
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": REGION,
        "eventTime": "2026-01-02T03:04:05.678901",
        "eventName": name,
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "bookrag-ingest",
            "bucket": { "name": bucket, "arn": format!("arn:aws:s3:::{bucket}") },
            "object": { "key": percent_encoded(key, b"-_.~"), "size": 1024, "eTag": ETAG }
        }
    })
}

/// Orders S3's events of the same key: hexadecimal, later is greater.
fn sequencer(number: usize) -> String {
    format!("{:018X}", 0x55AE_D6DC_D902_81E5_u128 + number as u128)
}

/// Escapes like forms: a space becomes `+`; all but letters, digits and `kept` is percent-encoded.
fn percent_encoded(key: &str, kept: &[u8]) -> String {
    let mut encoded = String::new();
    for byte in key.bytes() {
        match byte {
            b' ' => encoded.push('+'),
            _ if byte.is_ascii_alphanumeric() || kept.contains(&byte) => {
                encoded.push(char::from(byte));
            }
            _ => {
                write!(encoded, "%{byte:02X}").expect("a String takes every write");
            }
        }
    }
    encoded
}

fn extend(object: &mut Value, fields: Value) {
    if let (Value::Object(object), Value::Object(fields)) = (object, fields) {
        object.extend(fields);
    }
}
