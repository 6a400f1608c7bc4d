//! Commands that concern the whole book.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bookrag::catalog::IndexState;
use bookrag::ingest::{
    Ingest, IngestError, MassDeletion, OpenMode, Report, Settled, Status, Switched, SyncOptions,
    sweep, sync,
};
use bookrag::metrics::{Metric, Metrics};
use serde::Serialize;
use serde_json::{Value, json};

use crate::events::Command;
use crate::{Function, HandlerError};

/// The interval at which a reindex checks the progress of the queue.
const REINDEX_WAIT: Duration = Duration::from_mins(1);
/// After this many checks, pending documents are put into the queue again, because they may be in the dead-letter queue.
const REINDEX_ENQUEUES: u32 = 10;
/// The most checks: half a day.
const MAX_REINDEX_ATTEMPTS: u32 = 720;

/// The result of a reconcile through the queue.
#[derive(Serialize)]
struct Reconciled {
    /// Documents put into the queue.
    enqueued: usize,
    /// True if readers use the index.
    live: bool,
    status: Status,
    settled: Settled,
}

impl Function {
    pub(crate) async fn command(
        &self,
        command: Command,
        metrics: &mut Metrics,
    ) -> Result<Value, HandlerError> {
        match command {
            Command::Reconcile {
                prefix,
                allow_mass_deletion,
            } => {
                let mass_deletion = if allow_mass_deletion {
                    MassDeletion::Allow
                } else {
                    MassDeletion::Stop
                };
                let ingest = self.open(OpenMode::Write).await?;
                let options = SyncOptions { mass_deletion };
                if self.queue.is_none() && prefix.is_empty() {
                    return Ok(json!(self.sync_here(&ingest, options, metrics).await?));
                }
                let reconciled = self.reconcile(&ingest, &prefix, options, metrics);
                Ok(json!(reconciled.await?))
            }
            Command::Reindex { attempt, of } => self.reindex(attempt, of, metrics).await,
            Command::Sweep {} => {
                let swept = sweep(&self.catalog, &self.index, self.retention).await?;
                self.count_pending_points(metrics).await?;
                Ok(json!({ "swept": swept }))
            }
            Command::Status { prefix } => self.status(&prefix).await,
            Command::Prepare {} => self.prepare().await,
            Command::Converge { paths } => {
                let mut converging = self.converging().await?;
                let files = paths.len();
                let sources = BTreeSet::from_iter(paths);
                let converged = converging.converge(&sources, metrics).await;
                converging.finish(converged).await?;
                Ok(json!({ "files": files }))
            }
        }
    }

    /// Puts documents that differ from the bucket into the queue, or indexes them here without a queue; then sweeps, compares and repairs.
    async fn reconcile(
        &self,
        ingest: &Ingest,
        prefix: &str,
        options: SyncOptions,
        metrics: &mut Metrics,
    ) -> Result<Reconciled, HandlerError> {
        let started = Instant::now();
        let commit = ingest.source.commit().await.map_err(IngestError::from)?;
        let status = ingest.outstanding(prefix, options).await?;
        if prefix.is_empty() {
            ingest.note_expected_pages(&status).await?;
            note_comparison(ingest, &status, commit, started).await;
        }
        let sources: BTreeSet<String> = sources(&status).collect();
        let enqueued = self.work_off(ingest, &sources, metrics).await?;
        let settled = ingest.settle(options).await?;
        for warning in &settled.warnings {
            tracing::warn!(stage = "reconcile", warning);
        }
        if !settled.restored.is_empty() && ingest.settings_changed().await? {
            return Err(HandlerError::SettingsChanged);
        }
        let live = ingest.index_row.state == IndexState::Live
            || self.switch(ingest, options, metrics).await?;
        metrics.count(Metric::DocumentsStale, status.stale.len());
        self.count_pending_points(metrics).await?;
        Ok(Reconciled {
            enqueued,
            live,
            status,
            settled,
        })
    }

    /// Makes the index equal to the bucket within this invocation.
    async fn sync_here(
        &self,
        ingest: &Ingest,
        options: SyncOptions,
        metrics: &mut Metrics,
    ) -> Result<Report, HandlerError> {
        let report = sync(ingest, options, |_| {}).await?;
        metrics.count(Metric::DocumentsIndexed, report.files_changed);
        metrics.count(Metric::DocumentsDeleted, report.files_deleted);
        metrics.count(Metric::DocumentsFailed, report.failed.len());
        metrics.count(Metric::ChunksEmbedded, report.embedded);
        metrics.count(Metric::VectorsReused, report.vectors_reused);
        metrics.count(Metric::DocumentsStale, report.stale.len());
        Ok(report)
    }

    /// Counts the points of all indexes that are neither committed nor deleted yet.
    async fn count_pending_points(&self, metrics: &mut Metrics) -> Result<(), HandlerError> {
        for index in self.catalog.indexes().await? {
            let stats = self.catalog.stats(index.index_id).await?;
            let pending = usize::try_from(stats.pending_points).unwrap_or(usize::MAX);
            metrics.count(Metric::PendingPoints, pending);
        }
        Ok(())
    }

    /// Makes the index live if it is complete, and returns whether it is. Documents that writers of the former index left out are put into the queue.
    async fn switch(
        &self,
        ingest: &Ingest,
        options: SyncOptions,
        metrics: &mut Metrics,
    ) -> Result<bool, HandlerError> {
        match ingest.switch(options).await? {
            Switched::Live(status) => {
                let sources = sources(&status).collect();
                self.work_off(ingest, &sources, metrics).await?;
                // Every reconcile retries it.
                if let Err(error) = ingest.calibrate().await {
                    tracing::warn!(stage = "reindex", %error, "cannot calibrate the index");
                }
                Ok(true)
            }
            Switched::Behind(status) => {
                tracing::info!(
                    stage = "reindex",
                    pending = status.pending.len(),
                    "the new index is not complete yet"
                );
                Ok(false)
            }
        }
    }

    /// Puts all documents into the queue the first time. Then the function checks again and again, by messages to itself.
    async fn reindex(
        &self,
        attempt: u32,
        of: Option<String>,
        metrics: &mut Metrics,
    ) -> Result<Value, HandlerError> {
        let mode = match attempt {
            0 => OpenMode::TakeOver,
            _ => OpenMode::Write,
        };
        let ingest = match self.open(mode).await {
            // Another deployment has taken over since then.
            Err(HandlerError::Ingest(IngestError::Retired)) if attempt > 0 => {
                return Ok(json!({ "live": false }));
            }
            ingest => ingest?,
        };
        let index = &ingest.index_row;
        if of.is_some_and(|of| of != index.collection) {
            return Ok(json!({ "live": index.state == IndexState::Live }));
        }
        let options = SyncOptions::default();
        let Some(queue) = &self.queue else {
            return Ok(json!(self.sync_here(&ingest, options, metrics).await?));
        };
        let (answer, is_live) = if attempt.is_multiple_of(REINDEX_ENQUEUES) {
            let reconciled = self.reconcile(&ingest, "", options, metrics).await?;
            (json!(reconciled), reconciled.live)
        } else {
            // Missing pages are already in the queue, so only try to switch.
            let live =
                index.state == IndexState::Live || self.switch(&ingest, options, metrics).await?;
            (json!({ "live": live }), live)
        };
        if !is_live {
            if attempt >= MAX_REINDEX_ATTEMPTS {
                return Err(HandlerError::ReindexStuck);
            }
            let again = Command::Reindex {
                attempt: attempt + 1,
                of: Some(index.collection.clone()),
            };
            let again = json!(again).to_string();
            queue.send(&[again], REINDEX_WAIT).await?;
        }
        Ok(answer)
    }

    async fn status(&self, prefix: &str) -> Result<Value, HandlerError> {
        let ingest = self.open(OpenMode::ReadOnly).await?;
        let started = Instant::now();
        let commit = ingest.source.commit().await.map_err(IngestError::from)?;
        let index = &ingest.index_row;
        let (status, stats) = tokio::try_join!(ingest.status(prefix), async {
            Ok(self.catalog.stats(index.index_id).await?)
        })?;
        if prefix.is_empty() {
            note_comparison(&ingest, &status, commit, started).await;
        }
        let mut answer = json!(status);
        answer["index"] = json!({
            "id": index.index_id,
            "state": index.state,
            "collection": index.collection,
            "spec": index.spec,
            "documents": stats.documents,
            "chunks": stats.chunks,
            "tokens": stats.tokens,
            "pending_points": stats.pending_points,
            "last_indexed_at": stats.last_indexed_at.map(|at| at.to_string()),
        });
        Ok(answer)
    }
}

/// Records that the live index equals the bucket, if nothing is pending, failed, stale or out of sight.
async fn note_comparison(
    ingest: &Ingest,
    status: &Status,
    commit: Option<String>,
    started: Instant,
) {
    let is_equal = status.pending.is_empty()
        && status.failed.is_empty()
        && status.stale.is_empty()
        && status.unreadable_folders.is_empty();
    if is_equal && ingest.index_row.state == IndexState::Live {
        // Pages that changed while they were compared may be newer than the commit.
        ingest.record_comparison(commit, started.elapsed()).await;
    }
}

fn sources(status: &Status) -> impl Iterator<Item = String> + '_ {
    status.pending.iter().map(|pending| pending.source.clone())
}
