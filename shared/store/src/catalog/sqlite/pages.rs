//! Queries for pages.

use rusqlite::{OptionalExtension, Row};
use uuid::Uuid;

use super::SqliteCatalog;
use super::values::{count, json, uuid};
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
            let pages = connection
                .prepare_cached(&format!(
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
                ))?
                .query_map((index_id, urls), page_row)?
                .collect::<Result<_, _>>()?;
            Ok(pages)
        })
        .await
    }

    pub(in crate::catalog) async fn place_of_chunk(
        &self,
        index_id: i64,
        chunk_id: Uuid,
    ) -> Result<Option<(Uuid, i32)>, CatalogError> {
        self.read(move |connection| {
            let place = connection
                .prepare_cached(
                    "SELECT document_id, position FROM document_chunks WHERE index_id = ?1 AND chunk_id = ?2",
                )?
                .query_row((index_id, chunk_id.to_string()), |row| {
                    Ok((uuid(row, "document_id")?, row.get("position")?))
                })
                .optional()?;
            Ok(place)
        })
        .await
    }
}

fn page_row(row: &Row) -> rusqlite::Result<PageRow> {
    Ok(PageRow {
        document_id: uuid(row, "document_id")?,
        title: row.get("title")?,
        url: row.get("url")?,
        locale: row.get("locale")?,
        version: row.get("version")?,
        tokens: count(row, "tokens")?,
        unlisted: row.get("unlisted")?,
    })
}
