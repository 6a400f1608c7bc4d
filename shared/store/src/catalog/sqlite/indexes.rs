//! Indexes and their counts.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::{OptionalExtension, Row};

use super::values::{ago, count, damaged, from_json, json, now, timestamp};
use super::{DatabaseError, SqliteCatalog, begin_write};
use crate::catalog::{
    Calibration, CatalogError, IndexRow, IndexState, IndexStats, NewIndex, OF_AN_INDEX, Retired,
    SwitchOutcome, fresh_suffix, signed,
};

impl SqliteCatalog {
    pub(in crate::catalog) async fn ensure_index(
        &self,
        index: &NewIndex,
    ) -> Result<IndexRow, CatalogError> {
        let (spec, site) = (json(&index.spec), json(&index.site));
        let collection = index.collection.clone();
        let revive = index.retired == Retired::Revives;
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            let (row, dropped): (IndexRow, Option<i64>) = transaction.query_row(
                "INSERT INTO indexes (spec, collection, state, site, created_at, pages_expected)
                 SELECT ?1, ?2,
                    CASE WHEN EXISTS (SELECT 1 FROM indexes WHERE state = 'live') THEN 'building' ELSE 'live' END,
                    ?3, ?4, 0
                 WHERE true
                 ON CONFLICT (spec) DO UPDATE SET site = excluded.site,
                    state = CASE WHEN ?5 AND indexes.state = 'retired' THEN 'building' ELSE indexes.state END
                 RETURNING *",
                (spec, collection, site, now(), revive),
                |row| Ok((index_row(row)?, row.get("dropped_at")?)),
            )?;
            if dropped.is_some() {
                return Ok(None);
            }
            transaction.commit()?;
            Ok(Some(row))
        })
        .await?
        .ok_or(CatalogError::BeingDropped)
    }

    pub(in crate::catalog) async fn indexes(&self) -> Result<Vec<IndexRow>, CatalogError> {
        self.read(|connection| {
            let rows = connection
                .prepare_cached("SELECT * FROM indexes WHERE dropped_at IS NULL ORDER BY index_id")?
                .query_map((), index_row)?
                .collect::<Result<_, _>>()?;
            Ok(rows)
        })
        .await
    }

    pub(in crate::catalog) async fn switch(
        &self,
        index_id: i64,
        documents: &BTreeMap<String, String>,
    ) -> Result<SwitchOutcome, CatalogError> {
        let documents = documents.clone();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            let index = transaction
                .query_row(
                    "SELECT * FROM indexes WHERE index_id = ?1",
                    [index_id],
                    index_row,
                )
                .optional()?;
            match index.map(|index| index.state) {
                None => return Err(DatabaseError::Rejected(format!("no index {index_id}"))),
                Some(IndexState::Retired) => return Ok(SwitchOutcome::Retired),
                Some(IndexState::Building | IndexState::Live) => {}
            }
            let held = transaction
                .prepare_cached("SELECT source, fingerprint FROM documents WHERE index_id = ?1 AND NOT deleted")?
                .query_map([index_id], |row| Ok((row.get("source")?, row.get("fingerprint")?)))?
                .collect::<Result<_, _>>()?;
            let outcome = SwitchOutcome::new(&held, &documents);
            if outcome == SwitchOutcome::Switched {
                transaction.execute(
                    "UPDATE indexes SET state = 'retired', retired_at = ?2 WHERE state = 'live' AND index_id <> ?1",
                    (index_id, now()),
                )?;
                transaction.execute(
                    "UPDATE indexes SET state = 'live', retired_at = NULL, pages_expected = NULL WHERE index_id = ?1",
                    [index_id],
                )?;
                transaction.commit()?;
            }
            Ok(outcome)
        })
        .await
    }

    pub(in crate::catalog) async fn begin_drop(
        &self,
        age: Duration,
    ) -> Result<Vec<IndexRow>, CatalogError> {
        self.run(move |connection| {
            let rows = connection
                .prepare_cached(
                    "UPDATE indexes SET dropped_at = coalesce(dropped_at, ?2)
                     WHERE state = 'retired' AND (dropped_at IS NOT NULL OR retired_at <= ?1) RETURNING *",
                )?
                .query_map((ago(age), now()), index_row)?
                .collect::<Result<_, _>>()?;
            Ok(rows)
        })
        .await
    }

    pub(in crate::catalog) async fn finish_drop(&self, index_id: i64) -> Result<(), CatalogError> {
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            for table in OF_AN_INDEX {
                // The condition protects the rows of an index that is in use.
                let statement = format!(
                    "DELETE FROM {table} WHERE index_id = ?1
                        AND EXISTS (SELECT 1 FROM indexes WHERE index_id = ?1 AND dropped_at IS NOT NULL)"
                );
                transaction.execute(&statement, [index_id])?;
            }
            transaction.execute(
                "DELETE FROM chunk_metadata WHERE metadata_id NOT IN
                    (SELECT metadata_id FROM document_chunks WHERE metadata_id IS NOT NULL)",
                (),
            )?;
            transaction.execute(
                "UPDATE indexes SET dropped_at = NULL, retired_at = NULL, scales = NULL, off_topic_vectors = NULL, generation = generation + 1,
                    collection = substr(collection, 1, instr(collection || '.', '.') - 1) || ?2
                 WHERE index_id = ?1 AND dropped_at IS NOT NULL",
                (index_id, fresh_suffix()),
            )?;
            transaction.commit()?;
            Ok(())
        })
        .await
    }

    pub(in crate::catalog) async fn expect_pages(
        &self,
        index_id: i64,
        pages: Option<u64>,
    ) -> Result<(), CatalogError> {
        self.run(move |connection| {
            connection.execute(
                "UPDATE indexes SET pages_expected = ?2 WHERE index_id = ?1 AND pages_expected IS NOT NULL",
                (index_id, pages.map(signed)),
            )?;
            Ok(())
        })
        .await
    }

    pub(in crate::catalog) async fn set_calibration(
        &self,
        index_id: i64,
        calibration: Calibration,
        off_topic: Vec<u8>,
    ) -> Result<(), CatalogError> {
        self.run(move |connection| {
            connection.execute(
                "UPDATE indexes SET scales = ?2, off_topic_vectors = ?3 WHERE index_id = ?1",
                (index_id, json(&calibration), off_topic),
            )?;
            Ok(())
        })
        .await
    }

    pub(in crate::catalog) async fn off_topic_vectors(
        &self,
        index_id: i64,
    ) -> Result<Option<Vec<u8>>, CatalogError> {
        self.read(move |connection| {
            let vectors = connection
                .query_row(
                    "SELECT off_topic_vectors FROM indexes WHERE index_id = ?1",
                    (index_id,),
                    |row| row.get(0),
                )
                .optional()?;
            Ok(vectors.flatten())
        })
        .await
    }

    pub(in crate::catalog) async fn record_failures(
        &self,
        index_id: i64,
        sources: &[String],
        reason: &str,
    ) -> Result<(), CatalogError> {
        let (sources, reason) = (json(&sources), reason.to_owned());
        self.run(move |connection| {
            connection.execute(
                // WHERE separates SELECT from ON CONFLICT, which the parser would otherwise take for a join's condition.
                "INSERT INTO document_failures (index_id, source, reason, failed_at)
                 SELECT ?1, value, ?3, ?4 FROM json_each(?2) WHERE true
                 ON CONFLICT (index_id, source) DO UPDATE SET reason = excluded.reason, failed_at = excluded.failed_at",
                (index_id, sources, reason, now()),
            )?;
            Ok(())
        })
        .await
    }

    pub(in crate::catalog) async fn forget_failures(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<(), CatalogError> {
        let sources = json(&sources);
        self.run(move |connection| {
            connection.execute(
                "DELETE FROM document_failures WHERE index_id = ?1 AND source IN (SELECT value FROM json_each(?2))",
                (index_id, sources),
            )?;
            Ok(())
        })
        .await
    }

    pub(in crate::catalog) async fn stats(
        &self,
        index_id: i64,
    ) -> Result<IndexStats, CatalogError> {
        self.read(move |connection| {
            let transaction = connection.transaction()?;
            let mut stats = transaction.query_row(
                "SELECT
                    (SELECT count(*) FROM documents WHERE index_id = ?1 AND NOT deleted) AS documents,
                    (SELECT count(*) FROM document_chunks WHERE index_id = ?1) AS chunks,
                    (SELECT coalesce(sum(token_count), 0) FROM document_chunks WHERE index_id = ?1) AS tokens,
                    (SELECT count(*) FROM pending_points WHERE index_id = ?1) AS pending_points,
                    (SELECT max(last_indexed_at) FROM documents WHERE index_id = ?1) AS last_indexed_at",
                [index_id],
                |row| {
                    let committed: Option<i64> = row.get("last_indexed_at")?;
                    Ok(IndexStats {
                        documents: count(row, "documents")?,
                        chunks: count(row, "chunks")?,
                        tokens: count(row, "tokens")?,
                        stale: Vec::new(),
                        failed: Vec::new(),
                        pending_points: count(row, "pending_points")?,
                        last_indexed_at: committed
                            .map(|_| timestamp(row, "last_indexed_at"))
                            .transpose()?,
                    })
                },
            )?;
            stats.stale = transaction
                .prepare_cached(
                    "SELECT source, skip_reason FROM documents
                     WHERE index_id = ?1 AND NOT deleted AND skip_reason IS NOT NULL ORDER BY source",
                )?
                .query_map([index_id], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            stats.failed = transaction
                .prepare_cached("SELECT source, reason FROM document_failures WHERE index_id = ?1 ORDER BY source")?
                .query_map([index_id], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            Ok(stats)
        })
        .await
    }
}

fn index_row(row: &Row) -> rusqlite::Result<IndexRow> {
    let state: String = row.get("state")?;
    Ok(IndexRow {
        index_id: row.get("index_id")?,
        spec: from_json(row, "spec")?,
        collection: row.get("collection")?,
        state: IndexState::named(&state).ok_or_else(|| damaged("state", state))?,
        site: from_json(row, "site")?,
        pages_expected: row
            .get::<_, Option<i64>>("pages_expected")?
            .map(|_| count(row, "pages_expected"))
            .transpose()?,
        calibration: row
            .get::<_, Option<String>>("scales")?
            .map(|_| from_json(row, "scales"))
            .transpose()?,
    })
}
