//! The source and the catalog, compared: what is to be done for the index to be the book.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};

use super::{Ingest, IngestError, SkippedFile};
use crate::book::{
    PageFile, SiteSettings, SkipReason, default_source, list_pages, may_hold_pages, page_file,
    read_document,
};
use crate::catalog::StoredDocument;
use crate::source::{FileCache, Listing};

/// Pages that are read at once.
const READS: usize = 16;

/// What is wrong with a file whose path is not UTF-8.
pub const NOT_UTF8: &str =
    "its path is not UTF-8, so the page has no URL and is not indexed; rename it";

/// What an index holds of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Files of the source that are pages, drafts too.
    pub pages: usize,
    /// Documents the index has.
    pub documents: usize,
    /// Of them, those that are as their files are, and can be read.
    pub indexed: usize,
    /// What is still to be done.
    pub pending: Vec<PendingDocument>,
    /// Pages that cannot be read as they are now.
    pub skipped: Vec<SkippedFile>,
    /// Of these, those whose last good revision still answers.
    pub stale: Vec<String>,
    /// Pending documents that failed when they were last tried.
    pub failed: Vec<SkippedFile>,
    /// Pages that are not in a production build.
    pub drafts: Vec<String>,
    /// Sources that failed when they were last tried, and of which nothing is left to do.
    #[serde(skip)]
    pub(super) former_failures: Vec<String>,
    /// Folders that cannot be listed, their paths ending in `/`. What is stored of their pages stays.
    #[serde(default)]
    pub unreadable_folders: Vec<SkippedFile>,
    /// Files that would be pages if they had other names.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The sources whose documents should be there, with their fingerprints.
    #[serde(skip)]
    pub(super) expected: BTreeMap<String, String>,
    /// Pages whose own file cannot be read: no other run reads it either.
    #[serde(skip)]
    unreadable: BTreeSet<String>,
    /// All folders that cannot be listed, whether or not they may hold pages.
    #[serde(skip)]
    unlisted_folders: Vec<String>,
}

/// A document that is not as its file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingDocument {
    /// The path.
    pub source: String,
    /// In what they differ.
    pub change: PendingChange,
}

/// In what a document and its file differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingChange {
    /// The index does not have it.
    New,
    /// Its text, or something that reading it uses, is another now.
    Changed,
    /// The page is gone.
    Deleted,
    /// The file cannot be read now: for the system's reason, not the author's.
    Unreadable,
}

/// What a page should be in the index.
enum Seen {
    /// With this fingerprint.
    Page(String),
    /// Not there.
    Absent,
    /// Not there: a draft.
    Draft,
    /// Not known, and why.
    Unreadable(IngestError),
}

impl Ingest {
    /// Compares each page whose path begins with `prefix` with the catalog, and changes nothing.
    pub async fn status(&self, prefix: &str) -> Result<Status, IngestError> {
        let index_id = self.index_row.index_id;
        // Rows before files: a writer that is done meanwhile makes a document look pending, never one look done.
        let mut rows: BTreeMap<String, StoredDocument> = BTreeMap::new();
        for row in self.catalog.documents(index_id).await? {
            if row.row.source.starts_with(prefix) {
                rows.insert(row.row.source.clone(), row);
            }
        }
        let listing = self.source.listing().await?;
        let mut pages = list_pages(&self.settings, &listing.paths);
        pages.retain(|page| page.source.starts_with(prefix));
        let failed = self.catalog.stats(index_id).await?.failed;
        let mut status = Status {
            pages: pages.len(),
            documents: rows.len(),
            ..Status::default()
        };
        status.note(&self.settings, listing);
        // What many pages use is read once, and forgotten with this run: a later one must see what changed since.
        let files = FileCache::default();
        let mut looks = Vec::with_capacity(pages.len());
        for page in &pages {
            looks.push(self.seen(page, rows.get(&page.source), &files));
        }
        let seen: Vec<Seen> = stream::iter(looks).buffered(READS).collect().await;
        for (page, seen) in pages.iter().zip(seen) {
            let row = rows.remove(&page.source);
            status.add(page, row.as_ref(), seen);
        }
        for (source, row) in rows {
            if self.is_out_of_sight(&status, &source) {
                status.expected.insert(source, row.row.fingerprint);
            } else {
                status.pend(&source, PendingChange::Deleted);
            }
        }
        let pending: BTreeSet<&str> = status
            .pending
            .iter()
            .map(|pending| pending.source.as_str())
            .collect();
        let (failed, over): (Vec<_>, Vec<_>) = failed
            .into_iter()
            .filter(|(source, _)| source.starts_with(prefix))
            .partition(|(source, _)| pending.contains(source.as_str()));
        let failed: Vec<SkippedFile> = failed
            .into_iter()
            .filter(|(source, _)| !status.failed.iter().any(|known| known.source == *source))
            .map(|(source, reason)| SkippedFile { source, reason })
            .collect();
        status.failed.extend(failed);
        status.former_failures = over.into_iter().map(|(source, _)| source).collect();
        Ok(status)
    }

    /// Writes down that a document failed, for [`Self::status`]. That this fails too is for the first failure to say.
    pub async fn record_failure(&self, source: &str, error: &IngestError) {
        let index_id = self.index_row.index_id;
        let reason = error.to_string();
        let recorded = self.catalog.record_failure(index_id, source, &reason);
        if let Err(error) = recorded.await {
            tracing::warn!(stage = "ingest", document.source = source, error = %error, "the failure is not recorded");
        }
    }

    async fn seen(&self, page: &PageFile, row: Option<&StoredDocument>, files: &FileCache) -> Seen {
        let snapshot = match self.snapshot(page, files).await {
            Ok(snapshot) => snapshot,
            Err(error) => return Seen::Unreadable(error),
        };
        let Some(bytes) = &snapshot.bytes else {
            return Seen::Absent;
        };
        if row.is_some_and(|row| row.row.fingerprint == snapshot.fingerprint) {
            return Seen::Page(snapshot.fingerprint);
        }
        let site = &self.options.site;
        match read_document(&self.settings, site, page, bytes, &snapshot.inputs) {
            Err(SkipReason::Draft) => Seen::Draft,
            _ => Seen::Page(snapshot.fingerprint),
        }
    }

    /// True if a page, or the page that it translates, is in a folder that cannot be listed.
    fn is_out_of_sight(&self, status: &Status, source: &str) -> bool {
        let translated = page_file(&self.settings, source);
        let translated = translated.map(|page| default_source(&self.settings, &page));
        let is_below = |path: &str| {
            let mut folders = status.unlisted_folders.iter();
            folders.any(|folder| path.starts_with(folder))
        };
        is_below(source) || translated.is_some_and(|path| is_below(&path))
    }

    /// The documents of the live index that a switch to this one would lose, because their files cannot be read now.
    pub(super) async fn lost_by_a_switch(&self, status: &Status) -> Result<bool, IngestError> {
        if status.unreadable.is_empty() && status.unlisted_folders.is_empty() {
            return Ok(false);
        }
        let Some(live) = self.catalog.live_index().await? else {
            return Ok(false);
        };
        let documents = self.catalog.documents(live.index_id).await?;
        Ok(documents.iter().any(|document| {
            let source = &document.row.source;
            status.unreadable.contains(source) || self.is_out_of_sight(status, source)
        }))
    }
}

impl Status {
    fn add(&mut self, page: &PageFile, row: Option<&StoredDocument>, seen: Seen) {
        let source = &page.source;
        match (seen, row) {
            (Seen::Page(fingerprint), Some(row)) if row.row.fingerprint == fingerprint => {
                match &row.row.skip_reason {
                    None => self.indexed += 1,
                    Some(reason) => {
                        self.skipped.push(SkippedFile {
                            source: source.clone(),
                            reason: reason.clone(),
                        });
                        if row.chunk_count > 0 {
                            self.stale.push(source.clone());
                        }
                    }
                }
                self.expected.insert(source.clone(), fingerprint);
            }
            (Seen::Page(fingerprint), row) => {
                let change = row.map_or(PendingChange::New, |_| PendingChange::Changed);
                self.pend(source, change);
                self.expected.insert(source.clone(), fingerprint);
            }
            (Seen::Absent, Some(_)) => self.pend(source, PendingChange::Deleted),
            (Seen::Absent, None) => {}
            (Seen::Draft, row) => {
                self.drafts.push(source.clone());
                if row.is_some() {
                    self.pend(source, PendingChange::Deleted);
                }
            }
            (Seen::Unreadable(error), row) => {
                self.pend(source, PendingChange::Unreadable);
                if !error.is_outage() {
                    self.unreadable.insert(source.clone());
                    if let Some(row) = row {
                        self.expected
                            .insert(source.clone(), row.row.fingerprint.clone());
                    }
                }
                self.failed.push(SkippedFile {
                    source: source.clone(),
                    reason: error.to_string(),
                });
            }
        }
    }

    /// Takes over what could not be listed, as far as it concerns the book.
    fn note(&mut self, settings: &SiteSettings, listing: Listing) {
        self.unlisted_folders = listing.unreadable.keys().cloned().collect();
        let folders = listing.unreadable.into_iter();
        self.unreadable_folders = folders
            .filter(|(folder, _)| may_hold_pages(settings, folder))
            .map(|(source, reason)| SkippedFile { source, reason })
            .collect();
        let names = listing.not_utf8.iter();
        self.warnings = names
            .filter(|path| page_file(settings, path).is_some())
            .map(|path| format!("{path}: {NOT_UTF8}"))
            .collect();
    }

    /// True if pages are still to be indexed or deleted, apart from those whose own file cannot be read.
    pub(super) fn is_behind(&self) -> bool {
        let sources = self.pending.iter().map(|pending| &pending.source);
        sources
            .into_iter()
            .any(|source| !self.unreadable.contains(source))
    }

    /// True if pages are still to be indexed or deleted, apart from those that failed when they were last tried.
    pub(super) fn awaits_pages(&self) -> bool {
        let failed: BTreeSet<&str> = self.failed.iter().map(|file| &*file.source).collect();
        let mut sources = self.pending.iter().map(|pending| &*pending.source);
        sources.any(|source| !failed.contains(source))
    }

    fn pend(&mut self, source: &str, change: PendingChange) {
        self.pending.push(PendingDocument {
            source: source.to_owned(),
            change,
        });
    }

    /// The documents that would go.
    #[must_use]
    pub fn deletions(&self) -> usize {
        let deleted = |pending: &&PendingDocument| pending.change == PendingChange::Deleted;
        self.pending.iter().filter(deleted).count()
    }
}
