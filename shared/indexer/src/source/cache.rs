//! A cache of files that many pages use.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Source, SourceError};
use book::questions::{is_written_file, written_file};
use book::{Input, InputUse};

/// Cached bytes; files that do not fit are read each time.
const MAX_BYTES: usize = 32 << 20;
/// Bytes of an entry in addition to its path and content. Most files that pages look for do not exist.
const ENTRY_BYTES: usize = size_of::<((String, InputUse), Input)>();

/// Files as first read; clones share them. The cache lives for one run, so it never needs newer content.
#[derive(Debug, Clone, Default)]
pub struct FileCache {
    kept: Arc<Mutex<Kept>>,
    /// The questions in the catalog, by the path that stands for them.
    written: Arc<BTreeMap<String, String>>,
}

#[derive(Debug, Default)]
struct Kept {
    files: HashMap<(String, InputUse), Input>,
    bytes: usize,
}

impl FileCache {
    /// Returns an empty cache with questions that are in the catalog, as texts by the source of their page.
    #[must_use]
    pub fn with_written(questions: BTreeMap<String, String>) -> Self {
        let files = questions.into_iter();
        let files = files.map(|(source, text)| (written_file(&source), text));
        Self {
            written: Arc::new(files.collect()),
            ..Self::default()
        }
    }

    /// Returns the texts of the questions in the catalog, by the path that stands for them.
    pub(crate) fn written(&self) -> &BTreeMap<String, String> {
        &self.written
    }

    /// Returns a file for a use of a page, from the cache or from `source`.
    pub(super) async fn read(
        &self,
        source: &Source,
        path: &str,
        usage: InputUse,
    ) -> Result<Input, SourceError> {
        if is_written_file(path) {
            // No page may show them as text of the book.
            let text = self.written.get(path);
            let text = text.filter(|_| usage == InputUse::Lookup);
            return Ok(text.map(|text| text.as_bytes().to_vec()).into());
        }
        let key = (path.to_owned(), usage);
        if let Some(input) = self.lock().files.get(&key) {
            return Ok(input.clone());
        }
        let input = match source.read_for(path, usage).await {
            Err(SourceError::NotPublished { reason, .. }) => Input::Refused(reason),
            content => content?.into(),
        };
        let mut kept = self.lock();
        let size = ENTRY_BYTES + path.len() + input.content().map_or(0, <[u8]>::len);
        if kept.bytes + size <= MAX_BYTES {
            kept.bytes += size;
            kept.files.insert(key, input.clone());
        }
        Ok(input)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemorySource;

    async fn read(cache: &FileCache, source: &Source, path: &str) -> Input {
        let read = cache.read(source, path, InputUse::Lookup);
        read.await.unwrap()
    }

    #[tokio::test]
    async fn a_file_is_read_once_and_absence_is_remembered() {
        let files = MemorySource::default();
        files.files().insert("a.md".to_owned(), b"old".to_vec());
        let (source, cache) = (Source::Memory(files.clone()), FileCache::default());
        let old = Input::Content(b"old".to_vec());
        assert_eq!(read(&cache, &source, "a.md").await, old);
        assert_eq!(read(&cache, &source, "b.md").await, Input::Absent);
        files.files().insert("a.md".to_owned(), b"new".to_vec());
        files.files().insert("b.md".to_owned(), b"new".to_vec());
        assert_eq!(read(&cache, &source, "a.md").await, old);
        assert_eq!(read(&cache, &source, "b.md").await, Input::Absent);
        let fresh = FileCache::default();
        let new = Input::Content(b"new".to_vec());
        assert_eq!(read(&fresh, &source, "b.md").await, new);
    }

    #[tokio::test]
    async fn what_does_not_fit_is_read_each_time() {
        let files = MemorySource::default();
        let large = vec![b'x'; MAX_BYTES];
        files.files().insert("a.md".to_owned(), large);
        let (source, cache) = (Source::Memory(files.clone()), FileCache::default());
        read(&cache, &source, "a.md").await;
        files.files().insert("a.md".to_owned(), b"new".to_vec());
        let new = Input::Content(b"new".to_vec());
        assert_eq!(read(&cache, &source, "a.md").await, new);
    }
}
