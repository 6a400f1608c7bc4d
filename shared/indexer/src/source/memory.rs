//! Files in memory, for the simulation of the ingest protocol.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::site_folder::SiteFolder;
use super::{Listing, SourceError};
use book::{etag, private_name};
use fakes::faults::{Freeze, call};

/// Files by path; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemorySource {
    /// The site's folder among the files.
    pub(super) site: SiteFolder,
    files: Arc<Mutex<Files>>,
    seen: Arc<Mutex<Seen>>,
    read: Arc<Mutex<Vec<String>>>,
}

type Files = BTreeMap<String, Vec<u8>>;

#[derive(Debug, Default)]
struct Seen {
    /// True if the reader sees only the listing and contents below.
    is_frozen: bool,
    listing: Option<Listing>,
    contents: BTreeMap<String, Option<Vec<u8>>>,
}

impl MemorySource {
    /// Returns the same files, with the site in a folder.
    pub(crate) fn with_site(self, folder: &str) -> Self {
        let site = SiteFolder::new(folder);
        Self { site, ..self }
    }

    pub(crate) fn files(&self) -> MutexGuard<'_, Files> {
        lock(&self.files)
    }

    /// Returns an independent copy of the current files.
    pub(crate) fn snapshot(&self) -> Self {
        Self {
            site: self.site.clone(),
            files: Arc::new(Mutex::new(self.files().clone())),
            seen: Arc::default(),
            read: Arc::default(),
        }
    }

    /// Returns the paths read since the last call, in order.
    pub(crate) fn take_read(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.read))
    }

    /// Returns the same files for another reader, which can be frozen separately.
    pub(crate) fn reader(&self) -> Self {
        Self {
            seen: Arc::default(),
            ..self.clone()
        }
    }

    /// Lists all files with their `ETag`s, as a bucket does.
    pub(super) async fn list(&self) -> Result<Listing, SourceError> {
        let work = async {
            let seen = &mut *lock(&self.seen);
            if !seen.is_frozen || seen.listing.is_none() {
                let files = self.files();
                let etags: BTreeMap<String, String> = files
                    .iter()
                    .map(|(path, bytes)| (self.site.of_root(path), etag(bytes)))
                    .filter(|(path, _)| private_name(path).is_none())
                    .collect();
                seen.listing = Some(Listing {
                    paths: etags.keys().cloned().collect(),
                    etags,
                    ..Listing::default()
                });
            }
            Ok(seen.listing.clone().unwrap_or_default())
        };
        call(work, lost).await
    }

    pub(super) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let work = async {
            lock(&self.read).push(path.to_owned());
            let seen = &mut *lock(&self.seen);
            if !seen.is_frozen || !seen.contents.contains_key(path) {
                let file = self.site.in_root(path);
                let content = file.and_then(|file| self.files().get(&file).cloned());
                seen.contents.insert(path.to_owned(), content);
            }
            Ok(seen.contents[path].clone())
        };
        call(work, lost).await
    }
}

impl Freeze for MemorySource {
    fn freeze(&self) {
        lock(&self.seen).is_frozen = true;
    }

    fn thaw(&self) {
        lock(&self.seen).is_frozen = false;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lost() -> SourceError {
    SourceError::Unavailable {
        path: "a file".to_owned(),
        reason: "the answer was lost".to_owned(),
    }
}
