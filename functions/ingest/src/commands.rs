//! What the function is asked to do with the whole book.

use std::collections::BTreeSet;
use std::time::Duration;

use bookrag::catalog::{IndexState, Retired};
use bookrag::ingest::{Ingest, IngestError, MassDeletion, Status, Switched, SyncOptions, sync};
use bookrag::telemetry::Metrics;
use serde_json::{Value, json};

use crate::events::Command;
use crate::{Function, HandlerError};

/// How long a reindex waits before it looks again at what the queue has done.
const REINDEX_WAIT: Duration = Duration::from_mins(1);
/// How often it looks: half a day.
const MAX_REINDEX_ATTEMPTS: u32 = 720;

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
                let ingest = self.open(Retired::Stays).await?;
                let options = SyncOptions { mass_deletion };
                self.reconcile(&ingest, &prefix, options, metrics).await
            }
            Command::Reindex { attempt } => self.reindex(attempt, metrics).await,
            Command::Sweep {} => {
                let swept = self.open(Retired::Stays).await?.sweep().await?;
                Ok(json!({ "swept": swept }))
            }
            Command::Status { prefix } => self.status(&prefix).await,
            Command::Converge { paths } => {
                let mut converging = self.converging().await?;
                let files = paths.len();
                let sources = BTreeSet::from_iter(paths);
                converging.converge(&sources, metrics).await?;
                converging.check_settings().await?;
                Ok(json!({ "files": files }))
            }
        }
    }

    /// Puts what differs from the bucket into the queue, or without one converges it here; sweeps, compares and repairs.
    async fn reconcile(
        &self,
        ingest: &Ingest,
        prefix: &str,
        options: SyncOptions,
        metrics: &mut Metrics,
    ) -> Result<Value, HandlerError> {
        if self.queue.is_none() && prefix.is_empty() {
            let report = sync(ingest, options, |_| {}).await?;
            metrics.count("documents_indexed", report.files_changed);
            metrics.count("documents_deleted", report.files_deleted);
            metrics.count("documents_failed", report.failed.len());
            metrics.count("chunks_embedded", report.embedded);
            metrics.count("vectors_reused", report.vectors_reused);
            metrics.count("documents_stale", report.stale.len());
            return Ok(json!(report));
        }
        let status = ingest.outstanding(prefix, options).await?;
        let sources: BTreeSet<String> = sources(&status).collect();
        let enqueued = self.work_off(ingest, &sources, metrics).await?;
        let settled = ingest.settle(options).await?;
        if let Some(warning) = &settled.warning {
            tracing::warn!(stage = "reconcile", warning);
        }
        let live = match ingest.index_row.state {
            IndexState::Building => self.switch(ingest, metrics).await?,
            IndexState::Live | IndexState::Retired => true,
        };
        metrics.count("documents_stale", status.stale.len());
        Ok(json!({
            "enqueued": enqueued,
            "live": live,
            "status": status,
            "settled": settled,
        }))
    }

    /// Whether the index is the live one now. What writers of the one before left out is put into the queue.
    async fn switch(&self, ingest: &Ingest, metrics: &mut Metrics) -> Result<bool, HandlerError> {
        match ingest.switch().await? {
            Switched::Live(status) => {
                let sources = sources(&status).collect();
                self.work_off(ingest, &sources, metrics).await?;
                Ok(true)
            }
            Switched::Behind(status) => {
                tracing::info!(
                    stage = "reindex",
                    pending = status.pending.len(),
                    "the new index does not hold the whole book yet"
                );
                Ok(false)
            }
        }
    }

    async fn reindex(&self, attempt: u32, metrics: &mut Metrics) -> Result<Value, HandlerError> {
        let ingest = self.open(Retired::Revives).await?;
        let options = SyncOptions::default();
        let answer = if attempt == 0 || self.queue.is_none() {
            self.reconcile(&ingest, "", options, metrics).await?
        } else {
            // What is pending is in the queue already.
            json!({ "live": self.switch(&ingest, metrics).await? })
        };
        if let (Some(queue), false) = (&self.queue, answer["live"] == true) {
            if attempt == MAX_REINDEX_ATTEMPTS {
                return Err(HandlerError::ReindexStuck);
            }
            let again = Command::Reindex {
                attempt: attempt + 1,
            };
            queue
                .send(&[json!(again).to_string()], REINDEX_WAIT)
                .await?;
        }
        Ok(answer)
    }

    async fn status(&self, prefix: &str) -> Result<Value, HandlerError> {
        let ingest = match self.open(Retired::Stays).await {
            // Writers with other settings have taken over.
            Err(HandlerError::Ingest(IngestError::Retired)) => {
                return Ok(json!({ "index": { "state": IndexState::Retired } }));
            }
            ingest => ingest?,
        };
        let status = ingest.status(prefix).await?;
        let index = &ingest.index_row;
        let stats = self.catalog.stats(index.index_id).await?;
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

fn sources(status: &Status) -> impl Iterator<Item = String> + '_ {
    status.pending.iter().map(|pending| pending.source.clone())
}
