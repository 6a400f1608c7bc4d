//! The health function: each component's state, and what the index holds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use bookrag::api::{Envelope, Meta, Observed, cors, method_not_allowed, not_found};
use bookrag::catalog::{Catalog, CatalogError, IndexRow, IndexStats, Indexing};
use bookrag::context::{Ages, Context, LookUp, Remembered};
use bookrag::generate::Generator;
use bookrag::index::VectorIndex;
use bookrag::retrieve::milliseconds;
use serde::Serialize;

/// A component that has not answered by then is down; the whole answers within 5 seconds.
const DEADLINE: Duration = Duration::from_secs(4);
/// How long an answer that all is well is remembered, so that a monitor does not keep the database awake.
const REMEMBERED: Duration = Duration::from_secs(30);
/// How old an answer may be that is given while another request asks the components.
const USABLE: Duration = Duration::from_mins(1);

/// The state of the whole or of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All is well.
    Healthy,
    /// Questions are answered, something is not as it should be.
    Degraded,
    /// Questions cannot be answered.
    Unhealthy,
}

/// A component.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Component {
    /// Its state.
    pub status: Status,
    /// How long it took to answer, in milliseconds.
    pub latency_ms: f64,
    /// What is wrong, without causes that are nobody's business.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
}

/// The answer.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// The state of the whole.
    pub status: Status,
    /// Qdrant.
    pub vector_store: Component,
    /// The catalog.
    pub catalog: Component,
    /// The embedder.
    pub embedder: Component,
    /// The chat model; absent where the book's own sentences answer.
    pub generator: Option<Component>,
    /// What the live index holds.
    pub index: Option<IndexHealth>,
}

/// What the live index holds.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IndexHealth {
    /// Its collection, which names its version.
    pub collection: String,
    /// The embedding model.
    pub embedder: String,
    /// Progress of the book's first indexing; absent once it is complete.
    pub indexing: Option<Indexing>,
    /// Pages.
    pub documents: u64,
    /// Chunks.
    pub chunks: u64,
    /// Pages whose newest text could not be indexed.
    pub stale: Vec<String>,
    /// Points that wait for their deletion.
    pub pending_points: u64,
    /// The newest commit, ISO 8601.
    pub last_ingest: Option<String>,
}

struct Checks {
    context: Arc<Context>,
    last: Remembered<Health>,
}

/// The function: its routes, and clear errors for all other requests.
pub fn router(context: Arc<Context>) -> Router {
    routes(context).fallback(not_found)
}

/// The routes alone, to be mounted beside others.
pub fn routes(context: Arc<Context>) -> Router {
    let cors = cors(&context.origins, context.local_origins);
    let checks = Arc::new(Checks {
        context,
        last: Remembered::default(),
    });
    Router::new()
        .route("/api/v1/health", get(health))
        .route("/health", get(health))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(cors)
        .with_state(checks)
}

async fn health(State(checks): State<Arc<Checks>>, request: Request) -> Response {
    let started = Instant::now();
    let health = checks.remembered().await;
    let code = match health.status {
        Status::Unhealthy => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    };
    let envelope = Envelope {
        success: health.status != Status::Unhealthy,
        data: Some(health),
        error: None,
        meta: Meta {
            request_id: Observed::of(&request).request_id,
            latency_ms: milliseconds(started),
            ..Meta::default()
        },
    };
    (code, Json(envelope)).into_response()
}

impl Checks {
    /// The last answer while it is fresh and well, or while another request waits for a new one; else a new one.
    async fn remembered(&self) -> Health {
        let ages = |health: &Health| Ages {
            fresh: match health.status {
                Status::Healthy => REMEMBERED,
                Status::Degraded | Status::Unhealthy => Duration::ZERO,
            },
            usable: USABLE,
        };
        let reading = match self.last.look_up(ages) {
            LookUp::Known(health) => return health,
            LookUp::Read(reading) => reading,
        };
        let health = check(&self.context).await;
        reading.remember(health.clone());
        health
    }
}

async fn check(context: &Context) -> Health {
    let backends = &context.backends;
    let (vector_store, (catalog, index), embedder, generator) = tokio::join!(
        check_vector_store(&backends.vectors),
        check_catalog(&backends.catalog),
        component(backends.embedder.ping()),
        check_generator(&context.generator),
    );
    let is_well = |component: &Component| component.status == Status::Healthy;
    let all_well = [&vector_store, &catalog, &embedder]
        .into_iter()
        .chain(&generator)
        .all(is_well);
    let mut index = index;
    if let (Some(index), true) = (&mut index, context.authorizer.is_some()) {
        // The book is not for everybody, and health is.
        index.stale.clear();
    }
    // Either store answers questions by itself; so do words without vectors, and the book's sentences without a model.
    let is_whole = index.as_ref().is_some_and(|index| index.indexing.is_none());
    let status = match is_whole && all_well {
        true => Status::Healthy,
        false if is_well(&vector_store) || is_well(&catalog) => Status::Degraded,
        false => Status::Unhealthy,
    };
    Health {
        status,
        vector_store,
        catalog,
        embedder,
        generator,
        index,
    }
}

async fn check_generator(generator: &Generator) -> Option<Component> {
    match generator {
        Generator::Extractive => None,
        Generator::Model(model) => Some(component(model.ping()).await),
    }
}

async fn check_vector_store(index: &VectorIndex) -> Component {
    component(index.ping()).await
}

async fn check_catalog(catalog: &Catalog) -> (Component, Option<IndexHealth>) {
    let mut index = None;
    let checked = component(async {
        if let Some(live) = catalog.live_index().await? {
            let stats = catalog.stats(live.index_id).await?;
            index = Some(index_health(live, stats));
        }
        Ok::<(), CatalogError>(())
    })
    .await;
    (checked, index)
}

fn index_health(live: IndexRow, stats: IndexStats) -> IndexHealth {
    IndexHealth {
        indexing: live.indexing(stats.documents),
        collection: live.collection,
        embedder: live.spec.embedder,
        documents: stats.documents,
        chunks: stats.chunks,
        stale: stats.stale.into_iter().map(|(source, _)| source).collect(),
        pending_points: stats.pending_points,
        last_ingest: stats.last_indexed_at.map(|at| at.to_string()),
    }
}

async fn component<E: std::fmt::Display>(ping: impl Future<Output = Result<(), E>>) -> Component {
    let started = Instant::now();
    let outcome = tokio::time::timeout(DEADLINE, ping).await;
    let error = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(error)) => {
            tracing::warn!(stage = "health", error = %error, "a component is down");
            Some("it answered with an error")
        }
        Err(_) => Some("no answer in time"),
    };
    Component {
        status: if error.is_some() {
            Status::Unhealthy
        } else {
            Status::Healthy
        },
        latency_ms: milliseconds(started),
        error,
    }
}
