//! Messages of a queue.

use std::sync::{Arc, Mutex};

use axum::{Json, Router, http::HeaderMap, routing::post};
use bookrag_tests::{
    events::{
        Change, Sender, event_bridge, message_id, s3_notification, s3_test_event,
        sqs_batch_of_received, sqs_batch_of_text,
    },
    moto::{Moto, ReceivedMessage},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{BUCKET, World};

fn notification(sender: Sender, key: &str) -> String {
    s3_notification(sender, Change::Created, BUCKET, &[key]).to_string()
}

fn failures(numbers: &[usize]) -> Value {
    let names = numbers
        .iter()
        .map(|number| json!({ "itemIdentifier": message_id(*number) }));
    json!({ "batchItemFailures": names.collect::<Vec<_>>() })
}

#[tokio::test]
async fn a_batch_names_only_the_messages_that_failed() {
    let world = World::start("lambda_ingest_batch").await;
    world
        .put("docs/intro.md", "# Garden\n\nBeans climb.\n")
        .await;
    world
        .put("docs/chap one + ä.md", "# One\n\nPeas too.\n")
        .await;
    let other = s3_notification(
        Sender::S3,
        Change::Created,
        "photos",
        &["site/docs/intro.md"],
    );
    let batch = sqs_batch_of_text(&[
        notification(Sender::S3, "site/docs/intro.md"),
        s3_test_event(BUCKET).to_string(),
        "not JSON".to_owned(),
        notification(Sender::Moto, "site/docs/chap one + ä.md"),
        notification(Sender::S3, "elsewhere/docs/intro.md"),
        notification(Sender::S3, "site/static/img/pea.png"),
        other.to_string(),
        json!({ "hello": "world" }).to_string(),
        event_bridge(Change::Created, BUCKET, "site/docs/never was.md").to_string(),
    ]);
    let answer = world.lambda.invoke(batch.clone()).await.payload();
    assert_eq!(
        answer,
        failures(&[2, 7]),
        "{}",
        world.lambda.function.logs()
    );
    assert_eq!(
        world.sources().await,
        ["docs/chap one + ä.md", "docs/intro.md"]
    );
    assert!(world.text("docs/intro.md").await.contains("Beans climb"));

    let before = world.documents().await;
    assert_eq!(
        world.lambda.invoke(batch).await.payload(),
        failures(&[2, 7])
    );
    assert_eq!(
        world.documents().await,
        before,
        "events that come twice change nothing"
    );
}

#[tokio::test]
async fn a_message_fails_when_its_page_cannot_be_embedded() {
    let world = World::start_with("lambda_ingest_key", &[("OPENAI_API_KEY", "a wrong one")]).await;
    world
        .put("docs/intro.md", "# Garden\n\nBeans climb.\n")
        .await;
    let batch = sqs_batch_of_text(&[
        notification(Sender::S3, "site/docs/gone.md"),
        notification(Sender::S3, "site/docs/intro.md"),
        notification(Sender::S3, "site/README.txt"),
    ]);
    let answer = world.lambda.invoke(batch).await.payload();
    let logs = world.lambda.function.logs();
    assert_eq!(answer, failures(&[1]), "{logs}");
    assert!(
        logs.contains(&message_id(1)) && logs.contains("invalid_api_key"),
        "{logs}"
    );
    assert!(!logs.contains("a wrong one"), "{logs}");

    let error = world.notify(Change::Created, "docs/intro.md").await;
    assert_eq!(error.error().error_type, "Ingest");
}

#[tokio::test]
async fn work_under_older_settings_is_repeated() {
    let moto = Arc::new(Moto::start().await);
    // The settings change during the embedding of the page.
    let address = embeddings_after({
        let moto = Arc::clone(&moto);
        move || {
            let moto = Arc::clone(&moto);
            async move {
                let toml = "base_url = '/book/'";
                moto.put(BUCKET, "site/bookrag.toml", toml).await;
            }
        }
    })
    .await;
    let variables = [("OPENAI_BASE_URL", address.as_str())];
    let world = World::over(moto, "lambda_ingest_settings", &variables).await;
    world
        .put("docs/intro.md", "# Garden\n\nBeans climb.\n")
        .await;
    let batch = sqs_batch_of_text(&[notification(Sender::S3, "site/docs/intro.md")]);
    let early = world.lambda.invoke(batch.clone()).await.payload();
    assert_eq!(early, failures(&[0]));
    let logs = world.lambda.function.logs();
    assert!(logs.contains("settings changed meanwhile"), "{logs}");
    assert_eq!(world.lambda.invoke(batch).await.payload(), failures(&[]));
    assert_eq!(world.documents().await[0].row.url, "/book/docs/intro");
}

#[tokio::test]
async fn settings_that_cannot_be_read_are_named_and_fail_no_message() {
    let world = World::start("lambda_ingest_unreadable").await;
    let page = "docs/intro.md";
    world.put(page, "# Garden\n\nBeans climb.\n").await;
    world.converge(Change::Created, page).await;
    world
        .put("bookrag.toml", "title = 'A'\nexclud = []\n")
        .await;
    world.put(page, "# Garden\n\nPeas climb.\n").await;
    let batch = sqs_batch_of_text(&[
        notification(Sender::S3, "site/bookrag.toml"),
        notification(Sender::S3, "site/docs/intro.md"),
    ]);
    // A retry would change nothing, so no message fails, and readers keep the old text.
    assert_eq!(world.lambda.invoke(batch).await.payload(), failures(&[]));
    let direct = world.notify(Change::Created, page).await.payload();
    assert!(
        direct["error"].to_string().contains("bookrag.toml, line 2"),
        "{direct}"
    );
    let logs = world.lambda.function.logs();
    assert!(
        logs.contains("bookrag.toml, line 2: unknown field `exclud`"),
        "{logs}"
    );
    assert!(logs.contains("\"documents_skipped\":2"), "{logs}");
    assert!(world.text(page).await.contains("Beans"));
    let status = json!({ "command": "status" });
    let refused = world.lambda.invoke(status).await;
    assert_eq!(refused.error().error_type, "Settings");
    world.put("bookrag.toml", "title = 'A'\n").await;
    world.converge(Change::Created, "bookrag.toml").await;
    assert!(world.text(page).await.contains("Peas"));
}

#[tokio::test]
async fn settings_that_change_together_are_compared_once() {
    let world = World::start("lambda_ingest_compared").await;
    let page = "docs/intro.md";
    world.put(page, "# Garden\n\nBeans climb.\n").await;
    world.put("bookrag.toml", "base_url = '/book/'\n").await;
    let batch = sqs_batch_of_text(&[
        notification(Sender::S3, "site/bookrag.toml"),
        notification(Sender::S3, "site/docusaurus.config.js"),
        notification(Sender::S3, "site/versions.json"),
    ]);
    let compared = |world: &World| {
        let logs = world.lambda.function.logs();
        logs.matches("checking all documents").count()
    };
    assert_eq!(
        world.lambda.invoke(batch.clone()).await.payload(),
        failures(&[])
    );
    assert_eq!(world.documents().await[0].row.url, "/book/docs/intro");
    assert_eq!(compared(&world), 1);
    // Those of a later invocation are compared again.
    world.put("bookrag.toml", "base_url = '/other/'\n").await;
    assert_eq!(world.lambda.invoke(batch).await.payload(), failures(&[]));
    assert_eq!(world.documents().await[0].row.url, "/other/docs/intro");
    assert_eq!(compared(&world), 2);
}

#[tokio::test]
async fn messages_that_failed_are_visible_again_soon() {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let queue = queue_that_records(Arc::clone(&requests)).await;
    let url = format!("{queue}/123456789012/ingest");
    let variables = [
        ("OPENAI_API_KEY", "a wrong one"),
        ("BOOKRAG_QUEUE_URL", url.as_str()),
        ("AWS_ENDPOINT_URL_SQS", queue.as_str()),
        ("AWS_REGION", "us-east-1"),
    ];
    let world = World::start_with("lambda_ingest_retried", &variables).await;
    world.put("docs/a.md", "# A\n\nBeans climb.\n").await;
    let received = |number: usize, path: &str, receive_count| ReceivedMessage {
        message_id: message_id(number),
        receipt_handle: format!("receipt {number}"),
        body: notification(Sender::S3, path),
        receive_count,
    };
    let batch = sqs_batch_of_received(&[
        received(0, "site/docs/a.md", 1),
        received(1, "site/README.txt", 1),
        received(2, "site/docs/a.md", 3),
    ]);
    let answer = world.lambda.invoke(batch).await.payload();
    let logs = world.lambda.function.logs();
    assert_eq!(answer, failures(&[0, 2]), "{logs}");
    let entry = |number: usize, seconds: u32| {
        json!({
            "Id": message_id(number), "ReceiptHandle": format!("receipt {number}"), "VisibilityTimeout": seconds
        })
    };
    let expected = json!({ "QueueUrl": url, "Entries": [entry(0, 30), entry(2, 480)] });
    let action = "AmazonSQS.ChangeMessageVisibilityBatch".to_owned();
    assert_eq!(*requests.lock().unwrap(), [(action, expected)], "{logs}");
    assert!(!logs.contains("visibility timeout"), "{logs}");
}

/// Starts a queue that accepts changes of all messages, and records each request with its action.
async fn queue_that_records(requests: Arc<Mutex<Vec<(String, Value)>>>) -> String {
    let accept = async move |headers: HeaderMap, body: String| {
        let request: Value = serde_json::from_str(&body).unwrap();
        let entries = request["Entries"].as_array().unwrap();
        let ids = entries.iter().map(|entry| json!({ "Id": entry["Id"] }));
        let answer = json!({ "Successful": ids.collect::<Vec<_>>(), "Failed": [] });
        let action = headers["x-amz-target"].to_str().unwrap().to_owned();
        requests.lock().unwrap().push((action, request));
        Json(answer)
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(accept);
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

/// Starts an embeddings API that runs `first` before it answers.
pub(super) async fn embeddings_after<F>(
    first: impl Fn() -> F + Clone + Send + Sync + 'static,
) -> String
where
    F: Future<Output = ()> + Send,
{
    let embed = async move |Json(request): Json<Value>| {
        first().await;
        let count = request["input"].as_array().unwrap().len();
        let data = (0..count).map(|index| json!({ "index": index, "embedding": vec![1.0; 64] }));
        Json(json!({ "data": data.collect::<Vec<_>>() }))
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/v1/embeddings", post(embed));
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/v1")
}
