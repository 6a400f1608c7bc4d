//! Queries for the sections whose questions are proposed.

use uuid::Uuid;

use super::SqliteCatalog;
use super::documents::read_joined;
use super::values::rows;
use crate::catalog::{CatalogError, JoinedChunk};

/// True for the first chunk of a section that has questions. SQLite uses the index `document_chunks_questions` only for exactly this text. A damaged
/// payload has no questions.
const HAS_QUESTIONS: &str = "CASE WHEN json_valid(payload)
    THEN json_extract(payload, '$.questions') IS NOT NULL AND json_extract(payload, '$.chunk_index') = 0 END";

impl SqliteCatalog {
    pub(in crate::catalog) async fn pages_with_questions(
        &self,
        index_id: i64,
        locale: &str,
        version: &str,
        limit: u32,
    ) -> Result<Vec<Uuid>, CatalogError> {
        let (locale, version) = (locale.to_owned(), version.to_owned());
        self.read(move |connection| {
            let statement = format!(
                "SELECT document_id FROM documents AS document
                 WHERE index_id = ?1 AND locale = ?2 AND version = ?3 AND NOT deleted
                    AND EXISTS (SELECT 1 FROM document_chunks WHERE index_id = ?1 AND {HAS_QUESTIONS})
                    AND EXISTS (SELECT 1 FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id AND {HAS_QUESTIONS})
                 ORDER BY source LIMIT ?4"
            );
            rows(connection, &statement, (index_id, locale, version, limit))
        })
        .await
    }

    pub(in crate::catalog) async fn sections_with_questions(
        &self,
        index_id: i64,
        pages: &[Uuid],
        limit: u32,
    ) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
        let pages = pages.to_vec();
        self.read(move |connection| {
            let condition = format!(
                "index_id = ?1 AND document_id = ?2 AND {HAS_QUESTIONS} ORDER BY position LIMIT ?3"
            );
            let sections = pages.iter().map(|page| {
                read_joined(connection, &condition, (index_id, page.to_string(), limit))
            });
            sections.collect()
        })
        .await
    }
}
