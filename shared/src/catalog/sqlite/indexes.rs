//! Indexes and their counts.

use rusqlite::{OptionalExtension, Row};

use super::values::{count, damaged, from_json, json, now, timestamp};
use super::{SqliteCatalog, begin_write};
use crate::catalog::{CatalogError, IndexRow, IndexState, IndexStats, NewIndex};

impl SqliteCatalog {
    pub(in crate::catalog) async fn ensure_index(
        &self,
        index: &NewIndex,
    ) -> Result<IndexRow, CatalogError> {
        let (spec, site) = (json(&index.spec), json(&index.site));
        let collection = index.collection.clone();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            let row = transaction.query_row(
                "INSERT INTO indexes (spec, collection, state, site, created_at)
                 SELECT ?1, ?2, CASE WHEN EXISTS (SELECT 1 FROM indexes) THEN 'building' ELSE 'live' END, ?3, ?4
                 WHERE true
                 ON CONFLICT (spec) DO UPDATE SET site = excluded.site
                 RETURNING *",
                (spec, collection, site, now()),
                index_row,
            )?;
            transaction.commit()?;
            Ok(row)
        })
        .await
    }

    pub(in crate::catalog) async fn live_index(&self) -> Result<Option<IndexRow>, CatalogError> {
        self.run(|connection| {
            let row = connection
                .query_row("SELECT * FROM indexes WHERE state = 'live'", (), index_row)
                .optional()?;
            Ok(row)
        })
        .await
    }

    pub(in crate::catalog) async fn stats(
        &self,
        index_id: i64,
    ) -> Result<IndexStats, CatalogError> {
        self.run(move |connection| {
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
                        pending_points: count(row, "pending_points")?,
                        last_indexed_at: committed
                            .map(|_| timestamp(row, "last_indexed_at"))
                            .transpose()?,
                    })
                },
            )?;
            stats.stale = transaction
                .prepare(
                    "SELECT source, skip_reason FROM documents
                     WHERE index_id = ?1 AND NOT deleted AND skip_reason IS NOT NULL ORDER BY source",
                )?
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
    })
}
