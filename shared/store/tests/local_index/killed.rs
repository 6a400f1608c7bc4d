//! A process that is killed while writing leaves only whole commits.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use store::index::Filters;

use super::book::{ALL, Book, Chunk, DIMENSIONS, chunk, document_id, file};

/// Names the file that the child process writes to until it is killed.
const FILE_VARIABLE: &str = "BOOKRAG_TEST_WRITES_TO";
const ROUNDS: u64 = 8;
const PAGES: usize = 3;
/// The number of chunks of each page at any time.
const CHUNKS: usize = 20;

/// Writes until it is killed, if it runs as the child process. The parent process checks the file.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_writer_leaves_whole_commits() {
    if let Some(path) = env::var_os(FILE_VARIABLE) {
        write_forever(Path::new(&path)).await;
    }
    let (book, folder) = Book::create().await;
    drop(book);
    let path = file(&folder);
    let mut revisions = 0;
    for round in 0..ROUNDS {
        let mut writer = Command::new(env::current_exe().unwrap())
            .args(["--exact", "killed::a_killed_writer_leaves_whole_commits"])
            .env(FILE_VARIABLE, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Long enough for the first commits, then a different time in each round.
        let before = revisions;
        while revisions <= before {
            tokio::time::sleep(Duration::from_millis(5)).await;
            revisions = check(&path).await;
        }
        tokio::time::sleep(Duration::from_millis(round * 7 % 20)).await;
        writer.kill().unwrap();
        writer.wait().unwrap();
        revisions = check(&path).await;
        let book = Book::open(&path).await;
        book.catalog.check().await.unwrap();
    }
}

async fn write_forever(path: &Path) -> ! {
    let book = Book::open(path).await;
    for number in 0.. {
        let chunks: Vec<Chunk> = (0..CHUNKS)
            .map(|place| {
                chunk(
                    number * CHUNKS + place,
                    &format!("Every node, commit{number}."),
                )
            })
            .collect();
        book.publish(&format!("docs/{}.md", number % PAGES), &chunks)
            .await;
    }
    unreachable!("it is killed first");
}

/// Checks that each page comes from one commit, with all its chunks, vectors and words. Returns the number of commits.
async fn check(path: &Path) -> i64 {
    let book = Book::open_reading(path).await;
    let index_id = book.row.index_id;
    let mut revisions = 0;
    let documents = book.catalog.documents(index_id).await.unwrap();
    for document in &documents {
        revisions += document.revision;
        let id = document_id(&document.row.source);
        let places = [(id, 0..=i32::MAX)];
        let around = book.catalog.around(index_id, &places).await.unwrap();
        let chunks = &around[0];
        assert_eq!(chunks.len(), CHUNKS);
        let text = &chunks[0].payload.text;
        assert!(chunks.iter().all(|chunk| chunk.payload.text == *text));
    }
    // A search sees one state, so it finds only whole pages.
    let zeros = vec![0.5; DIMENSIONS];
    for vector in [&[][..], &zeros] {
        let found = book.search("node", vector, &Filters::default(), ALL).await;
        assert_eq!(found.len() % CHUNKS, 0);
        assert!(found.len() >= documents.len() * CHUNKS);
        assert!(found.iter().all(|point| point.score != 0.0));
    }
    revisions
}
