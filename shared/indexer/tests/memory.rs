//! A run over a large book takes little more memory than one over a small book.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::fs;
use std::path::Path;

use book::chunk::ChunkPolicy;
use indexer::ingest::{Ingest, OpenMode, OpenOptions, Ports, Report, SyncOptions, sync};
use indexer::source::{FolderSource, Source};
use models::embed::{Embedder, FakeEmbedder};
use store::catalog::{Catalog, SqliteCatalog};
use store::index::{LocalIndex, VectorIndex};

const FEW: usize = 1_000;
const MANY: usize = 6_000;
/// What a page may add to the peak, with the caches of SQLite and the allocator, which have a limit: 8,000 to 13,000. A page takes less than
/// 1,000 bytes in the lists of a run; a prepared read that is kept would add 20,000.
const BYTES_PER_PAGE: usize = 16_000;

/// Indexes pages, and then checks that nothing has changed.
async fn index(pages: usize) -> (Report, Report) {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("site/docs");
    fs::create_dir_all(&docs).unwrap();
    for page in 0..pages {
        let text = format!("# Page {page}\n\nTiny text about item {page}.\n");
        fs::write(docs.join(format!("{page}.md")), text).unwrap();
    }
    let ingest = open(folder.path()).await;
    let first = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    let second = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    (first, second)
}

async fn open(folder: &Path) -> Ingest {
    let catalog = SqliteCatalog::open(&folder.join("book.sqlite"))
        .await
        .unwrap();
    let ports = Ports {
        source: Source::Folder(FolderSource::open(&folder.join("site")).unwrap()),
        embedder: Embedder::Fake(FakeEmbedder::new()),
        index: VectorIndex::Local(LocalIndex::from_catalog(&catalog)),
        catalog: Catalog::Sqlite(catalog),
    };
    ports.catalog.migrate().await.unwrap();
    let options = OpenOptions {
        site: "site".to_owned(),
        title: "The book".to_owned(),
        policy: ChunkPolicy::ADAPTIVE,
        collection: "book".to_owned(),
        mode: OpenMode::Write,
        retention: None,
    };
    Ingest::open(ports, options).await.unwrap()
}

/// The most memory that the process has had, in bytes.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
    1_024 * kilobytes.parse::<usize>().unwrap()
}

#[tokio::test]
async fn the_memory_of_a_run_does_not_grow_by_a_read_for_each_page() {
    index(FEW).await;
    let few = peak();
    let (first, second) = index(MANY).await;
    assert_eq!((first.files_changed, second.files_unchanged), (MANY, MANY));
    let per_page = (peak() - few) / (MANY - FEW);
    assert!(per_page < BYTES_PER_PAGE, "{per_page} bytes");
}
