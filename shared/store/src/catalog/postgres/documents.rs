//! Queries for documents and chunks.

use std::ops::RangeInclusive;

use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};
use uuid::Uuid;

use super::PostgresCatalog;
use super::values::unsigned;
use crate::catalog::{
    CatalogError, ChunkRow, DocumentRow, DocumentState, JoinedChunk, StoredDocument,
};
use crate::index::with_text;

impl PostgresCatalog {
    pub(in crate::catalog) async fn document(
        &self,
        index_id: i64,
        source: &str,
    ) -> Result<Option<StoredDocument>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT *, (SELECT count(*) FROM document_chunks AS chunk
                    WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                 ) AS chunk_count
                 FROM documents AS document WHERE index_id = $1 AND source = $2",
                &[(&index_id, Type::INT8), (&source, Type::TEXT)],
            )
            .await?;
        rows.first().map(stored_document).transpose()
    }

    pub(in crate::catalog) async fn documents(
        &self,
        index_id: i64,
    ) -> Result<Vec<StoredDocument>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT *, (SELECT count(*) FROM document_chunks AS chunk
                    WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                 ) AS chunk_count
                 FROM documents AS document WHERE index_id = $1 AND NOT deleted ORDER BY source",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        rows.iter().map(stored_document).collect()
    }

    pub(in crate::catalog) async fn states(
        &self,
        index_id: i64,
    ) -> Result<Vec<DocumentState>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT source, fingerprint, skip_reason, last_indexed_at, EXISTS (SELECT 1 FROM document_chunks AS chunk
                    WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                 ) AS has_chunks
                 FROM documents AS document WHERE index_id = $1 AND NOT deleted",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        // Each row is freed once it is converted.
        rows.into_iter()
            .map(|row| {
                Ok(DocumentState {
                    source: row.try_get("source")?,
                    fingerprint: row.try_get("fingerprint")?,
                    skip_reason: row.try_get("skip_reason")?,
                    has_chunks: row.try_get("has_chunks")?,
                    last_indexed_at: row.try_get("last_indexed_at")?,
                })
            })
            .collect()
    }

    /// Pairs of a URL that several documents have and the source path of one of them.
    pub(in crate::catalog) async fn shared_urls(
        &self,
        index_id: i64,
    ) -> Result<Vec<(String, String)>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT url, source FROM documents WHERE index_id = $1 AND NOT deleted AND url IN (
                    SELECT url FROM documents WHERE index_id = $1 AND NOT deleted AND url <> ''
                    GROUP BY url HAVING count(*) > 1)",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        rows.iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect()
    }

    /// Pairs of a source path and its page's URL.
    pub(in crate::catalog) async fn urls(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<Vec<(String, String)>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT source, url FROM documents WHERE index_id = $1 AND NOT deleted AND source = ANY($2)",
                &[(&index_id, Type::INT8), (&sources, Type::TEXT_ARRAY)],
            )
            .await?;
        rows.iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect()
    }

    pub(in crate::catalog) async fn dependents(
        &self,
        index_id: i64,
        path: &str,
    ) -> Result<Vec<String>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT source FROM documents JOIN document_inputs USING (index_id, document_id)
                 WHERE index_id = $1 AND path = $2 ORDER BY source",
                &[(&index_id, Type::INT8), (&path, Type::TEXT)],
            )
            .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Pairs of a document's source path and a file that it used.
    pub(in crate::catalog) async fn inputs(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<Vec<(String, String)>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT source, path FROM documents JOIN document_inputs USING (index_id, document_id)
                 WHERE index_id = $1 AND NOT deleted AND source = ANY($2)",
                &[(&index_id, Type::INT8), (&sources, Type::TEXT_ARRAY)],
            )
            .await?;
        rows.iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect()
    }

    pub(in crate::catalog) async fn outer_inputs(
        &self,
        index_id: i64,
    ) -> Result<Vec<String>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT DISTINCT path COLLATE \"C\" FROM document_inputs WHERE index_id = $1 AND path LIKE '../%' ORDER BY 1",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    pub(in crate::catalog) async fn chunks(
        &self,
        index_id: i64,
        document_id: Uuid,
    ) -> Result<Vec<ChunkRow>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT chunk_id, position, chapter, chapter_id, section, section_id, source_file, start_line, end_line,
                    token_count, qdrant_point_id, text, text_hash, payload_hash
                 FROM document_chunks WHERE index_id = $1 AND document_id = $2 ORDER BY position",
                &[(&index_id, Type::INT8), (&document_id, Type::UUID)],
            )
            .await?;
        rows.iter().map(chunk_row).collect()
    }

    pub(in crate::catalog) async fn points_with_text(
        &self,
        index_id: i64,
        text_hashes: &[String],
    ) -> Result<Vec<(String, Uuid)>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT DISTINCT ON (text_hash) text_hash, qdrant_point_id FROM document_chunks
                 WHERE index_id = $1 AND text_hash = ANY($2) ORDER BY text_hash, qdrant_point_id",
                &[(&index_id, Type::INT8), (&text_hashes, Type::TEXT_ARRAY)],
            )
            .await?;
        rows.iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect()
    }

    pub(in crate::catalog) async fn join(
        &self,
        index_id: i64,
        points: &[Uuid],
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        let rows = self
            .pool
            .query(
                &format!("{JOINED} WHERE index_id = $1 AND qdrant_point_id = ANY($2)"),
                &[(&index_id, Type::INT8), (&points, Type::UUID_ARRAY)],
            )
            .await?;
        joined_chunks(&rows)
    }

    pub(in crate::catalog) async fn around(
        &self,
        index_id: i64,
        places: &[(Uuid, RangeInclusive<i32>)],
    ) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
        let documents: Vec<Uuid> = places.iter().map(|(document, _)| *document).collect();
        let firsts: Vec<i32> = places.iter().map(|(_, at)| *at.start()).collect();
        let lasts: Vec<i32> = places.iter().map(|(_, at)| *at.end()).collect();
        let rows = self
            .pool
            .query(
                &format!(
                    "SELECT place.number, chunk.*
                     FROM unnest($2, $3, $4) WITH ORDINALITY AS place (document, first, last, number)
                     JOIN LATERAL ({JOINED} WHERE index_id = $1 AND document_id = document AND position BETWEEN first AND last) AS chunk
                     ON true ORDER BY number, position"
                ),
                &[
                    (&index_id, Type::INT8),
                    (&documents, Type::UUID_ARRAY),
                    (&firsts, Type::INT4_ARRAY),
                    (&lasts, Type::INT4_ARRAY),
                ],
            )
            .await?;
        lists_of_chunks(&rows, places.len())
    }
}

pub(super) const JOINED: &str =
    "SELECT qdrant_point_id, position, text, payload::text AS payload, last_indexed_at
     FROM document_chunks JOIN documents USING (index_id, document_id)";

/// Converts rows to chunks. Omits those whose payload cannot be read.
pub(super) fn joined_chunks(rows: &[Row]) -> Result<Vec<JoinedChunk>, CatalogError> {
    let mut chunks = Vec::with_capacity(rows.len());
    for row in rows {
        let fields = serde_json::from_str(row.try_get("payload")?);
        if let Some(payload) = with_text(fields, row.try_get("text")?) {
            chunks.push(JoinedChunk {
                point_id: row.try_get("qdrant_point_id")?,
                position: row.try_get("position")?,
                payload,
                committed_at: row.try_get("last_indexed_at")?,
            });
        }
    }
    Ok(chunks)
}

/// Converts rows ordered by `number`, from 1, to one list per number.
pub(super) fn lists_of_chunks(
    rows: &[Row],
    count: usize,
) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
    let mut lists = vec![Vec::new(); count];
    for (chunks, number) in lists.iter_mut().zip(1..) {
        let first = rows.partition_point(|row| number_of(row) < number);
        let end = rows.partition_point(|row| number_of(row) <= number);
        *chunks = joined_chunks(&rows[first..end])?;
    }
    Ok(lists)
}

fn number_of(row: &Row) -> i64 {
    row.get("number")
}

fn stored_document(row: &Row) -> Result<StoredDocument, CatalogError> {
    let Json(lesson) = row.try_get("lesson")?;
    Ok(StoredDocument {
        row: DocumentRow {
            document_id: row.try_get("document_id")?,
            source: row.try_get("source")?,
            title: row.try_get("title")?,
            url: row.try_get("url")?,
            locale: row.try_get("locale")?,
            version: row.try_get("version")?,
            lesson_id: row.try_get("lesson_id")?,
            placement: lesson,
            fingerprint: row.try_get("fingerprint")?,
            skip_reason: row.try_get("skip_reason")?,
            deleted: row.try_get("deleted")?,
        },
        revision: row.try_get("revision")?,
        chunk_count: unsigned(row, "chunk_count")?,
        last_indexed_at: row.try_get("last_indexed_at")?,
    })
}

fn chunk_row(row: &Row) -> Result<ChunkRow, CatalogError> {
    Ok(ChunkRow {
        chunk_id: row.try_get("chunk_id")?,
        position: row.try_get("position")?,
        chapter: row.try_get("chapter")?,
        chapter_id: row.try_get("chapter_id")?,
        section: row.try_get("section")?,
        section_id: row.try_get("section_id")?,
        source_file: row.try_get("source_file")?,
        start_line: unsigned(row, "start_line")?,
        end_line: unsigned(row, "end_line")?,
        token_count: unsigned(row, "token_count")?,
        point_id: row.try_get("qdrant_point_id")?,
        text: row.try_get("text")?,
        text_hash: row.try_get("text_hash")?,
        payload_hash: row.try_get("payload_hash")?,
    })
}
