//! From files that may have changed to the documents they concern.

use std::collections::BTreeSet;
use std::time::Instant;

use bookrag::book::is_settings_file;
use bookrag::ingest::{Change, DocumentOutcome, Ingest, SyncError, SyncOptions};
use bookrag::metrics::{Metric, Metrics};

use crate::HandlerError;

/// One invocation's work, all of it under the settings that were read at its start.
#[derive(Debug)]
pub(crate) struct Converging {
    pub(crate) ingest: Ingest,
    /// Documents that agree with their files as these were after the invocation began, hence after every event in it.
    done: BTreeSet<String>,
    /// Whether anything was committed.
    committed: bool,
    /// Whether a page was deleted.
    deleted: bool,
}

impl Converging {
    pub(crate) fn new(ingest: Ingest) -> Self {
        Self {
            ingest,
            done: BTreeSet::new(),
            committed: false,
            deleted: false,
        }
    }

    /// The documents that changes of these files concern: of the settings, all that are not as their files are.
    pub(crate) async fn concerned(
        &self,
        paths: &[String],
    ) -> Result<BTreeSet<String>, HandlerError> {
        let mut concerned = BTreeSet::new();
        for path in paths {
            if is_settings_file(path) {
                tracing::info!(
                    stage = "ingest",
                    settings.source = path,
                    "the settings changed: all documents are looked at"
                );
                let status = self.ingest.outstanding("", SyncOptions::default()).await;
                let status = match status {
                    // The settings came before the first page.
                    Err(SyncError::NoPages(_)) => continue,
                    status => status?,
                };
                concerned.extend(status.pending.into_iter().map(|pending| pending.source));
            } else {
                concerned.extend(self.ingest.concerned(path).await?);
            }
        }
        Ok(concerned)
    }

    /// Converges documents. One that fails is written down, and does not hold back the others.
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

    /// Ends an invocation that served one request: records the progress, then checks the settings if it was served.
    pub(crate) async fn finish<T>(
        &self,
        served: Result<T, HandlerError>,
    ) -> Result<T, HandlerError> {
        self.note_progress().await;
        let served = served?;
        self.check_settings().await?;
        Ok(served)
    }

    /// Records how far the first indexing is. Called once an invocation, because it may read the whole book; a failure is
    /// only logged, as the documents themselves are committed.
    pub(crate) async fn note_progress(&self) {
        let noted = if self.deleted {
            self.ingest.note_deleted_pages().await
        } else {
            self.ingest.note_committed_pages().await
        };
        if let Err(error) = noted {
            tracing::warn!(stage = "ingest", %error, "the progress of the first indexing is not recorded");
        }
    }

    /// Checks that the settings all this was done under are still the site's.
    ///
    /// # Errors
    /// [`HandlerError::SettingsChanged`] when what was committed may undo what the new settings' event led to.
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

/// Whether readers find something else than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    Yes,
    No,
}
