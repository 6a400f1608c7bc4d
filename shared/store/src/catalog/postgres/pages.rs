//! Queries for pages.

use tokio_postgres::types::Type;

use super::PostgresCatalog;
use crate::catalog::{CatalogError, PageRow};

impl PostgresCatalog {
    pub(in crate::catalog) async fn pages(
        &self,
        index_id: i64,
        urls: &[String],
    ) -> Result<Vec<PageRow>, CatalogError> {
        self.query(
            "SELECT document_id, title, url, locale, version,
                (SELECT coalesce(sum(token_count), 0)::bigint FROM document_chunks AS chunk
                    WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                ) AS tokens
             FROM documents AS document
             WHERE index_id = $1 AND NOT deleted AND url = ANY($2) ORDER BY source",
            &[(&index_id, Type::INT8), (&urls, Type::TEXT_ARRAY)],
        )
        .await
    }
}
