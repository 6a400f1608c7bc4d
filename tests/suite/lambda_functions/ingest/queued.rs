//! Work that is sent through the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bookrag::catalog::IndexState;
use bookrag_tests::{
    events::{Change, sqs_batch_of_received},
    moto::{Moto, ReceivedMessage},
};
use serde_json::{Value, json};

use super::{BUCKET, World, batches::embeddings_after};
use crate::lambda_functions::Lambda;

/// An invocation's timeout. The function keeps a quarter in reserve, and gives a quarter of that to the messages that it returns: this one must
/// leave time for both on a busy machine, because the test waits for it anyway.
const INVOCATION: Duration = Duration::from_secs(40);

/// A function with its queue.
struct Queued {
    world: World,
    queue: String,
}

impl Queued {
    async fn start(database: &str, variables: &[(&'static str, &str)]) -> Self {
        let moto = Moto::start().await;
        // No message becomes visible again during a test, since all received ones are acknowledged.
        let queue = moto
            .create_queue("ingest", Duration::from_hours(1), None)
            .await;
        let mut all = vec![
            ("BOOKRAG_QUEUE_URL", queue.as_str()),
            ("AWS_REGION", "us-east-1"),
        ];
        all.extend(variables);
        let world = World::over(Arc::new(moto), database, &all).await;
        Self { world, queue }
    }

    async fn command(&self, command: Value) -> Value {
        self.world.lambda.invoke(command).await.payload()
    }

    /// Serves one batch of the queue, and returns the bodies.
    async fn serve(&self, lambda: &Lambda) -> Vec<String> {
        let messages = self.world.moto.receive(&self.queue, 10).await;
        if messages.is_empty() {
            return Vec::new();
        }
        let answer = lambda
            .invoke(sqs_batch_of_received(&messages))
            .await
            .payload();
        assert_eq!(
            answer,
            json!({ "batchItemFailures": [] }),
            "{}",
            lambda.function.logs()
        );
        for message in &messages {
            self.world
                .moto
                .acknowledge(&self.queue, &message.receipt_handle)
                .await;
        }
        messages.into_iter().map(|message| message.body).collect()
    }

    async fn receive_all(&self) -> Vec<ReceivedMessage> {
        let mut all = Vec::new();
        loop {
            let messages = self.world.moto.receive(&self.queue, 10).await;
            if messages.is_empty() {
                return all;
            }
            all.extend(messages);
        }
    }

    async fn drain(&self, lambda: &Lambda) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let served = self.serve(lambda).await;
            if served.is_empty() {
                return all;
            }
            all.extend(served);
        }
    }
}

async fn put_pages(world: &World, count: usize) {
    for number in 0..count {
        let text = format!("import P from './_p.mdx';\n\n# Page {number}\n\n<P />\n");
        world.put(&format!("docs/page-{number}.mdx"), &text).await;
    }
}

#[tokio::test]
async fn a_reconcile_enqueues_the_differences() {
    let queued = Queued::start("lambda_ingest_reconcile", &[]).await;
    let world = &queued.world;
    put_pages(world, 12).await;
    world
        .put("docs/bad.md", "---\ntitle: [\n---\nText.\n")
        .await;
    let status = queued.command(json!({ "command": "status" })).await;
    assert_eq!(status["pending"].as_array().unwrap().len(), 13, "{status}");
    assert_eq!(
        status["pending"][0],
        json!({ "source": "docs/bad.md", "change": "new" })
    );

    let answer = queued.command(json!({ "command": "reconcile" })).await;
    assert_eq!(answer["enqueued"], 13, "{answer}");
    assert_eq!(world.sources().await, Vec::<String>::new());
    assert_eq!(queued.drain(&world.lambda).await.len(), 13);
    assert_eq!(world.sources().await.len(), 13);
    let status = queued.command(json!({ "command": "status" })).await;
    assert_eq!(status["pending"], json!([]), "{status}");
    assert_eq!(status["indexed"], 12);
    assert_eq!(status["skipped"][0]["source"], "docs/bad.md");
    let again = queued.command(json!({ "command": "reconcile" })).await;
    assert_eq!(again["enqueued"], 0);

    world.put("docs/page-3.mdx", "# Three\n").await;
    world.delete("docs/page-4.mdx").await;
    let below = queued
        .command(json!({ "command": "status", "prefix": "docs/page-3" }))
        .await;
    assert_eq!(
        below["pending"],
        json!([{ "source": "docs/page-3.mdx", "change": "changed" }])
    );
    let answer = queued
        .command(json!({ "command": "reconcile", "prefix": "docs/page-4" }))
        .await;
    assert_eq!(answer["enqueued"], 1, "{answer}");
    queued.drain(&world.lambda).await;
    assert!(
        !world
            .sources()
            .await
            .contains(&"docs/page-4.mdx".to_owned())
    );
    assert!(!world.text("docs/page-3.mdx").await.contains("Three"));
}

#[tokio::test]
async fn pages_that_depend_on_one_file_are_enqueued_one_by_one() {
    let queued = Queued::start("lambda_ingest_fan_out", &[]).await;
    let world = &queued.world;
    put_pages(world, 12).await;
    queued.command(json!({ "command": "reconcile" })).await;
    queued.drain(&world.lambda).await;
    world.put("docs/_p.mdx", "Wear gloves.\n").await;
    world.converge(Change::Created, "docs/_p.mdx").await;
    let served = queued.drain(&world.lambda).await;
    // The file itself is one of those affected.
    assert_eq!(served.len(), 13, "{served:?}");
    assert!(world.text("docs/page-11.mdx").await.contains("gloves"));

    world.put("bookrag.toml", "base_url = '/book/'\n").await;
    world.converge(Change::Created, "bookrag.toml").await;
    assert_eq!(queued.drain(&world.lambda).await.len(), 12);
    assert_eq!(world.documents().await[0].row.url, "/book/docs/page-0");
}

#[tokio::test]
async fn unstarted_messages_are_returned_at_the_deadline_as_new() {
    // The first page is embedded, the second never is.
    let asked = Arc::new(AtomicUsize::new(0));
    let address = embeddings_after(move || {
        let first = asked.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if !first {
                std::future::pending::<()>().await;
            }
        }
    })
    .await;
    let variables = [("OPENAI_BASE_URL", address.as_str())];
    let queued = Queued::start("lambda_ingest_deadline", &variables).await;
    let world = &queued.world;
    world.moto.notify(BUCKET, &queued.queue).await;
    for number in 0..4 {
        let text = format!("# Page {number}\n\nText {number}.\n");
        world.put(&format!("docs/page-{number}.md"), &text).await;
    }
    let messages = queued.receive_all().await;
    let messages: Vec<_> = messages
        .into_iter()
        .filter(|message| message.body.contains("page-"))
        .collect();
    assert_eq!(messages.len(), 4);
    let batch = sqs_batch_of_received(&messages);
    let served = world.lambda.api.queue_with_timeout(batch, INVOCATION);
    let answer = served.finish().await.payload();
    // The second page was started and abandoned; its message is delivered again with a receive count of 2.
    let second = json!([{ "itemIdentifier": messages[1].message_id }]);
    assert_eq!(answer["batchItemFailures"], second);
    assert_eq!(world.sources().await.len(), 1);
    let again = queued.receive_all().await;
    let bodies: Vec<&str> = again.iter().map(|message| message.body.as_str()).collect();
    assert_eq!(bodies, [&messages[2].body, &messages[3].body]);
    assert!(
        again.iter().all(|message| message.receive_count == 1),
        "{again:?}"
    );
    let logs = world.lambda.function.logs();
    assert!(logs.contains("before the invocation's deadline"), "{logs}");
}

#[tokio::test]
async fn another_model_fills_an_index_beside_the_live_one() {
    let queued = Queued::start("lambda_ingest_reindex", &[]).await;
    let world = &queued.world;
    put_pages(world, 3).await;
    queued.command(json!({ "command": "reconcile" })).await;
    queued.drain(&world.lambda).await;
    let before = world.backends.catalog.live_index().await.unwrap().unwrap();

    // The next deployment splits pages differently.
    let mut environment = world.environment.clone();
    environment.push(("BOOKRAG_CHUNK_POLICY", "paragraph-512".to_owned()));
    let next = Lambda::start("ingest", &environment).await;
    let status = next.invoke(json!({ "command": "status" })).await.payload();
    assert_eq!(
        (&status["index"]["id"], &status["documents"]),
        (&json!(0), &json!(0))
    );
    let answer = next.invoke(json!({ "command": "reindex" })).await.payload();
    assert_eq!(
        (&answer["enqueued"], &answer["live"]),
        (&json!(3), &json!(false))
    );
    world.put("docs/page-9.mdx", "# Nine\n").await;
    assert_eq!(world.sources().await.len(), 3, "the live index serves on");
    queued.drain(&next).await;
    let indexes = world.backends.catalog.indexes().await.unwrap();
    assert_eq!(indexes.len(), 2);
    assert_eq!(indexes[0].state, IndexState::Live);
    assert_eq!(indexes[1].state, IndexState::Building);

    // The message to itself arrives a minute later, with this content. A page is still missing.
    let look = json!({ "command": "reindex", "attempt": 10 });
    let answer = next.invoke(look.clone()).await.payload();
    assert_eq!(answer["live"], false, "{answer}");
    queued.drain(&next).await;
    let answer = next.invoke(look).await.payload();
    assert_eq!(answer["live"], true, "{answer}");
    let live = world.backends.catalog.live_index().await.unwrap().unwrap();
    assert!(live.spec.chunk_policy.starts_with("paragraph-512 "));
    assert_ne!(live.collection, before.collection);
    assert_eq!(world.sources().await.len(), 4);

    // The old deployment may still get an event; it refuses it, so that the new one gets it.
    let late = world.notify(Change::Created, "docs/page-9.mdx").await;
    assert_eq!(late.error().message, "the index is retired");

    // An hour later the former index is dropped.
    let retired = "UPDATE indexes SET retired_at = retired_at - interval '2 hours'";
    world.backends.execute(retired).await;
    let swept = next.invoke(json!({ "command": "sweep" })).await.payload();
    assert!(swept["swept"].is_u64(), "{swept}");
    let left = world.backends.catalog.indexes().await.unwrap();
    assert_eq!(left[0].state, IndexState::Retired);
    assert_ne!(
        left[0].collection, before.collection,
        "a late drop must not meet it"
    );
    let late = world.notify(Change::Created, "docs/page-9.mdx").await;
    assert_eq!(late.error().message, "the index is retired");
    let gone = world.backends.index.point_ids(&before.collection).await;
    assert!(gone.is_err(), "{gone:?}");
    assert_eq!(
        world
            .backends
            .index
            .point_ids("textbook_chunks")
            .await
            .unwrap()
            .len(),
        4
    );
}

#[tokio::test]
async fn metrics_report_the_work_and_its_delay() {
    let variables = [("BOOKRAG_METRICS", "all")];
    let queued = Queued::start("lambda_ingest_metrics", &variables).await;
    let world = &queued.world;
    world.put("docs/a.md", "# A\n\nApples.\n").await;
    world.converge(Change::Created, "docs/a.md").await;
    let logs = world.lambda.function.logs();
    let line = logs.lines().find(|line| line.contains("CloudWatchMetrics"));
    let line: Value = serde_json::from_str(line.expect("a line of metrics")).unwrap();
    assert_eq!(line["function"], "ingest");
    assert_eq!(line["documents_indexed"], 1);
    assert_eq!(line["chunks_embedded"], 1);
    assert!(line["ingest_lag_ms"].as_f64().unwrap() > 0.0, "{line}");
    let unit = json!({ "Name": "ingest_lag_ms", "Unit": "Milliseconds" });
    let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
        .as_array()
        .unwrap();
    assert!(metrics.contains(&unit), "{line}");
}

#[tokio::test]
async fn settings_that_would_delete_most_of_the_book_are_refused() {
    let queued = Queued::start("lambda_ingest_mass_deletion", &[]).await;
    let world = &queued.world;
    put_pages(world, 14).await;
    queued.command(json!({ "command": "reconcile" })).await;
    queued.drain(&world.lambda).await;
    world
        .put("bookrag.toml", "exclude = ['page-*.mdx']\n")
        .await;
    world.put("docs/other.md", "# Other\n").await;
    let stopped = world.notify(Change::Created, "bookrag.toml").await;
    assert_eq!(stopped.error().error_type, "Sync");
    let logs = world.lambda.function.logs();
    assert!(logs.contains("\"mass_deletions_stopped\":1"), "{logs}");
    assert_eq!(world.sources().await.len(), 14);
    let allowed = json!({ "command": "reconcile", "allow_mass_deletion": true });
    assert_eq!(queued.command(allowed).await["enqueued"], 15);
    queued.drain(&world.lambda).await;
    assert_eq!(world.sources().await, ["docs/other.md"]);
}
