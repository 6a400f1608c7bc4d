//! Indexes and their counts.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};

use super::PostgresCatalog;
use super::values::read;
use crate::catalog::row::FromRow;
use crate::catalog::{
    Calibration, CatalogError, IndexRow, IndexState, IndexStats, NewIndex, OF_AN_INDEX, Retired,
    SwitchOutcome, fresh_suffix, single,
    sql::{self, INDEX_COLUMNS},
};

impl PostgresCatalog {
    pub(in crate::catalog) async fn ensure_index(
        &self,
        index: &NewIndex,
    ) -> Result<IndexRow, CatalogError> {
        let (spec, site) = (Json(&index.spec), Json(&index.site));
        let found = self
            .pool
            .query(
                &format!("SELECT {INDEX_COLUMNS}, dropped_at FROM indexes WHERE spec = $1"),
                &[(&spec, Type::JSONB)],
            )
            .await?;
        if let Some(row) = found.first() {
            let row = index_row(row)?;
            let revives = row.state == IndexState::Retired && index.retired == Retired::Revives;
            if row.site == index.site && !revives {
                return Ok(row);
            }
        }
        let mut transaction = self.pool.begin().await?;
        // The lock serialises two processes that create the first index at once.
        transaction
            .execute("LOCK TABLE indexes IN SHARE ROW EXCLUSIVE MODE", &[])
            .await?;
        let revive = index.retired == Retired::Revives;
        let rows = transaction
            .query(
                &format!("INSERT INTO indexes (spec, collection, state, site, pages_expected)
                 SELECT $1, $2,
                    CASE WHEN EXISTS (SELECT FROM indexes WHERE state = 'live') THEN 'building' ELSE 'live' END, $3, 0
                 ON CONFLICT (spec) DO UPDATE SET site = excluded.site,
                    state = CASE WHEN $4 AND indexes.state = 'retired' THEN 'building' ELSE indexes.state END
                 RETURNING {INDEX_COLUMNS}, dropped_at"),
                &[
                    (&spec, Type::JSONB),
                    (&index.collection, Type::TEXT),
                    (&site, Type::JSONB),
                    (&revive, Type::BOOL),
                ],
            )
            .await?;
        let row = index_row(&single(rows)?)?;
        transaction.commit().await?;
        Ok(row)
    }

    pub(in crate::catalog) async fn switch(
        &self,
        index_id: i64,
        documents: &BTreeMap<String, String>,
    ) -> Result<SwitchOutcome, CatalogError> {
        let mut transaction = self.pool.begin().await?;
        // The same lock as for creating an index.
        transaction
            .execute("LOCK TABLE indexes IN SHARE ROW EXCLUSIVE MODE", &[])
            .await?;
        // Locking the row waits for commits in progress and delays new ones.
        let rows = transaction
            .query(
                "SELECT index_id, state FROM indexes ORDER BY index_id FOR UPDATE",
                &[],
            )
            .await?;
        let states: Vec<(i64, IndexState)> = read(rows)?;
        let Some((_, state)) = states.into_iter().find(|(id, _)| *id == index_id) else {
            return Err(CatalogError::Rejected(format!("no index {index_id}")));
        };
        if state == IndexState::Retired {
            transaction.roll_back().await;
            return Ok(SwitchOutcome::Retired);
        }
        let held = transaction
            .query(sql::DOCUMENTS_HELD, &[(&index_id, Type::INT8)])
            .await?;
        let held = read(held)?.into_iter().collect();
        let outcome = SwitchOutcome::new(&held, documents);
        if outcome != SwitchOutcome::Switched {
            transaction.roll_back().await;
            return Ok(outcome);
        }
        for change in [
            "UPDATE indexes SET state = 'retired', retired_at = now() WHERE state = 'live' AND index_id <> $1",
            sql::MAKE_LIVE,
        ] {
            transaction
                .execute(change, &[(&index_id, Type::INT8)])
                .await?;
        }
        transaction.commit().await?;
        Ok(SwitchOutcome::Switched)
    }

    /// Deletes most rows in batches, whatever the size of the index, and then the rest in one transaction.
    pub(in crate::catalog) async fn finish_drop(&self, index_id: i64) -> Result<(), CatalogError> {
        for table in tables_of_an_index() {
            self.delete_in_batches(
                table,
                "index_id = $1 AND EXISTS (SELECT FROM indexes WHERE index_id = $1 AND dropped_at IS NOT NULL)",
                index_id,
            )
            .await?;
        }
        let mut transaction = self.pool.begin().await?;
        for table in tables_of_an_index() {
            transaction
                .execute(&sql::delete_rows(table), &[(&index_id, Type::INT8)])
                .await?;
        }
        let suffix = fresh_suffix();
        transaction
            .execute(
                "UPDATE indexes SET dropped_at = NULL, retired_at = NULL, scales = NULL, off_topic_vectors = NULL,
                    collection = split_part(collection, '.', 1) || $2
                 WHERE index_id = $1 AND dropped_at IS NOT NULL",
                &[(&index_id, Type::INT8), (&suffix, Type::TEXT)],
            )
            .await?;
        transaction.commit().await
    }

    pub(in crate::catalog) async fn set_calibration(
        &self,
        index_id: i64,
        calibration: Calibration,
        off_topic: Vec<u8>,
    ) -> Result<(), CatalogError> {
        self.pool
            .query(
                sql::SET_CALIBRATION,
                &[
                    (&Json(calibration), Type::JSONB),
                    (&off_topic, Type::BYTEA),
                    (&index_id, Type::INT8),
                ],
            )
            .await?;
        Ok(())
    }

    pub(in crate::catalog) async fn stats(
        &self,
        index_id: i64,
    ) -> Result<IndexStats, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT
                    coalesce(documents, 0) AS documents, coalesce(chunks, 0) AS chunks, coalesce(tokens, 0) AS tokens,
                    (SELECT count(*) FROM pending_points WHERE index_id = $1) AS pending_points,
                    (SELECT max(last_indexed_at) FROM documents WHERE index_id = $1) AS last_indexed_at,
                    ARRAY(SELECT source FROM documents
                        WHERE index_id = $1 AND NOT deleted AND skip_reason IS NOT NULL
                        ORDER BY source) AS stale_sources,
                    ARRAY(SELECT skip_reason FROM documents
                        WHERE index_id = $1 AND NOT deleted AND skip_reason IS NOT NULL
                        ORDER BY source) AS stale_reasons,
                    ARRAY(SELECT source FROM document_failures WHERE index_id = $1 ORDER BY source) AS failed_sources,
                    ARRAY(SELECT reason FROM document_failures WHERE index_id = $1 ORDER BY source) AS failed_reasons
                 FROM (SELECT
                        max(number) FILTER (WHERE value = 'documents') AS documents,
                        max(number) FILTER (WHERE value = 'chunks') AS chunks,
                        max(number) FILTER (WHERE value = 'tokens') AS tokens
                    FROM index_counts WHERE index_id = $1 AND field = '') AS total",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        let row = single(rows)?;
        Ok(IndexStats {
            stale: pairs(&row, "stale_sources", "stale_reasons")?,
            failed: pairs(&row, "failed_sources", "failed_reasons")?,
            ..IndexStats::from_row(&row)?
        })
    }
}

/// Returns the tables with rows of an index, in the order in which they can be deleted.
fn tables_of_an_index() -> impl Iterator<Item = &'static str> {
    OF_AN_INDEX.into_iter().chain(["index_counts"])
}

/// Reads an index. Fails with `BeingDropped` if it is being dropped.
fn index_row(row: &Row) -> Result<IndexRow, CatalogError> {
    let dropped_at: Option<Timestamp> = row.try_get("dropped_at")?;
    match dropped_at {
        None => IndexRow::from_row(row),
        Some(_) => Err(CatalogError::BeingDropped),
    }
}

fn pairs(row: &Row, sources: &str, reasons: &str) -> Result<Vec<(String, String)>, CatalogError> {
    let sources: Vec<String> = row.try_get(sources)?;
    let reasons: Vec<String> = row.try_get(reasons)?;
    Ok(sources.into_iter().zip(reasons).collect())
}
