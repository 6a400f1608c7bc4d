//! A book in a file, with functions to publish its pages.

use std::path::{Path, PathBuf};

use book::Placement;
use book::chunk::SectionType;
use store::catalog::{
    Catalog, ChunkRow, Commit, CommitOutcome, DocumentRow, IndexRow, IndexSpec, NewChunk, NewIndex,
    Retired, SiteInfo, SqliteCatalog,
};
use store::index::{ChunkPayload, Filters, LocalIndex, ScoredPoint, VectorQuery};
use tempfile::TempDir;
use text::{Language, terms_in};
use uuid::Uuid;

/// The length of [`vector`].
pub(crate) const DIMENSIONS: usize = 16;
/// A limit above the number of chunks in any test.
pub(crate) const ALL: usize = 10_000;
/// The middle of the range of a byte.
const MIDDLE: f32 = 127.5;

/// A catalog and the index in its file.
pub(crate) struct Book {
    pub(crate) catalog: Catalog,
    pub(crate) index: LocalIndex,
    pub(crate) row: IndexRow,
}

/// A chunk to publish.
#[derive(Clone)]
pub(crate) struct Chunk {
    pub(crate) point_id: Uuid,
    pub(crate) vector: Vec<f32>,
    pub(crate) payload: ChunkPayload,
}

impl Book {
    pub(crate) async fn create() -> (Self, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let book = Self::open(&file(&folder)).await;
        (book, folder)
    }

    /// Opens the book as another process would.
    pub(crate) async fn open(path: &Path) -> Self {
        Self::open_index(path, "adaptive").await
    }

    pub(crate) async fn open_index(path: &Path, policy: &str) -> Self {
        let sqlite = SqliteCatalog::open(path).await.unwrap();
        let index = LocalIndex::from_catalog(&sqlite);
        let catalog = Catalog::Sqlite(sqlite);
        catalog.migrate().await.unwrap();
        let row = catalog.ensure_index(&new_index(policy)).await.unwrap();
        let ensuring = index.ensure_collection(&row.collection, DIMENSIONS);
        ensuring.await.unwrap();
        Self {
            catalog,
            index,
            row,
        }
    }

    /// Opens an existing book read-only.
    pub(crate) async fn open_reading(path: &Path) -> Self {
        let sqlite = SqliteCatalog::open(path).await.unwrap();
        let index = LocalIndex::from_catalog(&sqlite);
        let catalog = Catalog::Sqlite(sqlite);
        let row = catalog.live_index().await.unwrap().unwrap();
        Self {
            catalog,
            index,
            row,
        }
    }

    /// Replaces a page as ingest does: intents, vectors, commit, garbage.
    pub(crate) async fn publish(&self, source: &str, chunks: &[Chunk]) {
        let index_id = self.row.index_id;
        let stored = self.catalog.document(index_id, source).await.unwrap();
        let revision = stored.map_or(0, |stored| stored.revision);
        let commit = commit(index_id, source, revision, chunks);
        let document_id = commit.document.document_id;
        let intents = self
            .catalog
            .add_intents(index_id, document_id, &commit.intents);
        intents.await.unwrap();
        self.upsert(chunks).await;
        match self.catalog.commit(&commit).await.unwrap() {
            CommitOutcome::Committed { garbage } => {
                let deleting = self.index.delete(&self.row.collection, &garbage);
                deleting.await.unwrap();
                self.catalog.forget(index_id, &garbage).await.unwrap();
            }
            other => panic!("{source}: {other:?}"),
        }
    }

    pub(crate) async fn upsert(&self, chunks: &[Chunk]) {
        let points = chunks
            .iter()
            .map(|chunk| (chunk.point_id, chunk.vector.clone().into()));
        let upserting = self.index.upsert(&self.row.collection, points.collect());
        upserting.await.unwrap();
    }

    pub(crate) async fn search(
        &self,
        text: &str,
        vector: &[f32],
        filters: &Filters,
        limit: usize,
    ) -> Vec<ScoredPoint> {
        let locale = filters.locale.as_deref().unwrap_or("en");
        let languages = [Language::ENGLISH, Language::of_locale(locale)];
        let query = VectorQuery {
            terms: &terms_in(text, &languages),
            vector,
            tokens: &[],
            with_questions: true,
            filters,
            limit,
        };
        let searching = self.index.search(&self.row.collection, &query);
        searching.await.unwrap()
    }

    /// Searches with full-text search only.
    pub(crate) async fn by_words(&self, text: &str) -> Vec<Uuid> {
        let found = self.search(text, &[], &Filters::default(), ALL).await;
        found.iter().map(|point| point.point_id).collect()
    }

    /// Returns the points nearest to a vector.
    pub(crate) async fn nearest(&self, vector: &[f32], limit: usize) -> Vec<Uuid> {
        let found = self.search("", vector, &Filters::default(), limit).await;
        found.iter().map(|point| point.point_id).collect()
    }
}

pub(crate) fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("book.sqlite")
}

pub(crate) fn ids(chunks: &[Chunk]) -> Vec<Uuid> {
    chunks.iter().map(|chunk| chunk.point_id).collect()
}

/// Returns a unit vector that depends only on `number`; other numbers give other directions.
pub(crate) fn vector(number: usize) -> Vec<f32> {
    let bytes = Uuid::new_v5(&Uuid::NAMESPACE_OID, &number.to_le_bytes()).into_bytes();
    let vector = bytes.map(|byte| f32::from(byte) - MIDDLE);
    let length = dot(&vector, &vector).sqrt();
    vector.iter().map(|value| value / length).collect()
}

pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Creates a chunk with a new point and this number's vector.
pub(crate) fn chunk(number: usize, text: &str) -> Chunk {
    Chunk {
        point_id: Uuid::new_v4(),
        vector: vector(number),
        payload: payload(text),
    }
}

fn payload(text: &str) -> ChunkPayload {
    ChunkPayload {
        chunk_id: Uuid::new_v4(),
        document_id: Uuid::nil(),
        text: text.to_owned(),
        marks: Vec::new(),
        breadcrumb: String::new(),
        links: Vec::new(),
        source: String::new(),
        url: "/docs/nodes".to_owned(),
        module: "The Robotic Nervous System".to_owned(),
        module_number: Some(1),
        chapter: "Nodes".to_owned(),
        chapter_number: Some(2),
        lesson: "N/A".to_owned(),
        lesson_number: None,
        lesson_id: None,
        title: "Nodes".to_owned(),
        section: None,
        section_id: None,
        heading_path: vec!["Nodes".to_owned()],
        section_type: SectionType::Instructional,
        chunk_index: 0,
        chunk_count: 1,
        start_line: 1,
        end_line: 2,
        page: 1,
        token_count: 7,
        word_count: 5,
        has_code: false,
        has_equations: false,
        hardware_tier: 1,
        layer: "N/A".to_owned(),
        proficiency_level: "N/A".to_owned(),
        keywords: Vec::new(),
        search_words: String::new(),
        questions: Vec::new(),
        locale: vec!["en".to_owned()],
        fallback_urls: Vec::new(),
        version: "current".to_owned(),
        date: None,
        facets: std::collections::BTreeMap::new(),
        unlisted: false,
        created_at: "2026-01-31T12:00:00Z".to_owned(),
    }
}

pub(crate) fn document_id(source: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, source.as_bytes())
}

pub(crate) fn commit(index_id: i64, source: &str, revision: i64, chunks: &[Chunk]) -> Commit {
    Commit {
        index_id,
        document: DocumentRow {
            document_id: document_id(source),
            source: source.to_owned(),
            title: "Nodes".to_owned(),
            url: "/docs/nodes".to_owned(),
            locale: "en".to_owned(),
            version: "current".to_owned(),
            lesson_id: None,
            placement: Placement::default(),
            fingerprint: "f1".to_owned(),
            skip_reason: None,
            deleted: chunks.is_empty(),
        },
        expected_revision: revision,
        chunks: Some(
            (0..)
                .zip(chunks)
                .map(|(place, chunk)| row(source, place, chunk))
                .collect(),
        ),
        intents: ids(chunks),
        inputs: Vec::new(),
    }
}

fn row(source: &str, position: i32, chunk: &Chunk) -> NewChunk {
    let mut payload = chunk.payload.clone();
    source.clone_into(&mut payload.source);
    payload.document_id = document_id(source);
    NewChunk {
        row: ChunkRow {
            chunk_id: payload.chunk_id,
            position,
            chapter: payload.chapter.clone(),
            chapter_id: payload.chapter_number,
            section: None,
            section_id: None,
            source_file: source.to_owned(),
            start_line: 1,
            end_line: 2,
            token_count: 7,
            point_id: chunk.point_id,
            text: payload.text.clone(),
            text_hash: format!("hash of {}", payload.text),
            payload_hash: chunk.point_id.to_string(),
        },
        payload,
    }
}

fn new_index(policy: &str) -> NewIndex {
    NewIndex {
        spec: IndexSpec {
            site: "book".to_owned(),
            embedder: "fake".to_owned(),
            embedder_fingerprint: "fake".to_owned(),
            dimensions: DIMENSIONS,
            chunk_policy: policy.to_owned(),
            embedded_text_version: 1,
            bm25: "local".to_owned(),
            token_vectors: None,
            question_vectors: None,
        },
        collection: format!("chunks_{policy}"),
        site: SiteInfo::default(),
        retired: Retired::Stays,
    }
}
