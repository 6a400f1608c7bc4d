//! Tests of a renamed site, and of a book written from two places.

use std::collections::BTreeMap;

use super::super::{Ingest, OpenMode, OpenOptions, Report, SyncOptions, sync};
use super::stores::{Stores, options};
use crate::source::MemorySource;
use ::book::chunk::ChunkPolicy;
use fakes::faults::{self, block_on};
use store::catalog::{Catalog, IndexRow, IndexSpec, NewIndex, Retired, StoredDocument};

/// A book in a history without failures.
struct Book {
    stores: Stores,
    catalog: Catalog,
}

impl Book {
    fn new() -> Self {
        faults::begin(0, None);
        let stores = Stores::new();
        Self {
            catalog: stores.tables(),
            stores,
        }
    }

    fn open(&self, site: &str, files: &MemorySource, mode: OpenMode) -> Ingest {
        let options = OpenOptions {
            site: site.to_owned(),
            mode,
            ..options()
        };
        block_on(self.stores.open(files, options)).expect("nothing fails")
    }

    fn sync(&self, site: &str, files: &MemorySource) -> Report {
        let ingest = self.open(site, files, OpenMode::TakeOver);
        block_on(sync(&ingest, SyncOptions::default(), |_| {})).expect("nothing fails")
    }

    fn live(&self) -> IndexRow {
        let live = block_on(self.catalog.live_index()).expect("nothing fails");
        live.expect("there is one")
    }

    /// Returns source and text of each document of the live index. Asserts that each chunk has its point.
    fn held(&self) -> Vec<(String, String)> {
        let live = self.live();
        let points = block_on(self.stores.index.point_ids_after(
            &live.collection,
            None,
            usize::MAX,
        ))
        .expect("nothing fails");
        let documents = block_on(self.catalog.documents(live.index_id)).expect("nothing fails");
        let mut held = Vec::new();
        for StoredDocument { row, .. } in documents {
            let chunks = block_on(self.catalog.chunks(live.index_id, row.document_id));
            let chunks = chunks.expect("nothing fails");
            for chunk in &chunks {
                assert!(points.contains(&chunk.point_id), "{}", chunk.text);
            }
            let text = chunks.into_iter().map(|chunk| chunk.text).collect();
            held.push((row.source, text));
        }
        held
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        let _ = faults::end();
    }
}

fn files(pages: &[(&str, &str)]) -> MemorySource {
    let files = MemorySource::default();
    for (page, text) in pages {
        put(&files, page, text);
    }
    files
}

fn put(files: &MemorySource, page: &str, text: &str) {
    let text = format!("# Page\n\n{text}\n").into_bytes();
    files.files().insert(format!("docs/{page}.md"), text);
}

fn assert_book(book: &Book, pages: &[(&str, &str)]) {
    let found = book.held();
    let expected: BTreeMap<String, &str> = pages
        .iter()
        .map(|(page, text)| (format!("docs/{page}.md"), *text))
        .collect();
    let sources: Vec<&String> = found.iter().map(|(source, _)| source).collect();
    assert_eq!(sources, expected.keys().collect::<Vec<_>>());
    for (source, text) in &found {
        assert!(text.contains(expected[source]), "{source}: {text}");
    }
}

#[test]
fn a_renamed_site_has_one_document_a_source_with_its_newest_text() {
    let book = Book::new();
    let files = files(&[("a", "First."), ("b", "Second."), ("c", "Third.")]);
    book.sync("old", &files);
    put(&files, "b", "Changed.");
    let report = book.sync("new", &files);
    assert_book(
        &book,
        &[("a", "First."), ("b", "Changed."), ("c", "Third.")],
    );
    // Unchanged texts reuse the former index's vectors.
    assert_eq!((report.embedded, report.vectors_reused), (1, 2));
}

#[test]
fn two_places_that_feed_one_book_in_turn_leave_no_stale_page() {
    let book = Book::new();
    let here = files(&[("a", "First."), ("b", "Second.")]);
    let there = files(&[("a", "First."), ("b", "Second.")]);
    book.sync("/here", &here);
    for round in 0..3 {
        let text = format!("Round {round}.");
        put(&there, "a", &text);
        book.sync("/there", &there);
        assert_book(&book, &[("a", &text), ("b", "Second.")]);
        put(&here, "a", &text);
        book.sync("/here", &here);
        assert_book(&book, &[("a", &text), ("b", "Second.")]);
    }
    there.files().remove("docs/b.md");
    book.sync("/there", &there);
    assert_book(&book, &[("a", "Round 2.")]);
}

#[test]
fn a_page_deleted_under_the_new_name_goes_from_the_index_of_the_old_one() {
    let book = Book::new();
    let files = files(&[("a", "First."), ("b", "Second.")]);
    book.sync("old", &files);
    // The new deployment's function receives the event before the switch.
    let next = book.open("new", &files, OpenMode::Write);
    assert_ne!(next.index_row.index_id, book.live().index_id);
    files.files().remove("docs/b.md");
    block_on(next.ingest_document("docs/b.md")).expect("nothing fails");
    assert_book(&book, &[("a", "First.")]);
}

#[test]
fn an_index_with_another_chunk_policy_is_replaced_by_one_that_takes_its_vectors_over() {
    let book = Book::new();
    let files = files(&[("a", "First.")]);
    let mut former = book.open("site", &files, OpenMode::ReadOnly);
    let new = NewIndex {
        collection: "simulated_former".to_owned(),
        spec: IndexSpec {
            chunk_policy: ChunkPolicy::ADAPTIVE.name.to_owned(),
            ..former.index_row.spec
        },
        site: former.index_row.site,
        retired: Retired::Stays,
    };
    former.index_row = block_on(book.catalog.ensure_index(&new)).expect("nothing fails");
    let dimensions = new.spec.dimensions;
    let made = former.index.ensure_collection(&new.collection, dimensions);
    block_on(made).expect("nothing fails");
    block_on(former.ingest_document("docs/a.md")).expect("nothing fails");
    assert_eq!(book.live().collection, new.collection);
    let report = book.sync("site", &files);
    assert_ne!(book.live().collection, new.collection);
    assert_eq!((report.embedded, report.vectors_reused), (0, 1));
    assert_book(&book, &[("a", "First.")]);
}

#[test]
fn a_page_that_failed_and_is_gone_is_not_listed_as_failed() {
    let book = Book::new();
    let files = files(&[("a", "First."), ("b", "Second.")]);
    let ingest = book.open("site", &files, OpenMode::TakeOver);
    let error = super::super::IngestError::Retired;
    block_on(ingest.record_failure("docs/b.md", &error));
    files.files().remove("docs/b.md");
    book.sync("site", &files);
    let stats = block_on(book.catalog.stats(book.live().index_id)).expect("nothing fails");
    assert_eq!(stats.failed, []);
}
