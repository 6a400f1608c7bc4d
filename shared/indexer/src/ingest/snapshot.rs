//! A page as read at one moment.

use super::{Ingest, IngestError};
use crate::source::{FileCache, SourceError};
use book::questions::question_sources;
use book::{
    Document, Input, Inputs, PageFile, default_source, fingerprint, makes_page, page_file,
    read_document, shown_in,
};

/// A file as read at one moment, with everything that reading it uses.
pub(super) struct Snapshot {
    /// The file's content; `None` if it is not a page of the book.
    pub(super) bytes: Option<Vec<u8>>,
    /// Why it is no page although the file exists.
    pub(super) refusal: Option<SourceError>,
    pub(super) inputs: Inputs,
    pub(super) fingerprint: String,
}

impl Ingest {
    /// Returns an empty cache of files with the questions that the catalog has of any page, read with one query.
    pub(crate) async fn files(&self) -> Result<FileCache, IngestError> {
        let site = &self.options.site;
        let written = self.catalog.written_questions(site, None);
        Ok(FileCache::with_written(written.await?))
    }

    /// Like [`Self::files`], with the questions that one page may have.
    pub(super) async fn files_of(&self, page: &PageFile) -> Result<FileCache, IngestError> {
        let (site, sources) = (&self.options.site, question_sources(&self.settings, page));
        let written = self.catalog.written_questions(site, Some(&sources));
        Ok(FileCache::with_written(written.await?))
    }

    /// Reads a page as it is now, with its questions in the catalog.
    pub(crate) async fn page_with_questions(
        &self,
        source: &str,
    ) -> Result<Option<Document>, IngestError> {
        let Some(page) = page_file(&self.settings, source) else {
            return Ok(None);
        };
        let files = self.files_of(&page).await?;
        let page = self.page_now(source, &files).await?;
        Ok(page.map(|(document, _)| document))
    }

    /// Reads a page as it is now, with its fingerprint. `None` if it is no page, or cannot be read as one.
    pub(crate) async fn page_now(
        &self,
        source: &str,
        files: &FileCache,
    ) -> Result<Option<(Document, String)>, IngestError> {
        let Some(page) = page_file(&self.settings, source) else {
            return Ok(None);
        };
        let snapshot = self.snapshot(&page, files).await?;
        let Some(bytes) = &snapshot.bytes else {
            return Ok(None);
        };
        let site = &self.options.site;
        let document = read_document(&self.settings, site, &page, bytes, &snapshot.inputs);
        Ok(document.ok().map(|it| (it, snapshot.fingerprint)))
    }

    /// Reads the current file and everything that reading it uses, from the cache `files` where possible.
    pub(super) async fn snapshot(
        &self,
        page: &PageFile,
        files: &FileCache,
    ) -> Result<Snapshot, IngestError> {
        // A translation without its page is not indexed.
        let translated = default_source(&self.settings, page);
        let ((bytes, refusal), is_translation_of_one) = tokio::try_join!(
            async { published(self.source.read_page(&page.source).await) },
            async {
                let is_own_page = translated == page.source;
                Ok(is_own_page
                    || published(self.source.read_page(&translated).await)?
                        .0
                        .is_some())
            }
        )?;
        let bytes =
            bytes.filter(|bytes| is_translation_of_one && makes_page(&self.settings, page, bytes));
        let inputs = match &bytes {
            Some(bytes) => {
                let used = self.source.inputs(&self.settings, page, bytes, files);
                used.await?
            }
            None => Inputs::new(),
        };
        // Neither is a page that every locale has translated.
        let is_shown = shown_in(&self.settings, page, |path| {
            inputs.get(path).and_then(Input::content).is_some()
        })
        .next()
        .is_some();
        let bytes = bytes.filter(|_| is_shown);
        let fingerprint = match &bytes {
            Some(bytes) => {
                let key = self.settings.reading_key(&page.instance);
                fingerprint(&key, bytes, &inputs)
            }
            None => String::new(),
        };
        Ok(Snapshot {
            bytes,
            refusal,
            inputs,
            fingerprint,
        })
    }
}

/// Treats a file that is not published as absent, so that what is stored of it is deleted. Returns the reason as well.
fn published(
    read: Result<Option<Vec<u8>>, SourceError>,
) -> Result<(Option<Vec<u8>>, Option<SourceError>), SourceError> {
    match read {
        Err(error @ SourceError::NotPublished { .. }) => Ok((None, Some(error))),
        content => Ok((content?, None)),
    }
}
