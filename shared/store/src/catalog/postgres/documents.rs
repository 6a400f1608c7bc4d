//! Queries for documents and chunks.

use std::ops::RangeInclusive;

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::PostgresCatalog;
use crate::catalog::statement::Parameter;
use crate::catalog::{CatalogError, JoinedChunk, StoredDocument, sql};
use crate::index::with_text;

impl PostgresCatalog {
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
