//! The log of questions and ratings.

use tokio_postgres::types::Type;
use uuid::Uuid;

use super::PostgresCatalog;
use super::pool::single;
use crate::catalog::{CatalogError, Feedback, QueryLog, signed};

impl PostgresCatalog {
    pub(in crate::catalog) async fn log_query(&self, log: &QueryLog) -> Result<(), CatalogError> {
        self.pool
            .query(
                "INSERT INTO chat_queries AS held (query_id, user_ip_hash, question_hash, retrieved_chunk_ids,
                    cited_chunk_ids, response_time_ms, status, answered, uncertain, tokens, cost_micro_usd, degraded,
                    question, saved_micro_usd)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
                 ON CONFLICT (query_id) DO UPDATE SET
                    user_ip_hash = excluded.user_ip_hash, question_hash = excluded.question_hash,
                    retrieved_chunk_ids = excluded.retrieved_chunk_ids, cited_chunk_ids = excluded.cited_chunk_ids,
                    response_time_ms = excluded.response_time_ms, status = excluded.status,
                    answered = excluded.answered, uncertain = excluded.uncertain, tokens = excluded.tokens,
                    cost_micro_usd = excluded.cost_micro_usd, degraded = excluded.degraded,
                    question = excluded.question, saved_micro_usd = excluded.saved_micro_usd
                 WHERE held.status = 'incomplete' OR excluded.status <> 'incomplete'",
                &[
                    (&log.query_id, Type::UUID),
                    (&log.user_ip_hash, Type::TEXT),
                    (&log.question_hash, Type::TEXT),
                    (&log.retrieved_chunk_ids, Type::UUID_ARRAY),
                    (&log.cited_chunk_ids, Type::UUID_ARRAY),
                    (&signed(log.response_time_ms), Type::INT8),
                    (&log.status.name(), Type::TEXT),
                    (&log.answered, Type::BOOL),
                    (&log.uncertain, Type::BOOL),
                    (&signed(log.tokens), Type::INT8),
                    (&signed(log.cost_micro_usd), Type::INT8),
                    (&log.degraded, Type::BOOL),
                    (&log.question, Type::TEXT),
                    (&log.saved_micro_usd.map(signed), Type::INT8),
                ],
            )
            .await?;
        Ok(())
    }

    pub(in crate::catalog) async fn add_feedback(
        &self,
        feedback: &Feedback,
    ) -> Result<bool, CatalogError> {
        // The id is generated here, so that a retry does not insert twice. Of a message, only the newest thumb and the newest
        // click on a citation are kept.
        let rows = self
            .pool
            .query(
                "WITH replaced AS (
                    DELETE FROM feedback WHERE message_id = $2 AND feedback_id <> $1
                        AND (rating = 'citation_clicked') = ($3 = 'citation_clicked')),
                 written AS (
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
