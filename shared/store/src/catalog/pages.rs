//! The list of an index's pages.

use uuid::Uuid;

use super::statement::Parameter::{Flag, Id, Number, OptionalText, Text, Texts};
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
}

/// Pages to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageSelection<'a> {
    /// The locale; `None` for all.
    pub locale: Option<&'a str>,
    /// The versions; `None` for all.
    pub versions: Option<&'a [String]>,
    /// What addresses begin with and are longer than: a folder with its slash. Empty for all.
    pub below: &'a str,
}

impl Catalog {
    /// Returns up to `limit` of the selected pages that the site lists, without the first `from`: pages by source path, then posts.
    pub async fn listed_pages(
        &self,
        index_id: i64,
        selection: PageSelection<'_>,
        from: usize,
        limit: usize,
    ) -> Result<Vec<PageRow>, CatalogError> {
        let is_post = false;
        let mut pages = self
            .listed(index_id, selection, is_post, from, limit)
            .await?;
        let missing = limit - pages.len();
        if missing > 0 {
            let others = match pages.len() {
                0 if from > 0 => {
                    let all = self.listed(index_id, selection, is_post, 0, from);
                    all.await?.len()
                }
                count => from + count,
            };
            let from = from.saturating_sub(others);
            let posts = self.listed(index_id, selection, !is_post, from, missing);
            pages.extend(posts.await?);
        }
        Ok(pages)
    }

    /// Reads pages, or posts, in the order of an index, so that no others are read.
    async fn listed(
        &self,
        index_id: i64,
        selection: PageSelection<'_>,
        is_post: bool,
        from: usize,
        limit: usize,
    ) -> Result<Vec<PageRow>, CatalogError> {
        let parameters = [
            Number(index_id),
            OptionalText(selection.locale),
            Texts(selection.versions),
            Text(selection.below),
            Flag(is_post),
            Number(i64::try_from(limit).unwrap_or(i64::MAX)),
            Number(i64::try_from(from).unwrap_or(i64::MAX)),
        ];
        self.rows(sql::LISTED_PAGES, &parameters).await
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
            let pages = on_store!(self, store => store.pages(index_id, &urls))?;
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
