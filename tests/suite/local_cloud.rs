//! The whole product on one machine: the AWS CLI uploads a book as a docs repository does, S3 notifies the queue, the queue feeds
//! `ingest`, and readers call `query` and `search` over HTTP. moto provides S3 and SQS, cargo-lambda runs the functions.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bookrag::metrics::Metric;
use bookrag_tests::{
    backends::Backends,
    emulator::{Emulator, beside_python},
    events::sqs_batch_of_received,
    moto::{DeadLetters, Moto, no_proxy_client},
};
use futures::StreamExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{process::Command, task::JoinHandle};

use crate::docs_workflow::{copy_script, program_folders, script_of_step};

const BUCKET: &str = "books";
const PREFIX: &str = "book";
/// The folder of the models, if `BOOKRAG_TEST_FUNCTIONS` names packages with local models.
const LOCAL_MODELS: &str = "BOOKRAG_TEST_LOCAL_MODELS";
/// Additional settings of a hosted embedder.
const EMBEDDING: [&str; 2] = ["BOOKRAG_EMBEDDING_MODEL", "BOOKRAG_EMBEDDING_DIMENSIONS"];
/// Receives of a message before it is moved to the dead letters, as in `template.yaml`.
const MAX_RECEIVE_COUNT: u32 = 5;
/// The event source's pause after an empty receive.
const POLL: Duration = Duration::from_millis(50);

/// The deployed product.
struct Cloud {
    moto: Arc<Moto>,
    emulator: Arc<Emulator>,
    backends: Backends,
    queue: String,
    dead_letters: String,
    poller: JoinHandle<()>,
    site: TempDir,
}

impl Drop for Cloud {
    fn drop(&mut self) {
        self.poller.abort();
    }
}

impl Cloud {
    async fn deploy(database: &str) -> Self {
        let moto = Arc::new(Moto::start().await);
        let backends = Backends::start(database).await;
        moto.create_bucket(BUCKET).await;
        let dead_letters = moto
            .create_queue("dead-letters", Duration::ZERO, None)
            .await;
        let redrive = DeadLetters {
            queue_url: &dead_letters,
            max_receive_count: MAX_RECEIVE_COUNT,
        };
        let queue = moto
            .create_queue("ingest", Duration::ZERO, Some(redrive))
            .await;
        moto.notify(BUCKET, &queue).await;

        let mut environment = backends.environment();
        if let Ok(models) = std::env::var(LOCAL_MODELS) {
            environment.push(("BOOKRAG_EMBEDDER", "bge-small".to_owned()));
            environment.push(("BOOKRAG_MODELS", models));
            environment.retain(|(name, _)| !EMBEDDING.contains(name));
        }
        environment.push(("BOOKRAG_METRICS", "all".to_owned()));
        environment.push(("AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH", "true".to_owned()));
        let mut emulator = Emulator::start().await;
        for function in ["query", "search", "health"] {
            emulator.add(function, &environment).await;
        }
        environment.push(("DATABASE_URL", backends.database_url().to_owned()));
        environment.extend(moto.environment());
        environment.push(("BOOKRAG_SOURCE", format!("s3://{BUCKET}/{PREFIX}")));
        environment.push(("BOOKRAG_QUEUE_URL", queue.clone()));
        emulator.add("ingest", &environment).await;
        let emulator = Arc::new(emulator);
        Self {
            poller: tokio::spawn(poll(
                Arc::clone(&moto),
                Arc::clone(&emulator),
                queue.clone(),
            )),
            moto,
            emulator,
            backends,
            queue,
            dead_letters,
            site: tempfile::tempdir().unwrap(),
        }
    }

    /// Returns a command for which all of AWS is on this machine, such as the AWS CLI.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", program_folders())
            .env("HOME", self.site.path())
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_DEFAULT_REGION", "us-east-1")
            .env("AWS_ENDPOINT_URL_S3", &self.moto.environment()[0].1)
            .env("AWS_ENDPOINT_URL_LAMBDA", self.emulator.url())
            .kill_on_drop(true);
        command
    }

    fn path(&self, path: &str) -> PathBuf {
        self.site.path().join(path)
    }

    fn edit(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(path)).unwrap();
        assert!(text.contains(from), "{path} has no {from}");
        fs::write(self.path(path), text.replace(from, to)).unwrap();
    }

    /// Uploads the site with the steps of the workflow that docs repositories copy.
    async fn upload(&self) {
        copy_script(self.site.path());
        let script = script_of_step("Upload the book");
        let uploaded = self
            .command(Path::new("bash"))
            // The command with which GitHub runs a bash step.
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script])
            .current_dir(self.site.path())
            .env("SITE", ".")
            .env("BOOKRAG_SOURCE", format!("s3://{BUCKET}/{PREFIX}"))
            .env("ALLOW_MASS_DELETION", "false")
            .output();
        let uploaded = uploaded.await.unwrap();
        assert!(uploaded.status.success(), "{uploaded:?}");
    }

    /// Waits like that workflow. Returns whether its build passes, and its output.
    async fn wait(&self) -> (bool, String) {
        let script = infra_path("wait_until_ingested.py");
        let waited = self
            .command(&beside_python("python"))
            .arg(script)
            .args([
                "ingest",
                "--folder",
                ".",
                "--timeout",
                "120",
                "--interval",
                "0.2",
            ])
            .output();
        let waited = waited.await.unwrap();
        let text = String::from_utf8_lossy(&waited.stdout).into_owned();
        let errors = String::from_utf8_lossy(&waited.stderr);
        (waited.status.success(), text + &errors)
    }

    async fn status(&self) -> Value {
        let command = json!({ "command": "status" });
        self.emulator.invoke("ingest", &command).await
    }

    /// Asks a question over HTTP. Returns the number of streamed pieces, and the last event.
    async fn ask(&self, question: &str) -> (usize, Value) {
        let url = format!("{}/api/v1/chat", self.emulator.function_url("query"));
        let request = no_proxy_client()
            .post(url)
            .header("accept", "text/event-stream")
            .json(&json!({ "query": question }));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert!(kind.starts_with("text/event-stream"), "{kind}");
        let pieces: Vec<_> = response.bytes_stream().collect().await;
        let count = pieces.len();
        let bytes: Vec<u8> = pieces.into_iter().flat_map(Result::unwrap).collect();
        let text = String::from_utf8(bytes).unwrap();
        let (_, done) = text
            .split_once("event: done")
            .unwrap_or_else(|| panic!("{text}"));
        let data = done.lines().find_map(|line| line.strip_prefix("data: "));
        (count, serde_json::from_str(data.unwrap()).unwrap())
    }
}

/// Polls an event source: sends batches to the function, and deletes the messages that did not fail.
async fn poll(moto: Arc<Moto>, emulator: Arc<Emulator>, queue: String) {
    loop {
        let messages = moto.receive(&queue, 10).await;
        if messages.is_empty() {
            tokio::time::sleep(POLL).await;
            continue;
        }
        let answer = emulator
            .invoke("ingest", &sqs_batch_of_received(&messages))
            .await;
        let failures = answer["batchItemFailures"].as_array();
        let failures = failures.unwrap_or_else(|| panic!("{answer}"));
        for message in messages {
            let failed = |failure: &Value| failure["itemIdentifier"] == message.message_id;
            if !failures.iter().any(failed) {
                moto.acknowledge(&queue, &message.receipt_handle).await;
            }
        }
    }
}

fn infra_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../infra")
        .join(name)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn cites(done: &Value, url: &str) -> bool {
    let citations = done["citations"].as_array().unwrap();
    citations
        .iter()
        .any(|citation| citation["url"].as_str().unwrap().contains(url))
}

#[tokio::test]
async fn answers_come_only_from_the_pushed_book() {
    let cloud = Cloud::deploy("local_cloud").await;
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    copy(&fixtures.join("book"), cloud.site.path());
    copy(&fixtures.join("broken-pages"), cloud.site.path());

    is_prepared(&cloud).await;

    // An unreadable page fails the build of the docs repository and is named; the rest of the book is indexed.
    cloud.upload().await;
    let (passes, printed) = cloud.wait().await;
    assert!(!passes, "{printed}");
    assert!(
        printed.contains("::error file=docs/appendix/broken-front-matter.md"),
        "{printed}"
    );
    fs::remove_file(cloud.path("docs/appendix/broken-front-matter.md")).unwrap();
    fs::write(
        cloud.path("docs/weeding-gear.md"),
        "# Weeding gear\n\n## The brass hoe\n\nThe brass hoe is stored behind the water butt.\n",
    )
    .unwrap();
    cloud.upload().await;
    let (passes, printed) = cloud.wait().await;
    assert!(passes, "{printed}");

    // The new page is the source of a streamed answer and is cited at its heading.
    let question = "where is the brass hoe stored?";
    let (pieces, done) = cloud.ask(question).await;
    assert!(pieces > 1, "the answer came in one piece");
    assert_eq!(done["answered"], true, "{done}");
    assert!(cites(&done, "/docs/weeding-gear#the-brass-hoe"), "{done}");

    // An edited page is answered with its new text.
    cloud.edit(
        "docs/weeding-gear.md",
        "behind the water butt",
        "under the potting bench",
    );
    cloud.upload().await;
    assert!(cloud.wait().await.0);
    let (_, done) = cloud.ask(question).await;
    let quote = done["citations"][0]["quote"].to_string();
    assert!(quote.contains("under the potting bench"), "{done}");

    takes_what_comes_again_and_what_nobody_can_read(&cloud).await;

    // A deleted page is no longer found.
    fs::remove_file(cloud.path("docs/weeding-gear.md")).unwrap();
    cloud.upload().await;
    assert!(cloud.wait().await.0);
    let (_, done) = cloud.ask(question).await;
    assert!(!cites(&done, "weeding-gear"), "{done}");
    let search = format!(
        "{}/api/v1/search?q=brass+hoe",
        cloud.emulator.function_url("search")
    );
    let found = no_proxy_client().get(search).send().await.unwrap();
    let found: Value = found.json().await.unwrap();
    assert!(!found["data"].to_string().contains("brass hoe"), "{found}");
    let health = format!(
        "{}/api/v1/health?deep=true",
        cloud.emulator.function_url("health")
    );
    let health = no_proxy_client().get(health).send().await.unwrap();
    let health: Value = health.json().await.unwrap();
    assert_eq!(health["data"]["status"], "healthy", "{health}");
    let check = json!({ "command": "check" });
    cloud.emulator.invoke("health", &check).await;

    index_is_the_book(&cloud).await;
    everything_is_measured(&cloud);
}

/// Checks the stack's own resource, which creates the tables first.
async fn is_prepared(cloud: &Cloud) {
    let answer_url = format!("{}/{BUCKET}/answer", cloud.moto.environment()[0].1);
    let resource = json!({
        "RequestType": "Create",
        "ResponseURL": answer_url,
        "StackId": "stack", "RequestId": "request", "LogicalResourceId": "Prepared",
        "ResourceProperties": { "Version": "1" },
    });
    let prepared = cloud.emulator.invoke("ingest", &resource).await;
    assert_eq!(prepared["Status"], "SUCCESS", "{prepared}");
    let told = cloud
        .moto
        .client()
        .get_object()
        .bucket(BUCKET)
        .key("answer");
    let told = told.send().await.unwrap().body.collect().await.unwrap();
    let told: Value = serde_json::from_slice(&told.into_bytes()).unwrap();
    assert_eq!(told, prepared);
}

/// A redelivered message changes nothing. An invalid one is moved to the dead letters without blocking others.
async fn takes_what_comes_again_and_what_nobody_can_read(cloud: &Cloud) {
    let before = cloud.status().await;
    let key = format!("{PREFIX}/docs/weeding-gear.md");
    let again = json!({ "Records": [{ "eventSource": "aws:s3", "eventName": "ObjectCreated:Put",
        "s3": { "bucket": { "name": BUCKET }, "object": { "key": key } } }] });
    for _ in 0..3 {
        cloud.moto.send(&cloud.queue, &again.to_string()).await;
    }
    cloud.moto.send(&cloud.queue, "no event at all").await;
    fs::write(cloud.path("docs/latin.md"), b"# Caf\xe9\n").unwrap();
    cloud.upload().await;
    let (passes, printed) = cloud.wait().await;
    assert!(
        !passes && printed.contains("file=docs/latin.md,line=1"),
        "{printed}"
    );
    fs::remove_file(cloud.path("docs/latin.md")).unwrap();
    cloud.upload().await;
    assert!(cloud.wait().await.0);
    let poisoned = async {
        while cloud.moto.queue_depth(&cloud.dead_letters).await != (1, 0)
            || cloud.moto.queue_depth(&cloud.queue).await != (0, 0)
        {
            tokio::time::sleep(POLL).await;
        }
    };
    let settled = tokio::time::timeout(Duration::from_mins(2), poisoned).await;
    settled.unwrap_or_else(|_| panic!("the queue did not settle"));
    let after = cloud.status().await;
    for same in ["documents", "chunks", "tokens", "collection"] {
        assert_eq!(after["index"][same], before["index"][same], "{same}");
    }
}

/// Finally, pages, chunks and points agree, and nothing is pending.
async fn index_is_the_book(cloud: &Cloud) {
    let reconciled = cloud
        .emulator
        .invoke("ingest", &json!({ "command": "reconcile" }))
        .await;
    assert_eq!(reconciled["enqueued"], 0, "{reconciled}");
    let swept = cloud
        .emulator
        .invoke("ingest", &json!({ "command": "sweep" }))
        .await;
    assert!(swept["swept"].is_number(), "{swept}");
    let status = cloud.status().await;
    assert_eq!(status["pending"], json!([]), "{status}");
    assert_eq!(status["skipped"], json!([]), "{status}");
    let drafts = status["drafts"].as_array().unwrap().len() as u64;
    let documents = status["index"]["documents"].as_u64().unwrap();
    assert_eq!(
        Some(documents + drafts),
        status["pages"].as_u64(),
        "{status}"
    );
    let index = cloud.backends.catalog.live_index().await.unwrap().unwrap();
    let points = cloud
        .backends
        .index
        .point_ids(&index.collection)
        .await
        .unwrap();
    let chunks = status["index"]["chunks"].as_u64().unwrap();
    let pending = status["index"]["pending_points"].as_u64().unwrap();
    assert_eq!(points.len() as u64, chunks + pending, "{status}");
}

/// Each metric that this test should emit was emitted, with its documented unit.
fn everything_is_measured(cloud: &Cloud) {
    let mut emitted = BTreeSet::new();
    for function in ["query", "search", "health", "ingest"] {
        let output = cloud.emulator.output(function);
        for line in output.lines().filter(|line| line.contains("\"_aws\"")) {
            let line: Value = serde_json::from_str(line).unwrap();
            let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array();
            for metric in metrics.unwrap() {
                emitted.insert((function, metric["Name"].as_str().unwrap().to_owned()));
            }
        }
    }
    // Metrics of faults that do not occur in this test.
    let troubles = [
        Metric::DocumentsFailed,
        Metric::MessagesHandedBack,
        Metric::MassDeletionsStopped,
        Metric::DocumentsEnqueued,
    ];
    for metric in Metric::ALL {
        for function in metric.functions() {
            let is_emitted = emitted.contains(&(*function, metric.name().to_owned()));
            assert!(
                is_emitted || troubles.contains(metric),
                "{function}: {}",
                metric.name()
            );
        }
    }
}
