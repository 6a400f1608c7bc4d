//! The pages of an index, as tables of contents list them.

use uuid::Uuid;

use super::{Catalog, CatalogError, on_store};

/// A page of the book, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// The document.
    pub document_id: Uuid,
    /// The title.
    pub title: String,
    /// The final URL.
    pub url: String,
    /// The locale it is written in.
    pub locale: String,
    /// The version, of docs other than the default ones with their id before it: `api@2.0`.
    pub version: String,
    /// The cl100k tokens of its chunks.
    pub tokens: u64,
    /// True if the site lists it nowhere.
    pub unlisted: bool,
}

impl Catalog {
    /// Returns all pages of an index, ordered by source path.
    pub async fn pages(&self, index_id: i64) -> Result<Vec<PageRow>, CatalogError> {
        on_store!(self, store => store.pages(index_id, None))
    }

    /// Returns the pages at any of these URLs, compared letter by letter, ordered by source path.
    pub async fn pages_at(
        &self,
        index_id: i64,
        urls: &[String],
    ) -> Result<Vec<PageRow>, CatalogError> {
        on_store!(self, store => store.pages(index_id, Some(urls)))
    }

    /// Returns the document that a chunk belongs to and the chunk's position in it; `None` if the book does not hold the chunk.
    pub async fn place_of_chunk(
        &self,
        index_id: i64,
        chunk_id: Uuid,
    ) -> Result<Option<(Uuid, i32)>, CatalogError> {
        on_store!(self, store => store.place_of_chunk(index_id, chunk_id))
    }
}
