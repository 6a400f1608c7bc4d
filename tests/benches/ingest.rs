//! Measures the cost of ingest without a model: `cargo bench -p bookrag-tests --bench ingest [book|growth|lag]`.
//!
//! `book`: ingests the site `BOOKRAG_BENCH_BOOK` into Postgres and Qdrant's engine, then again unchanged, with an edited paragraph, and
//! with a changed tier. `growth`: ingests 1,000 to 50,000 chunks of generated pages. `lag`: measures the time from an upload to moto until a
//! search finds it, with the ingest function; `BOOKRAG_TEST_FUNCTIONS` may name prebuilt ones.

#![expect(clippy::unwrap_used, reason = "a failed step ends the benchmark")]
#![recursion_limit = "256"]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bookrag::embed::{Embedder, FakeEmbedder};
use bookrag::index::Filters;
use bookrag::ingest::{Report, SyncOptions, sync};
use bookrag::retrieve::{Backends as Retrieval, Query, Retriever};
use bookrag_tests::backends::Backends;
use bookrag_tests::events::sqs_batch_of_received;
use bookrag_tests::functions::function_binary;
use bookrag_tests::moto::Moto;
use bookrag_tests::runtime_api::{Function, RuntimeApi};
use tokio_postgres::NoTls;

/// Chunks of the generated books.
const SIZES: [usize; 6] = [1_000, 5_000, 10_000, 20_000, 35_000, 50_000];
/// Chunks per generated page, one per section.
const SECTIONS: usize = 20;
const UPLOADS: usize = 40;
/// Batching windows of Lambda's queue.
const WINDOWS: [Duration; 2] = [Duration::ZERO, Duration::from_secs(5)];

#[tokio::main]
async fn main() {
    let modes: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wants = |mode: &str| modes.is_empty() || modes.iter().any(|wanted| wanted == mode);
    if wants("book") {
        book().await;
    }
    if wants("growth") {
        growth().await;
    }
    if wants("lag") {
        for window in WINDOWS {
            lag(window).await;
        }
    }
}

/// Syncs a book with the fake embedder, and prints the duration and the number of transactions.
async fn run(backends: &Backends, folder: &Path, what: &str) -> (Report, f64) {
    let before = transactions(backends).await;
    let started = Instant::now();
    let mut ports = backends.ports(folder);
    ports.embedder = Embedder::Fake(FakeEmbedder::new());
    let ingest = Backends::open(ports).await.unwrap();
    let report = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    let seconds = started.elapsed().as_secs_f64();
    drop(ingest);
    let transactions = transactions(backends).await - before;
    eprintln!(
        "{what:<24} {seconds:>7.2} s  {:>5} pages  {:>6} embedded  {:>6} took vectors over  {transactions:>6} transactions",
        report.files_seen, report.embedded, report.vectors_reused
    );
    (report, seconds)
}

/// Returns the number of transactions so far; a statement outside of a transaction counts as one.
async fn transactions(backends: &Backends) -> i64 {
    let (client, connection) = tokio_postgres::connect(backends.database_url(), NoTls)
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    // A connection reports its counts only after it has been idle for a while.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let query = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
    let count = client.query_one(query, &[]).await.unwrap().get(0);
    drop(client);
    connection.await.unwrap().unwrap();
    count
}

async fn book() {
    let book = std::env::var_os("BOOKRAG_BENCH_BOOK").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/book"),
        PathBuf::from,
    );
    let copied = tempfile::tempdir().unwrap();
    copy(&book, copied.path());
    let backends = Backends::start("bench_book").await;
    let (report, seconds) = run(&backends, copied.path(), "full").await;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a book has fewer than 2^52 chunks"
    )]
    let points = report.total_chunks as f64;
    eprintln!(
        "{points} points, {:.0} points/s, peak RSS {} MiB, of this process with the engine in it",
        points / seconds,
        peak_rss_mib()
    );
    run(&backends, copied.path(), "unchanged").await;
    let page = longest_page(copied.path());
    let text = fs::read_to_string(&page).unwrap();
    let paragraph = text
        .lines()
        .rfind(|line| line.len() > 80 && line.starts_with(char::is_alphabetic))
        .unwrap_or_else(|| panic!("{} has no paragraph", page.display()));
    let edited = text.replacen(paragraph, &format!("{paragraph} And one sentence more."), 1);
    fs::write(&page, &edited).unwrap();
    run(&backends, copied.path(), "one paragraph edited").await;
    let body = edited.strip_prefix("---\n").unwrap_or(&edited);
    let tier = if body.len() < edited.len() {
        format!("---\nhardware_tier: 3\n{body}")
    } else {
        format!("---\nhardware_tier: 3\n---\n{body}")
    };
    fs::write(&page, tier).unwrap();
    run(&backends, copied.path(), "tier changed").await;
}

async fn growth() {
    eprintln!("chunks  seconds  points/s  peak RSS MiB");
    for size in SIZES {
        let folder = tempfile::tempdir().unwrap();
        let docs = folder.path().join("docs");
        fs::create_dir(&docs).unwrap();
        for page in 0..size / SECTIONS {
            fs::write(docs.join(format!("page-{page}.md")), made_page(page)).unwrap();
        }
        let backends = Backends::start(&format!("bench_growth_{size}")).await;
        let mut ports = backends.ports(folder.path());
        ports.embedder = Embedder::Fake(FakeEmbedder::new());
        let started = Instant::now();
        let ingest = Backends::open(ports).await.unwrap();
        let report = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
        let seconds = started.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let rate = report.total_chunks as f64 / seconds;
        eprintln!(
            "{:>6}  {seconds:>7.1}  {rate:>8.0}  {:>12}",
            report.total_chunks,
            peak_rss_mib()
        );
        // Keeps the engine's folder, since the engine may still be writing to it.
        std::mem::forget(backends);
    }
}

fn made_page(page: usize) -> String {
    let mut text = format!("# Page {page}\n");
    for section in 0..SECTIONS {
        let words: Vec<String> = (0..220)
            .map(|word| format!("w{}", (page * 7_919 + section * 131 + word * word) % 9_973))
            .collect();
        text.push_str(&format!("\n## Part {section}\n\n{}.\n", words.join(" ")));
    }
    text
}

async fn lag(window: Duration) {
    let name = format!("bench_lag_{}", window.as_secs());
    let backends = Backends::start(&name).await;
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    let queue = moto
        .create_queue("ingest", Duration::from_mins(1), None)
        .await;
    moto.notify("books", &queue).await;
    let mut environment = backends.environment();
    environment.extend(moto.environment());
    environment.extend([
        ("BOOKRAG_SOURCE", "s3://books/site/".to_owned()),
        ("BOOKRAG_QUEUE_URL", queue.clone()),
        ("AWS_REGION", "us-east-1".to_owned()),
    ]);
    let environment: Vec<(&str, &str)> = environment
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let api = RuntimeApi::start().await;
    let _function = Function::spawn(&function_binary("ingest").await, &api, &environment);
    let bridge = async {
        loop {
            let mut messages = moto.receive(&queue, 10).await;
            if messages.is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
            let first = Instant::now();
            while messages.len() < 10 && first.elapsed() < window {
                tokio::time::sleep(Duration::from_millis(50)).await;
                messages.extend(moto.receive(&queue, 10 - messages.len()).await);
            }
            let answer = api.invoke(sqs_batch_of_received(&messages)).await.payload();
            assert_eq!(answer["batchItemFailures"], serde_json::json!([]));
            for message in &messages {
                moto.acknowledge(&queue, &message.receipt_handle).await;
            }
        }
    };
    let uploads = async {
        let mut lags = Vec::new();
        for upload in 0..UPLOADS {
            let word = format!("zebra{upload}");
            let text = format!("# Page\n\nThe {word} sleeps.\n\n{}", made_page(upload));
            let key = format!("site/docs/page-{}.md", upload % 10);
            let started = Instant::now();
            moto.put("books", &key, text).await;
            until_found(&backends, &word).await;
            lags.push(started.elapsed().as_secs_f64());
        }
        lags.sort_by(f64::total_cmp);
        eprintln!(
            "upload to visible, batching window {} s: p50 {:.2} s, p95 {:.2} s ({UPLOADS} uploads of {} sections)",
            window.as_secs(),
            lags[UPLOADS / 2],
            lags[UPLOADS * 95 / 100],
            SECTIONS + 1
        );
    };
    tokio::select! {
        () = bridge => unreachable!("it has no end"),
        () = uploads => {}
    }
    // As above.
    std::mem::forget(backends);
}

async fn until_found(backends: &Backends, word: &str) {
    let retrieval = Retrieval {
        reranker: bookrag::rerank::Reranker::None,
        off_topic: bookrag::retrieve::OffTopicCache::default(),
        questions: bookrag::retrieve::QuestionCache::default(),
        embedder: backends.ports(Path::new(".")).embedder,
        vectors: backends.index.clone(),
        catalog: backends.catalog.clone(),
    };
    loop {
        if let Some(index) = backends.catalog.live_index().await.unwrap() {
            let retriever = Retriever {
                backends: retrieval.clone(),
                index,
            };
            let found = retriever
                .retrieve(Query::new(word), &Filters::default(), 5)
                .await;
            let candidates = found.map(|found| found.candidates).unwrap_or_default();
            if candidates
                .iter()
                .any(|candidate| candidate.chunk.text.contains(word))
            {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the peak memory of this process.
fn peak_rss_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<u64> =
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.unwrap_or(0) / 1_024
}

fn longest_page(folder: &Path) -> PathBuf {
    let mut pages = Vec::new();
    walk(&folder.join("docs"), &mut pages);
    pages.sort_by_key(|page| fs::metadata(page).map_or(0, |file| file.len()));
    pages.pop().expect("the book has a page")
}

fn walk(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, pages);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            pages.push(path);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
