//! Queries for the sections whose questions are proposed.

use tokio_postgres::types::Type;
use uuid::Uuid;

use super::PostgresCatalog;
use super::documents::{JOINED, lists_of_chunks};
use crate::catalog::{CatalogError, JoinedChunk};

/// True for the first chunk of a section that has questions. Written as in the index `document_chunks_questions`, so that Postgres uses it.
const HAS_QUESTIONS: &str = "payload -> 'questions' IS NOT NULL AND payload -> 'chunk_index' = '0'";

impl PostgresCatalog {
    pub(in crate::catalog) async fn pages_with_questions(
        &self,
        index_id: i64,
        locale: &str,
        version: &str,
        limit: u32,
    ) -> Result<Vec<Uuid>, CatalogError> {
        self.query(
            &format!(
                "SELECT document_id FROM documents AS document
                 WHERE index_id = $1 AND locale = $2 AND version = $3 AND NOT deleted
                    AND EXISTS (SELECT 1 FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id AND {HAS_QUESTIONS})
                 ORDER BY source LIMIT $4"
            ),
            &[
                (&index_id, Type::INT8),
                (&locale, Type::TEXT),
                (&version, Type::TEXT),
                (&i64::from(limit), Type::INT8),
            ],
        )
        .await
    }

    pub(in crate::catalog) async fn sections_with_questions(
        &self,
        index_id: i64,
        pages: &[Uuid],
        limit: u32,
    ) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
        let rows = self
            .pool
            .query(
                &format!(
                    "SELECT page.number, chunk.*
                     FROM unnest($2) WITH ORDINALITY AS page (document, number)
                     JOIN LATERAL ({JOINED} WHERE index_id = $1 AND document_id = document AND {HAS_QUESTIONS}
                        ORDER BY position LIMIT $3) AS chunk
                     ON true ORDER BY number, position"
                ),
                &[
                    (&index_id, Type::INT8),
                    (&pages, Type::UUID_ARRAY),
                    (&i64::from(limit), Type::INT8),
                ],
            )
            .await?;
        lists_of_chunks(&rows, pages.len())
    }
}
