//! The commit of a document in SQLite.

use rusqlite::{OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::values::{json, now, rows};
use super::{DatabaseError, SqliteCatalog, begin_write};
use crate::catalog::sql::{self, CHUNK_CHANGES, CHUNK_COLUMNS};
use crate::catalog::{CatalogError, Commit, CommitOutcome, IndexState, NewChunk};
use crate::index::{ChunkPayload, document_terms, split, without_text};

impl SqliteCatalog {
    pub(in crate::catalog) async fn commit(
        &self,
        commit: &Commit,
    ) -> Result<CommitOutcome, CatalogError> {
        let commit = commit.clone();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            let outcome = write(&transaction, &commit)?;
            // Otherwise dropping the transaction rolls it back.
            if matches!(outcome, CommitOutcome::Committed { .. }) {
                transaction.commit()?;
            }
            Ok(outcome)
        })
        .await
    }
}

fn write(transaction: &Transaction, commit: &Commit) -> Result<CommitOutcome, DatabaseError> {
    let state: Option<String> = transaction
        .query_row(
            "SELECT state FROM indexes WHERE index_id = ?1",
            [commit.index_id],
            |row| row.get(0),
        )
        .optional()?;
    match state.as_deref().map(IndexState::named) {
        None => {
            return Err(DatabaseError::Rejected(format!(
                "no index {}",
                commit.index_id
            )));
        }
        Some(Some(IndexState::Retired)) => return Ok(CommitOutcome::Retired),
        Some(_) => {}
    }
    if write_document(transaction, commit)? == 0 {
        return Ok(CommitOutcome::Conflict);
    }
    if take_intents(transaction, commit)? != commit.intents.len() {
        return Ok(CommitOutcome::Conflict);
    }
    write_inputs(transaction, commit)?;
    transaction.execute(
        sql::FORGET_FAILURE,
        (commit.index_id, &commit.document.source),
    )?;
    let garbage = match &commit.chunks {
        Some(chunks) => write_chunks(transaction, commit, chunks)?,
        None => Vec::new(),
    };
    Ok(CommitOutcome::Committed { garbage })
}

/// Writes the row if its revision is the expected one. Returns the number of rows written.
fn write_document(transaction: &Transaction, commit: &Commit) -> rusqlite::Result<usize> {
    let document = &commit.document;
    transaction.execute(
        sql::WRITE_DOCUMENT.sqlite,
        params![
            commit.index_id,
            document.document_id.to_string(),
            document.source,
            document.title,
            document.url,
            document.locale,
            document.version,
            document.lesson_id,
            json(&document.placement),
            document.fingerprint,
            document.skip_reason,
            document.deleted,
            commit.expected_revision,
            now(),
        ],
    )
}

fn take_intents(transaction: &Transaction, commit: &Commit) -> rusqlite::Result<usize> {
    transaction.execute(
        "DELETE FROM pending_points
         WHERE index_id = ?1 AND kind = 'intent' AND point_id IN (SELECT value FROM json_each(?2))",
        (commit.index_id, json(&commit.intents)),
    )
}

fn write_inputs(transaction: &Transaction, commit: &Commit) -> rusqlite::Result<()> {
    let document_id = commit.document.document_id.to_string();
    transaction.execute(sql::DELETE_INPUTS, (commit.index_id, &document_id))?;
    transaction.execute(
        "INSERT INTO document_inputs (index_id, document_id, path) SELECT DISTINCT ?1, ?2, value FROM json_each(?3)",
        (commit.index_id, &document_id, json(&commit.inputs)),
    )?;
    Ok(())
}

/// Replaces the chunks. Returns the points that only the old chunks used, which are now garbage. A chunk that keeps its point
/// keeps its payload, which holds the time of the point.
fn write_chunks(
    transaction: &Transaction,
    commit: &Commit,
    chunks: &[NewChunk],
) -> Result<Vec<Uuid>, DatabaseError> {
    let document_id = commit.document.document_id.to_string();
    let points: Vec<_> = chunks.iter().map(|chunk| chunk.row.point_id).collect();
    let chunk_ids: Vec<_> = chunks.iter().map(|chunk| chunk.row.chunk_id).collect();
    let garbage = rows(
        transaction,
        "INSERT INTO pending_points (index_id, point_id, document_id, kind, created_at)
         SELECT index_id, qdrant_point_id, document_id, 'garbage', ?4 FROM document_chunks
         WHERE index_id = ?1 AND document_id = ?2
            AND qdrant_point_id NOT IN (SELECT value FROM json_each(?3))
         RETURNING point_id",
        (commit.index_id, &document_id, json(&points), now()),
    )?;
    transaction.execute(
        "DELETE FROM document_chunks
         WHERE index_id = ?1 AND document_id = ?2 AND chunk_id NOT IN (SELECT value FROM json_each(?3))",
        (commit.index_id, &document_id, json(&chunk_ids)),
    )?;
    for chunk in chunks {
        write_chunk(transaction, commit, chunk)?;
    }
    transaction
        .prepare_cached("UPDATE indexes SET generation = generation + 1 WHERE index_id = ?1")?
        .execute([commit.index_id])?;
    Ok(garbage)
}

fn write_chunk(
    transaction: &Transaction,
    commit: &Commit,
    NewChunk {
        row: chunk,
        payload,
    }: &NewChunk,
) -> rusqlite::Result<()> {
    let chunk_id = chunk.chunk_id.to_string();
    let point_id = chunk.point_id.to_string();
    let kept: bool = transaction
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM document_chunks
             WHERE index_id = ?1 AND chunk_id = ?2 AND qdrant_point_id = ?3)",
        )?
        .query_row((commit.index_id, &chunk_id, &point_id), |row| row.get(0))?;
    // A chunk that keeps its point keeps its payload, and therefore its terms.
    let new = (!kept).then(|| Searchable::from_payload(payload));
    let chunk_number: i64 = transaction
        .prepare_cached(&format!(
            "INSERT INTO document_chunks (index_id, document_id, {CHUNK_COLUMNS}, created_at, updated_at, payload,
                metadata_id, term_count)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?17,
                coalesce(?18, (SELECT payload FROM document_chunks WHERE index_id = ?1 AND chunk_id = ?3)),
                coalesce(?19, (SELECT metadata_id FROM document_chunks WHERE index_id = ?1 AND chunk_id = ?3)),
                coalesce(?20, (SELECT term_count FROM document_chunks WHERE index_id = ?1 AND chunk_id = ?3)))
             ON CONFLICT (index_id, chunk_id) DO UPDATE SET {CHUNK_CHANGES},
                payload = excluded.payload, metadata_id = excluded.metadata_id, term_count = excluded.term_count
             RETURNING chunk_number"
        ))?
        .query_row(
            params![
                commit.index_id,
                commit.document.document_id.to_string(),
                chunk_id,
                chunk.position,
                chunk.chapter,
                chunk.chapter_id,
                chunk.section,
                chunk.section_id,
                chunk.source_file,
                chunk.start_line,
                chunk.end_line,
                chunk.token_count,
                point_id,
                chunk.text,
                chunk.text_hash,
                chunk.payload_hash,
                now(),
                new.as_ref().map(|new| &new.own),
                new.as_ref().map(|new| new.metadata_id),
                new.as_ref().map(|new| new.terms.len()),
            ],
            |row| row.get(0),
        )?;
    if let Some(new) = new {
        transaction
            .prepare_cached(
                "INSERT INTO chunk_metadata (metadata_id, fields) VALUES (?1, ?2)
                 ON CONFLICT (metadata_id) DO UPDATE SET fields = excluded.fields WHERE fields <> excluded.fields",
            )?
            .execute((new.metadata_id, new.shared))?;
        transaction
            .prepare_cached("INSERT OR REPLACE INTO chunk_words (rowid, terms) VALUES (?1, ?2)")?
            .execute((chunk_number, new.terms.join(" ")))?;
    }
    Ok(())
}

struct Searchable {
    /// The row id of `shared` in `chunk_metadata`.
    metadata_id: i64,
    shared: String,
    own: String,
    terms: Vec<String>,
}

impl Searchable {
    fn from_payload(payload: &ChunkPayload) -> Self {
        let (shared, own) = split(without_text(payload));
        let (shared, own) = (json(&shared), json(&own));
        Self {
            metadata_id: number_of(&shared),
            shared,
            own,
            terms: document_terms(payload),
        }
    }
}

/// Returns the row id in `chunk_metadata`: 64 bits of a hash. Among a million texts, the chance of a collision is 1 in 30 million.
fn number_of(fields: &str) -> i64 {
    let hash: [u8; 32] = Sha256::digest(fields).into();
    let (numbers, _) = hash.as_chunks();
    i64::from_be_bytes(numbers[0])
}
