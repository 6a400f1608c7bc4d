//! The catalog's types.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::calibration::Calibration;
use super::site::SiteInfo;
use crate::index::ChunkPayload;
use book::Placement;

/// The identity of an index: everything that makes its vectors and texts comparable.
///
/// The catalog finds an index by this struct's JSON, and names its collection after a hash of it, so fields must keep their names
/// and order; a test pins the text. A new field is omitted from the JSON if it has no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexSpec {
    /// The name of the documents' site.
    pub site: String,
    /// The embedding model's name.
    pub embedder: String,
    /// The hash of the model's file, or provider and name.
    pub embedder_fingerprint: String,
    /// The dimensions of a vector.
    pub dimensions: usize,
    /// The chunk policy with its numbers, written by [`ChunkPolicy::identity`](book::chunk::ChunkPolicy::identity).
    pub chunk_policy: String,
    /// The version of the embedded text.
    pub embedded_text_version: u32,
    /// The BM25 settings.
    pub bm25: String,
    /// The kind of token vectors in its points: the projection's name and hash. `None` without token vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_vectors: Option<String>,
    /// The version of the vectors of questions in its points. `None` for a collection that has no place for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_vectors: Option<u32>,
}

/// An index to find or create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIndex {
    /// The identity by which the catalog finds the index.
    pub spec: IndexSpec,
    /// The collection in the vector store.
    pub collection: String,
    /// The site.
    pub site: SiteInfo,
    /// The treatment of the index if it is retired.
    pub retired: Retired,
}

/// What becomes of a retired index that is requested again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retired {
    /// It stays retired: the request comes from a writer of an older deployment.
    #[default]
    Stays,
    /// It is filled again.
    Revives,
}

/// The outcome of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchOutcome {
    /// The index is live.
    Switched,
    /// Documents of these sources are missing, different or superfluous. Nothing was changed.
    Behind(Vec<String>),
    /// The index is retired. Nothing was changed.
    Retired,
}

impl SwitchOutcome {
    /// Compares an index's documents with the expected ones.
    pub(super) fn new(
        held: &BTreeMap<String, String>,
        expected: &BTreeMap<String, String>,
    ) -> Self {
        let behind: BTreeSet<&String> = (held.keys().chain(expected.keys()))
            .filter(|source| held.get(*source) != expected.get(*source))
            .collect();
        if behind.is_empty() {
            Self::Switched
        } else {
            Self::Behind(behind.into_iter().cloned().collect())
        }
    }
}

/// The state of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// It is being filled while another index is live.
    Building,
    /// Queries read it.
    Live,
    /// Another index has replaced it; writers are rejected.
    Retired,
}

impl IndexState {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "building" => Some(Self::Building),
            "live" => Some(Self::Live),
            "retired" => Some(Self::Retired),
            _ => None,
        }
    }
}

/// An index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexRow {
    /// The id.
    pub index_id: i64,
    /// The identity by which the catalog finds the index.
    pub spec: IndexSpec,
    /// The collection in the vector store.
    pub collection: String,
    /// The state.
    pub state: IndexState,
    /// The site.
    pub site: SiteInfo,
    /// During the first indexing, the number of pages that the index will have, 0 until they are counted; otherwise `None`.
    pub pages_expected: Option<u64>,
    /// The calibration; `None` until it is measured.
    pub calibration: Option<Calibration>,
    /// When a page of it last changed.
    pub changed_at: Option<Timestamp>,
    /// When it was last found equal to the book's files.
    pub compared_at: Option<Timestamp>,
    /// The commit of the files' repository at that time, if it is known.
    pub commit_hash: Option<String>,
}

impl IndexRow {
    /// Returns the progress of the first indexing, given the number of documents; `None` once it is complete.
    #[must_use]
    pub fn indexing(&self, documents: u64) -> Option<Indexing> {
        let total = self.pages_expected?;
        (total == 0 || documents < total).then_some(Indexing {
            done: documents,
            total,
        })
    }
}

/// Progress of the first indexing. Later runs have none, since each page's former text stays until it is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Indexing {
    /// Pages that can be found.
    pub done: u64,
    /// Total pages; 0 until they are counted.
    pub total: u64,
}

impl fmt::Display for Indexing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { done, total: 0 } => write!(f, "{done} pages so far"),
            Self { done, total } => write!(f, "{done} of {total} pages"),
        }
    }
}

/// A document's row as a commit writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentRow {
    /// UUIDv5 of site and source.
    pub document_id: Uuid,
    /// The source path, unique in an index.
    pub source: String,
    /// The title.
    pub title: String,
    /// The final URL.
    pub url: String,
    /// The locale.
    pub locale: String,
    /// The version, prefixed with the instance's id for instances other than the default: `api@2.0`.
    pub version: String,
    /// `1.2.3` for module, chapter and lesson.
    pub lesson_id: Option<String>,
    /// Its place in the book.
    pub placement: Placement,
    /// The fingerprint of all files it was read from.
    pub fingerprint: String,
    /// Why its newest text could not be indexed; its chunks then belong to the last good revision.
    pub skip_reason: Option<String>,
    /// True if the document is deleted; the row stays as a tombstone.
    pub deleted: bool,
}

/// A document's stored row.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// The fields of the last commit.
    pub row: DocumentRow,
    /// The document's revision, which starts at 1 and rises by one with each commit.
    pub revision: i64,
    /// The number of chunks.
    pub chunk_count: u64,
    /// The time of the last commit.
    pub last_indexed_at: Timestamp,
}

/// What is stored about a document's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentState {
    /// The source path.
    pub source: String,
    /// The fingerprint of all files it was read from.
    pub fingerprint: String,
    /// Why its newest text could not be indexed.
    pub skip_reason: Option<String>,
    /// True if it has chunks.
    pub has_chunks: bool,
    /// The time of the last commit.
    pub last_indexed_at: Timestamp,
}

/// A chunk's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRow {
    /// The chunk's id.
    pub chunk_id: Uuid,
    /// The index in the document, from 0.
    pub position: i32,
    /// The chapter's title.
    pub chapter: String,
    /// The chapter's number.
    pub chapter_id: Option<i64>,
    /// The section's title.
    pub section: Option<String>,
    /// The section's anchor.
    pub section_id: Option<String>,
    /// The source path.
    pub source_file: String,
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// cl100k tokens.
    pub token_count: u32,
    /// The point with its vectors and payload.
    pub point_id: Uuid,
    /// The text as shown.
    pub text: String,
    /// The hash of the embedded text; equal hashes imply equal vectors.
    pub text_hash: String,
    /// The hash of the payload; chunks with equal hashes share a point.
    pub payload_hash: String,
}

/// A chunk to write.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChunk {
    /// The row.
    pub row: ChunkRow,
    /// The point's payload, for full-text search without the vector store.
    pub payload: ChunkPayload,
}

/// A change of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The index.
    pub index_id: i64,
    /// The document's new row.
    pub document: DocumentRow,
    /// The revision that was read before; 0 if there was none.
    pub expected_revision: i64,
    /// The new chunks, in order; `None` keeps the existing ones.
    pub chunks: Option<Vec<NewChunk>>,
    /// The points upserted for this commit; all must still be intents.
    pub intents: Vec<Uuid>,
    /// The other files that were used or looked for while the document was read.
    pub inputs: Vec<String>,
}

/// The outcome of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The change is committed.
    Committed {
        /// Points that no chunk uses any more.
        garbage: Vec<Uuid>,
    },
    /// Another writer committed first, or an intent was swept. Nothing was written.
    Conflict,
    /// The index is retired. Nothing was written.
    Retired,
}

/// A point to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// The point.
    pub point_id: Uuid,
    /// True if its row can be removed after this deletion; otherwise the point is deleted again later.
    pub last_time: bool,
}

/// A chunk of the book.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedChunk {
    /// The point.
    pub point_id: Uuid,
    /// The index in the document, from 0.
    pub position: i32,
    /// The point's payload, including the text.
    pub payload: ChunkPayload,
    /// The time when its document was committed.
    pub committed_at: Timestamp,
}

/// Counts of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexStats {
    /// Documents that are not deleted.
    pub documents: u64,
    /// Chunks of these documents.
    pub chunks: u64,
    /// cl100k tokens of these chunks.
    pub tokens: u64,
    /// Sources whose newest text could not be indexed, with the reason.
    pub stale: Vec<(String, String)>,
    /// Sources whose last attempt failed but may succeed later, with the reason.
    pub failed: Vec<(String, String)>,
    /// Points that wait for their deletion.
    pub pending_points: u64,
    /// The newest commit.
    pub last_indexed_at: Option<Timestamp>,
}

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryStatus {
    /// Answered, or refused because the book does not cover it.
    Success,
    /// Something failed.
    Error,
    /// The client exceeded its rate limit.
    RateLimited,
    /// The deadline passed.
    Timeout,
    /// The answer is in progress, or the reader left.
    Incomplete,
}

impl QueryStatus {
    /// Returns the name in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Incomplete => "incomplete",
        }
    }
}

/// A log entry for a question, without the client's address; the text is included only if the operator keeps questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryLog {
    /// The message's id.
    pub query_id: Uuid,
    /// HMAC of the client's address.
    pub user_ip_hash: String,
    /// HMAC of the question.
    pub question_hash: String,
    /// The retrieved chunks.
    pub retrieved_chunk_ids: Vec<Uuid>,
    /// The cited chunks.
    pub cited_chunk_ids: Vec<Uuid>,
    /// The response time in milliseconds.
    pub response_time_ms: u64,
    /// The outcome.
    pub status: QueryStatus,
    /// True if the book answered it.
    pub answered: bool,
    /// True if the answer said that the book may not cover the question.
    pub uncertain: bool,
    /// Tokens that models read and wrote.
    pub tokens: u64,
    /// Cost of the models, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// True if a dependency was bypassed.
    pub degraded: bool,
    /// The original cost of a cached answer, in millionths of a dollar; `None` for a new answer.
    pub saved_micro_usd: Option<u64>,
    /// The question, if the operator keeps questions.
    pub question: Option<String>,
}

/// A reader's rating of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rating {
    /// The answer helped.
    Up,
    /// The answer did not help.
    Down,
    /// A citation was followed.
    CitationClicked,
}

impl Rating {
    /// Returns the name in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::CitationClicked => "citation_clicked",
        }
    }
}

/// What a coding agent reports of a wrong or missing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentReport {
    /// The answer's id, if there is one.
    pub message_id: Option<Uuid>,
    /// The question, if the operator keeps questions.
    pub question: Option<String>,
    /// What is wrong or missing.
    pub problem: String,
    /// The page or section, as the agent names it.
    pub page: Option<String>,
}

/// A rating of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// The message's id.
    pub message_id: Uuid,
    /// The rating.
    pub rating: Rating,
    /// The reader's comment.
    pub comment: Option<String>,
}
