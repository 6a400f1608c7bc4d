use bookrag::catalog::{ChunkRow, StoredDocument};
use bookrag_tests::{
    backends::Backends,
    events::{
        Change, Sender, event_bridge, message_id, s3_notification, s3_test_event, sqs_batch_of_text,
    },
    moto::Moto,
    runtime_api::{Invocation, Outcome},
};
use serde_json::{Value, json};

use super::Lambda;

const BUCKET: &str = "books";

/// The ingest function over a bucket with a book under `site/`.
struct World {
    lambda: Lambda,
    moto: Moto,
    backends: Backends,
}

impl World {
    async fn start(database: &str) -> Self {
        Self::start_with(database, &[]).await
    }

    /// As [`World::start`], with variables that win over the usual ones.
    async fn start_with(database: &str, variables: &[(&'static str, &str)]) -> Self {
        let (backends, moto) = tokio::join!(Backends::start(database), Moto::start());
        moto.create_bucket(BUCKET).await;
        let mut environment = backends.environment();
        environment.extend(moto.environment());
        environment.push(("BOOKRAG_SOURCE", format!("s3://{BUCKET}/site/")));
        environment.extend(
            variables
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned())),
        );
        Self {
            lambda: Lambda::start("ingest", &environment).await,
            moto,
            backends,
        }
    }

    async fn put(&self, path: &str, content: &str) {
        self.moto
            .put(BUCKET, &format!("site/{path}"), content)
            .await;
    }

    async fn delete(&self, path: &str) {
        self.moto.delete(BUCKET, &format!("site/{path}")).await;
    }

    /// Tells the function of a change, as S3 does without a queue.
    async fn notify(&self, change: Change, path: &str) -> Invocation {
        let key = format!("site/{path}");
        let event = s3_notification(Sender::S3, change, BUCKET, &[&key]);
        self.lambda.invoke(event).await
    }

    /// As [`World::notify`], and the function succeeds.
    async fn converge(&self, change: Change, path: &str) {
        let answer = self.notify(change, path).await.payload();
        assert_eq!(answer, json!({ "files": 1 }), "{path}");
    }

    async fn documents(&self) -> Vec<StoredDocument> {
        let catalog = &self.backends.catalog;
        match catalog.live_index().await.unwrap() {
            None => Vec::new(),
            Some(index) => catalog.documents(index.index_id).await.unwrap(),
        }
    }

    async fn sources(&self) -> Vec<String> {
        let documents = self.documents().await.into_iter();
        documents.map(|document| document.row.source).collect()
    }

    /// The text of a document, and none when it is not in the book.
    async fn text(&self, path: &str) -> String {
        let documents = self.documents().await;
        let Some(document) = documents
            .iter()
            .find(|document| document.row.source == path)
        else {
            return String::new();
        };
        let catalog = &self.backends.catalog;
        let index = catalog.live_index().await.unwrap().unwrap();
        let chunks: Vec<ChunkRow> = catalog
            .chunks(index.index_id, document.row.document_id)
            .await
            .unwrap();
        chunks.into_iter().map(|chunk| chunk.text).collect()
    }
}

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
async fn events_without_a_queue_converge_their_object() {
    let world = World::start("lambda_ingest_events").await;
    world.put("docs/a.md", "# A\n\nApples.\n").await;
    world.put("docs/b.md", "# B\n\nBeets.\n").await;
    world.converge(Change::Created, "docs/a.md").await;
    let event = event_bridge(Change::Created, BUCKET, "site/docs/b.md");
    assert_eq!(
        world.lambda.invoke(event).await.payload(),
        json!({ "files": 1 })
    );
    assert_eq!(world.sources().await, ["docs/a.md", "docs/b.md"]);

    // The event is only a hint to look: what it says happened does not matter.
    world.put("docs/a.md", "# A\n\nApricots.\n").await;
    world.converge(Change::Removed, "docs/a.md").await;
    assert!(world.text("docs/a.md").await.contains("Apricots"));
    world.delete("docs/a.md").await;
    world.converge(Change::Created, "docs/a.md").await;
    assert_eq!(world.sources().await, ["docs/b.md"]);
    world.delete("docs/b.md").await;
    let event = event_bridge(Change::Marked, BUCKET, "site/docs/b.md");
    assert_eq!(
        world.lambda.invoke(event).await.payload(),
        json!({ "files": 1 })
    );
    assert_eq!(world.sources().await, Vec::<String>::new());
    let status = world
        .lambda
        .invoke(json!({ "command": "status" }))
        .await
        .payload();
    assert_eq!(
        (&status["documents"], &status["chunks"]),
        (&json!(0), &json!(0))
    );
}

#[tokio::test]
async fn other_files_converge_the_pages_they_concern() {
    let world = World::start("lambda_ingest_inputs").await;
    let page = "import Part from './_part.mdx';\n\n# Lesson\n\nText.\n\n<Part />\n";
    let translation = "i18n/ur/docusaurus-plugin-content-docs/current/lesson.mdx";
    world
        .put("bookrag.toml", "base_url = '/'\nlocales = ['en', 'ur']\n")
        .await;
    world.put("docs/lesson.mdx", page).await;
    world.put("docs/_part.mdx", "Wear gloves.\n").await;
    world.put("docs/other.md", "# Other\n\nText.\n").await;
    world.put(translation, "# Sabaq\n\nMatn.\n").await;
    let report = world
        .lambda
        .invoke(json!({ "command": "reconcile" }))
        .await
        .payload();
    assert_eq!(report["files_changed"], 3, "{report}");
    assert!(world.text("docs/lesson.mdx").await.contains("gloves"));

    world.put("docs/_part.mdx", "Wear goggles.\n").await;
    world.converge(Change::Created, "docs/_part.mdx").await;
    let text = world.text("docs/lesson.mdx").await;
    assert!(
        text.contains("goggles") && !text.contains("gloves"),
        "{text}"
    );

    // Docusaurus makes no page of a translation whose original is gone.
    world.delete("docs/lesson.mdx").await;
    world.converge(Change::Removed, "docs/lesson.mdx").await;
    assert_eq!(world.sources().await, ["docs/other.md"]);
    world.put("docs/lesson.mdx", page).await;
    world.converge(Change::Created, "docs/lesson.mdx").await;
    assert_eq!(
        world.sources().await,
        ["docs/lesson.mdx", "docs/other.md", translation]
    );

    world
        .put(
            "bookrag.toml",
            "base_url = '/book/'\nexclude = ['other.md', '_*.mdx']\n",
        )
        .await;
    world.converge(Change::Created, "bookrag.toml").await;
    assert_eq!(world.sources().await, ["docs/lesson.mdx"]);
    let url = world.documents().await[0].row.url.clone();
    assert_eq!(url, "/book/docs/lesson");
    let index = world.backends.catalog.live_index().await.unwrap().unwrap();
    assert_eq!(index.site.base_url, "/book/");
    assert!(world.lambda.function.logs().contains("bookrag.toml"));
}

#[tokio::test]
async fn commands_reconcile_the_book_and_count_it() {
    let world = World::start("lambda_ingest_commands").await;
    let command = |name: &str| world.lambda.invoke(json!({ "command": name }));
    assert_eq!(command("status").await.payload(), json!({ "index": null }));
    let nothing = command("reconcile").await;
    assert!(
        nothing.error().message.starts_with("no page found"),
        "{nothing:?}"
    );

    world.put("docs/a.md", "# A\n\nApples.\n").await;
    world
        .put("docs/bad.md", "---\ntitle: [\n---\nText.\n")
        .await;
    let report = command("reconcile").await.payload();
    assert_eq!(report["status"], "success", "{report}");
    assert_eq!(
        (&report["files_seen"], &report["total_chunks"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["skipped"][0]["source"], "docs/bad.md", "{report}");
    let status = command("status").await.payload();
    assert_eq!(
        (&status["chunks"], &status["pending_points"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(status["index"]["spec"]["dimensions"], 64, "{status}");

    let unknown = command("delete").await;
    assert_eq!(unknown.error().error_type, "Event");
    assert!(unknown.error().message.contains("reconcile"), "{unknown:?}");
    let unknown = world.lambda.invoke(json!({ "source": "aws.events" })).await;
    assert_eq!(unknown.error().error_type, "Event");
}

#[tokio::test]
async fn ingest_does_not_start_without_a_source() {
    let backends = Backends::start("lambda_ingest_start").await;
    let lambda = Lambda::start("ingest", &backends.environment()).await;
    let end = lambda.function.end().await;
    assert!(
        matches!(end, Outcome::Exited(_) | Outcome::Failed(_)),
        "{end:?}"
    );
    let logs = lambda.function.logs();
    assert!(logs.contains("BOOKRAG_SOURCE is not set"), "{logs}");
}
