//! A cache of files that many pages use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Source, SourceError};

/// Cached bytes; files that do not fit are read each time.
const MAX_BYTES: usize = 32 << 20;
/// Bytes of an entry beside path and content. Most files that pages look for do not exist.
const ENTRY_BYTES: usize = size_of::<(String, Option<Vec<u8>>)>();

/// Files as first read; clones share them. The cache lives for one run, so it never needs newer content.
#[derive(Debug, Clone, Default)]
pub struct FileCache {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    files: HashMap<String, Option<Vec<u8>>>,
    bytes: usize,
}

impl FileCache {
    /// Returns a file's content from the cache or from `source`; `None` if the file does not exist.
    pub async fn read(&self, source: &Source, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        if let Some(content) = self.lock().files.get(path) {
            return Ok(content.clone());
        }
        let content = source.read(path).await?;
        let mut kept = self.lock();
        let size = ENTRY_BYTES + path.len() + content.as_ref().map_or(0, Vec::len);
        if kept.bytes + size <= MAX_BYTES {
            kept.bytes += size;
            kept.files.insert(path.to_owned(), content.clone());
        }
        Ok(content)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemorySource;

    #[tokio::test]
    async fn a_file_is_read_once_and_absence_is_remembered() {
        let files = MemorySource::default();
        files.files().insert("a.md".to_owned(), b"old".to_vec());
        let (source, cache) = (Source::Memory(files.clone()), FileCache::default());
        assert_eq!(cache.read(&source, "a.md").await.unwrap().unwrap(), b"old");
        assert_eq!(cache.read(&source, "b.md").await.unwrap(), None);
        files.files().insert("a.md".to_owned(), b"new".to_vec());
        files.files().insert("b.md".to_owned(), b"new".to_vec());
        assert_eq!(cache.read(&source, "a.md").await.unwrap().unwrap(), b"old");
        assert_eq!(cache.read(&source, "b.md").await.unwrap(), None);
        let fresh = FileCache::default();
        assert_eq!(fresh.read(&source, "b.md").await.unwrap().unwrap(), b"new");
    }

    #[tokio::test]
    async fn what_does_not_fit_is_read_each_time() {
        let files = MemorySource::default();
        let large = vec![b'x'; MAX_BYTES];
        files.files().insert("a.md".to_owned(), large);
        let (source, cache) = (Source::Memory(files.clone()), FileCache::default());
        cache.read(&source, "a.md").await.unwrap();
        files.files().insert("a.md".to_owned(), b"new".to_vec());
        assert_eq!(cache.read(&source, "a.md").await.unwrap().unwrap(), b"new");
    }
}
