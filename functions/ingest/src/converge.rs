//! Finds the documents affected by changed files, and updates them.

use std::collections::BTreeSet;
use std::time::Instant;

use bookrag::book::is_settings_file;
use bookrag::ingest::{Change, DocumentOutcome, Ingest, Status, SyncError, SyncOptions};
use bookrag::metrics::{Metric, Metrics};

use crate::HandlerError;

/// The work of one invocation, all under the settings read at its start.
#[derive(Debug)]
pub(crate) struct Converging {
    pub(crate) ingest: Ingest,
    /// Documents that match their files as read after the invocation began, and so after every event in it.
    pub(crate) done: BTreeSet<String>,
    /// True if anything was committed.
    committed: bool,
    /// True if a page was deleted.
    deleted: bool,
    /// True if all documents were compared with their files because the settings changed.
    compared: bool,
}

impl Converging {
    pub(crate) fn new(ingest: Ingest) -> Self {
        Self {
            ingest,
            done: BTreeSet::new(),
            committed: false,
            deleted: false,
            compared: false,
        }
    }

    /// Returns the documents affected by these files, which have paths below the bucket's prefix. For settings files, these are all documents that
    /// differ from their files, once: the settings were read after all of the invocation's events.
    pub(crate) async fn concerned(
        &mut self,
        paths: &[String],
    ) -> Result<BTreeSet<String>, HandlerError> {
        let mut concerned = BTreeSet::new();
        for path in paths {
            let path = &self.ingest.source.path_of_site(path);
            if is_settings_file(path) {
                if self.compared {
                    continue;
                }
                tracing::info!(
                    stage = "ingest",
                    settings.source = path,
                    "the settings changed, checking all documents"
                );
                let status = self.ingest.outstanding("", SyncOptions::default()).await;
                let status = match status {
                    // The settings were uploaded before the first page.
                    Err(SyncError::NoPages(_)) => Status::default(),
                    status => status?,
                };
                self.compared = true;
                concerned.extend(status.pending.into_iter().map(|pending| pending.source));
            } else {
                concerned.extend(self.ingest.concerned(path).await?);
            }
        }
        Ok(concerned)
    }

    /// Updates documents. A failure is recorded and does not stop the others.
    ///
    /// # Errors
    /// The first failure, after all were tried.
    pub(crate) async fn converge(
        &mut self,
        sources: &BTreeSet<String>,
        metrics: &mut Metrics,
    ) -> Result<Changed, HandlerError> {
        let mut changed = Changed::No;
        let mut failure = None;
        for source in sources {
            if self.done.contains(source) {
                continue;
            }
            let started = Instant::now();
            match self.ingest.ingest_document(source).await {
                Ok(outcome) => {
                    self.done.insert(source.clone());
                    if matches!(outcome.change, Change::Indexed | Change::Deleted) {
                        changed = Changed::Yes;
                    }
                    self.note(source, &outcome, started, metrics);
                }
                Err(error) => {
                    metrics.count(Metric::DocumentsFailed, 1);
                    self.ingest.record_failure(source, &error).await;
                    failure = failure.or(Some(error));
                }
            }
        }
        match failure {
            None => Ok(changed),
            Some(error) => Err(error.into()),
        }
    }

    /// Ends an invocation for one request: records the progress, then checks the settings if the request succeeded.
    pub(crate) async fn finish<T>(
        &self,
        served: Result<T, HandlerError>,
    ) -> Result<T, HandlerError> {
        self.note_progress().await;
        let served = served?;
        self.check_settings().await?;
        Ok(served)
    }

    /// Records the progress of the first indexing. Called once for an invocation, because it may read the whole book. A failure is only logged,
    /// because the documents themselves are committed.
    pub(crate) async fn note_progress(&self) {
        let noted = if self.deleted {
            self.ingest.note_deleted_pages().await
        } else {
            self.ingest.note_committed_pages().await
        };
        if let Err(error) = noted {
            tracing::warn!(stage = "ingest", %error, "cannot record the progress of the first indexing");
        }
    }

    /// Checks that the settings used are still the site's.
    ///
    /// # Errors
    /// [`HandlerError::SettingsChanged`] if the commits may have undone the effect of the new settings' event.
    pub(crate) async fn check_settings(&self) -> Result<(), HandlerError> {
        if self.committed && self.ingest.settings_changed().await? {
            return Err(HandlerError::SettingsChanged);
        }
        Ok(())
    }

    fn note(
        &mut self,
        source: &str,
        outcome: &DocumentOutcome,
        started: Instant,
        metrics: &mut Metrics,
    ) {
        let metric = match outcome.change {
            Change::NotAPage => return,
            Change::Unchanged => Metric::DocumentsUnchanged,
            Change::Indexed => Metric::DocumentsIndexed,
            Change::Deleted => Metric::DocumentsDeleted,
            Change::Skipped { .. } => Metric::DocumentsSkipped,
        };
        metrics.count(metric, 1);
        metrics.count(Metric::ChunksEmbedded, outcome.embedded);
        metrics.count(Metric::VectorsReused, outcome.reused);
        self.committed |= outcome.change != Change::Unchanged;
        self.deleted |= outcome.change == Change::Deleted;
        tracing::info!(
            stage = "ingest",
            document.source = source,
            document.change = ?outcome.change,
            chunks.embedded = outcome.embedded,
            chunks.reused = outcome.reused,
            chunks.kept = outcome.kept,
            warnings = ?outcome.warnings,
            duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        );
    }
}

/// Whether search results may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    Yes,
    No,
}
