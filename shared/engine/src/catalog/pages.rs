//! The list of an index's pages.

use uuid::Uuid;

use super::{Catalog, CatalogError, on_store};

/// A page of the book, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// The document's id.
    pub document_id: Uuid,
    /// The title.
    pub title: String,
    /// The final URL.
    pub url: String,
    /// The language the text is written in.
    pub locale: String,
    /// The version, prefixed with the instance's id for instances other than the default: `api@2.0`.
    pub version: String,
    /// cl100k tokens of its chunks.
    pub tokens: u64,
    /// True if the page is missing from all of the site's lists.
    pub unlisted: bool,
}

impl Catalog {
    /// Returns all pages of an index, ordered by source path.
    pub async fn pages(&self, index_id: i64) -> Result<Vec<PageRow>, CatalogError> {
        on_store!(self, store => store.pages(index_id, None))
    }

    /// Returns the pages at any of these URLs (exact match), ordered by source path.
    pub async fn pages_at(
        &self,
        index_id: i64,
        urls: &[String],
    ) -> Result<Vec<PageRow>, CatalogError> {
        on_store!(self, store => store.pages(index_id, Some(urls)))
    }

    /// Returns a chunk's document and its position there; `None` if the book does not hold the chunk.
    pub async fn place_of_chunk(
        &self,
        index_id: i64,
        chunk_id: Uuid,
    ) -> Result<Option<(Uuid, i32)>, CatalogError> {
        on_store!(self, store => store.place_of_chunk(index_id, chunk_id))
    }
}
