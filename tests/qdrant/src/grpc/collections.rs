//! The gRPC service for collections and aliases.

use std::sync::Arc;

use qdrant_client::qdrant::collections_server::Collections;
use qdrant_client::qdrant::{
    ChangeAliases, CollectionClusterInfoRequest, CollectionClusterInfoResponse, CollectionExists,
    CollectionExistsRequest, CollectionExistsResponse, CollectionOperationResponse,
    CreateCollection, CreateShardKeyRequest, CreateShardKeyResponse, DeleteCollection,
    DeleteShardKeyRequest, DeleteShardKeyResponse, GetCollectionInfoRequest,
    GetCollectionInfoResponse, ListAliasesRequest, ListAliasesResponse,
    ListCollectionAliasesRequest, ListCollectionsRequest, ListCollectionsResponse,
    ListShardKeysRequest, ListShardKeysResponse, UpdateCollection,
    UpdateCollectionClusterSetupRequest, UpdateCollectionClusterSetupResponse,
};
use tonic::{Request, Response, Status};

use super::{blocking, unimplemented_calls};
use crate::error::CallError;
use crate::store::Store;

#[derive(Debug)]
pub(crate) struct CollectionCalls {
    store: Arc<Store>,
}

impl CollectionCalls {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }

    async fn store<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Store) -> Result<T, CallError> + Send + 'static,
    ) -> Result<(T, f64), Status> {
        let store = Arc::clone(&self.store);
        blocking(move || call(&store)).await
    }
}

#[tonic::async_trait]
impl Collections for CollectionCalls {
    async fn get(
        &self,
        request: Request<GetCollectionInfoRequest>,
    ) -> Result<Response<GetCollectionInfoResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (info, time) = self
            .store(move |store| store.collection(&name)?.info())
            .await?;
        Ok(Response::new(GetCollectionInfoResponse {
            result: Some(info),
            time,
        }))
    }

    async fn create(
        &self,
        request: Request<CreateCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let request = request.into_inner();
        let ((), time) = self.store(move |store| store.create(request)).await?;
        Ok(Response::new(CollectionOperationResponse {
            result: true,
            time,
        }))
    }

    async fn delete(
        &self,
        request: Request<DeleteCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (result, time) = self.store(move |store| store.delete(&name)).await?;
        Ok(Response::new(CollectionOperationResponse { result, time }))
    }

    async fn update_aliases(
        &self,
        request: Request<ChangeAliases>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        let actions = request.into_inner().actions;
        let ((), time) = self
            .store(move |store| store.change_aliases(actions))
            .await?;
        Ok(Response::new(CollectionOperationResponse {
            result: true,
            time,
        }))
    }

    async fn collection_exists(
        &self,
        request: Request<CollectionExistsRequest>,
    ) -> Result<Response<CollectionExistsResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (exists, time) = self
            .store(move |store| Ok(store.collection(&name).is_ok()))
            .await?;
        Ok(Response::new(CollectionExistsResponse {
            result: Some(CollectionExists { exists }),
            time,
        }))
    }

    unimplemented_calls! {
        list(ListCollectionsRequest) -> ListCollectionsResponse;
        list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse;
        list_aliases(ListAliasesRequest) -> ListAliasesResponse;
        update(UpdateCollection) -> CollectionOperationResponse;
        collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
        update_collection_cluster_setup(UpdateCollectionClusterSetupRequest)
            -> UpdateCollectionClusterSetupResponse;
        create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
        delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
        list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
    }
}
