//! A book's SQLite file, in which searches see what the catalog committed.

use std::path::Path;

use bookrag::catalog::{Catalog, ChunkRow, NewChunk, SqliteCatalog};
use bookrag::index::{LocalIndex, NewPoint, VectorIndex};

use crate::catalog_contract::rows::{COMMITTED, commit, new_index, write};

const PAGE: &str = "docs/a.md";

#[derive(Clone)]
pub(super) struct BookFile(Catalog);

impl BookFile {
    /// Creates a file in the folder, and returns its vector store and catalog.
    pub(super) async fn create(folder: &Path) -> (VectorIndex, Self) {
        let file = folder.join("book.sqlite");
        let catalog = SqliteCatalog::open(&file).await.unwrap();
        let index = VectorIndex::Local(LocalIndex::from_catalog(&catalog));
        let catalog = Catalog::Sqlite(catalog);
        catalog.migrate().await.unwrap();
        (index, Self(catalog))
    }

    /// Commits points as the chunks of a page, in the index with this collection.
    pub(super) async fn commit(&self, collection: &str, points: Vec<NewPoint>) {
        let mut new_index = new_index("adaptive");
        collection.clone_into(&mut new_index.collection);
        let index_id = self.0.ensure_index(&new_index).await.unwrap().index_id;
        let mut commit = commit(index_id, PAGE, 0, &[]);
        commit.intents = super::points::ids(&points);
        commit.chunks = Some((0..).zip(points).map(new_chunk).collect());
        assert_eq!(write(&self.0, &commit).await, COMMITTED);
    }
}

fn new_chunk(
    (
        position,
        NewPoint {
            point_id, payload, ..
        },
    ): (i32, NewPoint),
) -> NewChunk {
    NewChunk {
        row: ChunkRow {
            chunk_id: payload.chunk_id,
            position,
            chapter: payload.chapter.clone(),
            chapter_id: payload.chapter_number,
            section: payload.section.clone(),
            section_id: payload.section_id.clone(),
            source_file: payload.source.clone(),
            start_line: payload.start_line,
            end_line: payload.end_line,
            token_count: payload.token_count.try_into().unwrap(),
            point_id,
            text: payload.text.clone(),
            text_hash: payload.hash(),
            payload_hash: payload.hash(),
        },
        payload,
    }
}
