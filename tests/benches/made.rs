//! Made chunks for benchmarks.

use bookrag::book::Placement;
use bookrag::catalog::{
    ChunkRow, Commit, DocumentRow, IndexSpec, NewChunk, NewIndex, Retired, SiteInfo,
};
use bookrag::index::ChunkPayload;
use serde_json::json;
use uuid::Uuid;

pub(crate) const CHUNKS_OF_A_PAGE: u64 = 20;

/// Words of a question, from frequent to rare: `t1` is in nearly every chunk.
pub(crate) const QUESTION: [&str; 8] = [
    "t3", "t20", "t90", "t300", "t900", "t3000", "t9000", "t30000",
];

/// Returns an index of vectors with as many dimensions as those of bge-small.
pub(crate) fn new_index() -> NewIndex {
    NewIndex {
        spec: IndexSpec {
            site: "made".to_owned(),
            embedder: "made".to_owned(),
            embedder_fingerprint: "made".to_owned(),
            dimensions: 384,
            chunk_policy: "made".to_owned(),
            embedded_text_version: 1,
            bm25: "made".to_owned(),
            token_vectors: None,
            question_vectors: None,
        },
        collection: "made".to_owned(),
        site: SiteInfo::default(),
        retired: Retired::Stays,
    }
}

/// Returns the commit of a page with 20 chunks of 80 words, whose words all change with the revision.
pub(crate) fn page(index_id: i64, page: u64, revision: u64) -> Commit {
    let source = source(page);
    let chunks = (0..CHUNKS_OF_A_PAGE).map(|number| new_chunk(page, revision, number));
    let chunks: Vec<NewChunk> = chunks.collect();
    Commit {
        index_id,
        document: DocumentRow {
            document_id: Uuid::new_v5(&Uuid::NAMESPACE_URL, source.as_bytes()),
            title: format!("Made {page}"),
            url: format!("/docs/made-{page}"),
            source,
            locale: "en".to_owned(),
            version: "current".to_owned(),
            lesson_id: None,
            placement: Placement::default(),
            fingerprint: revision.to_string(),
            skip_reason: None,
            deleted: false,
        },
        expected_revision: i64::try_from(revision).unwrap(),
        intents: chunks.iter().map(|chunk| chunk.row.point_id).collect(),
        chunks: Some(chunks),
        inputs: Vec::new(),
    }
}

fn source(page: u64) -> String {
    format!("docs/made-{page}.md")
}

/// Returns a chunk of a page.
pub(crate) fn new_chunk(page: u64, revision: u64, number: u64) -> NewChunk {
    let source = source(page);
    let document_id = Uuid::new_v5(&Uuid::NAMESPACE_URL, source.as_bytes());
    let text: Vec<String> = (0..80)
        .map(|word| format!("t{}", term(page + revision, number, word)))
        .collect();
    let text = text.join(" ");
    let row = ChunkRow {
        chunk_id: Uuid::new_v5(&document_id, text.as_bytes()),
        position: i32::try_from(number).unwrap(),
        chapter: String::new(),
        chapter_id: None,
        section: None,
        section_id: None,
        source_file: source,
        start_line: 1,
        end_line: 9,
        token_count: 120,
        point_id: Uuid::new_v4(),
        text_hash: text.clone(),
        payload_hash: String::new(),
        text: text.clone(),
    };
    let payload: ChunkPayload = serde_json::from_value(json!({
        "chunk_id": row.chunk_id, "document_id": document_id, "text": text, "source": row.source_file,
        "url": format!("/docs/made-{page}"), "module": "Module 1", "module_number": null, "chapter": "", "chapter_number": null,
        "lesson": "", "lesson_number": null, "lesson_id": null, "title": format!("Made {page}"), "section": null,
        "section_id": null, "heading_path": [], "section_type": "instructional", "chunk_index": 0, "chunk_count": 1,
        "start_line": 1, "end_line": 9, "page": 1, "token_count": 120, "word_count": 80, "has_code": false,
        "has_equations": false, "hardware_tier": 1, "layer": "", "proficiency_level": "", "keywords": [],
        "locale": ["en"], "fallback_urls": [], "version": "current", "unlisted": false, "created_at": "",
    }))
    .unwrap();
    NewChunk { row, payload }
}

/// Returns the number of a term of 50,000. Frequencies fall as those of words do.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 1 to 50,000"
)]
fn term(page: u64, number: u64, word: u64) -> u64 {
    let seed = (page * CHUNKS_OF_A_PAGE + number) * 80 + word;
    let mixed = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    50_000_f64.powf((mixed >> 32) as f64 / 2_f64.powi(32)) as u64
}
