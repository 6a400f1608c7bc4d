//! The commit of a document in Postgres.

use std::collections::BTreeMap;

use tokio_postgres::types::{Json, Type};
use uuid::Uuid;

use super::pool::Transaction;
use super::values::read;
use super::{PostgresCatalog, counts};
use crate::catalog::sql::{CHUNK_CHANGES, CHUNK_COLUMNS};
use crate::catalog::{CatalogError, Commit, CommitOutcome, IndexState, NewChunk, sql};
use crate::index::{document_terms, without_text};

// The limits of a `tsvector`: <https://www.postgresql.org/docs/current/textsearch-limitations.html>.

/// The last place in a text that is told apart from later ones.
const LAST_PLACE: usize = 16_383;
/// The most places of a word.
const MOST_PLACES: usize = 255;
/// The most bytes of a word.
pub(super) const LONGEST_LEXEME: usize = 2_046;
/// The most bytes of the text of a `tsvector` here; Postgres takes 1 MB of words with their places.
const LONGEST_TSVECTOR: usize = 500_000;

impl PostgresCatalog {
    pub(in crate::catalog) async fn commit(
        &self,
        commit: &Commit,
    ) -> Result<CommitOutcome, CatalogError> {
        let mut transaction = self.pool.begin().await?;
        let outcome = write(&mut transaction, commit).await?;
        if matches!(outcome, CommitOutcome::Committed { .. }) {
            transaction.commit().await?;
        } else {
            transaction.roll_back().await;
        }
        Ok(outcome)
    }
}

async fn write(
    transaction: &mut Transaction<'_>,
    commit: &Commit,
) -> Result<CommitOutcome, CatalogError> {
    // The lock delays a switch that would retire the index before this transaction commits.
    let index = transaction
        .query(
            "SELECT state FROM indexes WHERE index_id = $1 FOR SHARE",
            &[(&commit.index_id, Type::INT8)],
        )
        .await?;
    let Some(index) = index.first() else {
        return Err(CatalogError::Rejected(format!(
            "no index {}",
            commit.index_id
        )));
    };
    if IndexState::named(index.try_get(0)?) == Some(IndexState::Retired) {
        return Ok(CommitOutcome::Retired);
    }
    // Another commit in between has another revision, and this one then ends in a conflict.
    let before = counts::before(transaction, commit).await?;
    if write_document(transaction, commit).await? == 0 {
        return Ok(CommitOutcome::Conflict);
    }
    if take_intents(transaction, commit).await? != commit.intents.len() as u64 {
        return Ok(CommitOutcome::Conflict);
    }
    write_inputs(transaction, commit).await?;
    transaction
        .execute(
            sql::FORGET_FAILURE,
            &[
                (&commit.index_id, Type::INT8),
                (&commit.document.source, Type::TEXT),
            ],
        )
        .await?;
    let garbage = match &commit.chunks {
        Some(chunks) => {
            let garbage = remove_chunks(transaction, commit, chunks).await?;
            write_chunks(transaction, commit, chunks).await?;
            garbage
        }
        None => Vec::new(),
    };
    counts::replace(transaction, commit, &before).await?;
    Ok(CommitOutcome::Committed { garbage })
}

/// Writes the row if its revision is the expected one. Returns the number of rows written.
///
/// `ON CONFLICT` covers only the unique source. If two first commits run concurrently, the later one can violate the primary
/// key first.
async fn write_document(
    transaction: &mut Transaction<'_>,
    commit: &Commit,
) -> Result<u64, CatalogError> {
    let document = &commit.document;
    let written = transaction
        .insert(
            sql::WRITE_DOCUMENT.postgres,
            &[
                (&commit.index_id, Type::INT8),
                (&document.document_id, Type::UUID),
                (&document.source, Type::TEXT),
                (&document.title, Type::TEXT),
                (&document.url, Type::TEXT),
                (&document.locale, Type::TEXT),
                (&document.version, Type::TEXT),
                (&document.lesson_id, Type::TEXT),
                (&Json(&document.placement), Type::JSONB),
                (&document.fingerprint, Type::TEXT),
                (&document.skip_reason, Type::TEXT),
                (&document.deleted, Type::BOOL),
                (&commit.expected_revision, Type::INT8),
            ],
        )
        .await?;
    Ok(written.unwrap_or(0))
}

async fn take_intents(
    transaction: &mut Transaction<'_>,
    commit: &Commit,
) -> Result<u64, CatalogError> {
    transaction
        .execute(
            "DELETE FROM pending_points WHERE index_id = $1 AND kind = 'intent' AND point_id = ANY($2)",
            &[
                (&commit.index_id, Type::INT8),
                (&commit.intents, Type::UUID_ARRAY),
            ],
        )
        .await
}

async fn write_inputs(
    transaction: &mut Transaction<'_>,
    commit: &Commit,
) -> Result<(), CatalogError> {
    let document_id = commit.document.document_id;
    transaction
        .execute(
            sql::DELETE_INPUTS,
            &[(&commit.index_id, Type::INT8), (&document_id, Type::UUID)],
        )
        .await?;
    transaction
        .execute(
            "INSERT INTO document_inputs (index_id, document_id, path)
             SELECT DISTINCT $1, $2, path FROM unnest($3) AS path",
            &[
                (&commit.index_id, Type::INT8),
                (&document_id, Type::UUID),
                (&commit.inputs, Type::TEXT_ARRAY),
            ],
        )
        .await?;
    Ok(())
}

/// Deletes the chunks that the commit lacks. Returns the points that only old chunks used, which are now garbage.
async fn remove_chunks(
    transaction: &mut Transaction<'_>,
    commit: &Commit,
    chunks: &[NewChunk],
) -> Result<Vec<Uuid>, CatalogError> {
    let points = column(chunks, |chunk| chunk.row.point_id);
    let chunk_ids = column(chunks, |chunk| chunk.row.chunk_id);
    let rows = transaction
        .query(
            "WITH removed AS (
                DELETE FROM document_chunks WHERE index_id = $1 AND document_id = $2 AND chunk_id <> ALL($4))
             INSERT INTO pending_points (index_id, point_id, document_id, kind)
             SELECT index_id, qdrant_point_id, document_id, 'garbage' FROM document_chunks
             WHERE index_id = $1 AND document_id = $2 AND qdrant_point_id <> ALL($3)
             RETURNING point_id",
            &[
                (&commit.index_id, Type::INT8),
                (&commit.document.document_id, Type::UUID),
                (&points, Type::UUID_ARRAY),
                (&chunk_ids, Type::UUID_ARRAY),
            ],
        )
        .await?;
    read(rows)
}

/// Writes the new chunks. A chunk that keeps its point keeps its payload, which holds the time of the point.
async fn write_chunks(
    transaction: &mut Transaction<'_>,
    commit: &Commit,
    chunks: &[NewChunk],
) -> Result<(), CatalogError> {
    transaction
        .execute(
            &format!(
                "INSERT INTO document_chunks (index_id, document_id, {CHUNK_COLUMNS}, payload, terms)
                 SELECT $1, $2, chunk.*
                 FROM unnest($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18::text[]::tsvector[]) AS chunk
                 ON CONFLICT (index_id, chunk_id) DO UPDATE SET {CHUNK_CHANGES},
                    payload = CASE WHEN document_chunks.qdrant_point_id = excluded.qdrant_point_id
                        THEN document_chunks.payload ELSE excluded.payload END,
                    terms = excluded.terms"
            ),
            &[
                (&commit.index_id, Type::INT8),
                (&commit.document.document_id, Type::UUID),
                (&column(chunks, |chunk| chunk.row.chunk_id), Type::UUID_ARRAY),
                (&column(chunks, |chunk| chunk.row.position), Type::INT4_ARRAY),
                (&column(chunks, |chunk| chunk.row.chapter.as_str()), Type::TEXT_ARRAY),
                (&column(chunks, |chunk| chunk.row.chapter_id), Type::INT8_ARRAY),
                (&column(chunks, |chunk| chunk.row.section.as_deref()), Type::TEXT_ARRAY),
                (&column(chunks, |chunk| chunk.row.section_id.as_deref()), Type::TEXT_ARRAY),
                (&column(chunks, |chunk| chunk.row.source_file.as_str()), Type::TEXT_ARRAY),
                (&column(chunks, |chunk| i64::from(chunk.row.start_line)), Type::INT8_ARRAY),
                (&column(chunks, |chunk| i64::from(chunk.row.end_line)), Type::INT8_ARRAY),
                (&column(chunks, |chunk| i64::from(chunk.row.token_count)), Type::INT8_ARRAY),
                (&column(chunks, |chunk| chunk.row.point_id), Type::UUID_ARRAY),
                (&column(chunks, |chunk| chunk.row.text.as_str()), Type::TEXT_ARRAY),
                (&column(chunks, |chunk| chunk.row.text_hash.as_str()), Type::TEXT_ARRAY),
                (&column(chunks, |chunk| chunk.row.payload_hash.as_str()), Type::TEXT_ARRAY),
                (&column(chunks, |chunk| Json(without_text(&chunk.payload))), Type::JSONB_ARRAY),
                (&column(chunks, |chunk| lexemes(document_terms(&chunk.payload))), Type::TEXT_ARRAY),
            ],
        )
        .await?;
    Ok(())
}

fn column<'a, T>(chunks: &'a [NewChunk], value: impl Fn(&'a NewChunk) -> T) -> Vec<T> {
    chunks.iter().map(value).collect()
}

/// Returns terms as the text of a `tsvector`, with their places in the chunk. They are letters, digits, marks and underscores, so they need no quotes.
/// Terms and texts that are too long for Postgres are cut.
fn lexemes(terms: Vec<String>) -> String {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (term, place) in terms.into_iter().zip(1..) {
        let place = LAST_PLACE.min(place);
        places.entry(term).or_default().push(place.to_string());
    }
    let mut text = String::new();
    for (term, mut places) in places {
        places.truncate(MOST_PLACES);
        if term.len() <= LONGEST_LEXEME && text.len() + term.len() < LONGEST_TSVECTOR {
            text.extend([term.as_str(), ":", &places.join(","), " "]);
        }
    }
    text
}
