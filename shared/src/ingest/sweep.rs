//! What writers and switches leave behind.

use std::time::Duration;

use uuid::Uuid;

use super::{Ingest, IngestError};
use crate::catalog::IndexRow;

/// Intents older than this are swept: longer than an invocation lives.
const SWEEP_AGE: Duration = Duration::from_mins(15);
/// How long a retired index stays: longer than a reader remembers which one is live, and a writer lives.
const RETIRED_AGE: Duration = Duration::from_hours(1);

impl Ingest {
    /// Deletes the points that writers left behind, of all indexes, and drops those retired an hour ago. Returns how
    /// many points are done with.
    pub async fn sweep(&self) -> Result<usize, IngestError> {
        for retired in self.catalog.begin_drop(RETIRED_AGE).await? {
            self.index.drop_collection(&retired.collection).await?;
            self.catalog.finish_drop(retired.index_id).await?;
        }
        let mut done = 0;
        for index in self.catalog.indexes().await? {
            done += self.sweep_index(&index).await?;
        }
        Ok(done)
    }

    async fn sweep_index(&self, index: &IndexRow) -> Result<usize, IngestError> {
        let index_id = index.index_id;
        let pending = self.catalog.claim_pending(index_id, SWEEP_AGE).await?;
        let points: Vec<Uuid> = pending.iter().map(|pending| pending.point_id).collect();
        self.index.delete(&index.collection, &points).await?;
        let done: Vec<Uuid> = pending
            .iter()
            .filter(|pending| pending.last_time)
            .map(|pending| pending.point_id)
            .collect();
        self.catalog.forget(index_id, &done).await?;
        Ok(done.len())
    }
}
