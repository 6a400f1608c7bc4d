//! Queries for documents and chunks.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, Params, Row};
use uuid::Uuid;

use super::values::{count, from_json, json, timestamp, uuid};
use super::{DatabaseError, SqliteCatalog};
use crate::catalog::{
    CatalogError, ChunkRow, DocumentRow, DocumentState, JoinedChunk, StoredDocument,
};
use crate::index::{STORED_COLUMNS, stored_payload};

impl SqliteCatalog {
    pub(in crate::catalog) async fn document(
        &self,
        index_id: i64,
        source: &str,
    ) -> Result<Option<StoredDocument>, CatalogError> {
        let source = source.to_owned();
        self.run(move |connection| {
            let document = connection
                .query_row(
                    "SELECT *, (SELECT count(*) FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                     ) AS chunk_count
                     FROM documents AS document WHERE index_id = ?1 AND source = ?2",
                    (index_id, source),
                    stored_document,
                )
                .optional()?;
            Ok(document)
        })
        .await
    }

    pub(in crate::catalog) async fn documents(
        &self,
        index_id: i64,
    ) -> Result<Vec<StoredDocument>, CatalogError> {
        self.run(move |connection| {
            let documents = connection
                .prepare(
                    "SELECT *, (SELECT count(*) FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                     ) AS chunk_count
                     FROM documents AS document WHERE index_id = ?1 AND NOT deleted ORDER BY source",
                )?
                .query_map([index_id], stored_document)?
                .collect::<Result<_, _>>()?;
            Ok(documents)
        })
        .await
    }

    pub(in crate::catalog) async fn states(
        &self,
        index_id: i64,
    ) -> Result<Vec<DocumentState>, CatalogError> {
        self.run(move |connection| {
            let states = connection
                .prepare(
                    "SELECT source, fingerprint, skip_reason, last_indexed_at, EXISTS (SELECT 1 FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                     ) AS has_chunks
                     FROM documents AS document WHERE index_id = ?1 AND NOT deleted",
                )?
                .query_map([index_id], |row| {
                    Ok(DocumentState {
                        source: row.get("source")?,
                        fingerprint: row.get("fingerprint")?,
                        skip_reason: row.get("skip_reason")?,
                        has_chunks: row.get("has_chunks")?,
                        last_indexed_at: timestamp(row, "last_indexed_at")?,
                    })
                })?
                .collect::<Result<_, _>>()?;
            Ok(states)
        })
        .await
    }

    /// Pairs of a URL that several documents have and the source path of one of them.
    pub(in crate::catalog) async fn shared_urls(
        &self,
        index_id: i64,
    ) -> Result<Vec<(String, String)>, CatalogError> {
        self.run(move |connection| {
            let pairs = connection
                .prepare(
                    "SELECT url, source FROM documents WHERE index_id = ?1 AND NOT deleted AND url IN (
                        SELECT url FROM documents WHERE index_id = ?1 AND NOT deleted AND url <> ''
                        GROUP BY url HAVING count(*) > 1)",
                )?
                .query_map([index_id], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            Ok(pairs)
        })
        .await
    }

    /// Pairs of a source path and its page's URL.
    pub(in crate::catalog) async fn urls(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<Vec<(String, String)>, CatalogError> {
        let sources = json(&sources);
        self.read(move |connection| {
            let urls = connection
                .prepare(
                    "SELECT source, url FROM documents
                     WHERE index_id = ?1 AND NOT deleted AND source IN (SELECT value FROM json_each(?2))",
                )?
                .query_map((index_id, sources), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            Ok(urls)
        })
        .await
    }

    pub(in crate::catalog) async fn dependents(
        &self,
        index_id: i64,
        path: &str,
    ) -> Result<Vec<String>, CatalogError> {
        let path = path.to_owned();
        self.run(move |connection| {
            let sources = connection
                .prepare(
                    "SELECT source FROM documents JOIN document_inputs USING (index_id, document_id)
                     WHERE index_id = ?1 AND path = ?2 ORDER BY source",
                )?
                .query_map((index_id, path), |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            Ok(sources)
        })
        .await
    }

    /// Pairs of a document's source path and a file that it used.
    pub(in crate::catalog) async fn inputs(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<Vec<(String, String)>, CatalogError> {
        let sources = json(&sources);
        self.run(move |connection| {
            let inputs = connection
                .prepare(
                    "SELECT source, path FROM documents JOIN document_inputs USING (index_id, document_id)
                     WHERE index_id = ?1 AND NOT deleted AND source IN (SELECT value FROM json_each(?2))",
                )?
                .query_map((index_id, sources), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            Ok(inputs)
        })
        .await
    }

    pub(in crate::catalog) async fn outer_inputs(
        &self,
        index_id: i64,
    ) -> Result<Vec<String>, CatalogError> {
        self.run(move |connection| {
            // Both bounds together are the prefix `../`, which the index on paths finds. `0` follows `/`.
            let paths = connection
                .prepare(
                    "SELECT DISTINCT path FROM document_inputs
                     WHERE index_id = ?1 AND path >= '../' AND path < '..0' ORDER BY path",
                )?
                .query_map([index_id], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            Ok(paths)
        })
        .await
    }

    pub(in crate::catalog) async fn chunks(
        &self,
        index_id: i64,
        document_id: Uuid,
    ) -> Result<Vec<ChunkRow>, CatalogError> {
        self.run(move |connection| {
            let chunks = connection
                .prepare(
                    "SELECT chunk_id, position, chapter, chapter_id, section, section_id, source_file, start_line, end_line,
                        token_count, qdrant_point_id, text, text_hash, payload_hash
                     FROM document_chunks WHERE index_id = ?1 AND document_id = ?2 ORDER BY position",
                )?
                .query_map((index_id, document_id.to_string()), chunk_row)?
                .collect::<Result<_, _>>()?;
            Ok(chunks)
        })
        .await
    }

    pub(in crate::catalog) async fn points_with_text(
        &self,
        index_id: i64,
        text_hashes: &[String],
    ) -> Result<Vec<(String, Uuid)>, CatalogError> {
        let text_hashes = json(&text_hashes);
        self.run(move |connection| {
            let points = connection
                .prepare(
                    "SELECT text_hash, min(qdrant_point_id) AS point_id FROM document_chunks
                     WHERE index_id = ?1 AND text_hash IN (SELECT value FROM json_each(?2))
                        AND substr(text_hash, 1, 16) IN (SELECT substr(value, 1, 16) FROM json_each(?2))
                     GROUP BY text_hash",
                )?
                .query_map((index_id, text_hashes), |row| {
                    Ok((row.get("text_hash")?, uuid(row, "point_id")?))
                })?
                .collect::<Result<_, _>>()?;
            Ok(points)
        })
        .await
    }

    pub(in crate::catalog) async fn join(
        &self,
        index_id: i64,
        points: &[Uuid],
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        let points = points.to_vec();
        self.read(move |connection| joined(connection, index_id, &points))
            .await
    }

    pub(in crate::catalog) async fn around(
        &self,
        index_id: i64,
        places: &[(Uuid, RangeInclusive<i32>)],
    ) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
        let places = places.to_vec();
        self.read(move |connection| {
            let around = places.iter().map(|(document, positions)| {
                read_joined(
                    connection,
                    "index_id = ?1 AND document_id = ?2 AND position BETWEEN ?3 AND ?4 ORDER BY position",
                    (index_id, document.to_string(), positions.start(), positions.end()),
                )
            });
            around.collect()
        })
        .await
    }
}

pub(super) fn joined(
    connection: &Connection,
    index_id: i64,
    points: &[Uuid],
) -> Result<Vec<JoinedChunk>, DatabaseError> {
    read_joined(
        connection,
        "index_id = ?1 AND qdrant_point_id IN (SELECT value FROM json_each(?2))",
        (index_id, json(&points)),
    )
}

pub(super) fn read_joined(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<JoinedChunk>, DatabaseError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT qdrant_point_id, position, last_indexed_at, {STORED_COLUMNS}
         FROM document_chunks JOIN documents USING (index_id, document_id) JOIN chunk_metadata USING (metadata_id)
         WHERE {condition}"
    ))?;
    let mut rows = statement.query(values)?;
    let mut chunks = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some(payload) = stored_payload(row)? {
            chunks.push(JoinedChunk {
                point_id: uuid(row, "qdrant_point_id")?,
                position: row.get("position")?,
                payload,
                committed_at: timestamp(row, "last_indexed_at")?,
            });
        }
    }
    Ok(chunks)
}

fn stored_document(row: &Row) -> rusqlite::Result<StoredDocument> {
    Ok(StoredDocument {
        row: DocumentRow {
            document_id: uuid(row, "document_id")?,
            source: row.get("source")?,
            title: row.get("title")?,
            url: row.get("url")?,
            locale: row.get("locale")?,
            version: row.get("version")?,
            lesson_id: row.get("lesson_id")?,
            placement: from_json(row, "lesson")?,
            fingerprint: row.get("fingerprint")?,
            skip_reason: row.get("skip_reason")?,
            deleted: row.get("deleted")?,
        },
        revision: row.get("revision")?,
        chunk_count: count(row, "chunk_count")?,
        last_indexed_at: timestamp(row, "last_indexed_at")?,
    })
}

fn chunk_row(row: &Row) -> rusqlite::Result<ChunkRow> {
    Ok(ChunkRow {
        chunk_id: uuid(row, "chunk_id")?,
        position: row.get("position")?,
        chapter: row.get("chapter")?,
        chapter_id: row.get("chapter_id")?,
        section: row.get("section")?,
        section_id: row.get("section_id")?,
        source_file: row.get("source_file")?,
        start_line: row.get("start_line")?,
        end_line: row.get("end_line")?,
        token_count: row.get("token_count")?,
        point_id: uuid(row, "qdrant_point_id")?,
        text: row.get("text")?,
        text_hash: row.get("text_hash")?,
        payload_hash: row.get("payload_hash")?,
    })
}
