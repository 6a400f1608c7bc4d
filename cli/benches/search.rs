//! Measures the cost of a search in the process: `cargo bench -p bookrag-cli --bench search -- SITE QUESTIONS.jsonl`.
//!
//! Indexes the site under `BOOKRAG_DATA`, then sends the questions from 1, 10 and 50 callers at once, with and without the reranker. Prints
//! milliseconds and CPU milliseconds per search, and the resident memory.

#![expect(clippy::unwrap_used, reason = "a failed step ends the benchmark")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bookrag::config::{Config, Environment};
use bookrag::index::Filters;
use bookrag::ingest::{OpenMode, SyncOptions, sync};
use bookrag::rerank::Reranker;
use bookrag::retrieve::Query;
use bookrag_cli::evaluation::Question;
use bookrag_cli::local::{BookFolder, LocalBook};
use bookrag_cli::site::Site;

const CALLERS: [usize; 3] = [1, 10, 50];
/// Searches per setting.
const SEARCHES: usize = 300;
const TOP_K: usize = 5;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let [site, questions] = arguments.as_slice() else {
        println!("usage: cargo bench -p bookrag-cli --bench search -- SITE QUESTIONS.jsonl");
        return;
    };
    let config = Config::from_env(Environment::Local).unwrap();
    let site = Site::read(Path::new(site)).unwrap();
    let say = |line: &str| println!("{line}");
    let folder = BookFolder::create(&config, &site, say).unwrap();
    let book = LocalBook::open(&config, &folder, say).await.unwrap();
    let ingest = book
        .ingest(&config, &site, OpenMode::TakeOver)
        .await
        .unwrap();
    sync(&ingest, SyncOptions::default(), |_| ()).await.unwrap();
    let index = book.context.live_index().await.unwrap();
    let with = book.context.retriever_of(&index).unwrap();
    let mut without = with.clone();
    without.backends.reranker = Reranker::None;
    let name = site.name();
    let questions: Vec<String> = Question::parse_all(&std::fs::read_to_string(questions).unwrap())
        .unwrap()
        .into_iter()
        .filter(|question| {
            question
                .corpus
                .as_ref()
                .is_none_or(|corpus| *corpus == name)
        })
        .map(|question| question.query)
        .collect();
    let questions = Arc::new(questions);
    println!("{} questions, {SEARCHES} searches each", questions.len());
    for (label, retriever) in [("with the reranker", with), ("without", without)] {
        for callers in CALLERS {
            let next = Arc::new(AtomicUsize::new(0));
            let (started, cpu) = (Instant::now(), cpu_milliseconds());
            let calls = (0..callers).map(|_| {
                let (next, questions) = (Arc::clone(&next), Arc::clone(&questions));
                let retriever = retriever.clone();
                tokio::spawn(async move {
                    let mut took = Vec::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= SEARCHES {
                            return took;
                        }
                        let question = &questions[number % questions.len()];
                        let started = Instant::now();
                        let filters = Filters::default();
                        let found = retriever
                            .retrieve(Query::new(question), &filters, TOP_K)
                            .await;
                        assert!(!found.unwrap().candidates.is_empty());
                        took.push(started.elapsed().as_secs_f64() * 1_000.0);
                    }
                })
            });
            let mut took = Vec::new();
            for call in calls.collect::<Vec<_>>() {
                took.extend(call.await.unwrap());
            }
            let seconds = started.elapsed().as_secs_f64();
            took.sort_by(f64::total_cmp);
            println!(
                "{label}, {callers:2} callers: p50 {:6.1} ms, p95 {:6.1} ms, {:5.1} searches/s, CPU {:5.1} ms each, RSS {} MiB",
                took[SEARCHES / 2],
                took[SEARCHES * 95 / 100],
                f64::from(u32::try_from(SEARCHES).unwrap()) / seconds,
                (cpu_milliseconds() - cpu) / f64::from(u32::try_from(SEARCHES).unwrap()),
                resident_mebibytes(),
            );
        }
    }
}

/// User and system time of this process (`/proc/self/stat`, in ticks of 10 ms).
fn cpu_milliseconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    10.0 * (ticks(11) + ticks(12))
}

fn resident_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        / 1_024
}
