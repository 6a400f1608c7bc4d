//! Stops a run that would delete most of the book: a wrong folder or prefix, or a disk that is not mounted, looks like such a deletion.

use std::collections::HashMap;

use jiff::Timestamp;

use super::plan::hash;
use super::{Ingest, IngestError, PendingChange, Status, SyncError, SyncOptions};
use crate::source::FileCache;
use book::chunk::chunk_document;
use book::{page_file, read_document};
use store::catalog::StoredDocument;

/// More deletions than this are checked before they are made.
const FEW_PAGES: usize = 10;

/// Why `status` lists a page that the index keeps although its file is gone.
const KEPT: &str = "its file is gone, and deleting most of the book is not allowed; if that is right, run `bookrag sync SITE --allow-mass-deletion`";

/// Whether more than half of the book may be deleted in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MassDeletion {
    /// It may not; the run fails instead.
    #[default]
    Stop,
    /// These pages stay and are recorded as failed; everything else is done. For a server that watches a folder: an editor or `git` may
    /// be in the middle of a change.
    Keep {
        /// The last time at which no change was in progress. Pages committed later are of the change itself, so they do not count.
        since: Timestamp,
    },
    /// It may, since the caller asked for it.
    Allow,
}

/// Fails if most of the book would be deleted, unless that is allowed.
pub(super) fn check_deletions(
    deleted: usize,
    total: usize,
    options: SyncOptions,
) -> Result<(), SyncError> {
    if options.mass_deletion != MassDeletion::Allow && are_most(deleted, total) {
        return Err(SyncError::MassDeletion { deleted, total });
    }
    Ok(())
}

fn are_most(deleted: usize, total: usize) -> bool {
    deleted > FEW_PAGES && deleted * 2 > total
}

impl Ingest {
    /// Stops or postpones the deletion of most of the book, unless it is allowed. A page whose text is on a new page is not lost but
    /// renamed.
    pub(super) async fn guard_deletions(
        &self,
        status: &mut Status,
        options: SyncOptions,
    ) -> Result<(), SyncError> {
        let since = match options.mass_deletion {
            MassDeletion::Allow => return Ok(()),
            MassDeletion::Stop => Timestamp::MAX,
            MassDeletion::Keep { since } => since,
        };
        let total = status.documents_of(since);
        // Reading the pages takes time, and few runs come this far.
        if !are_most(status.deletions(), total) {
            return Ok(());
        }
        let lost = self.lost_documents(status, since).await?;
        if !are_most(lost.len(), total) {
            return Ok(());
        }
        if options.mass_deletion == MassDeletion::Stop {
            let deleted = lost.len();
            return Err(SyncError::MassDeletion { deleted, total });
        }
        let sources: Vec<String> = lost.iter().map(|it| it.row.source.clone()).collect();
        self.catalog
            .record_failures(self.index_row.index_id, &sources, KEPT)
            .await
            .map_err(IngestError::from)?;
        status.keep(lost, total);
        Ok(())
    }

    /// Returns the documents to delete that were committed by `since` and whose text is on no new page.
    async fn lost_documents(
        &self,
        status: &Status,
        since: Timestamp,
    ) -> Result<Vec<StoredDocument>, IngestError> {
        let index_id = self.index_row.index_id;
        let files = FileCache::default();
        let mut added: HashMap<String, usize> = HashMap::new();
        for source in status.sources_of(PendingChange::New) {
            for text in self.texts_now(source, &files).await? {
                *added.entry(text).or_default() += 1;
            }
        }
        let mut lost = Vec::new();
        for source in status.sources_of(PendingChange::Deleted) {
            let document = self.catalog.document(index_id, source).await?;
            let Some(document) = document.filter(|it| it.last_indexed_at <= since) else {
                continue;
            };
            let document_id = document.row.document_id;
            let chunks = self.catalog.chunks(index_id, document_id).await?;
            let renamed = chunks
                .iter()
                .filter(|chunk| remove(&mut added, &hash(&chunk.text)))
                .count();
            // Links may be rewritten when a page is renamed, so not all of its chunks need to be equal.
            if renamed * 2 < chunks.len() {
                lost.push(document);
            }
        }
        Ok(lost)
    }

    /// Returns the hashes of the texts of a page's chunks; none if it cannot be read.
    async fn texts_now(&self, source: &str, files: &FileCache) -> Result<Vec<String>, IngestError> {
        let Some(page) = page_file(&self.settings, source) else {
            return Ok(Vec::new());
        };
        let snapshot = self.snapshot(&page, files).await?;
        let bytes = snapshot.bytes.unwrap_or_default();
        let site = &self.options.site;
        let document = read_document(&self.settings, site, &page, &bytes, &snapshot.inputs);
        let chunks = document.map(|document| chunk_document(&document, &self.options.policy));
        Ok(chunks
            .unwrap_or_default()
            .iter()
            .map(|chunk| hash(&chunk.text))
            .collect())
    }
}

impl Status {
    /// Returns the pending documents with this difference.
    pub(super) fn sources_of(&self, change: PendingChange) -> impl Iterator<Item = &str> {
        self.pending
            .iter()
            .filter(move |pending| pending.change == change)
            .map(|pending| pending.source.as_str())
    }

    /// Returns the number of documents that were committed by a time.
    pub(super) fn documents_of(&self, time: Timestamp) -> usize {
        self.committed_at.iter().filter(|at| **at <= time).count()
    }

    /// Leaves documents in the index that were to be deleted.
    fn keep(&mut self, documents: Vec<StoredDocument>, total: usize) {
        self.warnings.push(format!(
            "{} of {total} pages would be deleted, so they stay, and readers still get them. If their files are gone on purpose, run `bookrag \
             sync SITE --allow-mass-deletion`",
            documents.len()
        ));
        for StoredDocument { row, .. } in documents {
            self.expected.insert(row.source, row.fingerprint);
        }
        let expected = &self.expected;
        self.pending.retain(|pending| {
            pending.change != PendingChange::Deleted || !expected.contains_key(&pending.source)
        });
    }
}

/// Removes one occurrence of a text. Returns whether there was one.
fn remove(texts: &mut HashMap<String, usize>, text: &str) -> bool {
    let Some(count) = texts.get_mut(text).filter(|count| **count > 0) else {
        return false;
    };
    *count -= 1;
    true
}

#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests;
