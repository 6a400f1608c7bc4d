//! The health function: reports that this process answers, and on request each component's state and the index's content.
//!
//! Only `?deep=true` and the schedule call the stores, because a monitor that calls them each minute would keep a serverless Postgres awake.

#[cfg(feature = "lambda")]
mod schedule;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use bookrag::api::{
    Envelope, Meta, Observed, cors, failure, known_page, method_not_allowed, not_found, url_query,
};
use bookrag::catalog::{Catalog, CatalogError, IndexRow, IndexStats, Indexing};
use bookrag::chat::ChatModel;
use bookrag::context::{Ages, Context, LookUp, Remembered};
use bookrag::embed::Embedder;
use bookrag::generate::Generator;
use bookrag::index::{IndexError, VectorIndex};
use bookrag::retrieve::milliseconds;
use serde::{Deserialize, Serialize};
use tokio::time::timeout_at;

#[cfg(feature = "lambda")]
pub use schedule::scheduled;

/// Time limit for all components, so that the response takes less than 5 seconds.
const DEADLINE: Duration = Duration::from_secs(4);
/// How long a healthy result is cached, because anybody may request it.
const REMEMBERED: Duration = Duration::from_secs(30);
/// The greatest age of a result used while another request checks the components, or without checking them.
const USABLE: Duration = Duration::from_mins(1);

/// The state of the service or of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Everything works.
    Healthy,
    /// Questions are answered, but something is wrong.
    Degraded,
    /// Questions cannot be answered.
    Unhealthy,
    /// Not checked; `?deep=true` checks it.
    Unchecked,
}

/// The state of a component.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Component {
    /// The component's state.
    pub status: Status,
    /// The configured backend: `qdrant`, `postgres`, `openai`, `cohere`, or `local` if it runs in this process.
    pub kind: &'static str,
    /// The response time in milliseconds.
    pub latency_ms: f64,
    /// The problem, without internal details.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
}

impl Component {
    fn unchecked(kind: &'static str) -> Self {
        Self {
            status: Status::Unchecked,
            kind,
            latency_ms: 0.0,
            error: None,
        }
    }

    fn is_well(&self) -> bool {
        self.status == Status::Healthy
    }
}

/// The result of a health check.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// The state of the service.
    pub status: Status,
    /// Qdrant.
    pub vector_store: Component,
    /// The catalog.
    pub catalog: Component,
    /// The embedder.
    pub embedder: Component,
    /// The chat model; absent if answers are quotes of the book.
    pub generator: Option<Component>,
    /// The content of the live index.
    pub index: Option<IndexHealth>,
}

/// The content of the live index.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IndexHealth {
    /// The name of its collection, which includes its version.
    pub collection: String,
    /// The embedding model.
    pub embedder: String,
    /// Progress of the book's first indexing; absent once it is complete.
    pub indexing: Option<Indexing>,
    /// The number of pages.
    pub documents: u64,
    /// The number of chunks.
    pub chunks: u64,
    /// Pages whose newest state could not be indexed, including those that stay because most of the book would be deleted.
    pub stale: Vec<String>,
    /// Points waiting for deletion.
    pub pending_points: u64,
    /// The time of the newest commit, ISO 8601.
    pub last_ingest: Option<String>,
}

/// The query of the URL.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Parameters {
    /// True if the components are checked.
    deep: bool,
}

struct Checks {
    context: Arc<Context>,
    last: Remembered<Health>,
}

/// Returns the function's routes, with errors for all other requests.
pub fn router(context: Arc<Context>) -> Router {
    routes(context).fallback(not_found)
}

/// Returns the routes alone, to be mounted with others.
pub fn routes(context: Arc<Context>) -> Router {
    let cors = cors(context.pages());
    let known_page = from_fn_with_state(context.pages(), known_page);
    let checks = Arc::new(Checks {
        context,
        last: Remembered::default(),
    });
    Router::new()
        .route("/api/v1/health", get(health))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(known_page)
        .layer(cors)
        .with_state(checks)
}

async fn health(State(checks): State<Arc<Checks>>, request: Request) -> Response {
    let started = Instant::now();
    let request_id = Observed::from_request(&request).request_id;
    let health = match url_query(request.uri()) {
        Ok(Parameters { deep: true }) => checks.remembered().await,
        Ok(Parameters { deep: false }) => checks.unasked(),
        Err(error) => return failure(&error, &request_id),
    };
    let code = match health.status {
        Status::Unhealthy => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    };
    let envelope = Envelope {
        success: health.status != Status::Unhealthy,
        data: Some(health),
        error: None,
        meta: Meta {
            request_id,
            latency_ms: milliseconds(started),
            ..Meta::default()
        },
    };
    (code, Json(envelope)).into_response()
}

impl Checks {
    /// Returns the last result if it is recent, else the configuration. Calls no component.
    fn unasked(&self) -> Health {
        let ages = Ages {
            fresh: USABLE,
            usable: USABLE,
        };
        match self.last.look_up(|_| ages) {
            LookUp::Known(health) => health,
            LookUp::Read(_) => configured(&self.context),
        }
    }

    /// Returns the last result if it is fresh and healthy, or while another request checks the components; else checks them.
    async fn remembered(&self) -> Health {
        let reading = match self.last.look_up(ages) {
            LookUp::Known(health) => return health,
            LookUp::Read(reading) => reading,
        };
        let health = check(&self.context).await;
        reading.remember(health.clone());
        health
    }
}

fn ages(health: &Health) -> Ages {
    Ages {
        fresh: match health.status {
            Status::Healthy => REMEMBERED,
            Status::Degraded | Status::Unhealthy | Status::Unchecked => Duration::ZERO,
        },
        usable: USABLE,
    }
}

/// Returns the configured components, unchecked.
fn configured(context: &Context) -> Health {
    let backends = &context.backends;
    Health {
        status: Status::Unchecked,
        vector_store: Component::unchecked(backends.vectors.kind()),
        catalog: Component::unchecked(backends.catalog.kind()),
        embedder: Component::unchecked(embedder_kind(&backends.embedder)),
        generator: match &context.generator {
            Generator::Extractive => None,
            Generator::Model(model) => Some(Component::unchecked(model_kind(model))),
        },
        index: None,
    }
}

fn embedder_kind(embedder: &Embedder) -> &'static str {
    match embedder {
        Embedder::OpenAi(_) => "openai",
        Embedder::Cohere(_) => "cohere",
        _ => "local",
    }
}

fn model_kind(model: &ChatModel) -> &'static str {
    match model {
        ChatModel::OpenAi(_) => "openai",
        ChatModel::Cohere(_) => "cohere",
    }
}

async fn check(context: &Context) -> Health {
    let backends = &context.backends;
    let (vectors, embedder) = (&backends.vectors, &backends.embedder);
    let deadline = tokio::time::Instant::now() + DEADLINE;
    let (mut vector_store, (catalog, index), embedder, generator) = tokio::join!(
        component(vectors.kind(), deadline, vectors.ping()),
        check_catalog(&backends.catalog, deadline),
        component(embedder_kind(embedder), deadline, embedder.ping()),
        check_generator(&context.generator, deadline),
    );
    if let (true, Some(index)) = (vector_store.is_well(), &index) {
        let checked = check_collection(vectors, &index.collection);
        vector_store = component(vectors.kind(), deadline, checked).await;
    }
    let all_well = [&vector_store, &catalog, &embedder]
        .into_iter()
        .chain(&generator)
        .all(Component::is_well);
    let mut index = index;
    if let (Some(index), true) = (&mut index, context.authorizer.is_some()) {
        // Health is public, but the book may not be.
        index.stale.clear();
    }
    // Either store can answer questions alone, and so can words without vectors, and quotes without a chat model.
    let is_whole = index.as_ref().is_some_and(|index| index.indexing.is_none());
    let status = match is_whole && all_well {
        true => Status::Healthy,
        false if vector_store.is_well() || catalog.is_well() => Status::Degraded,
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

/// Checks that the live index's collection exists. A ping does not need Qdrant's key, this does.
async fn check_collection(vectors: &VectorIndex, collection: &str) -> Result<(), IndexError> {
    if vectors.has_collection(collection).await? {
        return Ok(());
    }
    let missing = format!("it has no collection {collection}");
    Err(IndexError::Rejected(missing))
}

async fn check_generator(
    generator: &Generator,
    deadline: tokio::time::Instant,
) -> Option<Component> {
    match generator {
        Generator::Extractive => None,
        Generator::Model(model) => Some(component(model_kind(model), deadline, model.ping()).await),
    }
}

async fn check_catalog(
    catalog: &Catalog,
    deadline: tokio::time::Instant,
) -> (Component, Option<IndexHealth>) {
    let mut index = None;
    let checked = component(catalog.kind(), deadline, async {
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
        stale: not_up_to_date(stats.stale, stats.failed),
        pending_points: stats.pending_points,
        last_ingest: stats.last_indexed_at.map(|at| at.to_string()),
    }
}

fn not_up_to_date(skipped: Vec<(String, String)>, failed: Vec<(String, String)>) -> Vec<String> {
    let files = skipped.into_iter().chain(failed);
    let sources: BTreeSet<String> = files.map(|(source, _)| source).collect();
    sources.into_iter().collect()
}

async fn component<E: std::fmt::Display>(
    kind: &'static str,
    deadline: tokio::time::Instant,
    ping: impl Future<Output = Result<(), E>>,
) -> Component {
    let started = Instant::now();
    let error = match timeout_at(deadline, ping).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => {
            tracing::warn!(stage = "health", component = kind, error = %error, "a component is down");
            Some("it answered with an error")
        }
        Err(_) => {
            tracing::warn!(
                stage = "health",
                component = kind,
                "a component does not answer in time"
            );
            Some("no answer in time")
        }
    };
    Component {
        status: if error.is_some() {
            Status::Unhealthy
        } else {
            Status::Healthy
        },
        kind,
        latency_ms: milliseconds(started),
        error,
    }
}
