//! The service for collections and aliases.

use std::sync::Arc;

use qdrant_client::qdrant::collections_server::Collections;
use qdrant_client::qdrant::{
    AliasDescription, ChangeAliases, CollectionClusterInfoRequest, CollectionClusterInfoResponse,
    CollectionDescription, CollectionExists, CollectionExistsRequest, CollectionExistsResponse,
    CollectionOperationResponse, CreateCollection, CreateShardKeyRequest, CreateShardKeyResponse,
    DeleteCollection, DeleteShardKeyRequest, DeleteShardKeyResponse, GetCollectionInfoRequest,
    GetCollectionInfoResponse, ListAliasesRequest, ListAliasesResponse,
    ListCollectionAliasesRequest, ListCollectionsRequest, ListCollectionsResponse,
    ListShardKeysRequest, ListShardKeysResponse, UpdateCollection,
    UpdateCollectionClusterSetupRequest, UpdateCollectionClusterSetupResponse,
};
use tonic::{Request, Response, Status};

use super::{blocking, unimplemented_calls};
use crate::engine::error::CallError;
use crate::engine::store::Store;

/// Answers from the folder.
#[derive(Debug)]
pub(in crate::engine) struct CollectionCalls {
    store: Arc<Store>,
}

impl CollectionCalls {
    pub(in crate::engine) fn new(store: Arc<Store>) -> Self {
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

    async fn list(
        &self,
        _: Request<ListCollectionsRequest>,
    ) -> Result<Response<ListCollectionsResponse>, Status> {
        let (names, time) = self.store(|store| Ok(store.list())).await?;
        let collections = (names.into_iter())
            .map(|name| CollectionDescription { name })
            .collect();
        Ok(Response::new(ListCollectionsResponse { collections, time }))
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

    async fn list_collection_aliases(
        &self,
        request: Request<ListCollectionAliasesRequest>,
    ) -> Result<Response<ListAliasesResponse>, Status> {
        let name = request.into_inner().collection_name;
        let (mut aliases, time) = self.list_all_aliases().await?;
        aliases.retain(|alias| alias.collection_name == name);
        Ok(Response::new(ListAliasesResponse { aliases, time }))
    }

    async fn list_aliases(
        &self,
        _: Request<ListAliasesRequest>,
    ) -> Result<Response<ListAliasesResponse>, Status> {
        let (aliases, time) = self.list_all_aliases().await?;
        Ok(Response::new(ListAliasesResponse { aliases, time }))
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
        update(UpdateCollection) -> CollectionOperationResponse;
        collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
        update_collection_cluster_setup(UpdateCollectionClusterSetupRequest)
            -> UpdateCollectionClusterSetupResponse;
        create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
        delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
        list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
    }
}

impl CollectionCalls {
    async fn list_all_aliases(&self) -> Result<(Vec<AliasDescription>, f64), Status> {
        let (aliases, time) = self.store(|store| Ok(store.aliases())).await?;
        let aliases = (aliases.into_iter())
            .map(|(alias_name, collection_name)| AliasDescription {
                alias_name,
                collection_name,
            })
            .collect();
        Ok((aliases, time))
    }
}
