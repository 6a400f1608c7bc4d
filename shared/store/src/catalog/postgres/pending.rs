//! Points that wait for a commit or for their deletion.

use std::time::Duration;

use tokio_postgres::types::Type;
use uuid::Uuid;

use super::PostgresCatalog;
use crate::catalog::{CatalogError, Pending};

impl PostgresCatalog {
    pub(in crate::catalog) async fn add_intents(
        &self,
        index_id: i64,
        document_id: Uuid,
        points: &[Uuid],
    ) -> Result<(), CatalogError> {
        self.pool
            .query(
                "INSERT INTO pending_points (index_id, point_id, document_id, kind)
                 SELECT $1, point_id, $2, 'intent' FROM unnest($3) AS point_id ON CONFLICT DO NOTHING",
                &[
                    (&index_id, Type::INT8),
                    (&document_id, Type::UUID),
                    (&points, Type::UUID_ARRAY),
                ],
            )
            .await?;
        Ok(())
    }

    pub(in crate::catalog) async fn claim_pending(
        &self,
        index_id: i64,
        age: Duration,
    ) -> Result<Vec<Pending>, CatalogError> {
        let microseconds = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        // Rows locked by a commit are skipped. If the response is lost, the claimed points become due again later.
        self.query(
            "WITH due AS (
                SELECT point_id, kind, created_at FROM pending_points
                WHERE index_id = $1
                    AND (kind = 'garbage'
                        OR kind = 'intent' AND now() - created_at >= $2 * interval '1 microsecond'
                        OR kind = 'claimed' AND now() - claimed_at >= $2 * interval '1 microsecond')
                FOR UPDATE SKIP LOCKED),
             claimed AS (
                UPDATE pending_points SET kind = 'claimed', claimed_at = now() FROM due
                WHERE pending_points.index_id = $1 AND pending_points.point_id = due.point_id
                    AND due.kind = 'intent')
             SELECT point_id, kind <> 'intent' AS last_time FROM due ORDER BY created_at, point_id",
            &[(&index_id, Type::INT8), (&microseconds, Type::INT8)],
        )
        .await
    }
}
