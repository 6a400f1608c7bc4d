//! Queries for pages.

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::PostgresCatalog;
use super::values::unsigned;
use crate::catalog::{CatalogError, PageRow};

impl PostgresCatalog {
    pub(in crate::catalog) async fn pages(
        &self,
        index_id: i64,
        urls: Option<&[String]>,
    ) -> Result<Vec<PageRow>, CatalogError> {
        // Only a condition without OR uses the index of URLs.
        let wanted = match urls {
            Some(_) => "url = ANY($2)",
            None => "$2::text[] IS NULL",
        };
        let rows = self
            .pool
            .query(
                &format!("SELECT document_id, title, url, locale, version,
                    (SELECT coalesce(sum(token_count), 0)::bigint FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                    ) AS tokens,
                    coalesce((SELECT (payload->>'unlisted')::boolean FROM document_chunks AS chunk
                        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                        ORDER BY position LIMIT 1), false) AS unlisted
                 FROM documents AS document
                 WHERE index_id = $1 AND NOT deleted AND {wanted} ORDER BY source"),
                &[(&index_id, Type::INT8), (&urls, Type::TEXT_ARRAY)],
            )
            .await?;
        rows.iter().map(page_row).collect()
    }

    pub(in crate::catalog) async fn place_of_chunk(
        &self,
        index_id: i64,
        chunk_id: Uuid,
    ) -> Result<Option<(Uuid, i32)>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT document_id, position FROM document_chunks WHERE index_id = $1 AND chunk_id = $2",
                &[(&index_id, Type::INT8), (&chunk_id, Type::UUID)],
            )
            .await?;
        let place = rows.first().map(|row| -> Result<_, CatalogError> {
            Ok((row.try_get("document_id")?, row.try_get("position")?))
        });
        place.transpose()
    }
}

fn page_row(row: &Row) -> Result<PageRow, CatalogError> {
    Ok(PageRow {
        document_id: row.try_get("document_id")?,
        title: row.try_get("title")?,
        url: row.try_get("url")?,
        locale: row.try_get("locale")?,
        version: row.try_get("version")?,
        tokens: unsigned(row, "tokens")?,
        unlisted: row.try_get("unlisted")?,
    })
}
