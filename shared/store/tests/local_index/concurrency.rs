//! Several processes read while one writes. Each `Book::open` has its own connections, like a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use store::index::Filters;

use super::book::{ALL, Book, Chunk, chunk, file, ids, vector};

const PAGE: &str = "docs/a.md";
/// The number of chunks of the page at any time.
const CHUNKS: usize = 5;
const COMMITS: usize = 60;
const READERS: usize = 4;

fn revision(number: usize) -> Vec<Chunk> {
    (0..CHUNKS)
        .map(|place| chunk(number * CHUNKS + place, "Every node."))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_elsewhere_sees_each_commit_at_once() {
    let (book, folder) = Book::create().await;
    let reader = Book::open(&file(&folder)).await;
    for number in 0..10 {
        let chunks = revision(number);
        book.publish(PAGE, &chunks).await;
        let mut found = reader.by_words("node").await;
        found.sort_unstable();
        let mut expected = ids(&chunks);
        expected.sort_unstable();
        assert_eq!(found, expected);
        let nearest = reader.nearest(&chunks[2].vector, 1).await;
        assert_eq!(nearest, [chunks[2].point_id]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_one_writes_every_search_finds_one_whole_revision() {
    let (book, folder) = Book::create().await;
    book.publish(PAGE, &revision(0)).await;
    let done = Arc::new(AtomicBool::new(false));
    let readers = (0..READERS).map(|number| {
        let (path, done) = (file(&folder), Arc::clone(&done));
        tokio::spawn(async move {
            let reader = Book::open(&path).await;
            let mut searches = 0;
            while !done.load(Ordering::Relaxed) || searches == 0 {
                let found = reader
                    .search("nodes", &vector(number), &Filters::default(), ALL)
                    .await;
                assert_eq!(found.len(), CHUNKS, "{found:?}");
                // A missing vector would have cosine 0 with all others.
                assert!(found.iter().all(|point| point.score != 0.0));
                searches += 1;
            }
        })
    });
    let readers: Vec<_> = readers.collect();
    for number in 1..COMMITS {
        book.publish(PAGE, &revision(number)).await;
    }
    done.store(true, Ordering::Relaxed);
    for reader in join_all(readers).await {
        reader.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_does_not_wait_for_a_transaction_that_writes() {
    let (book, folder) = Book::create().await;
    book.publish(PAGE, &revision(0)).await;
    let writer = rusqlite::Connection::open(file(&folder)).unwrap();
    writer
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM document_chunks; DELETE FROM point_vectors")
        .unwrap();
    let reader = Book::open_reading(&file(&folder)).await;
    assert_eq!(reader.by_words("node").await.len(), CHUNKS);
    assert_eq!(reader.nearest(&vector(0), ALL).await.len(), CHUNKS);
    drop(writer);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_searches_at_once_find_the_same() {
    let (book, _folder) = Book::create().await;
    book.publish(PAGE, &revision(0)).await;
    let filters = Filters::default();
    let query = vector(1);
    let searches = (0..50).map(|_| book.search("node", &query, &filters, ALL));
    let found = join_all(searches).await;
    assert_eq!(found[0].len(), CHUNKS);
    assert!(found.iter().all(|one| *one == found[0]));
}
