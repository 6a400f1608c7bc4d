//! Measures the store of a laptop as the book grows: `cargo bench -p bookrag-tests --bench local -- [CHUNKS]`, by default with 100,000 made chunks.
//!
//! Each step is a process of its own, for its memory. `ingest` reads a site of made pages and stores it with the fake embedder, whose vectors have 64
//! dimensions. `fill` stores made vectors of 384 dimensions and 100 tokens, as bge-small makes them. `ask` opens that store and searches it.

#![expect(clippy::unwrap_used, reason = "a failed step ends the benchmark")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod made;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use bookrag::catalog::{Catalog, SqliteCatalog};
use bookrag::chunk::ChunkPolicy;
use bookrag::embed::{
    Embedder, Embedding, FakeEmbedder, TOKEN_DIMENSIONS, TokenVector, TokenVectors, WeightedToken,
};
use bookrag::index::{Filters, LocalIndex, NewPoint, VectorIndex, VectorQuery};
use bookrag::ingest::{Ingest, OpenMode, OpenOptions, Ports, SyncOptions, sync};
use bookrag::retrieve::Language;
use bookrag::source::{FolderSource, Source};
use made::{CHUNKS_OF_A_PAGE, QUESTION, new_chunk, new_index, page};

const CHUNKS: u64 = 100_000;
const DIMENSIONS: u64 = 384;
const TOKENS: u64 = 100;
const QUESTIONS: u64 = 51;
/// Points fetched from each ranker, as for a question.
const FETCHED: usize = 40;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["ingest", folder, chunks] => ingest(Path::new(folder), chunks.parse().unwrap()).await,
        ["fill", folder, chunks] => fill(Path::new(folder), chunks.parse().unwrap()).await,
        ["ask", folder, _] => ask(Path::new(folder)).await,
        _ => {
            let chunks = arguments.iter().find_map(|argument| argument.parse().ok());
            let chunks = chunks.unwrap_or(CHUNKS).to_string();
            let (site, filled) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            for (step, folder) in [("ingest", &site), ("fill", &filled), ("ask", &filled)] {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.arg(step).arg(folder.path()).arg(&chunks);
                assert!(command.status().unwrap().success(), "{step}");
            }
        }
    }
}

async fn open(folder: &Path) -> (Catalog, VectorIndex) {
    let sqlite = SqliteCatalog::open(&folder.join("book.sqlite"))
        .await
        .unwrap();
    let index = VectorIndex::Local(LocalIndex::from_catalog(&sqlite));
    let catalog = Catalog::Sqlite(sqlite);
    catalog.migrate().await.unwrap();
    (catalog, index)
}

async fn ingest(folder: &Path, chunks: u64) {
    let docs = folder.join("site/docs");
    fs::create_dir_all(&docs).unwrap();
    for page in 0..chunks / CHUNKS_OF_A_PAGE {
        let sections = (0..CHUNKS_OF_A_PAGE).map(|number| {
            let text = new_chunk(page, 0, number).row.text;
            format!("\n## Part {number}\n\n{text}.\n")
        });
        let text: String = sections.collect();
        fs::write(
            docs.join(format!("page-{page}.md")),
            format!("# Page {page}\n{text}"),
        )
        .unwrap();
    }
    let started = Instant::now();
    let (catalog, index) = open(folder).await;
    let ports = Ports {
        source: Source::Folder(FolderSource::open(&folder.join("site")).unwrap()),
        embedder: Embedder::Fake(FakeEmbedder::new()),
        index,
        catalog,
    };
    let options = OpenOptions {
        site: "made".to_owned(),
        title: "made".to_owned(),
        policy: ChunkPolicy::ADAPTIVE,
        collection: "made".to_owned(),
        mode: OpenMode::Write,
        retention: None,
    };
    for what in ["ingest", "ingest, unchanged"] {
        let started = match what {
            "ingest" => started,
            _ => Instant::now(),
        };
        let ingest = Ingest::open(ports.clone(), options.clone()).await.unwrap();
        let report = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
        print(report.total_chunks, what, started.elapsed());
    }
    println!("peak memory of ingest: {} MiB", memory("VmHWM:"));
}

async fn fill(folder: &Path, chunks: u64) {
    let (catalog, index) = open(folder).await;
    let row = catalog.ensure_index(&new_index()).await.unwrap();
    let dimensions = usize::try_from(DIMENSIONS).unwrap();
    let collection = &row.collection;
    index
        .ensure_collection(collection, dimensions)
        .await
        .unwrap();
    for number in 0..chunks / CHUNKS_OF_A_PAGE {
        let page = page(row.index_id, number, 0);
        let points = page.chunks.iter().flatten().zip(0..).map(|(chunk, at)| {
            let seed = number * CHUNKS_OF_A_PAGE + at;
            NewPoint {
                point_id: chunk.row.point_id,
                payload: chunk.payload.clone(),
                embedding: Embedding {
                    vector: vector(seed),
                    tokens: TokenVectors::new((0..TOKENS).map(|token| self::token(seed + token))),
                    questions: Vec::new(),
                },
            }
        });
        let document_id = page.document.document_id;
        let intents = catalog.add_intents(row.index_id, document_id, &page.intents);
        intents.await.unwrap();
        index.upsert(collection, points.collect()).await.unwrap();
        catalog.commit(&page).await.unwrap();
    }
    let file = fs::metadata(folder.join("book.sqlite")).unwrap();
    println!("{chunks} chunks in a file of {} MiB", file.len() >> 20);
}

async fn ask(folder: &Path) {
    let started = Instant::now();
    let (catalog, index) = open(folder).await;
    let row = catalog.live_index().await.unwrap().unwrap();
    let stats = catalog.stats(row.index_id).await.unwrap();
    print(stats.chunks, "opening the store", started.elapsed());
    let terms: Vec<String> = QUESTION.map(str::to_owned).to_vec();
    let words: BTreeSet<String> = terms.iter().cloned().collect();
    let mut times = Vec::new();
    for number in 0..=QUESTIONS {
        let started = Instant::now();
        let counted = catalog.document_frequencies(row.index_id, &words, Language::ENGLISH);
        counted.await.unwrap();
        let tokens = (0..10).map(|token| WeightedToken {
            vector: self::token(number + token),
            weight: 1.0,
        });
        let query = VectorQuery {
            terms: &terms,
            vector: &vector(number * 7_919),
            tokens: &tokens.collect::<Vec<_>>(),
            with_questions: false,
            filters: &Filters::default(),
            limit: FETCHED,
        };
        let points = index.search(&row.collection, &query).await.unwrap();
        let points: Vec<_> = points.iter().map(|point| point.point_id).collect();
        assert!(points.len() >= FETCHED);
        catalog.join(row.index_id, &points).await.unwrap();
        times.push(started.elapsed());
    }
    print(stats.chunks, "the first search", times.remove(0));
    times.sort_unstable();
    print(stats.chunks, "a search, p50", times[times.len() / 2]);
    print(stats.chunks, "a search, p95", times[times.len() * 95 / 100]);
    println!("memory after the searches: {} MiB", memory("VmRSS:"));
}

fn print(chunks: u64, what: &str, time: Duration) {
    println!("{chunks}\t{what}\t{:.1} ms", time.as_secs_f64() * 1e3);
}

/// Returns a made number, from −127 to 127.
fn random(seed: u64) -> i8 {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    i8::try_from(mixed >> 32 & 0xff).unwrap_or(-1)
}

fn vector(seed: u64) -> Vec<f32> {
    let numbers = (0..DIMENSIONS).map(|at| f32::from(random(seed * DIMENSIONS + at)));
    let numbers: Vec<f32> = numbers.collect();
    let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    numbers.iter().map(|x| x / length).collect()
}

fn token(seed: u64) -> TokenVector {
    std::array::from_fn(|at| random(seed * TOKEN_DIMENSIONS as u64 + at as u64))
}

/// Returns a line of this process's memory, in MiB.
fn memory(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix(line));
    let kilobytes: Option<u64> =
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.unwrap_or(0) / 1_024
}
