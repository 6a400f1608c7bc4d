//! Qdrant's own engine in the test's process, behind Qdrant's own gRPC on a loopback port.
//!
//! An unmodified `qdrant_client::Qdrant` connects to it, so tests run the same code as with Qdrant Cloud. Calls that the project does not
//! make return UNIMPLEMENTED. Filters on unindexed fields are refused, as in Qdrant Cloud. Nothing is kept when
//! the engine ends, and there is no authentication.

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

/// The largest message in both directions. A batch of points exceeds tonic's default of 4 MiB.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// A running engine with a temporary folder; both end when it is dropped.
#[derive(Debug)]
pub struct Engine {
    url: String,
    _stopping: oneshot::Sender<()>,
}

impl Engine {
    /// Starts an empty engine on a free loopback port.
    ///
    /// # Errors
    ///
    /// If there is no temporary folder or no port.
    pub async fn start() -> io::Result<Self> {
        let store = Arc::new(Store::new()?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        // Without this, Nagle's algorithm and delayed acknowledgements cost 40 ms per call.
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

    /// The engine's address, as `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
