//! The sections whose questions are proposed to readers. Each call reads a few rows, however large the book is.

use uuid::Uuid;

use super::{Catalog, CatalogError, JoinedChunk, on_store};

impl Catalog {
    /// Returns the first pages of a locale and version that have questions, ordered by source path.
    pub async fn pages_with_questions(
        &self,
        index_id: i64,
        locale: &str,
        version: &str,
        limit: u32,
    ) -> Result<Vec<Uuid>, CatalogError> {
        on_store!(self, store => store.pages_with_questions(index_id, locale, version, limit))
    }

    /// Returns, for each page, the first chunks of its sections that have questions, in order, at most `limit`. The result has one list per entry of
    /// `pages`, without chunks whose payload this program cannot read.
    pub async fn sections_with_questions(
        &self,
        index_id: i64,
        pages: &[Uuid],
        limit: u32,
    ) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
        on_store!(self, store => store.sections_with_questions(index_id, pages, limit))
    }
}
