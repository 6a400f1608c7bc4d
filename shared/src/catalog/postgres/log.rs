//! What readers asked and how they judged the answers.

use tokio_postgres::types::Type;
use uuid::Uuid;

use super::PostgresCatalog;
use super::pool::single;
use crate::catalog::{CatalogError, Feedback, QueryLog};

impl PostgresCatalog {
    pub(in crate::catalog) async fn log_query(&self, log: &QueryLog) -> Result<(), CatalogError> {
        let response_time_ms = i64::try_from(log.response_time_ms).unwrap_or(i64::MAX);
        self.pool
            .query(
                "INSERT INTO chat_queries (query_id, user_ip_hash, question_hash, retrieved_chunk_ids,
                    response_time_ms, status, answered)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
                &[
                    (&log.query_id, Type::UUID),
                    (&log.user_ip_hash, Type::TEXT),
                    (&log.question_hash, Type::TEXT),
                    (&log.retrieved_chunk_ids, Type::UUID_ARRAY),
                    (&response_time_ms, Type::INT8),
                    (&log.status.name(), Type::TEXT),
                    (&log.answered, Type::BOOL),
                ],
            )
            .await?;
        Ok(())
    }

    pub(in crate::catalog) async fn add_feedback(
        &self,
        feedback: &Feedback,
    ) -> Result<bool, CatalogError> {
        // The id is made here, so that a second try writes nothing twice.
        let rows = self
            .pool
            .query(
                "WITH written AS (
                    INSERT INTO feedback (feedback_id, message_id, rating, comment)
                    SELECT $1, query_id, $3, $4 FROM chat_queries WHERE query_id = $2
                    ON CONFLICT DO NOTHING)
                 SELECT EXISTS (SELECT FROM chat_queries WHERE query_id = $2)",
                &[
                    (&Uuid::new_v4(), Type::UUID),
                    (&feedback.message_id, Type::UUID),
                    (&feedback.rating.name(), Type::TEXT),
                    (&feedback.comment, Type::TEXT),
                ],
            )
            .await?;
        Ok(single(&rows)?.try_get(0)?)
    }
}
