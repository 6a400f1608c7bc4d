//! Kills processes at random moments, over a real Postgres, Qdrant's engine, and moto's S3 and SQS.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bookrag::book::{list_pages, read_document};
use bookrag::chunk::chunk_document;
use bookrag::ingest::{Ingest, PendingDocument};
use bookrag::source::{FileCache, S3Source, Source};
use bookrag_tests::{backends::Backends, events::sqs_batch_of_received, moto::Moto};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::BUCKET;
use crate::lambda_functions::Lambda;

const KILLS: usize = 100;
/// Concurrent processes that are killed.
const PROCESSES: u64 = 2;
/// The longest time from a batch's arrival to the kill: about the duration of a batch.
const MAX_LIFE_MS: u64 = 250;
/// Between two looks at an empty queue.
const PAUSE: Duration = Duration::from_millis(20);
/// How soon a killed process's message is delivered again.
const VISIBILITY: Duration = Duration::from_secs(1);
const PAGES: u64 = 8;
const PARTIAL: &str = "docs/_note.mdx";
/// Makes pending points old enough to be swept.
const AGE: &str = "UPDATE pending_points SET created_at = created_at - interval '1 hour',
    claimed_at = claimed_at - interval '1 hour'";

/// A deterministic random number generator: `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

struct World {
    backends: Backends,
    /// Allows one call at a time: moto may lose a message sent while another is acknowledged.
    moto: Mutex<Moto>,
    environment: Vec<(&'static str, String)>,
    queue: String,
    kills: AtomicUsize,
}

impl World {
    async fn start() -> Self {
        let (backends, moto) = (Backends::start("lambda_killed").await, Moto::start().await);
        moto.create_bucket(BUCKET).await;
        let queue = moto.create_queue("ingest", VISIBILITY, None).await;
        moto.notify(BUCKET, &queue).await;
        let mut environment = backends.ingest_environment();
        environment.extend(moto.environment());
        environment.extend([
            ("BOOKRAG_SOURCE", format!("s3://{BUCKET}/site/")),
            ("BOOKRAG_QUEUE_URL", queue.clone()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]);
        Self {
            backends,
            moto: Mutex::new(moto),
            environment,
            queue,
            kills: AtomicUsize::new(0),
        }
    }

    /// Serves batches and kills processes, then serves the rest of the queue.
    async fn serve(&self, mut random: Random) {
        loop {
            let lambda = Lambda::start("ingest", &self.environment).await;
            loop {
                let moto = self.moto.lock().await;
                let messages = moto.receive(&self.queue, 4).await;
                let depth = moto.queue_depth(&self.queue).await;
                drop(moto);
                let quiet = self.kills.load(Ordering::Relaxed) >= KILLS;
                if messages.is_empty() {
                    if quiet && depth == (0, 0) {
                        return;
                    }
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                let served = lambda.invoke(sqs_batch_of_received(&messages));
                let life = Duration::from_millis(random.below(MAX_LIFE_MS));
                let served = if quiet {
                    served.await
                } else {
                    tokio::select! {
                        served = served => served,
                        () = tokio::time::sleep(life) => break,
                    }
                };
                let answer = served.payload();
                let failed = answer["batchItemFailures"].as_array().unwrap();
                let failed: BTreeSet<&str> = failed
                    .iter()
                    .filter_map(|failure| failure["itemIdentifier"].as_str())
                    .collect();
                for message in &messages {
                    if !failed.contains(message.message_id.as_str()) {
                        let moto = self.moto.lock().await;
                        moto.acknowledge(&self.queue, &message.receipt_handle).await;
                    }
                }
            }
            // Dropping it kills the process.
            drop(lambda);
            self.kills.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Changes pages while processes are being killed.
    async fn write(&self, mut random: Random) {
        while self.kills.load(Ordering::Relaxed) < KILLS {
            let page = format!("site/docs/page-{}.mdx", random.below(PAGES));
            {
                let moto = self.moto.lock().await;
                match random.below(8) {
                    0 => moto.delete(BUCKET, &page).await,
                    1 => {
                        let note = format!("Note {}.\n", random.below(4));
                        moto.put(BUCKET, &format!("site/{PARTIAL}"), note).await;
                    }
                    _ => moto.put(BUCKET, &page, text(&mut random)).await,
                }
            }
            tokio::time::sleep(Duration::from_millis(random.below(60))).await;
        }
    }

    async fn ingest(&self) -> Ingest {
        let client = self.moto.lock().await.client();
        let source = S3Source::new(client, &format!("s3://{BUCKET}/site/")).unwrap();
        let mut ports = self.backends.ports(std::path::Path::new("."));
        ports.source = Source::S3(source);
        Backends::open(ports).await.unwrap()
    }
}

fn text(random: &mut Random) -> String {
    let mut text = format!(
        "import Note from './_note.mdx';\n\n# Page\n\n<Note />\n\nTier {}.\n",
        random.below(3)
    );
    for section in 0..random.below(5) {
        let words = "beans ".repeat(1 + usize::try_from(random.below(40)).unwrap());
        text.push_str(&format!(
            "\n## Section {section}\n\n{words}{}\n",
            random.below(9)
        ));
    }
    text
}

/// Returns the expected texts of each page's chunks, from the files.
async fn expected(ingest: &Ingest) -> BTreeMap<String, Vec<String>> {
    let (source, settings) = (&ingest.source, &ingest.settings);
    let mut expected = BTreeMap::new();
    for page in list_pages(settings, &source.list().await.unwrap()) {
        let bytes = source.read(&page.source).await.unwrap().unwrap();
        let files = FileCache::default();
        let inputs = source
            .inputs(settings, &page, &bytes, &files)
            .await
            .unwrap();
        let document =
            read_document(settings, &ingest.options.site, &page, &bytes, &inputs).unwrap();
        let chunks = chunk_document(&document, &ingest.options.policy).into_iter();
        expected.insert(page.source, chunks.map(|chunk| chunk.text).collect());
    }
    expected
}

async fn held(ingest: &Ingest) -> BTreeMap<String, Vec<String>> {
    let index = ingest.index_row.index_id;
    let mut held = BTreeMap::new();
    for document in ingest.catalog.documents(index).await.unwrap() {
        let chunks = ingest.catalog.chunks(index, document.row.document_id);
        let chunks = chunks.await.unwrap().into_iter();
        held.insert(
            document.row.source,
            chunks.map(|chunk| chunk.text).collect(),
        );
    }
    held
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_index_equals_the_book_despite_killed_processes() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = u64::try_from(now.as_nanos() & u128::from(u64::MAX)).unwrap();
    eprintln!("seed {seed}");
    let world = Arc::new(World::start().await);
    let processes = (0..PROCESSES).map(|number| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.serve(Random(seed ^ number)).await })
    });
    let processes: Vec<_> = processes.collect();
    world.write(Random(!seed)).await;
    for process in processes {
        process.await.unwrap();
    }
    assert!(world.kills.load(Ordering::Relaxed) >= KILLS);

    let ingest = world.ingest().await;
    // No event is left, so nothing may be pending.
    let status = ingest.status("").await.unwrap();
    assert_eq!(status.pending, Vec::<PendingDocument>::new());
    assert_eq!(held(&ingest).await, expected(&ingest).await);
    let lambda = Lambda::start("ingest", &world.environment).await;
    for _ in 0..2 {
        world.backends.execute(AGE).await;
        let swept: Value = lambda.invoke(json!({ "command": "sweep" })).await.payload();
        assert!(swept["swept"].is_u64(), "{swept}");
    }
    let index = ingest.index_row.index_id;
    assert_eq!(ingest.catalog.pending_count(index).await.unwrap(), 0);
    let differences = ingest.compare().await.unwrap();
    assert_eq!(differences, bookrag::ingest::Differences::default());
}
