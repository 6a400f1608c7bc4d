//! Plans the changes for a new text: which points stay, which stored vectors are reused, and which texts must be embedded.

use std::collections::HashMap;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::IngestError;
use book::chunk::Chunk;
use book::{Document, UNKNOWN, hex};
use models::embed::Embedding;
use models::provider::ProviderError;
use store::catalog::{Catalog, ChunkRow, IndexRow, IndexSpec, IndexState, NewChunk};
use store::index::{ChunkPayload, NewPoint, VectorIndex};

pub(super) struct Plan<'a> {
    pub(super) chunks: Vec<PlannedChunk<'a>>,
    /// The known vectors of questions, by their text.
    questions: HashMap<String, Vec<f32>>,
    document: &'a Document,
}

pub(super) struct PlannedChunk<'a> {
    pub(super) chunk: &'a Chunk,
    text_hash: String,
    payload: ChunkPayload,
    payload_hash: String,
    point_id: Uuid,
    pub(super) vector: Vector,
}

/// The source of a chunk's vectors.
pub(super) enum Vector {
    /// The stored point stays unchanged.
    Kept,
    /// To be copied from this stored point.
    Stored(Uuid),
    ToEmbed,
    Ready(Embedding),
    /// Copied from a stored point.
    Reused(Embedding),
}

pub(super) fn hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}

impl<'a> Plan<'a> {
    /// Matches new chunks with stored ones by the hash of their embedded text.
    pub(super) fn new(
        document: &'a Document,
        chunks: &'a [Chunk],
        old: &[ChunkRow],
        new_point_id: fn() -> Uuid,
    ) -> Self {
        let mut unmatched: Vec<&ChunkRow> = old.iter().collect();
        let created_at = Timestamp::now().to_string();
        let chunks = chunks
            .iter()
            .map(|chunk| {
                let text_hash = hash(&chunk.embedded_text());
                let payload = ChunkPayload::new(document, chunk, created_at.clone());
                let payload_hash = payload.hash();
                let same = unmatched.iter().position(|row| {
                    row.chunk_id == chunk.chunk_id
                        && row.text_hash == text_hash
                        && row.payload_hash == payload_hash
                });
                let (point_id, vector) = if let Some(at) = same {
                    (unmatched.remove(at).point_id, Vector::Kept)
                } else if let Some(row) = old.iter().find(|row| row.text_hash == text_hash) {
                    (new_point_id(), Vector::Stored(row.point_id))
                } else {
                    (new_point_id(), Vector::ToEmbed)
                };
                PlannedChunk {
                    chunk,
                    text_hash,
                    payload,
                    payload_hash,
                    point_id,
                    vector,
                }
            })
            .collect();
        Self {
            chunks,
            questions: HashMap::new(),
            document,
        }
    }

    /// Finds stored vectors for new chunks: from this document's old chunks, from any chunk with the same text, and from the live
    /// index if it uses the same model. A renamed site or another chunk policy therefore embeds little again.
    pub(super) async fn find_stored_vectors(
        &mut self,
        catalog: &Catalog,
        index: &VectorIndex,
        row: &IndexRow,
    ) -> Result<(), IngestError> {
        self.take_over(catalog, index, row).await?;
        let is_complete = !self.chunks.iter().any(PlannedChunk::is_to_embed);
        if row.state == IndexState::Live || is_complete {
            return Ok(());
        }
        match catalog.live_index().await? {
            Some(live) if live.index_id != row.index_id && embeds_alike(&live.spec, &row.spec) => {
                self.take_over(catalog, index, &live).await
            }
            _ => Ok(()),
        }
    }

    async fn take_over(
        &mut self,
        catalog: &Catalog,
        index: &VectorIndex,
        row: &IndexRow,
    ) -> Result<(), IngestError> {
        let unknown: Vec<String> = self
            .chunks
            .iter()
            .filter(|chunk| chunk.is_to_embed())
            .map(|chunk| chunk.text_hash.clone())
            .collect();
        if !unknown.is_empty() {
            let elsewhere: HashMap<String, Uuid> = catalog
                .points_with_text(row.index_id, &unknown)
                .await?
                .into_iter()
                .collect();
            for chunk in &mut self.chunks {
                if let (Vector::ToEmbed, Some(point)) =
                    (&chunk.vector, elsewhere.get(&chunk.text_hash))
                {
                    chunk.vector = Vector::Stored(*point);
                }
            }
        }
        let points: Vec<Uuid> = self
            .chunks
            .iter()
            .filter_map(|chunk| match chunk.vector {
                Vector::Stored(point) => Some(point),
                _ => None,
            })
            .collect();
        if points.is_empty() {
            return Ok(());
        }
        let stored = index.vectors(&row.collection, &points).await?;
        self.take_over_questions(index, row, &stored).await?;
        for chunk in &mut self.chunks {
            let Vector::Stored(point) = chunk.vector else {
                continue;
            };
            // The point may have been deleted since.
            chunk.vector = match stored.get(&point) {
                Some(stored) if stored.vector.len() == row.spec.dimensions => {
                    Vector::Reused(stored.clone())
                }
                _ => Vector::ToEmbed,
            };
        }
        Ok(())
    }

    /// Finds the vectors of questions whose section's text has changed, in the document's old points.
    pub(super) async fn find_stored_questions(
        &mut self,
        index: &VectorIndex,
        row: &IndexRow,
        old: &[ChunkRow],
    ) -> Result<(), IngestError> {
        if self.unknown_questions().is_empty() || old.is_empty() {
            return Ok(());
        }
        let points: Vec<Uuid> = old.iter().map(|row| row.point_id).collect();
        let stored = index.vectors(&row.collection, &points).await?;
        self.take_over_questions(index, row, &stored).await
    }

    /// Remembers the vectors of stored points' questions.
    async fn take_over_questions(
        &mut self,
        index: &VectorIndex,
        row: &IndexRow,
        stored: &HashMap<Uuid, Embedding>,
    ) -> Result<(), IngestError> {
        if self.unknown_questions().is_empty() {
            return Ok(());
        }
        let points: Vec<Uuid> = stored
            .iter()
            .filter(|(_, embedding)| !embedding.questions.is_empty())
            .map(|(point, _)| *point)
            .collect();
        for (point, payload) in index.payloads(&row.collection, &points).await? {
            let vectors = &stored[&point].questions;
            if vectors.len() != payload.questions.len() {
                continue;
            }
            for (question, vector) in payload.questions.into_iter().zip(vectors) {
                if vector.len() == row.spec.dimensions {
                    self.questions.insert(question, vector.clone());
                }
            }
        }
        Ok(())
    }

    /// Returns the questions of new points without a known vector, each once.
    pub(super) fn unknown_questions(&self) -> Vec<String> {
        let mut unknown: Vec<String> = Vec::new();
        for question in self.fresh().flat_map(|chunk| &chunk.payload.questions) {
            if !self.questions.contains_key(question) && !unknown.contains(question) {
                unknown.push(question.clone());
            }
        }
        unknown
    }

    /// Adds the vectors of questions.
    pub(super) fn add_questions(
        &mut self,
        questions: impl IntoIterator<Item = (String, Vec<f32>)>,
    ) {
        self.questions.extend(questions);
    }

    pub(super) fn fresh_points(&self) -> Vec<Uuid> {
        self.fresh().map(|chunk| chunk.point_id).collect()
    }

    fn fresh(&self) -> impl Iterator<Item = &PlannedChunk<'a>> {
        self.chunks
            .iter()
            .filter(|chunk| !matches!(chunk.vector, Vector::Kept))
    }

    pub(super) fn new_points(&self) -> Result<Vec<NewPoint>, IngestError> {
        self.fresh()
            .map(|chunk| match &chunk.vector {
                Vector::Ready(embedding) | Vector::Reused(embedding) => Ok(NewPoint {
                    point_id: chunk.point_id,
                    payload: chunk.payload.clone(),
                    embedding: Embedding {
                        questions: self.vectors_of(&chunk.payload.questions),
                        ..embedding.clone()
                    },
                }),
                _ => Err(ProviderError::Malformed(format!(
                    "no vector for lines {} to {} of {}",
                    chunk.chunk.start_line, chunk.chunk.end_line, self.document.file.source
                ))
                .into()),
            })
            .collect()
    }

    fn vectors_of(&self, questions: &[String]) -> Vec<Vec<f32>> {
        questions
            .iter()
            .map(|question| self.questions.get(question).cloned().unwrap_or_default())
            .collect()
    }

    pub(super) fn reused(&self) -> usize {
        self.count(|vector| matches!(vector, Vector::Reused(_)))
    }

    pub(super) fn kept(&self) -> usize {
        self.count(|vector| matches!(vector, Vector::Kept))
    }

    fn count(&self, of: impl Fn(&Vector) -> bool) -> usize {
        self.chunks.iter().filter(|chunk| of(&chunk.vector)).count()
    }

    pub(super) fn new_chunks(&self, document: &Document) -> Vec<NewChunk> {
        self.chunks
            .iter()
            .zip(0..)
            .map(|(planned, position)| NewChunk {
                row: planned.row(document, position),
                payload: planned.payload.clone(),
            })
            .collect()
    }
}

/// True if equal texts have equal vectors in both indexes.
fn embeds_alike(one: &IndexSpec, other: &IndexSpec) -> bool {
    one.embedder == other.embedder
        && one.embedder_fingerprint == other.embedder_fingerprint
        && one.dimensions == other.dimensions
        && one.token_vectors == other.token_vectors
        && one.embedded_text_version == other.embedded_text_version
}

impl PlannedChunk<'_> {
    pub(super) fn is_to_embed(&self) -> bool {
        matches!(self.vector, Vector::ToEmbed)
    }

    fn row(&self, document: &Document, position: i32) -> ChunkRow {
        ChunkRow {
            chunk_id: self.chunk.chunk_id,
            position,
            chapter: document
                .placement
                .chapter
                .clone()
                .unwrap_or_else(|| UNKNOWN.to_owned()),
            chapter_id: document.placement.chapter_number,
            section: self.chunk.section.clone(),
            section_id: self.chunk.section_id.clone(),
            source_file: document.file.source.clone(),
            start_line: self.chunk.start_line,
            end_line: self.chunk.end_line,
            token_count: u32::try_from(self.chunk.token_count).unwrap_or(u32::MAX),
            point_id: self.point_id,
            text: self.chunk.text.clone(),
            text_hash: self.text_hash.clone(),
            payload_hash: self.payload_hash.clone(),
        }
    }
}
