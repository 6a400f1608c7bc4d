//! A page as read at one moment.

use super::{Ingest, IngestError};
use crate::source::{FileCache, SourceError};
use book::{Inputs, PageFile, default_source, fingerprint, own_translation};

/// A file as read at one moment, with everything that reading it uses.
pub(super) struct Snapshot {
    /// `None` if it is not a page of the book.
    pub(super) bytes: Option<Vec<u8>>,
    /// Why it is no page although the file exists.
    pub(super) refusal: Option<SourceError>,
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
        let ((bytes, refusal), is_translation_of_one, own_content) = tokio::try_join!(
            async { published(self.source.read_page(&page.source).await) },
            async {
                let is_own_page = translated == page.source;
                Ok(is_own_page
                    || published(self.source.read_page(&translated).await)?
                        .0
                        .is_some())
            },
            async {
                match &own {
                    Some(path) => Ok(published(self.source.read(path).await)?.0),
                    None => Ok(None),
                }
            }
        )?;
        let bytes = bytes.filter(|_| is_translation_of_one && own_content.is_none());
        let mut inputs: Inputs = own
            .into_iter()
            .map(|path| (path, own_content.clone().into()))
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
            refusal,
            inputs,
            fingerprint,
        })
    }
}

/// Takes a file that is not published for one that does not exist, so that what is stored of it is deleted. Returns the reason as well.
fn published(
    read: Result<Option<Vec<u8>>, SourceError>,
) -> Result<(Option<Vec<u8>>, Option<SourceError>), SourceError> {
    match read {
        Err(error @ SourceError::NotPublished { .. }) => Ok((None, Some(error))),
        content => Ok((content?, None)),
    }
}
