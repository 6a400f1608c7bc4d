//! The answer cache in SQLite.

use rusqlite::{Connection, params};

use super::SqliteCatalog;
use super::values::{ago, json, now};
use crate::catalog::answers::{MAX_AGE, MAX_ANSWERS};
use crate::catalog::{AnswerLookup, CachedAnswer, CatalogError};

impl SqliteCatalog {
    pub(in crate::catalog) async fn cached_answer(
        &self,
        index_id: i64,
        key: &str,
    ) -> Result<AnswerLookup, CatalogError> {
        let key = key.to_owned();
        self.read(move |connection| {
            let lookup = connection.query_row(
                "WITH book AS (SELECT coalesce(sum(revision), 0) AS revision FROM documents WHERE index_id = ?1)
                 SELECT revision, (
                    SELECT answer FROM cached_answers
                    WHERE key = ?2 AND index_id = ?1 AND created_at > ?3
                        AND (book_revision IS NULL OR book_revision = revision)
                        AND NOT EXISTS (
                            SELECT 1 FROM json_each(points) AS point
                            WHERE NOT EXISTS (
                                SELECT 1 FROM document_chunks
                                WHERE index_id = ?1 AND qdrant_point_id = point.value))
                    ) AS answer
                 FROM book",
                (index_id, &key, ago(MAX_AGE)),
                |row| {
                    Ok(AnswerLookup {
                        answer: row.get("answer")?,
                        book_revision: row.get("revision")?,
                    })
                },
            )?;
            Ok(lookup)
        })
        .await
    }

    pub(in crate::catalog) async fn cache_answer(
        &self,
        answer: &CachedAnswer,
    ) -> Result<(), CatalogError> {
        let answer = answer.clone();
        self.run(move |connection| {
            connection.execute(
                "INSERT INTO cached_answers (key, index_id, answer, points, book_revision, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (key) DO UPDATE SET
                    index_id = excluded.index_id, answer = excluded.answer, points = excluded.points,
                    book_revision = excluded.book_revision, created_at = excluded.created_at",
                params![
                    answer.key,
                    answer.index_id,
                    answer.answer,
                    json(&answer.points),
                    answer.book_revision,
                    now(),
                ],
            )?;
            Ok(())
        })
        .await
    }
}

/// Deletes answers cached before a moment, and all but the newest [`MAX_ANSWERS`].
pub(super) fn forget_answers(connection: &Connection, before: i64) -> rusqlite::Result<()> {
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
