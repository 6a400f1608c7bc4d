//! Files in memory, for the simulation of the ingest protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::SourceError;
use crate::faults::call;

/// Files by path; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemorySource {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
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
        }
    }

    pub(super) async fn list(&self) -> Result<BTreeSet<String>, SourceError> {
        call(|| Ok(self.files().keys().cloned().collect()), lost).await
    }

    pub(super) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        call(|| Ok(self.files().get(path).cloned()), lost).await
    }
}

fn lost() -> SourceError {
    SourceError::Unavailable {
        path: "a file".to_owned(),
        reason: "the answer was lost".to_owned(),
    }
}
