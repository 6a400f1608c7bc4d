//! What the catalog holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::site::SiteInfo;
use crate::book::Lesson;
use crate::index::ChunkPayload;

/// What decides whether vectors can be compared and texts are alike: the identity of an index.
///
/// The catalog finds an index by this struct's JSON, and its collection is named after a hash of it. So the fields keep their
/// order and their names; a test pins the text. A new field is left out of the JSON where it has no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexSpec {
    /// The name of the site that the documents are of. `None` in indexes that release 0.1 made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The embedding model's name.
    pub embedder: String,
    /// The hash of its file, or its provider and name.
    pub embedder_fingerprint: String,
    /// Its dimensions.
    pub dimensions: usize,
    /// The chunk policy with its numbers, as [`ChunkPolicy::identity`](crate::chunk::ChunkPolicy::identity) writes it. Former
    /// releases wrote its name alone, so what they made are other indexes.
    pub chunk_policy: String,
    /// The version of the text that is embedded.
    pub embedded_text_version: u32,
    /// The BM25 settings.
    pub bm25: String,
    /// Which vectors of tokens its points have: the name and hash of their projection. `None` if they have none, as those that
    /// former releases made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_vectors: Option<String>,
}

/// An index to find or create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIndex {
    /// Its identity.
    pub spec: IndexSpec,
    /// The collection it has in the vector store.
    pub collection: String,
    /// The site.
    pub site: SiteInfo,
    /// What becomes of it when it is retired.
    pub retired: Retired,
}

/// What becomes of a retired index that is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retired {
    /// It stays so: a writer of an older deployment asks for it.
    #[default]
    Stays,
    /// It is filled again.
    Revives,
}

/// What became of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchOutcome {
    /// The index is the live one.
    Switched,
    /// The documents of these sources are missing, differ, or should not be there: nothing was changed.
    Behind(Vec<String>),
    /// The index is retired: nothing was changed.
    Retired,
}

impl SwitchOutcome {
    /// Compares what an index holds with what it should.
    pub(super) fn of(held: &BTreeMap<String, String>, expected: &BTreeMap<String, String>) -> Self {
        let differs = |source: &&String| held.get(*source) != expected.get(*source);
        let all: BTreeSet<&String> = held.keys().chain(expected.keys()).collect();
        let behind: Vec<String> = all.into_iter().filter(differs).cloned().collect();
        if behind.is_empty() {
            Self::Switched
        } else {
            Self::Behind(behind)
        }
    }
}

/// What an index is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// It is being filled beside the live one.
    Building,
    /// Queries read it.
    Live,
    /// Nobody may write to it any more.
    Retired,
}

impl IndexState {
    /// The state with this name in the table.
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
    /// Its number.
    pub index_id: i64,
    /// Its identity.
    pub spec: IndexSpec,
    /// Its collection in the vector store.
    pub collection: String,
    /// What it is used for.
    pub state: IndexState,
    /// The site.
    pub site: SiteInfo,
    /// While the index is filled for the first time: how many pages it will have, 0 until they are counted. `None` once it
    /// is filled.
    pub pages_expected: Option<u64>,
    /// What cosines mean in it; `None` until it is measured.
    pub calibration: Option<Calibration>,
}

/// What cosines mean in an index, measured with questions whose answer is known. Both means are over the best cosine of each
/// question with any chunk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The mean of questions that no documentation answers.
    pub off_topic: f32,
    /// The mean of the book's own headings, the chunks below them left out.
    pub own: f32,
    /// How many chunks the index had.
    pub chunks: u64,
}

/// The least distance of the two means: with less the cosines of this book tell nothing apart.
const MIN_SPREAD: f32 = 0.02;

impl Calibration {
    /// Returns a cosine on the index's own scale: 0 is the mean of off-topic questions, 1 that of own headings. `None` if the two
    /// do not differ.
    #[must_use]
    pub fn z(&self, cosine: f32) -> Option<f32> {
        let spread = self.own - self.off_topic;
        (spread >= MIN_SPREAD).then(|| (cosine - self.off_topic) / spread)
    }

    /// True if the index has grown by half since.
    #[must_use]
    pub fn is_outgrown(&self, chunks: u64) -> bool {
        chunks.saturating_mul(2) >= self.chunks.saturating_mul(3)
    }
}

impl IndexRow {
    /// Progress of the first indexing, given the number of documents; `None` once it is complete.
    #[must_use]
    pub fn indexing(&self, documents: u64) -> Option<Indexing> {
        let total = self.pages_expected?;
        (total == 0 || documents < total).then_some(Indexing {
            done: documents,
            total,
        })
    }
}

/// Progress of the first indexing of a book. Later runs have none: each page's former text stays until it is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Indexing {
    /// Pages that can be found.
    pub done: u64,
    /// Pages in all; 0 until they are counted.
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
    /// The source path, of which an index has one document.
    pub source: String,
    /// The title.
    pub title: String,
    /// The final URL.
    pub url: String,
    /// The locale.
    pub locale: String,
    /// The version, of docs other than the default ones with their id before it: `api@2.0`.
    pub version: String,
    /// `1.2.3` of module, chapter and lesson.
    pub lesson_id: Option<String>,
    /// Its place in the book.
    pub lesson: Lesson,
    /// The fingerprint of all it was read from.
    pub fingerprint: String,
    /// Why its newest text could not be indexed; its chunks are then those of the last good revision.
    pub skip_reason: Option<String>,
    /// Whether it is gone; the row stays as a tombstone.
    pub deleted: bool,
}

/// A document's row as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// What the last commit wrote.
    pub row: DocumentRow,
    /// Rises by one with each commit, from 1.
    pub revision: i64,
    /// How many chunks it has.
    pub chunk_count: u64,
    /// When it was last committed.
    pub last_indexed_at: Timestamp,
}

/// A chunk's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRow {
    /// The chunk.
    pub chunk_id: Uuid,
    /// Its place in the document, from 0.
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
    /// The point that holds its vectors and payload.
    pub point_id: Uuid,
    /// The text as shown.
    pub text: String,
    /// The hash of the embedded text: equal hash, equal vectors.
    pub text_hash: String,
    /// The hash of the payload: equal hashes, the same point.
    pub payload_hash: String,
}

/// A chunk to write.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChunk {
    /// Its row.
    pub row: ChunkRow,
    /// What its point holds, for the search without the vector store.
    pub payload: ChunkPayload,
}

/// A change of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The index.
    pub index_id: i64,
    /// The document's new row.
    pub document: DocumentRow,
    /// The revision that was read before; 0 when there was none.
    pub expected_revision: i64,
    /// The new chunks, in order; `None` keeps those there are.
    pub chunks: Option<Vec<NewChunk>>,
    /// The points upserted for this commit; all must still be intents.
    pub intents: Vec<Uuid>,
    /// The other files that were used or looked for.
    pub inputs: Vec<String>,
}

/// What became of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// It is done; these points are garbage now.
    Committed {
        /// Points no chunk uses any more.
        garbage: Vec<Uuid>,
    },
    /// Another writer was first, or an intent was swept: nothing was written.
    Conflict,
    /// The index is retired: nothing was written.
    Retired,
}

/// A point whose deletion is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// The point.
    pub point_id: Uuid,
    /// Whether its row may go once it is deleted; otherwise it is deleted again later.
    pub last_time: bool,
}

/// A chunk that the book holds.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedChunk {
    /// Its point.
    pub point_id: Uuid,
    /// Its place in the document, from 0.
    pub position: i32,
    /// What its point holds, with the text.
    pub payload: ChunkPayload,
    /// When its document was committed.
    pub committed_at: Timestamp,
}

/// Counts of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexStats {
    /// Documents that are not deleted.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// The cl100k tokens of their chunks.
    pub tokens: u64,
    /// Sources whose newest text could not be indexed, with the reason.
    pub stale: Vec<(String, String)>,
    /// Sources that failed when they were last tried and may succeed later, with the reason.
    pub failed: Vec<(String, String)>,
    /// Points that wait for their deletion.
    pub pending_points: u64,
    /// The newest commit.
    pub last_indexed_at: Option<Timestamp>,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryStatus {
    /// Answered, or refused because the book does not say.
    Success,
    /// Something failed.
    Error,
    /// The client asked too often.
    RateLimited,
    /// The deadline passed.
    Timeout,
    /// It is being answered, or the reader left.
    Incomplete,
}

impl QueryStatus {
    /// The name in the table.
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

/// That a question was asked: no address, and no text unless the operator wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryLog {
    /// The message's id.
    pub query_id: Uuid,
    /// HMAC of the client's address.
    pub user_ip_hash: String,
    /// HMAC of the question.
    pub question_hash: String,
    /// The chunks that were found.
    pub retrieved_chunk_ids: Vec<Uuid>,
    /// The chunks that the answer cites.
    pub cited_chunk_ids: Vec<Uuid>,
    /// How long it took, in milliseconds.
    pub response_time_ms: u64,
    /// How it ended.
    pub status: QueryStatus,
    /// Whether the book answered it.
    pub answered: bool,
    /// Whether the book may not have answered it, and the answer said so.
    pub uncertain: bool,
    /// The tokens that models read and wrote for it.
    pub tokens: u64,
    /// What they cost, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Whether something did not work and was done without.
    pub degraded: bool,
    /// What a model's former answer that was given again had cost, in millionths of a dollar; `None` for an answer made anew.
    pub saved_micro_usd: Option<u64>,
    /// The question, where the operator wants it kept.
    pub question: Option<String>,
}

/// A reader's judgement of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rating {
    /// It helped.
    Up,
    /// It did not.
    Down,
    /// A citation was followed.
    CitationClicked,
}

impl Rating {
    /// The name in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::CitationClicked => "citation_clicked",
        }
    }
}

/// A judgement of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// The message's id.
    pub message_id: Uuid,
    /// The judgement.
    pub rating: Rating,
    /// The reader's words.
    pub comment: Option<String>,
}
