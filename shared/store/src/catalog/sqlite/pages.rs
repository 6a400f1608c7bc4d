//! Queries for pages.

use super::SqliteCatalog;
use super::values::{json, rows};
use crate::catalog::{CatalogError, PageRow};

impl SqliteCatalog {
    pub(in crate::catalog) async fn pages(
        &self,
        index_id: i64,
        urls: &[String],
    ) -> Result<Vec<PageRow>, CatalogError> {
        let urls = json(&urls);
        self.read(move |connection| {
            // The index of URLs is used only for an order that no index has.
            let statement =
                "SELECT document_id, title, url, locale, version,
                    (SELECT coalesce(sum(token_count), 0) FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                    ) AS tokens
                 FROM documents AS document
                 WHERE index_id = ?1 AND NOT deleted AND url IN (SELECT value FROM json_each(?2)) ORDER BY +source";
            rows(connection, statement, (index_id, urls))
        })
        .await
    }
}
