mod batches;
mod deployment;
mod events;
mod killed;
mod queued;

use std::sync::Arc;

use bookrag::catalog::{ChunkRow, StoredDocument};
use bookrag_tests::{
    backends::Backends,
    events::{Change, Sender, s3_notification},
    moto::Moto,
    runtime_api::Invocation,
};
use serde_json::json;

use super::Lambda;

const BUCKET: &str = "books";

/// The ingest function over a bucket with a book under `site/`.
struct World {
    lambda: Lambda,
    /// The variables that the function was started with.
    environment: Vec<(&'static str, String)>,
    moto: Arc<Moto>,
    backends: Backends,
}

impl World {
    async fn start(database: &str) -> Self {
        Self::start_with(database, &[]).await
    }

    /// Like [`World::start`], with variables that override the defaults.
    async fn start_with(database: &str, variables: &[(&'static str, &str)]) -> Self {
        Self::over(Arc::new(Moto::start().await), database, variables).await
    }

    async fn over(moto: Arc<Moto>, database: &str, variables: &[(&'static str, &str)]) -> Self {
        let backends = Backends::start(database).await;
        moto.create_bucket(BUCKET).await;
        let mut environment = backends.ingest_environment();
        environment.extend(moto.environment());
        environment.push(("BOOKRAG_SOURCE", format!("s3://{BUCKET}/site/")));
        environment.extend(
            variables
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned())),
        );
        Self {
            lambda: Lambda::start("ingest", &environment).await,
            environment,
            moto,
            backends,
        }
    }

    async fn put(&self, path: &str, content: &str) {
        self.moto
            .put(BUCKET, &format!("site/{path}"), content)
            .await;
    }

    async fn delete(&self, path: &str) {
        self.moto.delete(BUCKET, &format!("site/{path}")).await;
    }

    /// Notifies the function of a change, like S3 without a queue.
    async fn notify(&self, change: Change, path: &str) -> Invocation {
        let key = format!("site/{path}");
        let event = s3_notification(Sender::S3, change, BUCKET, &[&key]);
        self.lambda.invoke(event).await
    }

    /// Like [`World::notify`], and asserts success.
    async fn converge(&self, change: Change, path: &str) {
        let answer = self.notify(change, path).await.payload();
        assert_eq!(answer, json!({ "files": 1 }), "{path}");
    }

    async fn documents(&self) -> Vec<StoredDocument> {
        let catalog = &self.backends.catalog;
        match catalog.live_index().await.unwrap() {
            None => Vec::new(),
            Some(index) => catalog.documents(index.index_id).await.unwrap(),
        }
    }

    async fn sources(&self) -> Vec<String> {
        let documents = self.documents().await.into_iter();
        documents.map(|document| document.row.source).collect()
    }

    /// Returns the text of a document; empty if the book lacks it.
    async fn text(&self, path: &str) -> String {
        let chunks = self.chunks(path).await;
        chunks.into_iter().map(|chunk| chunk.text).collect()
    }

    /// Returns the hashes of what the vector store holds of a document's chunks.
    async fn payload_hashes(&self, path: &str) -> Vec<String> {
        let chunks = self.chunks(path).await;
        chunks.into_iter().map(|chunk| chunk.payload_hash).collect()
    }

    async fn chunks(&self, path: &str) -> Vec<ChunkRow> {
        let documents = self.documents().await;
        let Some(document) = documents
            .iter()
            .find(|document| document.row.source == path)
        else {
            return Vec::new();
        };
        let catalog = &self.backends.catalog;
        let index = catalog.live_index().await.unwrap().unwrap();
        let chunks = catalog.chunks(index.index_id, document.row.document_id);
        chunks.await.unwrap()
    }
}
