//! What writers and switches leave behind.

use std::time::Duration;

use uuid::Uuid;

use super::IngestError;
use crate::catalog::{Catalog, CatalogError, IndexRow, IndexState};
use crate::index::VectorIndex;

/// Intents older than this are swept: longer than an invocation lives.
const SWEEP_AGE: Duration = Duration::from_mins(15);
/// How long a retired index stays: longer than a reader remembers which one is live, and a writer lives.
const RETIRED_AGE: Duration = Duration::from_hours(1);

/// Limits whose turns have all been back for so long are forgotten.
const LIMITS_AGE: Duration = Duration::from_hours(1);

/// Deletes the points that writers left behind, of all indexes, drops those retired an hour ago, and forgets what readers left
/// behind. Returns how many points are done with.
pub async fn sweep(
    catalog: &Catalog,
    index: &VectorIndex,
    retention: Option<Duration>,
) -> Result<usize, IngestError> {
    drop_retired(catalog, index).await?;
    let mut done = 0;
    for row in catalog.indexes().await? {
        done += sweep_index(catalog, index, &row).await?;
    }
    forget_readers(catalog, retention).await?;
    Ok(done)
}

/// Forgets conversations that expired, and questions, judgements and messages older than the retention; `None` keeps them.
pub async fn forget_readers(
    catalog: &Catalog,
    retention: Option<Duration>,
) -> Result<(), CatalogError> {
    catalog.forget_expired(LIMITS_AGE, retention).await
}

/// Drops indexes whose time has come, and those whose deletion began and was not finished.
pub(super) async fn drop_retired(
    catalog: &Catalog,
    index: &VectorIndex,
) -> Result<(), IngestError> {
    for retired in catalog.begin_drop(RETIRED_AGE).await? {
        index.drop_collection(&retired.collection).await?;
        catalog.finish_drop(retired.index_id).await?;
    }
    Ok(())
}

async fn sweep_index(
    catalog: &Catalog,
    index: &VectorIndex,
    row: &IndexRow,
) -> Result<usize, IngestError> {
    let pending = catalog.claim_pending(row.index_id, SWEEP_AGE).await?;
    if pending.is_empty() {
        return Ok(0);
    }
    let points: Vec<Uuid> = pending.iter().map(|pending| pending.point_id).collect();
    // A writer may have written down points of an index that was dropped meanwhile.
    if row.state != IndexState::Retired || index.has_collection(&row.collection).await? {
        index.delete(&row.collection, &points).await?;
    }
    let done: Vec<Uuid> = pending
        .iter()
        .filter(|pending| pending.last_time)
        .map(|pending| pending.point_id)
        .collect();
    catalog.forget(row.index_id, &done).await?;
    Ok(done.len())
}
