//! Parses the function's events, tolerating fields that S3-compatible servers omit and that Amazon adds.

use bookrag::source::decoded_key;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::books::BOOK;
use crate::deployment::ResourceRequest;

/// Sent by S3 once when notifications are set up.
const TEST_EVENT: &str = "s3:TestEvent";
/// The type of a message that SNS delivers.
const FROM_SNS: &str = "Notification";
/// The form of an event that S3 itself sends.
const NOTIFICATION: &str = "notification of S3";

/// A parsed event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Messages of a queue, which succeed or fail independently.
    Queue(Vec<Message>),
    /// Objects that may have changed.
    Objects(Vec<Object>),
    /// A direct invocation.
    Command(Command),
    /// A deployment.
    Resource(ResourceRequest),
}

/// A message of a queue.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Message {
    /// The id under which a failure is reported.
    #[serde(rename = "messageId")]
    pub(crate) id: String,
    /// An S3 notification, an `EventBridge` event, one of these from SNS, or a command, as text.
    pub(crate) body: String,
    /// What SQS knows this receive by.
    #[serde(rename = "receiptHandle", default)]
    pub(crate) receipt: String,
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct Attributes {
    /// How often the message was received, as text.
    #[serde(rename = "ApproximateReceiveCount", default)]
    receive_count: String,
}

/// The request in a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Objects that may have changed.
    Objects(Vec<Object>),
    /// A command that this function or a schedule put into the queue.
    Command(Command),
}

/// An object that may have changed; the bucket has its current state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    /// The bucket's name.
    pub(crate) bucket: String,
    /// The unescaped key.
    pub(crate) key: String,
    /// The time of the change, if the event has it.
    pub(crate) changed_at: Option<Timestamp>,
}

/// A direct invocation, or a message of this function to itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Makes the index hold exactly the bucket's pages.
    Reconcile {
        /// Limits it to files whose path begins with this.
        #[serde(default)]
        prefix: String,
        /// True if more than half of the book may be deleted.
        #[serde(default)]
        allow_mass_deletion: bool,
    },
    /// Builds the index of this function's settings beside the live one, and makes it live once it is complete.
    Reindex {
        /// The number of checks so far.
        #[serde(default)]
        attempt: u32,
        /// The collection to build; the first time, it is derived from this function's settings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<String>,
    },
    /// Deletes leftovers of writers and switches.
    Sweep {},
    /// Reports the differences between the index and the bucket.
    Status {
        /// Limits it to files whose path begins with this.
        #[serde(default)]
        prefix: String,
    },
    /// Migrates the catalog's tables and checks everything that is configured.
    Prepare {},
    /// Updates the documents affected by these files.
    Converge {
        /// Their paths below the site's prefix.
        paths: Vec<String>,
    },
}

/// The reason why an event cannot be read. A retry would fail too, so it belongs in the dead-letter queue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The event has an unknown form.
    #[error(
        "the event must be a batch of SQS messages, a notification of S3, an S3 event of EventBridge, one of these from SNS, \
         a request of CloudFormation or a command (`reconcile`, `reindex`, `sweep`, `status`, `prepare`, `converge`)"
    )]
    Unknown,
    /// The event has a known form but is invalid.
    #[error("the {kind} cannot be read: {reason}")]
    Malformed {
        /// The form.
        kind: &'static str,
        /// The problem.
        reason: String,
    },
}

#[derive(Deserialize)]
struct QueueBatch {
    #[serde(rename = "Records")]
    records: Vec<Message>,
}

#[derive(Deserialize)]
struct Notification {
    #[serde(rename = "Records")]
    records: Vec<Value>,
}

#[derive(Deserialize)]
struct NotificationRecord {
    #[serde(rename = "eventTime", default)]
    time: Option<String>,
    s3: Change,
}

#[derive(Deserialize)]
struct BridgeEvent {
    #[serde(default)]
    time: Option<String>,
    detail: Change,
}

/// The common part of notifications and `EventBridge` events.
#[derive(Deserialize)]
struct Change {
    bucket: Bucket,
    object: ChangedObject,
}

#[derive(Deserialize)]
struct Bucket {
    name: String,
}

#[derive(Deserialize)]
struct ChangedObject {
    key: String,
}

impl TryFrom<Value> for Event {
    type Error = EventError;

    fn try_from(event: Value) -> Result<Self, EventError> {
        if event.get("command").is_some() {
            return Ok(Self::Command(command(event)?));
        }
        if event.get("RequestType").is_some() {
            return Ok(Self::Resource(read("request of CloudFormation", event)?));
        }
        if event["Records"][0]["eventSource"] == "aws:sqs" {
            let batch: QueueBatch = read("batch of SQS messages", event)?;
            return Ok(Self::Queue(batch.records));
        }
        Ok(Self::Objects(objects(event)?))
    }
}

impl Message {
    /// Returns how often the message was received, from 1.
    pub(crate) fn receive_count(&self) -> u32 {
        self.attributes.receive_count.parse().unwrap_or(1).max(1)
    }

    /// Parses the message's request; S3's test event has no objects.
    ///
    /// # Errors
    /// If the body is neither an S3 event nor a command.
    pub(crate) fn request(&self) -> Result<Request, EventError> {
        let body = parse("message", &self.body)?;
        if body.get("command").is_some() {
            return Ok(Request::Command(command(body)?));
        }
        Ok(Request::Objects(objects(body)?))
    }

    /// Returns the book that the command in the message names.
    pub(crate) fn book(&self) -> Option<String> {
        let body = parse("message", &self.body).ok()?;
        body[BOOK].as_str().map(str::to_owned)
    }
}

/// Reads a command, whatever book it names.
fn command(mut event: Value) -> Result<Command, EventError> {
    if let Some(fields) = event.as_object_mut() {
        fields.remove(BOOK);
    }
    read("command", event)
}

fn objects(event: Value) -> Result<Vec<Object>, EventError> {
    if event["Event"] == TEST_EVENT {
        return Ok(Vec::new());
    }
    // SNS wraps an event as text, unless a queue's subscription asks for the raw message.
    if let Some(message) = event["Message"].as_str()
        && event["Type"] == FROM_SNS
    {
        return objects(parse("message of SNS", message)?);
    }
    if event["source"] == "aws.s3" {
        let BridgeEvent { time, detail } = read("S3 event of EventBridge", event)?;
        // Unlike in notifications, the key is not escaped here.
        return Ok(vec![Object {
            bucket: detail.bucket.name,
            key: detail.object.key,
            changed_at: read_time(time),
        }]);
    }
    if event.get("Records").is_none() {
        return Err(EventError::Unknown);
    }
    let notification: Notification = read(NOTIFICATION, event)?;
    let mut changed = Vec::new();
    for mut record in notification.records {
        match record.get_mut("Sns") {
            // A subscription of this function itself.
            Some(wrapped) => changed.extend(objects(wrapped.take())?),
            None => changed.push(object(record)?),
        }
    }
    Ok(changed)
}

fn object(record: Value) -> Result<Object, EventError> {
    let NotificationRecord { time, s3 } = read(NOTIFICATION, record)?;
    let key = decoded_key(&s3.object.key).map_err(|error| EventError::Malformed {
        kind: NOTIFICATION,
        reason: format!("the key `{}`: {error}", s3.object.key),
    })?;
    Ok(Object {
        key,
        bucket: s3.bucket.name,
        changed_at: read_time(time),
    })
}

/// Parses a time; an invalid one only loses a metric.
fn read_time(time: Option<String>) -> Option<Timestamp> {
    time?.parse().ok()
}

fn parse(kind: &'static str, text: &str) -> Result<Value, EventError> {
    serde_json::from_str(text).map_err(|error| EventError::Malformed {
        kind,
        reason: error.to_string(),
    })
}

fn read<T: DeserializeOwned>(kind: &'static str, event: Value) -> Result<T, EventError> {
    serde_json::from_value(event).map_err(|error| EventError::Malformed {
        kind,
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_objects(event: Value) -> Vec<Object> {
        match Event::try_from(event).unwrap() {
            Event::Objects(objects) => objects,
            other => panic!("{other:?}"),
        }
    }

    fn with_body(body: &str) -> Message {
        let message = json!({ "messageId": "1", "body": body });
        serde_json::from_value(message).unwrap()
    }

    fn record(key: &str) -> Value {
        json!({ "eventSource": "aws:s3", "s3": { "bucket": { "name": "b" }, "object": { "key": key } } })
    }

    #[test]
    fn keys_of_notifications_are_unescaped_and_those_of_event_bridge_are_not() {
        let keys = |event| -> Vec<String> {
            let objects = read_objects(event).into_iter();
            objects.map(|object| object.key).collect()
        };
        let records = json!({ "Records": [
            record("docs/a+b.md"), record("docs%2Fa%2Bb.md"), record("docs/%D8%A7%D8%B1.md"), record("100%25.md")
        ] });
        assert_eq!(
            keys(records),
            ["docs/a b.md", "docs/a+b.md", "docs/ار.md", "100%.md"]
        );
        let detail = json!({ "bucket": { "name": "b" }, "object": { "key": "docs/a+b%20.md" } });
        assert_eq!(
            keys(json!({ "source": "aws.s3", "detail": detail })),
            ["docs/a+b%20.md"]
        );
    }

    #[test]
    fn the_test_event_is_about_nothing() {
        assert_eq!(
            read_objects(json!({ "Service": "Amazon S3", "Event": TEST_EVENT, "Bucket": "b" })),
            []
        );
        assert_eq!(read_objects(json!({ "Records": [] })), []);
    }

    #[test]
    fn an_event_that_comes_over_sns_is_read_like_a_direct_one() {
        let detail = json!({ "bucket": { "name": "b" }, "object": { "key": "docs/a b.md" } });
        for (event, expected) in [
            (
                json!({ "Records": [record("docs/a+b.md")] }),
                Some("docs/a b.md"),
            ),
            (
                json!({ "source": "aws.s3", "detail": detail }),
                Some("docs/a b.md"),
            ),
            (
                json!({ "Service": "Amazon S3", "Event": TEST_EVENT, "Bucket": "b" }),
                None,
            ),
        ] {
            let wrapped = json!({
                "Type": "Notification", "TopicArn": "arn:aws:sns:eu-central-1:1:book", "Message": event.to_string()
            });
            let message = with_body(&wrapped.to_string());
            let Ok(Request::Objects(queued)) = message.request() else {
                panic!("{wrapped}");
            };
            let subscribed = json!({ "Records": [{ "EventSource": "aws:sns", "Sns": wrapped }] });
            for objects in [queued, read_objects(subscribed)] {
                let keys: Vec<&str> = objects.iter().map(|object| object.key.as_str()).collect();
                assert_eq!(keys, Vec::from_iter(expected));
            }
        }
        // A topic may have publishers that may not give commands.
        for message in ["not JSON", r#"{"command": "reconcile"}"#] {
            let body = json!({ "Type": "Notification", "Message": message }).to_string();
            with_body(&body).request().unwrap_err();
        }
    }

    #[test]
    fn a_message_was_received_at_least_once() {
        assert_eq!(with_body("").receive_count(), 1);
        let third = json!({
            "messageId": "1", "body": "", "attributes": { "ApproximateReceiveCount": "3" }
        });
        let third: Message = serde_json::from_value(third).unwrap();
        assert_eq!(third.receive_count(), 3);
    }

    #[test]
    fn a_message_is_read_by_itself() {
        let batch = json!({ "Records": [
            { "eventSource": "aws:sqs", "messageId": "1", "body": json!({ "Records": [record("a.md")] }).to_string() },
            { "eventSource": "aws:sqs", "messageId": "2", "body": "not JSON" },
        ] });
        let Event::Queue(messages) = Event::try_from(batch).unwrap() else {
            panic!("a batch")
        };
        let Request::Objects(objects) = messages[0].request().unwrap() else {
            panic!("an event of S3")
        };
        assert_eq!(objects.len(), 1);
        let error = messages[1].request().unwrap_err().to_string();
        assert!(
            error.starts_with("the message cannot be read: expected"),
            "{error}"
        );
    }

    #[test]
    fn commands_are_read_strictly() {
        let command = |event| match Event::try_from(event) {
            Ok(Event::Command(command)) => Ok(command),
            other => Err(format!("{other:?}")),
        };
        let reconcile = |allow_mass_deletion| {
            Ok(Command::Reconcile {
                prefix: String::new(),
                allow_mass_deletion,
            })
        };
        assert_eq!(command(json!({ "command": "reconcile" })), reconcile(false));
        let allowed = json!({ "command": "reconcile", "allow_mass_deletion": true });
        assert_eq!(command(allowed), reconcile(true));
        let prefix = "docs/module-1".to_owned();
        assert_eq!(
            command(json!({ "command": "status", "prefix": prefix })),
            Ok(Command::Status { prefix })
        );
        assert_eq!(
            command(json!({ "command": "sweep" })),
            Ok(Command::Sweep {})
        );
        assert_eq!(
            command(json!({ "command": "reindex" })),
            Ok(Command::Reindex {
                attempt: 0,
                of: None
            })
        );
        let error = command(json!({ "command": "delete" })).unwrap_err();
        assert!(
            error.contains("reconcile") && error.contains("status"),
            "{error}"
        );
        command(json!({ "command": "reconcile", "dry_run": true })).unwrap_err();
    }

    #[test]
    fn a_queue_may_hold_commands_and_their_own_text_is_read_again() {
        let command = Command::Converge {
            paths: vec!["docs/a b.md".to_owned()],
        };
        let message = with_body(&json!(command).to_string());
        assert_eq!(message.request(), Ok(Request::Command(command)));
    }

    #[test]
    fn the_time_of_a_change_is_read_where_there_is_one() {
        let mut event = record("a.md");
        assert_eq!(
            read_objects(json!({ "Records": [event.clone()] }))[0].changed_at,
            None
        );
        event["eventTime"] = json!("2026-01-02T03:04:05.678Z");
        let times = read_objects(json!({ "Records": [event.clone()] }));
        assert_eq!(
            times[0].changed_at.unwrap().as_millisecond(),
            1_767_323_045_678
        );
        event["eventTime"] = json!("yesterday");
        assert_eq!(
            read_objects(json!({ "Records": [event] }))[0].changed_at,
            None
        );
    }

    #[test]
    fn what_is_no_event_is_refused_by_name() {
        for event in [
            json!({}),
            json!(null),
            json!([1]),
            json!("text"),
            json!({ "source": "aws.events" }),
        ] {
            assert_eq!(
                Event::try_from(event.clone()),
                Err(EventError::Unknown),
                "{event}"
            );
        }
        let no_key = json!({ "Records": [{ "s3": { "bucket": { "name": "b" }, "object": {} } }] });
        let error = Event::try_from(no_key).unwrap_err().to_string();
        assert!(error.contains("missing field `key`"), "{error}");
        let error = Event::try_from(json!({ "Records": [record("%FF.md")] })).unwrap_err();
        assert!(error.to_string().contains("%FF.md"), "{error}");
    }
}
