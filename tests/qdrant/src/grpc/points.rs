//! The gRPC service for points and payload indexes.
//!
//! `wait` is always true: a change is visible before the call returns. `ordering`, `read_consistency` and
//! `timeout` have no effect in a single process.

use std::sync::Arc;

use qdrant_client::qdrant::points_server::Points;
use qdrant_client::qdrant::{
    BatchResult, ClearPayloadPoints, CountPoints, CountResponse, CountResult,
    CreateFieldIndexCollection, CreateVectorNameRequest, DeleteFieldIndexCollection,
    DeletePayloadPoints, DeletePointVectors, DeletePoints, DeleteVectorNameRequest,
    DiscoverBatchPoints, DiscoverBatchResponse, DiscoverPoints, DiscoverResponse, FacetCounts,
    FacetResponse, GetPoints, GetResponse, PointsOperationResponse, QueryBatchPoints,
    QueryBatchResponse, QueryGroupsResponse, QueryPointGroups, QueryPoints, QueryResponse,
    RecommendBatchPoints, RecommendBatchResponse, RecommendGroupsResponse, RecommendPointGroups,
    RecommendPoints, RecommendResponse, ScrollPoints, ScrollResponse, SearchBatchPoints,
    SearchBatchResponse, SearchGroupsResponse, SearchMatrixOffsetsResponse,
    SearchMatrixPairsResponse, SearchMatrixPoints, SearchPointGroups, SearchPoints, SearchResponse,
    SetPayloadPoints, UpdateBatchPoints, UpdateBatchResponse, UpdatePointVectors, UpdateResult,
    UpdateStatus, UpsertPoints,
};
use tonic::{Request, Response, Status};

use super::{blocking, unimplemented_calls};
use crate::collection::Collection;
use crate::error::CallError;
use crate::store::Store;

#[derive(Debug)]
pub(crate) struct PointCalls {
    store: Arc<Store>,
}

impl PointCalls {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }

    async fn collection<T: Send + 'static>(
        &self,
        name: &str,
        call: impl FnOnce(&Collection) -> Result<T, CallError> + Send + 'static,
    ) -> Result<(T, f64), Status> {
        let collection = self.store.collection(name)?;
        blocking(move || call(&collection)).await
    }

    async fn change(
        &self,
        name: &str,
        call: impl FnOnce(&Collection) -> Result<(), CallError> + Send + 'static,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let ((), time) = self.collection(name, call).await?;
        Ok(Response::new(PointsOperationResponse {
            result: Some(UpdateResult {
                operation_id: None,
                status: UpdateStatus::Completed.into(),
            }),
            time,
            usage: None,
        }))
    }
}

#[tonic::async_trait]
impl Points for PointCalls {
    async fn upsert(
        &self,
        request: Request<UpsertPoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        self.change(&name, |collection| collection.upsert(request))
            .await
    }

    async fn delete(
        &self,
        request: Request<DeletePoints>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        self.change(&name, |collection| collection.delete_points(request))
            .await
    }

    async fn create_field_index(
        &self,
        request: Request<CreateFieldIndexCollection>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        self.change(&name, move |collection| collection.create_index(&request))
            .await
    }

    async fn get(&self, request: Request<GetPoints>) -> Result<Response<GetResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        let (result, time) = self
            .collection(&name, |collection| collection.get(request))
            .await?;
        Ok(Response::new(GetResponse {
            result,
            time,
            usage: None,
        }))
    }

    async fn count(
        &self,
        request: Request<CountPoints>,
    ) -> Result<Response<CountResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        let (count, time) = self
            .collection(&name, |collection| collection.count(request))
            .await?;
        Ok(Response::new(CountResponse {
            result: Some(CountResult { count }),
            time,
            usage: None,
        }))
    }

    async fn scroll(
        &self,
        request: Request<ScrollPoints>,
    ) -> Result<Response<ScrollResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        let ((result, next_page_offset), time) = self
            .collection(&name, |collection| collection.scroll(request))
            .await?;
        Ok(Response::new(ScrollResponse {
            next_page_offset,
            result,
            time,
            usage: None,
        }))
    }

    async fn query(
        &self,
        request: Request<QueryPoints>,
    ) -> Result<Response<QueryResponse>, Status> {
        let request = request.into_inner();
        let name = request.collection_name.clone();
        let (result, time) = self
            .collection(&name, |collection| collection.query(request))
            .await?;
        Ok(Response::new(QueryResponse {
            result,
            time,
            usage: None,
        }))
    }

    async fn query_batch(
        &self,
        request: Request<QueryBatchPoints>,
    ) -> Result<Response<QueryBatchResponse>, Status> {
        let request = request.into_inner();
        let (result, time) = self
            .collection(&request.collection_name, |collection| {
                let queries = request.query_points.into_iter();
                let answers = queries.map(|query| {
                    Ok(BatchResult {
                        result: collection.query(query)?,
                    })
                });
                answers.collect::<Result<Vec<_>, CallError>>()
            })
            .await?;
        Ok(Response::new(QueryBatchResponse {
            result,
            time,
            usage: None,
        }))
    }

    unimplemented_calls! {
        set_payload(SetPayloadPoints) -> PointsOperationResponse;
        delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse;
        update_vectors(UpdatePointVectors) -> PointsOperationResponse;
        delete_vectors(DeletePointVectors) -> PointsOperationResponse;
        overwrite_payload(SetPayloadPoints) -> PointsOperationResponse;
        delete_payload(DeletePayloadPoints) -> PointsOperationResponse;
        clear_payload(ClearPayloadPoints) -> PointsOperationResponse;
        create_vector_name(CreateVectorNameRequest) -> PointsOperationResponse;
        delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse;
        search(SearchPoints) -> SearchResponse;
        search_batch(SearchBatchPoints) -> SearchBatchResponse;
        search_groups(SearchPointGroups) -> SearchGroupsResponse;
        recommend(RecommendPoints) -> RecommendResponse;
        recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse;
        recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse;
        discover(DiscoverPoints) -> DiscoverResponse;
        discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse;
        update_batch(UpdateBatchPoints) -> UpdateBatchResponse;
        query_groups(QueryPointGroups) -> QueryGroupsResponse;
        facet(FacetCounts) -> FacetResponse;
        search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse;
        search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse;
    }
}
