//! Compares the source with the catalog, to find what must be done for the index to equal the book.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Ingest, IngestError, SkippedFile};
use crate::source::{FileCache, Listing, SourceError};
use book::questions::is_written_file;
use book::{
    PageFile, SiteSettings, SkipReason, default_source, etag, fingerprint_by_etags, hidden_docs,
    imported_by_name, list_script_pages, may_hold_pages, missing_docs, other_missing_docs,
    page_file, pages_among, read_document,
};
use store::catalog::DocumentState;

const READS: usize = 16;
/// Pages whose state is found together. A prepared read takes about 20 KB, so those of a whole book do not fit into a small function.
const PAGES_AT_ONCE: usize = 128;

/// The problem with a file whose path is not UTF-8.
pub const NOT_UTF8: &str =
    "its path is not UTF-8, so the page has no URL and is not indexed; rename it";

/// The state of an index compared with its source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Files of the source that are pages, including drafts.
    pub pages: usize,
    /// Documents in the index.
    pub documents: usize,
    /// Documents that are up to date and readable.
    pub indexed: usize,
    /// Documents that differ from their files.
    pub pending: Vec<PendingDocument>,
    /// Pages that cannot be read in their current state.
    pub skipped: Vec<SkippedFile>,
    /// Skipped pages whose last good revision still answers.
    pub stale: Vec<String>,
    /// Pending documents whose last attempt failed.
    pub failed: Vec<SkippedFile>,
    /// Drafts, which are not in a production build, and pages that a built site leaves out of searches.
    pub drafts: Vec<String>,
    /// Sources whose last attempt failed and for which nothing is left to do.
    #[serde(skip)]
    pub(super) former_failures: Vec<String>,
    /// Folders that cannot be listed, with paths ending in `/`. Their indexed pages stay.
    #[serde(default)]
    pub unreadable_folders: Vec<SkippedFile>,
    /// Pages written in JavaScript or TypeScript, which are not read.
    #[serde(default)]
    pub script_pages: Vec<String>,
    /// Files that pages import and the source lacks. Known for sources with `ETag`s, such as buckets, of committed pages.
    #[serde(default)]
    pub missing_files: Vec<MissingFile>,
    /// Files that would be pages under another name.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The sources that should have documents, with their fingerprints.
    #[serde(skip)]
    pub(super) expected: BTreeMap<String, String>,
    /// Pages whose own file cannot be read; no other run can read it either.
    #[serde(skip)]
    unreadable: BTreeSet<String>,
    /// Why the source is not the whole book that the settings describe.
    #[serde(skip)]
    pub(super) missing: Option<String>,
    /// All folders that cannot be listed, whether or not they may hold pages, and the pages that are not built.
    #[serde(skip)]
    unlisted: Vec<String>,
    /// When each document was committed.
    #[serde(skip)]
    pub(super) committed_at: Vec<Timestamp>,
}

/// A file that a page imports and the source lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingFile {
    /// The path of the page.
    pub source: String,
    /// The path of the file.
    pub path: String,
}

/// A document that differs from its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingDocument {
    /// The path.
    pub source: String,
    /// The difference.
    pub change: PendingChange,
}

/// The difference between a document and its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingChange {
    /// The document is not in the index.
    New,
    /// The file, or something that reading it uses, has changed.
    Changed,
    /// The page is gone.
    Deleted,
    /// The file cannot be read now, for a reason that is not in its content.
    Unreadable,
}

/// A page's target state in the index.
enum TargetState {
    /// Indexed, with this fingerprint.
    Page(String),
    Absent,
    /// Absent because the file is not published.
    Refused(SourceError),
    /// Absent because the site leaves it out.
    Draft,
    /// Unknown, for this reason.
    Unreadable(IngestError),
}

impl Ingest {
    /// Compares each page whose path begins with `prefix` with the catalog. Changes nothing.
    pub async fn status(&self, prefix: &str) -> Result<Status, IngestError> {
        let index_id = self.index_row.index_id;
        // Read rows before files: a writer that finishes in between can make a document look pending, but never up to date.
        let (states, stats) =
            tokio::try_join!(self.catalog.states(index_id), self.catalog.stats(index_id))?;
        let mut rows: BTreeMap<String, DocumentState> = states
            .into_iter()
            .filter(|state| state.source.starts_with(prefix))
            .map(|state| (state.source.clone(), state))
            .collect();
        // Files used by many pages are read once per run; a later run must see new changes.
        let files = self.files().await?;
        let mut listing = self.source.listing().await?;
        if !listing.etags.is_empty() {
            listing.etags.retain(|path, _| !is_written_file(path));
            for (path, text) in files.written() {
                listing.etags.insert(path.clone(), etag(text.as_bytes()));
            }
        }
        let mut status = Status {
            documents: rows.len(),
            committed_at: rows.values().map(|row| row.last_indexed_at).collect(),
            ..Status::default()
        };
        status.note(&self.settings, &listing);
        let mut pages = pages_among(&self.settings, &listing.paths)
            .filter(|page| page.source.starts_with(prefix));
        loop {
            let batch: Vec<PageFile> = pages.by_ref().take(PAGES_AT_ONCE).collect();
            if batch.is_empty() {
                break;
            }
            status.pages += batch.len();
            self.add_pages(&mut status, &batch, &mut rows, &listing, &files)
                .await?;
        }
        for (source, row) in rows {
            if self.is_out_of_sight(&status, &source) {
                status.expected.insert(source, row.fingerprint);
            } else {
                status.pend(&source, PendingChange::Deleted);
            }
        }
        let failed = stats.failed.into_iter();
        status.note_failures(failed.filter(|(source, _)| source.starts_with(prefix)));
        Ok(status)
    }

    /// Adds pages to the status, and removes their rows from `rows`.
    async fn add_pages(
        &self,
        status: &mut Status,
        pages: &[PageFile],
        rows: &mut BTreeMap<String, DocumentState>,
        listing: &Listing,
        files: &FileCache,
    ) -> Result<(), IngestError> {
        let rows: Vec<Option<DocumentState>> =
            pages.iter().map(|page| rows.remove(&page.source)).collect();
        let inputs = self.inputs_of(pages, listing).await?;
        let keys = self.settings.reading_keys();
        let mut reads = Vec::with_capacity(pages.len());
        for (page, row) in pages.iter().zip(&rows) {
            let row = row.as_ref();
            let key = keys.get(page.instance.as_str());
            let listed = key.and_then(|key| {
                self.listed_fingerprint(key, page, listing, inputs.get(&page.source))
            });
            let is_unchanged =
                listed.is_some() && listed.as_ref() == row.map(|row| &row.fingerprint);
            reads.push(self.seen(page, row, listed.filter(|_| is_unchanged), files));
        }
        for page in pages {
            if let Some(inputs) = inputs.get(&page.source) {
                status.note_missing_files(&self.settings, page, inputs, listing);
            }
        }
        let seen: Vec<TargetState> = stream::iter(reads).buffered(READS).collect().await;
        for ((page, row), seen) in pages.iter().zip(&rows).zip(seen) {
            status.add(page, row.as_ref(), seen);
        }
        Ok(())
    }

    /// Returns the files that these pages used when they were committed; none if the source has no `ETag`s to compare.
    async fn inputs_of(
        &self,
        pages: &[PageFile],
        listing: &Listing,
    ) -> Result<BTreeMap<String, BTreeSet<String>>, IngestError> {
        if listing.etags.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sources: Vec<String> = pages.iter().map(|page| page.source.clone()).collect();
        let index_id = self.index_row.index_id;
        Ok(self.catalog.inputs(index_id, &sources).await?)
    }

    /// Records a failed document for [`Self::status`]. If recording fails as well, the error is dropped: the caller already returns
    /// the original one.
    pub async fn record_failure(&self, source: &str, error: &IngestError) {
        let index_id = self.index_row.index_id;
        let reason = error.to_string();
        let sources = [source.to_owned()];
        let recorded = self.catalog.record_failures(index_id, &sources, &reason);
        if let Err(error) = recorded.await {
            tracing::warn!(stage = "ingest", document.source = source, error = %error, "cannot record the failure");
        }
    }

    /// Computes a page's fingerprint from the current `ETag`s of the files it used when it was committed. If it equals the stored
    /// one, these files are unchanged, and so is everything that reading them uses. `None` if any `ETag` is unknown.
    fn listed_fingerprint(
        &self,
        reading_key: &str,
        page: &PageFile,
        listing: &Listing,
        inputs: Option<&BTreeSet<String>>,
    ) -> Option<String> {
        let etag = listing.etags.get(&page.source)?;
        if !listing
            .paths
            .contains(&default_source(&self.settings, page))
        {
            return None;
        }
        let inputs = inputs.into_iter().flatten().map(String::as_str);
        let etags = inputs.map(|path| (path, listing.etags.get(path).map(String::as_str)));
        Some(fingerprint_by_etags(reading_key, etag, etags))
    }

    /// Reads a page, unless its fingerprint is known to equal the stored one.
    async fn seen(
        &self,
        page: &PageFile,
        row: Option<&DocumentState>,
        unchanged: Option<String>,
        files: &FileCache,
    ) -> TargetState {
        if let Some(fingerprint) = unchanged {
            return TargetState::Page(fingerprint);
        }
        let snapshot = match self.snapshot(page, files).await {
            Ok(snapshot) => snapshot,
            Err(error) => return TargetState::Unreadable(error),
        };
        let Some(bytes) = &snapshot.bytes else {
            return match snapshot.refusal {
                Some(reason) => TargetState::Refused(reason),
                None => TargetState::Absent,
            };
        };
        if row.is_some_and(|row| row.fingerprint == snapshot.fingerprint) {
            return TargetState::Page(snapshot.fingerprint);
        }
        let site = &self.options.site;
        match read_document(&self.settings, site, page, bytes, &snapshot.inputs) {
            Err(SkipReason::NoGeneratedPage) => TargetState::Absent,
            Err(reason) if reason.is_by_site() => TargetState::Draft,
            _ => TargetState::Page(snapshot.fingerprint),
        }
    }

    /// True if a page is not built, or if it or its original is in a folder that cannot be listed.
    fn is_out_of_sight(&self, status: &Status, source: &str) -> bool {
        let original =
            page_file(&self.settings, source).map(|page| default_source(&self.settings, &page));
        status.unlisted.iter().any(|unlisted| {
            source.starts_with(unlisted)
                || original.as_ref().is_some_and(|it| it.starts_with(unlisted))
        })
    }

    /// True if a switch to this index would lose documents of the live one because their files cannot be read now.
    pub(super) async fn lost_by_a_switch(&self, status: &Status) -> Result<bool, IngestError> {
        if status.unreadable.is_empty() && status.unlisted.is_empty() {
            return Ok(false);
        }
        let Some(live) = self.catalog.live_index().await? else {
            return Ok(false);
        };
        let documents = self.catalog.states(live.index_id).await?;
        Ok(documents.iter().any(|document| {
            let source = &document.source;
            status.unreadable.contains(source) || self.is_out_of_sight(status, source)
        }))
    }
}

impl Status {
    /// Adds recorded failures, given as paths with reasons. Those of pages that are no longer pending are over.
    fn note_failures(&mut self, failures: impl Iterator<Item = (String, String)>) {
        let pending: BTreeSet<&str> = self
            .pending
            .iter()
            .map(|pending| pending.source.as_str())
            .collect();
        let (failed, over): (Vec<_>, Vec<_>) =
            failures.partition(|(source, _)| pending.contains(source.as_str()));
        let failed: Vec<SkippedFile> = failed
            .into_iter()
            .filter(|(source, _)| !self.failed.iter().any(|known| known.source == *source))
            .map(|(source, reason)| SkippedFile { source, reason })
            .collect();
        self.failed.extend(failed);
        self.former_failures = over.into_iter().map(|(source, _)| source).collect();
    }

    fn note_missing_files(
        &mut self,
        settings: &SiteSettings,
        page: &PageFile,
        inputs: &BTreeSet<String>,
        listing: &Listing,
    ) {
        let imported = imported_by_name(settings, page, inputs).into_iter();
        let missing = imported.filter(|path| !listing.paths.contains(*path));
        self.missing_files.extend(missing.map(|path| MissingFile {
            source: page.source.clone(),
            path: path.to_owned(),
        }));
    }

    fn add(&mut self, page: &PageFile, row: Option<&DocumentState>, seen: TargetState) {
        let source = &page.source;
        match seen {
            TargetState::Page(fingerprint) => {
                match row {
                    Some(row) if row.fingerprint == fingerprint => self.add_current(row),
                    Some(_) => self.pend(source, PendingChange::Changed),
                    None => self.pend(source, PendingChange::New),
                }
                self.expected.insert(source.clone(), fingerprint);
            }
            TargetState::Refused(reason) => {
                self.warnings.push(reason.to_string());
                self.pend_deletion(row);
            }
            TargetState::Absent => {
                self.pages -= 1;
                self.pend_deletion(row);
            }
            TargetState::Draft => {
                self.drafts.push(source.clone());
                self.pend_deletion(row);
            }
            TargetState::Unreadable(error) => {
                self.pend(source, PendingChange::Unreadable);
                if !error.is_outage() {
                    self.unreadable.insert(source.clone());
                    if let Some(row) = row {
                        self.expected
                            .insert(source.clone(), row.fingerprint.clone());
                    }
                }
                self.failed.push(SkippedFile {
                    source: source.clone(),
                    reason: error.to_string(),
                });
            }
        }
    }

    /// Adds a document that equals its file.
    fn add_current(&mut self, row: &DocumentState) {
        let Some(reason) = &row.skip_reason else {
            self.indexed += 1;
            return;
        };
        self.skipped.push(SkippedFile {
            source: row.source.clone(),
            reason: reason.clone(),
        });
        if row.has_chunks {
            self.stale.push(row.source.clone());
        }
    }

    fn pend_deletion(&mut self, row: Option<&DocumentState>) {
        if let Some(row) = row {
            self.pend(&row.source, PendingChange::Deleted);
        }
    }

    /// Adds the parts of a listing that concern the book but are not read.
    fn note(&mut self, settings: &SiteSettings, listing: &Listing) {
        for page in list_script_pages(settings, &listing.paths) {
            self.script_pages.push(page.to_owned());
        }
        self.unlisted.extend(listing.unreadable.keys().cloned());
        self.unlisted.extend(listing.not_built.iter().cloned());
        self.unreadable_folders = listing
            .unreadable
            .iter()
            .filter(|(folder, _)| may_hold_pages(settings, folder))
            .map(|(source, reason)| SkippedFile {
                source: source.clone(),
                reason: reason.clone(),
            })
            .collect();
        self.warnings = listing
            .not_utf8
            .iter()
            .filter(|path| page_file(settings, path).is_some())
            .map(|path| format!("{path}: {NOT_UTF8}"))
            .chain(hidden_docs(settings, &listing.paths))
            .chain(other_missing_docs(settings, &listing.paths))
            .collect();
        self.missing =
            missing_docs(settings, &listing.paths).filter(|_| listing.unreadable.is_empty());
    }

    /// True if pages remain to be indexed or deleted, except those whose own file cannot be read.
    pub(super) fn is_behind(&self) -> bool {
        self.pending
            .iter()
            .any(|pending| !self.unreadable.contains(&pending.source))
    }

    /// True if pages remain to be indexed or deleted, except those whose last attempt failed.
    pub(super) fn awaits_pages(&self) -> bool {
        let failed: BTreeSet<&str> = self.failed.iter().map(|file| &*file.source).collect();
        self.pending
            .iter()
            .any(|pending| !failed.contains(&*pending.source))
    }

    fn pend(&mut self, source: &str, change: PendingChange) {
        self.pending.push(PendingDocument {
            source: source.to_owned(),
            change,
        });
    }

    /// Returns the number of pending deletions.
    #[must_use]
    pub fn deletions(&self) -> usize {
        self.sources_of(PendingChange::Deleted).count()
    }
}

#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests;
