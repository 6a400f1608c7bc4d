//! Deletes what writers and switches leave behind.

use std::time::Duration;

use uuid::Uuid;

use super::IngestError;
use store::catalog::{Catalog, CatalogError, IndexRow, IndexState};
use store::index::VectorIndex;

/// The age at which intents are swept; no invocation lives that long.
const SWEEP_AGE: Duration = Duration::from_mins(15);
/// The age at which a retired index is dropped; no reader still uses it and no writer is still active.
const RETIRED_AGE: Duration = Duration::from_hours(1);

/// The age at which fully refilled rate limits are deleted.
const LIMITS_AGE: Duration = Duration::from_hours(1);

/// Deletes leftover points of all indexes, indexes retired an hour ago, and expired data of readers. Returns the number of
/// points whose deletion is final.
pub async fn sweep(
    catalog: &Catalog,
    index: &VectorIndex,
    retention: Option<Duration>,
) -> Result<usize, IngestError> {
    let done = sweep_points(catalog, index).await?;
    forget_readers(catalog, retention).await?;
    Ok(done)
}

/// Deletes leftover points of all indexes, and indexes retired an hour ago. Returns the number of points whose deletion
/// is final.
pub(super) async fn sweep_points(
    catalog: &Catalog,
    index: &VectorIndex,
) -> Result<usize, IngestError> {
    drop_retired(catalog, index).await?;
    let mut done = 0;
    for row in catalog.indexes().await? {
        done += sweep_index(catalog, index, &row).await?;
    }
    Ok(done)
}

/// Deletes expired conversations, and questions, judgements and messages older than the retention; `None` keeps them.
pub async fn forget_readers(
    catalog: &Catalog,
    retention: Option<Duration>,
) -> Result<(), CatalogError> {
    catalog.forget_expired(LIMITS_AGE, retention).await
}

/// Drops indexes retired long enough ago, and those whose deletion was not finished.
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
    // A writer may have recorded points of an index that has been dropped since.
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

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use super::*;
    use crate::ingest::SyncOptions;
    use crate::ingest::simulation::stores::{Stores, options};
    use crate::source::MemorySource;

    #[tokio::test]
    async fn repairs_go_on_when_what_readers_left_cannot_be_forgotten() {
        let source = MemorySource::default();
        let page = b"# Dew\n\nWater on grass.\n".to_vec();
        source.files().insert("docs/dew.md".to_owned(), page);
        let stores = Stores::new();
        let ingest = stores.open(&source, options()).await.unwrap();
        ingest.ingest_document("docs/dew.md").await.unwrap();
        let collection = &ingest.index_row.collection;
        let points = ingest.index.point_ids(collection).await.unwrap();
        let points = Vec::from_iter(points);
        ingest.index.delete(collection, &points).await.unwrap();
        stores.catalog.execute("DROP TABLE messages").await.unwrap();

        let settled = ingest.settle(SyncOptions::default()).await.unwrap();
        assert_eq!(settled.restored, ["docs/dew.md"]);
        assert_eq!(settled.warnings.len(), 1, "{:?}", settled.warnings);
        assert!(settled.warnings[0].contains("cannot delete expired"));
        sweep(&ingest.catalog, &ingest.index, None)
            .await
            .unwrap_err();
    }
}
