//! Points that wait for a commit or for their deletion.

use std::time::Duration;

use uuid::Uuid;

use super::values::{ago, count, json, now, uuid};
use super::{SqliteCatalog, begin_write};
use crate::catalog::{CatalogError, Pending};

impl SqliteCatalog {
    pub(in crate::catalog) async fn add_intents(
        &self,
        index_id: i64,
        document_id: Uuid,
        points: &[Uuid],
    ) -> Result<(), CatalogError> {
        let points = json(&points);
        self.run(move |connection| {
            connection.execute(
                "INSERT INTO pending_points (index_id, point_id, document_id, kind, created_at)
                 SELECT ?1, value, ?2, 'intent', ?4 FROM json_each(?3) WHERE true ON CONFLICT DO NOTHING",
                (index_id, document_id.to_string(), points, now()),
            )?;
            Ok(())
        })
        .await
    }

    pub(in crate::catalog) async fn claim_pending(
        &self,
        index_id: i64,
        age: Duration,
    ) -> Result<Vec<Pending>, CatalogError> {
        self.run(move |connection| {
            let (now, due_before) = (now(), ago(age));
            let transaction = begin_write(connection)?;
            let pending = transaction
                .prepare_cached(
                    "SELECT point_id, kind <> 'intent' AS last_time FROM pending_points
                     WHERE index_id = ?1
                        AND (kind = 'garbage' OR kind = 'intent' AND created_at <= ?2
                            OR kind = 'claimed' AND claimed_at <= ?2)
                     ORDER BY created_at, point_id",
                )?
                .query_map((index_id, due_before), |row| {
                    Ok(Pending {
                        point_id: uuid(row, "point_id")?,
                        last_time: row.get("last_time")?,
                    })
                })?
                .collect::<Result<Vec<_>, _>>()?;
            transaction.execute(
                "UPDATE pending_points SET kind = 'claimed', claimed_at = ?3
                 WHERE index_id = ?1 AND kind = 'intent' AND created_at <= ?2",
                (index_id, due_before, now),
            )?;
            transaction.commit()?;
            Ok(pending)
        })
        .await
    }

    pub(in crate::catalog) async fn forget(
        &self,
        index_id: i64,
        points: &[Uuid],
    ) -> Result<(), CatalogError> {
        let points = json(&points);
        self.run(move |connection| {
            connection.execute(
                "DELETE FROM pending_points
                 WHERE index_id = ?1 AND kind <> 'intent' AND point_id IN (SELECT value FROM json_each(?2))",
                (index_id, points),
            )?;
            Ok(())
        })
        .await
    }

    pub(in crate::catalog) async fn known_points(
        &self,
        index_id: i64,
    ) -> Result<Vec<(Uuid, bool)>, CatalogError> {
        self.run(move |connection| {
            let points = connection
                .prepare_cached(
                    "SELECT qdrant_point_id AS point_id, true AS is_used FROM document_chunks WHERE index_id = ?1
                     UNION ALL SELECT point_id, false FROM pending_points WHERE index_id = ?1",
                )?
                .query_map([index_id], |row| Ok((uuid(row, "point_id")?, row.get("is_used")?)))?
                .collect::<Result<_, _>>()?;
            Ok(points)
        })
        .await
    }

    pub(in crate::catalog) async fn sources_of_points(
        &self,
        index_id: i64,
        points: &[Uuid],
    ) -> Result<Vec<(Uuid, String)>, CatalogError> {
        let points = json(&points);
        self.run(move |connection| {
            let sources = connection
                .prepare_cached(
                    "SELECT qdrant_point_id AS point_id, source_file FROM document_chunks
                     WHERE index_id = ?1 AND qdrant_point_id IN (SELECT value FROM json_each(?2))",
                )?
                .query_map((index_id, points), |row| {
                    Ok((uuid(row, "point_id")?, row.get("source_file")?))
                })?
                .collect::<Result<_, _>>()?;
            Ok(sources)
        })
        .await
    }

    pub(in crate::catalog) async fn pending_count(
        &self,
        index_id: i64,
    ) -> Result<u64, CatalogError> {
        self.run(move |connection| {
            let points = connection.query_row(
                "SELECT count(*) AS points FROM pending_points WHERE index_id = ?1",
                [index_id],
                |row| count(row, "points"),
            )?;
            Ok(points)
        })
        .await
    }
}
