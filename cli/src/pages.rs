//! Reads every page of a book, without a model or a store.

use bookrag::book::{
    Document, PageFile, SiteSettings, SkipReason, hidden_docs, list_pages, list_script_pages,
    may_hold_pages, missing_docs, other_missing_docs, page_file, read_document,
};
use bookrag::ingest::{NOT_UTF8, SkippedFile, SyncError, no_pages};
use bookrag::source::{FileCache, Listing, Source, SourceError};

/// The pages of a book, and places that may hold more.
pub(crate) struct ReadPages {
    /// The pages, in path order.
    pub(crate) pages: Vec<ReadPage>,
    pub(crate) scripts: Vec<String>,
    /// Folders that cannot be listed, and files whose paths are not UTF-8.
    pub(crate) unknown: Vec<SkippedFile>,
    /// Warnings about docs that the site has but does not show, and versions that it names but lacks.
    pub(crate) warnings: Vec<String>,
    /// Why these are not the whole book that the settings describe.
    pub(crate) missing: Option<String>,
}

pub(crate) struct ReadPage {
    pub(crate) file: PageFile,
    /// The file's text, with its original line ends.
    pub(crate) text: String,
    pub(crate) document: Result<Document, Unread>,
}

/// Why a page could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    /// The page is invalid; its author must change it.
    #[error("{0}")]
    Skipped(SkipReason),
    /// The system denies access to the page or to a file that it uses.
    #[error(transparent)]
    Unreadable(#[from] SourceError),
}

impl ReadPages {
    /// Reads the pages. A page that is deleted in the meantime is left out.
    ///
    /// # Errors
    /// If the site's own folder or bucket cannot be listed.
    pub(crate) async fn read(
        source: &Source,
        settings: &SiteSettings,
    ) -> Result<Self, SourceError> {
        Self::with(source, settings, &FileCache::default()).await
    }

    /// Like [`Self::read`], with the questions in the catalog that the cache has.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub(crate) async fn with(
        source: &Source,
        settings: &SiteSettings,
        files: &FileCache,
    ) -> Result<Self, SourceError> {
        let listing = source.listing().await?;
        let mut pages = Vec::new();
        for file in list_pages(settings, &listing.paths) {
            let (text, document) = match read(source, settings, &file, files).await {
                Ok(None | Some((_, Err(SkipReason::NoGeneratedPage)))) => continue,
                Ok(Some((text, document))) => (text, document.map_err(Unread::Skipped)),
                Err(error) => (String::new(), Err(error.into())),
            };
            pages.push(ReadPage {
                file,
                text,
                document,
            });
        }
        let scripts = list_script_pages(settings, &listing.paths).into_iter();
        Ok(Self {
            scripts: scripts.map(str::to_owned).collect(),
            warnings: hidden_docs(settings, &listing.paths)
                .into_iter()
                .chain(other_missing_docs(settings, &listing.paths))
                .collect(),
            missing: missing_docs(settings, &listing.paths)
                .filter(|_| listing.unreadable.is_empty()),
            pages,
            unknown: unknown(settings, listing),
        })
    }

    /// Checks that the pages are a whole book.
    ///
    /// # Errors
    /// If the docs that readers see first are missing, or there is no page.
    pub(crate) fn check(&self, settings: &SiteSettings) -> Result<(), SyncError> {
        let reason = match &self.missing {
            Some(missing) => missing.clone(),
            None if self.pages.is_empty() && self.unknown.is_empty() => no_pages(settings, ""),
            None => return Ok(()),
        };
        Err(SyncError::NoPages(reason))
    }

    /// Returns the pages that could be read.
    pub(crate) fn documents(&self) -> impl Iterator<Item = (&ReadPage, &Document)> {
        let pages = self.pages.iter();
        pages.filter_map(|page| Some((page, page.document.as_ref().ok()?)))
    }

    /// True if a page, or a folder that may hold pages, could not be read.
    pub(crate) fn are_incomplete(&self) -> bool {
        let mut documents = self.pages.iter().map(|page| &page.document);
        !self.unknown.is_empty()
            || documents.any(|document| matches!(document, Err(Unread::Unreadable(_))))
    }
}

type Read = (String, Result<Document, SkipReason>);

async fn read(
    source: &Source,
    settings: &SiteSettings,
    file: &PageFile,
    files: &FileCache,
) -> Result<Option<Read>, SourceError> {
    let Some(bytes) = source.read(&file.source).await? else {
        return Ok(None);
    };
    let inputs = source.inputs(settings, file, &bytes, files).await?;
    let document = read_document(settings, "", file, &bytes, &inputs);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some((text, document)))
}

fn unknown(settings: &SiteSettings, listing: Listing) -> Vec<SkippedFile> {
    let folders = listing.unreadable.into_iter();
    let folders = folders.filter(|(folder, _)| may_hold_pages(settings, folder));
    let files = listing.not_utf8.into_iter();
    let files = files.filter(|path| page_file(settings, path).is_some());
    folders
        .chain(files.map(|path| (path, NOT_UTF8.to_owned())))
        .map(|(source, reason)| SkippedFile { source, reason })
        .collect()
}
