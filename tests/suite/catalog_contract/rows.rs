//! Rows for tests, and helpers that write them.

use bookrag::book::Placement;
use bookrag::catalog::{
    Catalog, ChunkRow, Commit, CommitOutcome, DocumentRow, IndexSpec, InstanceInfo, NewChunk,
    NewIndex, Retired, SiteInfo,
};
use bookrag::chunk::SectionType;
use bookrag::index::ChunkPayload;
use uuid::Uuid;

pub(crate) fn new_index(chunk_policy: &str) -> NewIndex {
    NewIndex {
        spec: IndexSpec {
            site: "book".to_owned(),
            embedder: "minilm".to_owned(),
            embedder_fingerprint: "sha256:8199be6f".to_owned(),
            dimensions: 384,
            chunk_policy: chunk_policy.to_owned(),
            embedded_text_version: 1,
            bm25: "k1=1.2 b=0.75".to_owned(),
            token_vectors: None,
            question_vectors: None,
        },
        collection: format!("textbook_chunks_{chunk_policy}"),
        site: SiteInfo {
            title: "Physical AI".to_owned(),
            base_url: "/book/".to_owned(),
            default_locale: "en".to_owned(),
            docs: InstanceInfo {
                default_version: "current".to_owned(),
                ..InstanceInfo::default()
            },
            other_instances: vec![InstanceInfo {
                default_version: "api@2.0".to_owned(),
                route_base_path: "api".to_owned(),
                ..InstanceInfo::default()
            }],
            ..SiteInfo::default()
        },
        retired: Retired::Stays,
    }
}

/// Creates the tables and a live index.
pub(crate) async fn live_index(catalog: &Catalog) -> i64 {
    catalog.migrate().await.unwrap();
    let index = catalog.ensure_index(&new_index("adaptive")).await.unwrap();
    index.index_id
}

pub(super) fn document_id(source: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, source.as_bytes())
}

pub(super) fn document(source: &str) -> DocumentRow {
    DocumentRow {
        document_id: document_id(source),
        source: source.to_owned(),
        title: "Nodes, topics & “services”".to_owned(),
        url: "/book/docs/nodes".to_owned(),
        locale: "en".to_owned(),
        version: "current".to_owned(),
        lesson_id: Some("1.2.3".to_owned()),
        placement: Placement {
            module: Some("The Robotic Nervous System".to_owned()),
            module_number: Some(1),
            ..Placement::default()
        },
        fingerprint: "f1".to_owned(),
        skip_reason: None,
        deleted: false,
    }
}

/// A chunk with this text and a new point.
pub(super) fn chunk(source: &str, position: i32, text: &str) -> ChunkRow {
    ChunkRow {
        chunk_id: Uuid::new_v5(
            &document_id(source),
            format!("{text}/{position}").as_bytes(),
        ),
        position,
        chapter: "Chapter 1".to_owned(),
        chapter_id: Some(1),
        section: (position > 0).then(|| "Nodes — 节点".to_owned()),
        section_id: (position > 0).then(|| "nodes".to_owned()),
        source_file: source.to_owned(),
        start_line: 3,
        end_line: u32::MAX,
        token_count: 7,
        point_id: Uuid::new_v4(),
        text: text.to_owned(),
        text_hash: format!("hash of {text}"),
        payload_hash: format!("hash of {text} at {position}"),
    }
}

/// The payload of a chunk's point.
pub(super) fn payload(row: &ChunkRow) -> ChunkPayload {
    ChunkPayload {
        chunk_id: row.chunk_id,
        document_id: document_id(&row.source_file),
        text: row.text.clone(),
        marks: Vec::new(),
        breadcrumb: format!("**{}** — \\u0000 'n' \"节点\"", row.text),
        links: Vec::new(),
        source: row.source_file.clone(),
        url: "/book/docs/nodes".to_owned(),
        module: "The Robotic Nervous System".to_owned(),
        module_number: Some(1),
        chapter: row.chapter.clone(),
        chapter_number: row.chapter_id,
        lesson: "N/A".to_owned(),
        lesson_number: None,
        lesson_id: None,
        title: "Nodes".to_owned(),
        section: row.section.clone(),
        section_id: row.section_id.clone(),
        heading_path: vec!["Nodes".to_owned()],
        section_type: SectionType::Instructional,
        chunk_index: 0,
        chunk_count: 1,
        start_line: row.start_line,
        end_line: row.end_line,
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

/// A commit of these chunks, all on new points.
pub(crate) fn commit(index_id: i64, source: &str, revision: i64, chunks: &[ChunkRow]) -> Commit {
    Commit {
        index_id,
        document: document(source),
        expected_revision: revision,
        chunks: Some(chunks.iter().map(new_chunk).collect()),
        intents: points(chunks),
        inputs: vec!["docs/_category_.json".to_owned()],
    }
}

fn new_chunk(row: &ChunkRow) -> NewChunk {
    NewChunk {
        row: row.clone(),
        payload: payload(row),
    }
}

pub(super) fn points(chunks: &[ChunkRow]) -> Vec<Uuid> {
    chunks.iter().map(|chunk| chunk.point_id).collect()
}

/// Records the intents, then commits.
pub(crate) async fn write(catalog: &Catalog, commit: &Commit) -> CommitOutcome {
    let document_id = commit.document.document_id;
    catalog
        .add_intents(commit.index_id, document_id, &commit.intents)
        .await
        .unwrap();
    catalog.commit(commit).await.unwrap()
}

pub(crate) const COMMITTED: CommitOutcome = CommitOutcome::Committed {
    garbage: Vec::new(),
};
