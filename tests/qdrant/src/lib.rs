//! Qdrant's own engine in the test's process, behind Qdrant's own gRPC on a loopback port.
//!
//! An unmodified `qdrant_client::Qdrant` talks to it, so tests run the code that talks to Qdrant Cloud. It answers UNIMPLEMENTED
//! to calls that the project does not make, refuses filters on unindexed fields as Qdrant Cloud does, and keeps nothing
//! when it ends. There is no authentication.

mod collection;
mod convert;
mod error;
mod grpc;
mod schema;
mod store;
mod strict;
#[cfg(test)]
mod tests;

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::QdrantServer;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use grpc::{CollectionCalls, HealthCalls, PointCalls};
use store::Store;

/// The largest message either way. A batch of points is larger than tonic's 4 MiB.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// A running engine with a temporary folder of its own; both end when it is dropped.
#[derive(Debug)]
pub struct Engine {
    url: String,
    _stopping: oneshot::Sender<()>,
}

impl Engine {
    /// Starts an empty engine, which listens on a free loopback port.
    ///
    /// # Errors
    ///
    /// When there is no temporary folder or no port.
    pub async fn start() -> io::Result<Self> {
        let store = Arc::new(Store::new()?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        // Without it, Nagle's algorithm and delayed acknowledgements cost 40 ms a call.
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let (stopping, stopped) = oneshot::channel::<()>();
        let server = Server::builder()
            .add_service(
                PointsServer::new(PointCalls::new(Arc::clone(&store)))
                    .max_decoding_message_size(MAX_MESSAGE_BYTES)
                    .max_encoding_message_size(MAX_MESSAGE_BYTES),
            )
            .add_service(CollectionsServer::new(CollectionCalls::new(store)))
            .add_service(QdrantServer::new(HealthCalls))
            .serve_with_incoming_shutdown(incoming, async {
                // An error means that the sender was dropped with the engine.
                let _ = stopped.await;
            });
        tokio::spawn(server);
        Ok(Self {
            url: format!("http://{address}"),
            _stopping: stopping,
        })
    }

    /// Where the engine listens, as `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
