//! The answer cache in Postgres.

use tokio_postgres::types::Type;

use super::PostgresCatalog;
use super::pool::single;
use crate::catalog::answers::MAX_AGE;
use crate::catalog::{AnswerLookup, CachedAnswer, CatalogError, microseconds};

impl PostgresCatalog {
    pub(in crate::catalog) async fn cached_answer(
        &self,
        index_id: i64,
        key: &str,
    ) -> Result<AnswerLookup, CatalogError> {
        let rows = self
            .pool
            .query(
                "WITH book AS (
                    SELECT coalesce(sum(revision), 0)::bigint AS revision FROM documents WHERE index_id = $1)
                 SELECT revision, (
                    SELECT answer FROM cached_answers
                    WHERE key = $2 AND index_id = $1 AND created_at > now() - $3 * interval '1 microsecond'
                        AND (book_revision IS NULL OR book_revision = revision)
                        AND NOT EXISTS (
                            SELECT FROM unnest(points) AS point (id)
                            WHERE NOT EXISTS (
                                SELECT FROM document_chunks WHERE index_id = $1 AND qdrant_point_id = point.id))
                    ) AS answer
                 FROM book",
                &[
                    (&index_id, Type::INT8),
                    (&key, Type::TEXT),
                    (&microseconds(MAX_AGE), Type::INT8),
                ],
            )
            .await?;
        let row = single(&rows)?;
        Ok(AnswerLookup {
            answer: row.try_get("answer")?,
            book_revision: row.try_get("revision")?,
        })
    }

    pub(in crate::catalog) async fn cache_answer(
        &self,
        answer: &CachedAnswer,
    ) -> Result<(), CatalogError> {
        self.pool
            .query(
                "INSERT INTO cached_answers (key, index_id, answer, points, book_revision)
                 VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (key) DO UPDATE SET
                    index_id = excluded.index_id, answer = excluded.answer, points = excluded.points,
                    book_revision = excluded.book_revision, created_at = excluded.created_at",
                &[
                    (&answer.key, Type::TEXT),
                    (&answer.index_id, Type::INT8),
                    (&answer.answer, Type::TEXT),
                    (&answer.points, Type::UUID_ARRAY),
                    (&answer.book_revision, Type::INT8),
                ],
            )
            .await?;
        Ok(())
    }
}
