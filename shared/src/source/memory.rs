//! Files in memory, for the simulation of the ingest protocol.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Listing, SourceError};
use crate::book::etag;
use crate::faults::call;

/// Files by path; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemorySource {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// The paths that were read, in order.
    read: Arc<Mutex<Vec<String>>>,
}

impl MemorySource {
    /// The files, to be changed.
    pub(crate) fn files(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files as they are now, apart.
    pub(crate) fn snapshot(&self) -> Self {
        Self {
            files: Arc::new(Mutex::new(self.files().clone())),
            read: Arc::default(),
        }
    }

    /// The paths that were read since this was asked last, in order.
    pub(crate) fn take_read(&self) -> Vec<String> {
        std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All files with their ETags, as a bucket lists them.
    pub(super) async fn list(&self) -> Result<Listing, SourceError> {
        let list = || {
            let files = self.files();
            let etags = files
                .iter()
                .map(|(path, bytes)| (path.clone(), etag(bytes)));
            Ok(Listing {
                paths: files.keys().cloned().collect(),
                etags: etags.collect(),
                ..Listing::default()
            })
        };
        call(list, lost).await
    }

    pub(super) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let read = || {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            read.push(path.to_owned());
            Ok(self.files().get(path).cloned())
        };
        call(read, lost).await
    }
}

fn lost() -> SourceError {
    SourceError::Unavailable {
        path: "a file".to_owned(),
        reason: "the answer was lost".to_owned(),
    }
}
