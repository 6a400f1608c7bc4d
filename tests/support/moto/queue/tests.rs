use std::time::Duration;

use serde_json::Value;

use super::{DeadLetters, ReceivedMessage};
use crate::{events::sqs_batch_of_received, moto::Moto};

const HOUR: Duration = Duration::from_hours(1);
/// The most messages that SQS returns at once.
const ALL: usize = 10;

fn body(message: &ReceivedMessage) -> Value {
    serde_json::from_str(&message.body).unwrap()
}

#[tokio::test]
async fn a_bucket_notifies_of_writes_and_deletions() {
    let moto = Moto::start().await;
    let queue = moto.create_queue("ingest", HOUR, None).await;
    moto.create_bucket("books").await;
    moto.notify("books", &queue).await;
    moto.put("books", "docs/a b.md", "x").await;
    moto.delete("books", "docs/a b.md").await;
    assert_eq!(moto.queue_depth(&queue).await, (3, 0));

    let messages = moto.receive(&queue, ALL).await;

    assert_eq!(moto.queue_depth(&queue).await, (0, 3));
    assert_eq!(body(&messages[0])["Event"], "s3:TestEvent");
    for (message, name) in messages[1..]
        .iter()
        .zip(["ObjectCreated:Put", "ObjectRemoved:Delete"])
    {
        let record = &body(message)["Records"][0];
        assert_eq!(record["eventName"], name);
        assert_eq!(record["s3"]["object"]["key"], "docs%2Fa+b.md");
    }
    for message in &messages {
        for _ in 0..2 {
            moto.acknowledge(&queue, &message.receipt_handle).await;
        }
    }
    assert_eq!(moto.queue_depth(&queue).await, (0, 0));
}

#[tokio::test]
async fn an_unacknowledged_message_becomes_a_dead_letter() {
    let moto = Moto::start().await;
    let dead = moto.create_queue("dead", Duration::ZERO, None).await;
    let dead_letters = DeadLetters {
        queue_url: &dead,
        max_receive_count: 2,
    };
    let queue = moto
        .create_queue("ingest", Duration::ZERO, Some(dead_letters))
        .await;
    moto.create_bucket("books").await;
    moto.notify("books", &queue).await;
    let first = moto.receive(&queue, ALL).await;
    let second = moto.receive(&queue, ALL).await;
    assert_eq!((first[0].receive_count, second[0].receive_count), (1, 2));
    assert_eq!(moto.receive(&queue, ALL).await, []);

    let received = moto.receive(&dead, ALL).await;

    assert_eq!(received.len(), 1);
    assert_eq!(received[0].message_id, first[0].message_id);
    let batch = sqs_batch_of_received(&received);
    assert_eq!(batch["Records"][0]["messageId"], first[0].message_id);
    let attributes = &batch["Records"][0]["attributes"];
    assert_eq!(attributes["ApproximateReceiveCount"], "3");
}

#[tokio::test]
#[should_panic(expected = "QueueDoesNotExist")]
async fn a_notification_to_a_missing_queue_is_refused() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    moto.notify("books", "http://127.0.0.1/123456789012/nowhere")
        .await;
}
