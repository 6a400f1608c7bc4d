//! Indexes and their counts.

use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};

use super::PostgresCatalog;
use super::pool::single;
use super::values::unsigned;
use crate::catalog::{CatalogError, IndexRow, IndexState, IndexStats, NewIndex};

impl PostgresCatalog {
    pub(in crate::catalog) async fn ensure_index(
        &self,
        index: &NewIndex,
    ) -> Result<IndexRow, CatalogError> {
        let (spec, site) = (Json(&index.spec), Json(&index.site));
        let found = self
            .pool
            .query(
                "UPDATE indexes SET site = $2 WHERE spec = $1 RETURNING *",
                &[(&spec, Type::JSONB), (&site, Type::JSONB)],
            )
            .await?;
        if let Some(row) = found.first() {
            return index_row(row);
        }
        let mut transaction = self.pool.begin().await?;
        // Of two that make the first index at once, one waits and sees that there is one.
        transaction
            .execute("LOCK TABLE indexes IN SHARE ROW EXCLUSIVE MODE", &[])
            .await?;
        let rows = transaction
            .query(
                "INSERT INTO indexes (spec, collection, state, site)
                 SELECT $1, $2, CASE WHEN EXISTS (SELECT FROM indexes) THEN 'building' ELSE 'live' END, $3
                 ON CONFLICT (spec) DO UPDATE SET site = excluded.site
                 RETURNING *",
                &[
                    (&spec, Type::JSONB),
                    (&index.collection, Type::TEXT),
                    (&site, Type::JSONB),
                ],
            )
            .await?;
        let row = index_row(single(&rows)?)?;
        transaction.commit().await?;
        Ok(row)
    }

    pub(in crate::catalog) async fn live_index(&self) -> Result<Option<IndexRow>, CatalogError> {
        let rows = self
            .pool
            .query("SELECT * FROM indexes WHERE state = 'live'", &[])
            .await?;
        rows.first().map(index_row).transpose()
    }

    pub(in crate::catalog) async fn stats(
        &self,
        index_id: i64,
    ) -> Result<IndexStats, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT
                    (SELECT count(*) FROM documents WHERE index_id = $1 AND NOT deleted) AS documents,
                    chunks, tokens,
                    (SELECT count(*) FROM pending_points WHERE index_id = $1) AS pending_points,
                    (SELECT max(last_indexed_at) FROM documents WHERE index_id = $1) AS last_indexed_at,
                    ARRAY(SELECT source FROM documents
                        WHERE index_id = $1 AND NOT deleted AND skip_reason IS NOT NULL
                        ORDER BY source) AS stale_sources,
                    ARRAY(SELECT skip_reason FROM documents
                        WHERE index_id = $1 AND NOT deleted AND skip_reason IS NOT NULL
                        ORDER BY source) AS stale_reasons
                 FROM (SELECT count(*) AS chunks, coalesce(sum(token_count), 0)::bigint AS tokens
                    FROM document_chunks WHERE index_id = $1) AS of_chunks",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        let row = single(&rows)?;
        let sources: Vec<String> = row.try_get("stale_sources")?;
        let reasons: Vec<String> = row.try_get("stale_reasons")?;
        Ok(IndexStats {
            documents: unsigned(row, "documents")?,
            chunks: unsigned(row, "chunks")?,
            tokens: unsigned(row, "tokens")?,
            stale: sources.into_iter().zip(reasons).collect(),
            pending_points: unsigned(row, "pending_points")?,
            last_indexed_at: row.try_get("last_indexed_at")?,
        })
    }
}

fn index_row(row: &Row) -> Result<IndexRow, CatalogError> {
    let state: &str = row.try_get("state")?;
    let Json(spec) = row.try_get("spec")?;
    let Json(site) = row.try_get("site")?;
    Ok(IndexRow {
        index_id: row.try_get("index_id")?,
        spec,
        collection: row.try_get("collection")?,
        state: IndexState::named(state)
            .ok_or_else(|| CatalogError::Rejected(format!("column state: {state}")))?,
        site,
    })
}
