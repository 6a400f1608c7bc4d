//! Queries for documents and chunks.

use std::ops::RangeInclusive;

use rusqlite::{Connection, Params};
use uuid::Uuid;

use super::values::{json, timestamp, uuid};
use super::{DatabaseError, SqliteCatalog};
use crate::catalog::statement::Parameter;
use crate::catalog::{CatalogError, JoinedChunk, StoredDocument, sql};
use crate::index::{STORED_COLUMNS, stored_payload};

impl SqliteCatalog {
    pub(in crate::catalog) async fn document(
        &self,
        index_id: i64,
        source: &str,
    ) -> Result<Option<StoredDocument>, CatalogError> {
        let parameters = [Parameter::Number(index_id), Parameter::Text(source)];
        let documents = self.rows(sql::DOCUMENT, &parameters).await?;
        Ok(documents.into_iter().next())
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
