//! An OpenTelemetry collector on loopback that keeps what it is sent.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use tokio::{net::TcpListener, task::JoinHandle};

pub use opentelemetry_proto::tonic::{common::v1::any_value::Value, trace::v1::Span};

/// The longest time for spans to arrive.
const DEADLINE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// The collector. Dropping it stops it.
#[derive(Debug)]
pub struct Collector {
    origin: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    hangs: bool,
    requests: Mutex<Vec<(HeaderMap, Bytes)>>,
}

impl Collector {
    /// Starts a collector on a free loopback port.
    pub async fn start() -> Self {
        Self::with(Shared::default()).await
    }

    /// Starts a collector that accepts requests and never answers.
    pub async fn hanging() -> Self {
        Self::with(Shared {
            hangs: true,
            ..Shared::default()
        })
        .await
    }

    async fn with(shared: Shared) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let shared = Arc::new(shared);
        let router = Router::new()
            .route("/v1/traces", post(receive))
            .with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            axum::serve(listener, router)
                .await
                .expect("axum::serve returns no error");
        });
        Self {
            origin: format!("http://{address}"),
            shared,
            server,
        }
    }

    /// The variable that has a program send its spans here.
    #[must_use]
    pub fn environment(&self) -> (&'static str, String) {
        ("OTEL_EXPORTER_OTLP_ENDPOINT", self.origin.clone())
    }

    /// Returns the headers and the body of each request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<(HeaderMap, Bytes)> {
        let requests = self.shared.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the decoded requests so far.
    #[must_use]
    pub fn exports(&self) -> Vec<ExportTraceServiceRequest> {
        let requests = self.requests().into_iter();
        let exports = requests.map(|(_, body)| ExportTraceServiceRequest::decode(body));
        let exports: Result<_, _> = exports.collect();
        exports.expect("requests are OTLP in Protobuf")
    }

    /// Returns the spans so far.
    #[must_use]
    pub fn spans(&self) -> Vec<Span> {
        let resources = self.exports().into_iter();
        let resources = resources.flat_map(|export| export.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// Waits for a span of this name, and returns all spans so far.
    pub async fn spans_with(&self, name: &str) -> Vec<Span> {
        let arrival = async {
            while !self.spans().iter().any(|span| span.name == name) {
                tokio::time::sleep(POLL).await;
            }
        };
        let in_time = tokio::time::timeout(DEADLINE, arrival).await.is_ok();
        let spans = self.spans();
        assert!(in_time, "no span `{name}` in {DEADLINE:?}: {spans:?}");
        spans
    }
}

impl Shared {
    fn keep(&self, headers: HeaderMap, body: Bytes) {
        let requests = self.requests.lock();
        let mut requests = requests.unwrap_or_else(PoisonError::into_inner);
        requests.push((headers, body));
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    shared.keep(headers, body);
    if shared.hangs {
        std::future::pending::<()>().await;
    }
    StatusCode::OK
}
