//! A page as read at one moment.

use super::{Ingest, IngestError};
use crate::source::{FileCache, SourceError};
use book::{Inputs, PageFile, default_source, fingerprint, own_translation};

/// A file as read at one moment, with everything that reading it uses.
pub(super) struct Snapshot {
    /// `None` if it is not a page of the book.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) inputs: Inputs,
    pub(super) fingerprint: String,
}

impl Ingest {
    /// Reads the current file and everything that reading it uses, from the cache `files` where possible.
    pub(super) async fn snapshot(
        &self,
        page: &PageFile,
        files: &FileCache,
    ) -> Result<Snapshot, IngestError> {
        // A translation without its page is not indexed, and neither is a page that the default locale replaces by a translation of its own.
        let translated = default_source(&self.settings, page);
        let own = own_translation(&self.settings, page);
        let (bytes, is_translation_of_one, own_content) = tokio::try_join!(
            self.source.read_page(&page.source),
            async {
                let is_own_page = translated == page.source;
                Ok::<_, SourceError>(
                    is_own_page || self.source.read_page(&translated).await?.is_some(),
                )
            },
            async {
                match &own {
                    Some(path) => self.source.read(path).await,
                    None => Ok(None),
                }
            }
        )?;
        let bytes = bytes.filter(|_| is_translation_of_one && own_content.is_none());
        let mut inputs: Inputs = own
            .into_iter()
            .map(|path| (path, own_content.clone()))
            .collect();
        if let Some(bytes) = &bytes {
            let used = self.source.inputs(&self.settings, page, bytes, files);
            inputs.extend(used.await?);
        }
        let fingerprint = match &bytes {
            Some(bytes) => {
                let key = self.settings.reading_key(&page.instance);
                fingerprint(&key, bytes, &inputs)
            }
            None => String::new(),
        };
        Ok(Snapshot {
            bytes,
            inputs,
            fingerprint,
        })
    }
}
