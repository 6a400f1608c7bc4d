//! The list of an index's pages.

use uuid::Uuid;

use super::statement::Parameter::{Id, Number};
use super::{Catalog, CatalogError, SiteInfo, on_store, sql};

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

    /// Returns the page at a path, with or without a slash at its end. An untranslated page has a path under each locale.
    pub async fn page_at(
        &self,
        index_id: i64,
        site: &SiteInfo,
        path: &str,
    ) -> Result<Option<PageRow>, CatalogError> {
        let own = without_locale(site, path);
        for path in [Some(path), own.as_deref()].into_iter().flatten() {
            let bare = path.trim_end_matches('/');
            let urls = [bare.to_owned(), format!("{bare}/")];
            let pages = on_store!(self, store => store.pages(index_id, Some(&urls)))?;
            if let Some(page) = pages.into_iter().next() {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// Returns a chunk's document and its position there; `None` if the book does not hold the chunk.
    pub async fn place_of_chunk(
        &self,
        index_id: i64,
        chunk_id: Uuid,
    ) -> Result<Option<(Uuid, i32)>, CatalogError> {
        let places = self
            .rows(sql::PLACE_OF_CHUNK, &[Number(index_id), Id(chunk_id)])
            .await?;
        Ok(places.into_iter().next())
    }
}

/// Removes the locale's prefix from a path; `None` if it has none.
fn without_locale(site: &SiteInfo, path: &str) -> Option<String> {
    let rest = path.strip_prefix(site.base_url.as_str())?;
    let (first, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let is_locale = site.locales.iter().any(|locale| locale == first);
    is_locale.then(|| format!("{}{rest}", site.base_url))
}
