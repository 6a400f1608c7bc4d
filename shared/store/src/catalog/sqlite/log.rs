//! The log of questions and ratings.

use rusqlite::params;
use uuid::Uuid;

use super::values::{json, now};
use super::{SqliteCatalog, begin_write};
use crate::catalog::{CatalogError, Feedback, QueryLog, signed};

impl SqliteCatalog {
    pub(in crate::catalog) async fn log_query(&self, log: &QueryLog) -> Result<(), CatalogError> {
        let log = log.clone();
        self.run(move |connection| {
            connection.execute(
                "INSERT INTO chat_queries AS held (query_id, user_ip_hash, question_hash, retrieved_chunk_ids,
                    cited_chunk_ids, response_time_ms, status, answered, uncertain, tokens, cost_micro_usd, degraded,
                    question, saved_micro_usd, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
                 ON CONFLICT (query_id) DO UPDATE SET
                    user_ip_hash = excluded.user_ip_hash, question_hash = excluded.question_hash,
                    retrieved_chunk_ids = excluded.retrieved_chunk_ids, cited_chunk_ids = excluded.cited_chunk_ids,
                    response_time_ms = excluded.response_time_ms, status = excluded.status,
                    answered = excluded.answered, uncertain = excluded.uncertain, tokens = excluded.tokens,
                    cost_micro_usd = excluded.cost_micro_usd, degraded = excluded.degraded,
                    question = excluded.question, saved_micro_usd = excluded.saved_micro_usd
                 WHERE held.status = 'incomplete' OR excluded.status <> 'incomplete'",
                params![
                    log.query_id.to_string(),
                    log.user_ip_hash,
                    log.question_hash,
                    json(&log.retrieved_chunk_ids),
                    json(&log.cited_chunk_ids),
                    signed(log.response_time_ms),
                    log.status.name(),
                    log.answered,
                    log.uncertain,
                    signed(log.tokens),
                    signed(log.cost_micro_usd),
                    log.degraded,
                    log.question,
                    log.saved_micro_usd.map(signed),
                    now(),
                ],
            )?;
            Ok(())
        })
        .await
    }

    pub(in crate::catalog) async fn add_feedback(
        &self,
        feedback: &Feedback,
    ) -> Result<bool, CatalogError> {
        let feedback = feedback.clone();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            // Of a message, only the newest thumb and the newest click on a citation are kept.
            transaction.execute(
                "DELETE FROM feedback WHERE message_id = ?1 AND (rating = 'citation_clicked') = (?2 = 'citation_clicked')",
                params![feedback.message_id.to_string(), feedback.rating.name()],
            )?;
            let written = transaction.execute(
                "INSERT INTO feedback (feedback_id, message_id, rating, comment, created_at)
                 SELECT ?1, query_id, ?3, ?4, ?5 FROM chat_queries WHERE query_id = ?2",
                params![
                    Uuid::new_v4().to_string(),
                    feedback.message_id.to_string(),
                    feedback.rating.name(),
                    feedback.comment,
                    now(),
                ],
            )?;
            transaction.commit()?;
            Ok(written > 0)
        })
        .await
    }
}
