//! The gRPC service that returns the name and version.

use qdrant_client::qdrant::qdrant_server::Qdrant;
use qdrant_client::qdrant::{HealthCheckReply, HealthCheckRequest};
use tonic::{Request, Response, Status};

const TITLE: &str = "bookrag's test engine (qdrant-edge)";

/// The Qdrant version whose gRPC this speaks; clients compare it with their own.
const VERSION: &str = "1.20.0";

#[derive(Debug)]
pub(crate) struct HealthCalls;

#[tonic::async_trait]
impl Qdrant for HealthCalls {
    async fn health_check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckReply>, Status> {
        Ok(Response::new(HealthCheckReply {
            title: TITLE.to_owned(),
            version: VERSION.to_owned(),
            commit: None,
        }))
    }
}
