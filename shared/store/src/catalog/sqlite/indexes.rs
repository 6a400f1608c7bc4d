//! Indexes and their counts.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension;

use super::values::{json, now, rows};
use super::{DatabaseError, SqliteCatalog, begin_write};
use crate::catalog::row::FromRow;
use crate::catalog::{
    Calibration, CatalogError, IndexRow, IndexState, IndexStats, NewIndex, OF_AN_INDEX, Retired,
    SwitchOutcome, fresh_suffix,
    sql::{self, INDEX_COLUMNS},
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
                &format!("INSERT INTO indexes (spec, collection, state, site, created_at, pages_expected)
                 SELECT ?1, ?2,
                    CASE WHEN EXISTS (SELECT 1 FROM indexes WHERE state = 'live') THEN 'building' ELSE 'live' END,
                    ?3, ?4, 0
                 WHERE true
                 ON CONFLICT (spec) DO UPDATE SET site = excluded.site,
                    state = CASE WHEN ?5 AND indexes.state = 'retired' THEN 'building' ELSE indexes.state END
                 RETURNING {INDEX_COLUMNS}, dropped_at"),
                (spec, collection, site, now(), revive),
                |row| Ok((IndexRow::from_row(row)?, row.get("dropped_at")?)),
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

    pub(in crate::catalog) async fn switch(
        &self,
        index_id: i64,
        documents: &BTreeMap<String, String>,
    ) -> Result<SwitchOutcome, CatalogError> {
        let documents = documents.clone();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            let state: Option<IndexState> = transaction
                .query_row(
                    "SELECT state FROM indexes WHERE index_id = ?1",
                    [index_id],
                    |row| IndexState::from_row(row),
                )
                .optional()?;
            match state {
                None => return Err(DatabaseError::Rejected(format!("no index {index_id}"))),
                Some(IndexState::Retired) => return Ok(SwitchOutcome::Retired),
                Some(IndexState::Building | IndexState::Live) => {}
            }
            let held = rows(&transaction, sql::DOCUMENTS_HELD, [index_id])?;
            let held = held.into_iter().collect();
            let outcome = SwitchOutcome::new(&held, &documents);
            if outcome == SwitchOutcome::Switched {
                transaction.execute(
                    "UPDATE indexes SET state = 'retired', retired_at = ?2 WHERE state = 'live' AND index_id <> ?1",
                    (index_id, now()),
                )?;
                transaction.execute(sql::MAKE_LIVE, [index_id])?;
                transaction.commit()?;
            }
            Ok(outcome)
        })
        .await
    }

    pub(in crate::catalog) async fn finish_drop(&self, index_id: i64) -> Result<(), CatalogError> {
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            for table in OF_AN_INDEX {
                transaction.execute(&sql::delete_rows(table), [index_id])?;
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

    pub(in crate::catalog) async fn set_calibration(
        &self,
        index_id: i64,
        calibration: Calibration,
        off_topic: Vec<u8>,
    ) -> Result<(), CatalogError> {
        self.run(move |connection| {
            connection.execute(
                sql::SET_CALIBRATION,
                (json(&calibration), off_topic, index_id),
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
                |row| IndexStats::from_row(row),
            )?;
            stats.stale = rows(
                &transaction,
                "SELECT source, skip_reason FROM documents
                 WHERE index_id = ?1 AND NOT deleted AND skip_reason IS NOT NULL ORDER BY source",
                [index_id],
            )?;
            stats.failed = rows(
                &transaction,
                "SELECT source, reason FROM document_failures WHERE index_id = ?1 ORDER BY source",
                [index_id],
            )?;
            Ok(stats)
        })
        .await
    }
}
