//! Conversations, until they expire.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction};
use uuid::Uuid;

use super::values::{ago, now, rows};
use super::{SqliteCatalog, begin_write};
use crate::catalog::answers::{MAX_AGE, MAX_ANSWERS};
use crate::catalog::{CatalogError, NewExchange, StoredExchange, microseconds, sql};

impl SqliteCatalog {
    pub(in crate::catalog) async fn save_exchange(
        &self,
        new: &NewExchange,
    ) -> Result<bool, CatalogError> {
        let new = new.clone();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            let written = match &new.exchange.answer {
                None => begin(&transaction, &new)?,
                Some(answer) => complete(&transaction, &new, answer)?,
            };
            // Otherwise dropping the transaction rolls it back.
            if written {
                transaction.commit()?;
            }
            Ok(written)
        })
        .await
    }

    pub(in crate::catalog) async fn exchanges(
        &self,
        conversation_id: Uuid,
        session_hash: &str,
        last: u32,
    ) -> Result<Option<Vec<StoredExchange>>, CatalogError> {
        let session_hash = session_hash.to_owned();
        self.run(move |connection| {
            let conversation_id = conversation_id.to_string();
            let transaction = connection.transaction()?;
            let conversation = transaction
                .query_row(
                    "SELECT 1 FROM conversations
                     WHERE conversation_id = ?1 AND session_hash = ?2 AND expires_at > ?3",
                    (&conversation_id, session_hash, now()),
                    |_| Ok(()),
                )
                .optional()?;
            if conversation.is_none() {
                return Ok(None);
            }
            let mut exchanges: Vec<StoredExchange> = rows(
                &transaction,
                "SELECT message_id, question, answer FROM messages WHERE conversation_id = ?1
                 ORDER BY created_at DESC, message_id DESC LIMIT ?2",
                (conversation_id, last),
            )?;
            exchanges.reverse();
            Ok(Some(exchanges))
        })
        .await
    }

    pub(in crate::catalog) async fn delete_conversation(
        &self,
        conversation_id: Uuid,
        session_hash: &str,
    ) -> Result<bool, CatalogError> {
        let session_hash = session_hash.to_owned();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            let held: Option<bool> = transaction
                .query_row(
                    "DELETE FROM conversations WHERE conversation_id = ?1 AND session_hash = ?2
                     RETURNING expires_at > ?3",
                    (conversation_id.to_string(), session_hash, now()),
                    |row| row.get(0),
                )
                .optional()?;
            transaction.commit()?;
            wipe_log(connection)?;
            Ok(held.unwrap_or(false))
        })
        .await
    }

    pub(in crate::catalog) async fn forget_expired(
        &self,
        limits_age: Duration,
        retention: Duration,
    ) -> Result<(), CatalogError> {
        self.run(move |connection| {
            let before = ago(retention);
            let transaction = begin_write(connection)?;
            transaction.execute("DELETE FROM rate_limits WHERE tat <= ?1", [ago(limits_age)])?;
            transaction.execute("DELETE FROM conversations WHERE expires_at <= ?1", [now()])?;
            for table in ["messages", "agent_reports"] {
                let old = format!("DELETE FROM {table} WHERE created_at <= ?1");
                transaction.execute(&old, [before])?;
            }
            transaction.execute(
                "DELETE FROM feedback WHERE message_id IN
                    (SELECT query_id FROM chat_queries WHERE created_at <= ?1)",
                [before],
            )?;
            transaction.execute("DELETE FROM chat_queries WHERE created_at <= ?1", [before])?;
            forget_answers(&transaction, ago(retention.min(MAX_AGE)))?;
            transaction.commit()?;
            wipe_log(connection)?;
            Ok(())
        })
        .await
    }
}

/// Deletes answers cached before a moment, and all but the newest [`MAX_ANSWERS`].
fn forget_answers(connection: &Connection, before: i64) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM cached_answers WHERE created_at <= ?1",
        [before],
    )?;
    connection.execute(
        "DELETE FROM cached_answers
         WHERE key IN (SELECT key FROM cached_answers ORDER BY created_at DESC, key LIMIT -1 OFFSET ?1)",
        [MAX_ANSWERS],
    )?;
    Ok(())
}

/// Empties the write-ahead log, which still contains deleted texts. While another process reads the file, this has no effect
/// until the next call.
fn wipe_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

/// Writes an exchange without its answer. `false` if the conversation belongs to another session, or the message to another
/// conversation.
fn begin(transaction: &Transaction, new: &NewExchange) -> rusqlite::Result<bool> {
    let now = now();
    let conversation_id = new.conversation_id.to_string();
    transaction.execute(
        "DELETE FROM conversations WHERE conversation_id = ?1 AND session_hash = ?2 AND expires_at <= ?3",
        (&conversation_id, &new.session_hash, now),
    )?;
    let kept = transaction.execute(
        "INSERT INTO conversations AS held (conversation_id, session_hash, created_at, expires_at)
         VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (conversation_id) DO UPDATE SET expires_at = excluded.expires_at
         WHERE held.session_hash = excluded.session_hash",
        (
            &conversation_id,
            &new.session_hash,
            now,
            now + microseconds(new.keep),
        ),
    )?;
    if kept == 0 {
        return Ok(false);
    }
    let written = transaction.execute(
        "INSERT INTO messages AS held (message_id, conversation_id, question, created_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (message_id) DO UPDATE SET question = held.question
         WHERE held.conversation_id = excluded.conversation_id",
        (
            new.exchange.message_id.to_string(),
            &conversation_id,
            &new.exchange.question,
            now,
        ),
    )?;
    Ok(written > 0)
}

/// Adds the answer. `false` if the exchange no longer exists.
fn complete(transaction: &Transaction, new: &NewExchange, answer: &str) -> rusqlite::Result<bool> {
    let now = now();
    let conversation_id = new.conversation_id.to_string();
    let kept = transaction.execute(
        "UPDATE conversations SET expires_at = ?4
         WHERE conversation_id = ?1 AND session_hash = ?2 AND expires_at > ?3",
        (
            &conversation_id,
            &new.session_hash,
            now,
            now + microseconds(new.keep),
        ),
    )?;
    if kept == 0 {
        return Ok(false);
    }
    let written = transaction.execute(
        sql::ANSWER_MESSAGE,
        (
            &new.exchange.question,
            answer,
            new.exchange.message_id.to_string(),
            &conversation_id,
        ),
    )?;
    Ok(written > 0)
}
