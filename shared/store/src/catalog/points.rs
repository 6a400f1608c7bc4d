//! The points that the catalog knows: those of chunks, and those that wait for a commit or for their deletion.

use std::time::Duration;

use uuid::Uuid;

use super::statement::Parameter::{Id, Ids, Number};
use super::{Catalog, CatalogError, Pending, on_store, single, sql};

impl Catalog {
    /// Records points about to be upserted for a document, so that a sweep can delete them after a crash.
    pub async fn add_intents(
        &self,
        index_id: i64,
        document_id: Uuid,
        points: &[Uuid],
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.add_intents(index_id, document_id, points))
    }

    /// Claims the points to delete: garbage immediately, intents older than `age` by the database's clock, and points claimed `age`
    /// ago, which are deleted a second time before [`Self::forget`] removes their rows.
    pub async fn claim_pending(
        &self,
        index_id: i64,
        age: Duration,
    ) -> Result<Vec<Pending>, CatalogError> {
        on_store!(self, store => store.claim_pending(index_id, age))
    }

    /// Removes the rows of pending points whose deletion is final.
    pub async fn forget(&self, index_id: i64, points: &[Uuid]) -> Result<(), CatalogError> {
        self.change(sql::FORGET, &[Number(index_id), Ids(points)])
            .await
    }

    /// Returns the number of pending points: intents, claimed points and garbage.
    pub async fn pending_count(&self, index_id: i64) -> Result<u64, CatalogError> {
        single(self.rows(sql::PENDING_COUNT, &[Number(index_id)]).await?)
    }

    /// Returns the points that the catalog knows, in the order of their ids: those behind `after`, `limit` at most. A point of a chunk has `true`, and
    /// a point that is only pending has `false`.
    pub async fn known_points(
        &self,
        index_id: i64,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<(Uuid, bool)>, CatalogError> {
        let parameters = [
            Number(index_id),
            Id(after.unwrap_or_default()),
            Number(i64::try_from(limit).unwrap_or(i64::MAX)),
        ];
        self.rows(sql::KNOWN_POINTS, &parameters).await
    }

    /// Returns the source path of each of these points that belongs to a chunk.
    pub async fn sources_of_points(
        &self,
        index_id: i64,
        points: &[Uuid],
    ) -> Result<Vec<(Uuid, String)>, CatalogError> {
        self.rows(sql::SOURCES_OF_POINTS, &[Number(index_id), Ids(points)])
            .await
    }
}
