//! Indexes and their counts.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};

use super::PostgresCatalog;
use super::pool::single;
use super::values::unsigned;
use crate::catalog::{
    Calibration, CatalogError, IndexRow, IndexState, IndexStats, NewIndex, OF_AN_INDEX, Retired,
    SwitchOutcome, fresh_suffix, signed,
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
                "SELECT * FROM indexes WHERE spec = $1",
                &[(&spec, Type::JSONB)],
            )
            .await?;
        if let Some(row) = found.first() {
            being_dropped(row)?;
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
                "INSERT INTO indexes (spec, collection, state, site, pages_expected)
                 SELECT $1, $2,
                    CASE WHEN EXISTS (SELECT FROM indexes WHERE state = 'live') THEN 'building' ELSE 'live' END, $3, 0
                 ON CONFLICT (spec) DO UPDATE SET site = excluded.site,
                    state = CASE WHEN $4 AND indexes.state = 'retired' THEN 'building' ELSE indexes.state END
                 RETURNING *",
                &[
                    (&spec, Type::JSONB),
                    (&index.collection, Type::TEXT),
                    (&site, Type::JSONB),
                    (&revive, Type::BOOL),
                ],
            )
            .await?;
        let row = single(&rows)?;
        being_dropped(row)?;
        let row = index_row(row)?;
        transaction.commit().await?;
        Ok(row)
    }

    pub(in crate::catalog) async fn indexes(&self) -> Result<Vec<IndexRow>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT * FROM indexes WHERE dropped_at IS NULL ORDER BY index_id",
                &[],
            )
            .await?;
        rows.iter().map(index_row).collect()
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
            .query("SELECT * FROM indexes ORDER BY index_id FOR UPDATE", &[])
            .await?;
        let indexes = rows.iter().map(index_row).collect::<Result<Vec<_>, _>>()?;
        let Some(index) = indexes.iter().find(|index| index.index_id == index_id) else {
            return Err(CatalogError::Rejected(format!("no index {index_id}")));
        };
        if index.state == IndexState::Retired {
            transaction.roll_back().await;
            return Ok(SwitchOutcome::Retired);
        }
        let held = transaction
            .query(
                "SELECT source, fingerprint FROM documents WHERE index_id = $1 AND NOT deleted",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        let held = held
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Result<_, CatalogError>>()?;
        let outcome = SwitchOutcome::new(&held, documents);
        if outcome != SwitchOutcome::Switched {
            transaction.roll_back().await;
            return Ok(outcome);
        }
        for change in [
            "UPDATE indexes SET state = 'retired', retired_at = now() WHERE state = 'live' AND index_id <> $1",
            "UPDATE indexes SET state = 'live', retired_at = NULL, pages_expected = NULL WHERE index_id = $1",
        ] {
            transaction
                .execute(change, &[(&index_id, Type::INT8)])
                .await?;
        }
        transaction.commit().await?;
        Ok(SwitchOutcome::Switched)
    }

    pub(in crate::catalog) async fn begin_drop(
        &self,
        age: Duration,
    ) -> Result<Vec<IndexRow>, CatalogError> {
        let microseconds = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let rows = self
            .pool
            .query(
                "UPDATE indexes SET dropped_at = coalesce(dropped_at, now())
                 WHERE state = 'retired'
                    AND (dropped_at IS NOT NULL OR now() - retired_at >= $1 * interval '1 microsecond')
                 RETURNING *",
                &[(&microseconds, Type::INT8)],
            )
            .await?;
        rows.iter().map(index_row).collect()
    }

    pub(in crate::catalog) async fn finish_drop(&self, index_id: i64) -> Result<(), CatalogError> {
        let mut transaction = self.pool.begin().await?;
        for table in OF_AN_INDEX {
            // The condition protects the rows of an index that is in use.
            let statement = format!(
                "DELETE FROM {table} WHERE index_id = $1
                    AND EXISTS (SELECT FROM indexes WHERE index_id = $1 AND dropped_at IS NOT NULL)"
            );
            transaction
                .execute(&statement, &[(&index_id, Type::INT8)])
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

    pub(in crate::catalog) async fn expect_pages(
        &self,
        index_id: i64,
        pages: Option<u64>,
    ) -> Result<(), CatalogError> {
        self.pool
            .query(
                "UPDATE indexes SET pages_expected = $2 WHERE index_id = $1 AND pages_expected IS NOT NULL",
                &[(&index_id, Type::INT8), (&pages.map(signed), Type::INT8)],
            )
            .await?;
        Ok(())
    }

    pub(in crate::catalog) async fn set_calibration(
        &self,
        index_id: i64,
        calibration: Calibration,
        off_topic: Vec<u8>,
    ) -> Result<(), CatalogError> {
        self.pool
            .query(
                "UPDATE indexes SET scales = $2, off_topic_vectors = $3 WHERE index_id = $1",
                &[
                    (&index_id, Type::INT8),
                    (&Json(calibration), Type::JSONB),
                    (&off_topic, Type::BYTEA),
                ],
            )
            .await?;
        Ok(())
    }

    pub(in crate::catalog) async fn off_topic_vectors(
        &self,
        index_id: i64,
    ) -> Result<Option<Vec<u8>>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT off_topic_vectors FROM indexes WHERE index_id = $1",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        let vectors = rows.first().map(|row| row.try_get(0)).transpose()?;
        Ok(vectors.flatten())
    }

    pub(in crate::catalog) async fn record_failures(
        &self,
        index_id: i64,
        sources: &[String],
        reason: &str,
    ) -> Result<(), CatalogError> {
        self.pool
            .query(
                "INSERT INTO document_failures (index_id, source, reason, failed_at) SELECT $1, unnest($2::text[]), $3, now()
                 ON CONFLICT (index_id, source) DO UPDATE SET reason = excluded.reason, failed_at = excluded.failed_at",
                &[
                    (&index_id, Type::INT8),
                    (&sources, Type::TEXT_ARRAY),
                    (&reason, Type::TEXT),
                ],
            )
            .await?;
        Ok(())
    }

    pub(in crate::catalog) async fn forget_failures(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<(), CatalogError> {
        self.pool
            .query(
                "DELETE FROM document_failures WHERE index_id = $1 AND source = ANY($2)",
                &[(&index_id, Type::INT8), (&sources, Type::TEXT_ARRAY)],
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
                    (SELECT count(*) FROM documents WHERE index_id = $1 AND NOT deleted) AS documents,
                    chunks, tokens,
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
                 FROM (SELECT count(*) AS chunks, coalesce(sum(token_count), 0)::bigint AS tokens
                    FROM document_chunks WHERE index_id = $1) AS of_chunks",
                &[(&index_id, Type::INT8)],
            )
            .await?;
        let row = single(&rows)?;
        let pairs = |sources: &str, reasons: &str| -> Result<_, CatalogError> {
            let sources: Vec<String> = row.try_get(sources)?;
            let reasons: Vec<String> = row.try_get(reasons)?;
            Ok(sources.into_iter().zip(reasons).collect())
        };
        Ok(IndexStats {
            documents: unsigned(row, "documents")?,
            chunks: unsigned(row, "chunks")?,
            tokens: unsigned(row, "tokens")?,
            stale: pairs("stale_sources", "stale_reasons")?,
            failed: pairs("failed_sources", "failed_reasons")?,
            pending_points: unsigned(row, "pending_points")?,
            last_indexed_at: row.try_get("last_indexed_at")?,
        })
    }
}

fn being_dropped(row: &Row) -> Result<(), CatalogError> {
    let since: Option<Timestamp> = row.try_get("dropped_at")?;
    match since {
        None => Ok(()),
        Some(_) => Err(CatalogError::BeingDropped),
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
        pages_expected: row
            .try_get::<_, Option<i64>>("pages_expected")?
            .map(|_| unsigned(row, "pages_expected"))
            .transpose()?,
        calibration: row
            .try_get::<_, Option<Json<Calibration>>>("scales")?
            .map(|Json(calibration)| calibration),
    })
}
