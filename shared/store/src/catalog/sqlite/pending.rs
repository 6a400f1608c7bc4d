//! Points that wait for a commit or for their deletion.

use std::time::Duration;

use uuid::Uuid;

use super::values::{ago, json, now, rows};
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
            let pending = rows(
                &transaction,
                "SELECT point_id, kind <> 'intent' AS last_time FROM pending_points
                 WHERE index_id = ?1
                    AND (kind = 'garbage' OR kind = 'intent' AND created_at <= ?2
                        OR kind = 'claimed' AND claimed_at <= ?2)
                 ORDER BY created_at, point_id",
                (index_id, due_before),
            )?;
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
}
