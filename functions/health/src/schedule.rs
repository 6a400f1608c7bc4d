//! The scheduled check: writes the state of each component as metrics, which alarms look at.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use bookrag::context::Context;
use bookrag::metrics::{Metric, Metrics, MetricsOptions};
use serde::Deserialize;

use super::{Component, Health, check};

/// The path at which `lambda_http` delivers events that are not HTTP requests. API Gateway has no such route.
const EVENTS: &str = "/events";

/// An event of the schedule.
#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    Check {},
}

struct Schedule {
    /// Those of all books.
    contexts: Vec<Arc<Context>>,
    metrics: MetricsOptions,
}

/// Returns the route of the schedule's event `{"command": "check"}`, whose response is the state of each component; of several books, that of the worst.
pub fn scheduled(contexts: Vec<Arc<Context>>, metrics: MetricsOptions) -> Router {
    let schedule = Schedule { contexts, metrics };
    Router::new()
        .route(EVENTS, post(check_and_count))
        .with_state(Arc::new(schedule))
}

/// Checks the components, and once more if one is down, because a database that slept may wake up only after the deadline.
async fn check_and_count(
    State(schedule): State<Arc<Schedule>>,
    Json(Command::Check {}): Json<Command>,
) -> Json<Health> {
    let mut health = worst(&schedule.contexts).await;
    if down(&health) > 0 {
        health = worst(&schedule.contexts).await;
    }
    let mut metrics = Metrics::new(&schedule.metrics, "health");
    metrics.count(Metric::ComponentsDown, down(&health));
    for (metric, is_down) in states(&health) {
        metrics.rate(metric, is_down);
    }
    metrics.emit();
    Json(health)
}

/// Checks the components of all books, and returns the state of those of which most are down.
async fn worst(contexts: &[Arc<Context>]) -> Health {
    let mut worst = None;
    for context in contexts {
        let health = check(context).await;
        if worst
            .as_ref()
            .is_none_or(|worst| down(worst) < down(&health))
        {
            worst = Some(health);
        }
    }
    worst.expect("a function serves at least one book")
}

fn down(health: &Health) -> usize {
    let states = states(health).into_iter();
    states.filter(|(_, is_down)| *is_down).count()
}

/// Returns whether each component is down. Without a live index, which the catalog names, no question is answered.
fn states(health: &Health) -> [(Metric, bool); 5] {
    let has_no_index = health.catalog.is_well() && health.index.is_none();
    [
        (Metric::VectorStoreDown, !health.vector_store.is_well()),
        (Metric::CatalogDown, !health.catalog.is_well()),
        (Metric::EmbedderDown, !health.embedder.is_well()),
        (
            Metric::GeneratorDown,
            !health.generator.iter().all(Component::is_well),
        ),
        (Metric::IndexMissing, has_no_index),
    ]
}
