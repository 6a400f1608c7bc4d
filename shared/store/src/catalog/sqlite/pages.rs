//! Queries for pages.

use super::SqliteCatalog;
use super::values::{json, rows};
use crate::catalog::{CatalogError, PageRow};

impl SqliteCatalog {
    pub(in crate::catalog) async fn pages(
        &self,
        index_id: i64,
        urls: Option<&[String]>,
    ) -> Result<Vec<PageRow>, CatalogError> {
        // The index of URLs is used only for a condition without OR, and for an order that no index has.
        let wanted = match urls {
            Some(_) => "url IN (SELECT value FROM json_each(?2)) ORDER BY +source",
            None => "?2 IS NULL ORDER BY source",
        };
        let urls = urls.map(|urls| json(&urls));
        self.read(move |connection| {
            let statement = format!(
                "SELECT document_id, title, url, locale, version,
                    (SELECT coalesce(sum(token_count), 0) FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                    ) AS tokens,
                    coalesce((SELECT json_extract(fields, '$.unlisted')
                        FROM document_chunks AS chunk JOIN chunk_metadata USING (metadata_id)
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                        ORDER BY position LIMIT 1), 0) AS unlisted
                 FROM documents AS document
                 WHERE index_id = ?1 AND NOT deleted AND {wanted}"
            );
            rows(connection, &statement, (index_id, urls))
        })
        .await
    }
}
