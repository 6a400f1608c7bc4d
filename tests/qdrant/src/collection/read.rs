//! Reads from a collection.

use qdrant_client::qdrant::{
    CollectionInfo, CountPoints, GetPoints, PointId, QueryPoints, RetrievedPoint, ScoredPoint,
    ScrollPoints,
};
use qdrant_edge::{CountRequest, ScrollRequest};

use super::Collection;
use crate::convert::filter::filter;
use crate::convert::info::info;
use crate::convert::point::{
    found_id, point_id, point_ids, retrieved_point, scored_point, with_payload, with_vectors,
};
use crate::convert::query::{limit, query_request};
use crate::convert::to_u64;
use crate::error::CallError;

impl Collection {
    /// Describes the collection.
    pub(crate) fn info(&self) -> Result<CollectionInfo, CallError> {
        let shard = self.with_shard(|shard| Ok(shard.info()))?;
        Ok(info(&self.schema(), &shard))
    }

    /// Returns points in the order of the ids; unknown ids are left out.
    pub(crate) fn get(&self, request: GetPoints) -> Result<Vec<RetrievedPoint>, CallError> {
        CallError::refuse("shard_key_selector", request.shard_key_selector.as_ref())?;
        let ids = point_ids(request.ids)?;
        let payload = with_payload(request.with_payload)?;
        let vectors = with_vectors(request.with_vectors, &self.schema())?;
        let records =
            self.with_shard(|shard| Ok(shard.retrieve(&ids, payload, Some(vectors))?))?;
        Ok(records.into_iter().map(retrieved_point).collect())
    }

    /// Counts points, exactly unless the client asks otherwise.
    pub(crate) fn count(&self, request: CountPoints) -> Result<u64, CallError> {
        CallError::refuse("shard_key_selector", request.shard_key_selector.as_ref())?;
        let request = CountRequest {
            filter: filter(request.filter, &self.schema())?,
            exact: request.exact.unwrap_or(CountRequest::default_exact()),
        };
        self.with_shard(|shard| Ok(to_u64(shard.count(request)?)))
    }

    /// Returns one page of points, by id, and the first id of the next page.
    pub(crate) fn scroll(
        &self,
        request: ScrollPoints,
    ) -> Result<(Vec<RetrievedPoint>, Option<PointId>), CallError> {
        CallError::refuse("shard_key_selector", request.shard_key_selector.as_ref())?;
        CallError::refuse("order_by", request.order_by.as_ref())?;
        let schema = self.schema();
        let request = ScrollRequest {
            offset: (request.offset)
                .map(|offset| point_id(Some(offset)))
                .transpose()?,
            limit: Some(limit(request.limit.map(u64::from))?),
            filter: filter(request.filter, &schema)?,
            with_payload: with_payload(request.with_payload)?,
            with_vector: with_vectors(request.with_vectors, &schema)?,
            order_by: None,
        };
        drop(schema);
        let (records, next) = self.with_shard(|shard| Ok(shard.scroll(request)?))?;
        let points = records.into_iter().map(retrieved_point).collect();
        Ok((points, next.map(found_id)))
    }

    /// Searches, best first.
    pub(crate) fn query(&self, request: QueryPoints) -> Result<Vec<ScoredPoint>, CallError> {
        let request = query_request(request, &self.schema())?;
        let points = self.with_shard(|shard| Ok(shard.query(request)?))?;
        Ok(points.into_iter().map(scored_point).collect())
    }
}
