//! A page as read at one moment.

use super::{Ingest, IngestError};
use crate::book::{Inputs, PageFile, default_source, fingerprint, own_translation};
use crate::source::FileCache;

/// A file as read at one moment, with all that reading it uses.
pub(super) struct Snapshot {
    /// `None` when it is not a page of the book.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) inputs: Inputs,
    pub(super) fingerprint: String,
}

impl Ingest {
    /// Reads the file as it is now, and all that reading it uses: from `files`, where they are.
    pub(super) async fn snapshot(
        &self,
        page: &PageFile,
        files: &FileCache,
    ) -> Result<Snapshot, IngestError> {
        // A translation of no page is none; a page that the default locale's own translation stands in for neither.
        let translated = default_source(&self.settings, page);
        let mut exists =
            translated == page.source || self.source.read(&translated).await?.is_some();
        let mut inputs = Inputs::new();
        if let Some(path) = own_translation(&self.settings, page) {
            let content = self.source.read(&path).await?;
            exists &= content.is_none();
            inputs.insert(path, content);
        }
        let bytes = if exists {
            self.source.read(&page.source).await?
        } else {
            None
        };
        if let Some(bytes) = &bytes {
            let used = self.source.inputs(&self.settings, page, bytes, files);
            inputs.extend(used.await?);
        }
        let fingerprint = match &bytes {
            Some(bytes) => fingerprint(&self.settings.reading_key(), bytes, &inputs),
            None => String::new(),
        };
        Ok(Snapshot {
            bytes,
            inputs,
            fingerprint,
        })
    }
}
