//! From a path that may have changed to the documents it concerns.

use std::collections::BTreeSet;
use std::time::Instant;

use bookrag::book::SETTINGS_FILES;
use bookrag::ingest::{Change, Ingest, SyncError, SyncOptions, sync};

use crate::HandlerError;

/// One invocation's work, all of it under the settings that were read at its start.
#[derive(Debug)]
pub(crate) struct Converging {
    ingest: Ingest,
    /// Documents that agree with their files as these were after the invocation began, hence after every event in it.
    done: BTreeSet<String>,
    /// Whether all documents do.
    all_done: bool,
    /// Whether anything was committed.
    committed: bool,
}

impl Converging {
    pub(crate) fn new(ingest: Ingest) -> Self {
        Self {
            ingest,
            done: BTreeSet::new(),
            all_done: false,
            committed: false,
        }
    }

    /// Converges all documents that the files at these paths concern. Stops at the first failure.
    pub(crate) async fn converge(&mut self, paths: &[String]) -> Result<(), HandlerError> {
        for path in paths {
            if SETTINGS_FILES.contains(&path.as_str()) {
                self.converge_all(path).await?;
                continue;
            }
            for source in self.ingest.concerned(path).await? {
                if !self.all_done && !self.done.contains(&source) {
                    self.converge_document(&source).await?;
                    self.done.insert(source);
                }
            }
        }
        Ok(())
    }

    /// Checks that the settings all this was done under are still the site's.
    ///
    /// # Errors
    /// [`HandlerError::SettingsChanged`] when what was committed may undo what the new settings' event led to.
    pub(crate) async fn check_settings(&self) -> Result<(), HandlerError> {
        if !self.committed {
            return Ok(());
        }
        let now = self.ingest.source.settings().await?;
        if now.reading_key() == self.ingest.settings.reading_key() {
            Ok(())
        } else {
            Err(HandlerError::SettingsChanged)
        }
    }

    async fn converge_document(&mut self, source: &str) -> Result<(), HandlerError> {
        let started = Instant::now();
        let outcome = self.ingest.ingest_document(source).await?;
        if outcome.change == Change::NotAPage {
            return Ok(());
        }
        self.committed |= outcome.change != Change::Unchanged;
        tracing::info!(
            stage = "ingest",
            document.source = source,
            document.change = ?outcome.change,
            chunks.embedded = outcome.embedded,
            chunks.reused = outcome.reused,
            chunks.kept = outcome.kept,
            warnings = ?outcome.warnings,
            duration_ms = millis(started),
        );
        Ok(())
    }

    /// Converges every document: settings decide which files are pages and what their URLs are.
    async fn converge_all(&mut self, path: &str) -> Result<(), HandlerError> {
        if self.all_done {
            return Ok(());
        }
        tracing::info!(
            stage = "ingest",
            settings.source = path,
            "the settings changed: all documents are converged"
        );
        let started = Instant::now();
        let report = match sync(&self.ingest, SyncOptions::default(), |_| {}).await {
            Ok(report) => report,
            // The settings came before the first page.
            Err(SyncError::NoPages(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.committed = true;
        tracing::info!(
            stage = "ingest",
            documents.indexed = report.files_changed,
            documents.unchanged = report.files_unchanged,
            documents.deleted = report.files_deleted,
            documents.skipped = report.skipped.len(),
            documents.failed = report.failed.len(),
            chunks.embedded = report.embedded,
            duration_ms = millis(started),
        );
        if let Some(first) = report.failed.first() {
            return Err(HandlerError::Incomplete {
                failed: report.failed.len(),
                first: format!("{}: {}", first.source, first.reason),
            });
        }
        self.all_done = true;
        Ok(())
    }
}

fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
