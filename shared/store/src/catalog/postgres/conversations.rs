//! Conversations, until they expire.

use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::PostgresCatalog;
use super::pool::Transaction;
use crate::catalog::answers::{MAX_AGE, MAX_ANSWERS};
use crate::catalog::row::FromRow;
use crate::catalog::{CatalogError, NewExchange, StoredExchange, microseconds, sql};

impl PostgresCatalog {
    pub(in crate::catalog) async fn save_exchange(
        &self,
        new: &NewExchange,
    ) -> Result<bool, CatalogError> {
        let mut transaction = self.pool.begin().await?;
        let written = match &new.exchange.answer {
            None => begin(&mut transaction, new).await?,
            Some(answer) => complete(&mut transaction, new, answer).await?,
        };
        if written {
            transaction.commit().await?;
        } else {
            transaction.roll_back().await;
        }
        Ok(written)
    }

    pub(in crate::catalog) async fn exchanges(
        &self,
        conversation_id: Uuid,
        session_hash: &str,
        last: u32,
    ) -> Result<Option<Vec<StoredExchange>>, CatalogError> {
        // A conversation without exchanges is a row of nulls.
        let rows = self
            .pool
            .query(
                "SELECT message.message_id, message.question, message.answer
                 FROM conversations AS conversation LEFT JOIN LATERAL (
                    SELECT * FROM messages WHERE messages.conversation_id = conversation.conversation_id
                    ORDER BY messages.created_at DESC, messages.message_id DESC LIMIT $3) AS message ON true
                 WHERE conversation.conversation_id = $1 AND session_hash = $2 AND expires_at > now()
                 ORDER BY message.created_at, message.message_id",
                &[
                    (&conversation_id, Type::UUID),
                    (&session_hash, Type::TEXT),
                    (&i64::from(last), Type::INT8),
                ],
            )
            .await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let exchanges = rows.iter().filter_map(|row| exchange(row).transpose());
        exchanges.collect::<Result<_, _>>().map(Some)
    }

    pub(in crate::catalog) async fn delete_conversation(
        &self,
        conversation_id: Uuid,
        session_hash: &str,
    ) -> Result<bool, CatalogError> {
        let held = self
            .query(
                "DELETE FROM conversations WHERE conversation_id = $1 AND session_hash = $2
                 RETURNING expires_at > now()",
                &[(&conversation_id, Type::UUID), (&session_hash, Type::TEXT)],
            )
            .await?;
        Ok(held.contains(&true))
    }

    pub(in crate::catalog) async fn forget_expired(
        &self,
        limits_age: Duration,
        retention: Duration,
    ) -> Result<(), CatalogError> {
        let surplus = format!(
            "created_at <= $before AND key IN (
                SELECT key FROM cached_answers ORDER BY created_at DESC, key OFFSET {MAX_ANSWERS})"
        );
        let steps = [
            ("rate_limits", "tat <= $before", limits_age),
            ("conversations", "expires_at <= $before", Duration::ZERO),
            ("messages", "created_at <= $before", retention),
            ("agent_reports", "created_at <= $before", retention),
            // Ratings first, because they refer to questions.
            (
                "feedback",
                "message_id IN (SELECT query_id FROM chat_queries WHERE created_at <= $before)",
                retention,
            ),
            (
                "chat_queries",
                "created_at <= $before AND NOT EXISTS (SELECT FROM feedback WHERE message_id = query_id)",
                retention,
            ),
            (
                "cached_answers",
                "created_at <= $before",
                retention.min(MAX_AGE),
            ),
            ("cached_answers", &surplus, Duration::ZERO),
        ];
        for (table, condition, age) in steps {
            // An index is used only if the condition compares the plain column.
            let condition = condition.replace("$before", "now() - $1 * interval '1 microsecond'");
            self.delete_in_batches(table, &condition, microseconds(age))
                .await?;
        }
        Ok(())
    }
}

/// Writes an exchange without its answer. `false` if the conversation belongs to another session, or the message to another
/// conversation.
async fn begin(transaction: &mut Transaction<'_>, new: &NewExchange) -> Result<bool, CatalogError> {
    transaction
        .execute(
            "DELETE FROM conversations
             WHERE conversation_id = $1 AND session_hash = $2 AND expires_at <= now()",
            &[
                (&new.conversation_id, Type::UUID),
                (&new.session_hash, Type::TEXT),
            ],
        )
        .await?;
    let kept = transaction
        .execute(
            "INSERT INTO conversations AS held (conversation_id, session_hash, expires_at)
             VALUES ($1, $2, now() + $3 * interval '1 microsecond')
             ON CONFLICT (conversation_id) DO UPDATE SET expires_at = excluded.expires_at
             WHERE held.session_hash = excluded.session_hash",
            &[
                (&new.conversation_id, Type::UUID),
                (&new.session_hash, Type::TEXT),
                (&microseconds(new.keep), Type::INT8),
            ],
        )
        .await?;
    if kept == 0 {
        return Ok(false);
    }
    let written = transaction
        .execute(
            "INSERT INTO messages AS held (message_id, conversation_id, question) VALUES ($1, $2, $3)
             ON CONFLICT (message_id) DO UPDATE SET question = held.question
             WHERE held.conversation_id = excluded.conversation_id",
            &[
                (&new.exchange.message_id, Type::UUID),
                (&new.conversation_id, Type::UUID),
                (&new.exchange.question, Type::TEXT),
            ],
        )
        .await?;
    Ok(written > 0)
}

/// Adds the answer. `false` if the exchange no longer exists.
async fn complete(
    transaction: &mut Transaction<'_>,
    new: &NewExchange,
    answer: &str,
) -> Result<bool, CatalogError> {
    // A concurrent deletion of the conversation waits for this row, or has already finished.
    let kept = transaction
        .execute(
            "UPDATE conversations SET expires_at = now() + $3 * interval '1 microsecond'
             WHERE conversation_id = $1 AND session_hash = $2 AND expires_at > now()",
            &[
                (&new.conversation_id, Type::UUID),
                (&new.session_hash, Type::TEXT),
                (&microseconds(new.keep), Type::INT8),
            ],
        )
        .await?;
    if kept == 0 {
        return Ok(false);
    }
    let written = transaction
        .execute(
            sql::ANSWER_MESSAGE,
            &[
                (&new.exchange.question, Type::TEXT),
                (&answer, Type::TEXT),
                (&new.exchange.message_id, Type::UUID),
                (&new.conversation_id, Type::UUID),
            ],
        )
        .await?;
    Ok(written > 0)
}

/// Reads an exchange; `None` for a row of nulls.
fn exchange(row: &Row) -> Result<Option<StoredExchange>, CatalogError> {
    let message_id: Option<Uuid> = row.try_get("message_id")?;
    message_id
        .map(|_| StoredExchange::from_row(row))
        .transpose()
}
