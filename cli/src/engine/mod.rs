//! Qdrant's own engine in process, behind Qdrant's own gRPC on a loopback port.
//!
//! An unmodified `qdrant_client::Qdrant` talks to it, so what runs on a laptop is the code that talks to Qdrant
//! Cloud. It answers UNIMPLEMENTED to what it does not do, refuses filters on unindexed fields as Qdrant Cloud does,
//! and acknowledges a write only when it is on disk. There is no authentication: any process of this machine that
//! finds the port can read and write.

mod collection;
mod convert;
mod error;
mod files;
mod grpc;
mod schema;
mod space;
mod store;
mod strict;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::QdrantServer;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

pub use error::EngineError;
use grpc::{CollectionCalls, HealthCalls, PointCalls};
pub use space::StorageFull;
use store::Store;

/// The largest message either way. A batch of points with token vectors is larger than tonic's 4 MiB.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// How long `stop` waits for clients to finish their calls.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// A running engine. Dropping it without [`Engine::stop`] ends it too, later, and loses nothing acknowledged.
#[derive(Debug)]
pub struct Engine {
    url: String,
    store: Arc<Store>,
    stopping: oneshot::Sender<()>,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Engine {
    /// Opens the folder, making it if need be, loads its collections and listens on a free loopback port.
    ///
    /// # Errors
    ///
    /// [`EngineError::InUse`] when another engine holds the folder; else what could not be read or opened.
    pub async fn start(folder: &Path) -> Result<Self, EngineError> {
        let folder = folder.to_path_buf();
        let store = tokio::task::spawn_blocking(move || Store::open(&folder))
            .await
            .map_err(|error| panicked("opening its files", error))??;
        let store = Arc::new(store);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(EngineError::Listen)?;
        let address = listener.local_addr().map_err(EngineError::Listen)?;
        // Without it, Nagle's algorithm and delayed acknowledgements cost 40 ms a call.
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let (stopping, stopped) = oneshot::channel();
        let server = Server::builder()
            .add_service(
                PointsServer::new(PointCalls::new(Arc::clone(&store)))
                    .max_decoding_message_size(MAX_MESSAGE_BYTES)
                    .max_encoding_message_size(MAX_MESSAGE_BYTES),
            )
            .add_service(
                CollectionsServer::new(CollectionCalls::new(Arc::clone(&store)))
                    .max_decoding_message_size(MAX_MESSAGE_BYTES)
                    .max_encoding_message_size(MAX_MESSAGE_BYTES),
            )
            .add_service(QdrantServer::new(HealthCalls))
            .serve_with_incoming_shutdown(incoming, async {
                // An error means that the sender was dropped with the engine: the end as well.
                let _ = stopped.await;
            });
        Ok(Self {
            url: format!("http://{address}"),
            store,
            stopping,
            server: tokio::spawn(server),
        })
    }

    /// Where the engine listens, as `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets running calls end, closes the collections and unlocks the folder.
    ///
    /// # Errors
    ///
    /// When the server had failed, or files could not be closed; the folder is unlocked either way.
    pub async fn stop(self) -> Result<(), EngineError> {
        let Self {
            store,
            stopping,
            mut server,
            ..
        } = self;
        // The server can only be gone already; its result says why.
        let _ = stopping.send(());
        let served = match tokio::time::timeout(DRAIN_TIME, &mut server).await {
            Ok(Ok(result)) => result.map_err(EngineError::Serve),
            Ok(Err(error)) => Err(panicked("serving", error)),
            Err(_) => {
                // A client that keeps its connection busy does not keep the engine from closing.
                server.abort();
                Ok(())
            }
        };
        tokio::task::spawn_blocking(move || store.close())
            .await
            .map_err(|error| panicked("closing its files", error))??;
        served
    }
}

/// Makes an error of a task that ended without a result.
fn panicked(during: &'static str, error: JoinError) -> EngineError {
    let reason = match error.try_into_panic() {
        Ok(panic) => panic_message(panic.as_ref()),
        Err(error) => error.to_string(),
    };
    EngineError::Panicked { during, reason }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    (panic.downcast_ref::<String>().map(String::as_str))
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
        .to_owned()
}
