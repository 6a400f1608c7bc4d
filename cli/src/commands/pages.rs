//! Reads every page of a book, without a model or a store.

use bookrag::book::{Document, PageFile, SiteSettings, SkipReason, list_pages, read_document};
use bookrag::source::{FileCache, Source, SourceError};

/// A page's file, and what was read of it.
pub(super) struct ReadPage {
    pub(super) file: PageFile,
    /// The file's text, its lines as in the file.
    pub(super) text: String,
    pub(super) document: Result<Document, SkipReason>,
}

/// The pages of a book in path order. One that goes away meanwhile is none.
pub(super) async fn read_pages(
    source: &Source,
    settings: &SiteSettings,
) -> Result<Vec<ReadPage>, SourceError> {
    let paths = source.list().await?;
    let (mut pages, files) = (Vec::new(), FileCache::default());
    for file in list_pages(settings, &paths) {
        let Some(bytes) = source.read(&file.source).await? else {
            continue;
        };
        let inputs = source.inputs(settings, &file, &bytes, &files).await?;
        pages.push(ReadPage {
            document: read_document(settings, "", &file, &bytes, &inputs),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            file,
        });
    }
    Ok(pages)
}
