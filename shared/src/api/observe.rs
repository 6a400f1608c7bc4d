//! A request as operators see it: its id, and what is measured of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use uuid::Uuid;

use crate::answer::{Answer, Outcome};
use crate::metrics::{Metric, Metrics};
use crate::prices::dollars;
use crate::retrieve::{StageTimes, milliseconds};

/// A request's id as the platform gives it: the one in its logs.
#[derive(Debug, Clone)]
pub struct PlatformRequestId(pub String);

/// What a request is known by.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Its id: the platform's, else a new one.
    pub request_id: String,
    /// What is measured of it.
    pub measured: Measured,
}

impl Observed {
    /// That of a request.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let extensions = request.extensions();
        let request_id = match extensions.get() {
            Some(PlatformRequestId(id)) => id.clone(),
            None => Uuid::new_v4().to_string(),
        };
        Self {
            request_id,
            measured: extensions.get().cloned().unwrap_or_default(),
        }
    }
}

/// Whose requests [`measure`] measures.
#[derive(Debug, Clone)]
pub struct Measuring {
    /// The metrics' namespace.
    pub namespace: String,
    /// The function.
    pub function: &'static str,
}

/// Middleware of a whole function: its metrics are written when a request has ended, a stream with its last event.
pub async fn measure(
    State(Measuring {
        namespace,
        function,
    }): State<Measuring>,
    mut request: Request,
    next: Next,
) -> Response {
    // The browser asks; no reader does.
    if request.method() == Method::OPTIONS {
        return next.run(request).await;
    }
    let id = Observed::of(&request).request_id;
    let measured = Measured::begin(Metrics::new(&namespace, function).of_request(&id));
    request.extensions_mut().insert(measured.clone());
    let response = next.run(request).await;
    measured.status(response.status());
    response
}

/// What is measured of one request; nothing, by default. Clones measure the same request, and the last one writes it down.
#[derive(Debug, Clone, Default)]
pub struct Measured(Option<Arc<Measurement>>);

#[derive(Debug)]
struct Measurement {
    started: Instant,
    metrics: Mutex<Metrics>,
}

impl Drop for Measurement {
    fn drop(&mut self) {
        let metrics = self.metrics.get_mut();
        metrics.unwrap_or_else(PoisonError::into_inner).emit();
    }
}

impl Measured {
    fn begin(mut metrics: Metrics) -> Self {
        metrics.count(Metric::Requests, 1);
        for so_far in [Metric::Errors, Metric::Limited, Metric::Degraded] {
            metrics.rate(so_far, false);
        }
        Self(Some(Arc::new(Measurement {
            started: Instant::now(),
            metrics: Mutex::new(metrics),
        })))
    }

    /// The status it was answered with.
    fn status(&self, status: StatusCode) {
        self.with(|metrics, _| {
            // A stream that has broken off already stays an error.
            if status.is_server_error() {
                metrics.rate(Metric::Errors, true);
            }
            metrics.rate(Metric::Limited, status == StatusCode::TOO_MANY_REQUESTS);
        });
    }

    /// Its stream broke off.
    pub fn broke_off(&self) {
        self.with(|metrics, _| metrics.rate(Metric::Errors, true));
    }

    /// The first text of its answer is there.
    pub fn first_token(&self) {
        self.with(|metrics, started| metrics.first(Metric::FirstToken, milliseconds(started)));
    }

    /// It was served by a search.
    pub fn searched(&self, times: &StageTimes, is_degraded: bool) {
        self.with(|metrics, started| {
            metrics.note(Metric::Latency, milliseconds(started));
            metrics.note(Metric::Embed, times.embed_ms);
            metrics.note(Metric::Search, times.search_ms);
            metrics.note(Metric::Join, times.join_ms);
            metrics.note(Metric::Rerank, times.rerank_ms);
            metrics.rate(Metric::Degraded, is_degraded);
        });
    }

    /// It was served by an answer.
    pub fn answered(&self, answer: &Answer) {
        self.searched(&answer.times, !answer.degraded.is_empty());
        self.with(|metrics, _| {
            for (metric, outcome) in [
                (Metric::Answered, Outcome::Answered),
                (Metric::Uncertain, Outcome::Uncertain),
                (Metric::NotCovered, Outcome::NotCovered),
            ] {
                metrics.rate(metric, answer.outcome == outcome);
            }
            metrics.count(
                Metric::Tokens,
                usize::try_from(answer.tokens).unwrap_or(usize::MAX),
            );
            metrics.note(Metric::Cost, dollars(answer.cost_micro_usd));
        });
    }

    fn with(&self, note: impl FnOnce(&mut Metrics, Instant)) {
        if let Some(measurement) = &self.0 {
            let metrics = measurement.metrics.lock();
            note(
                &mut metrics.unwrap_or_else(PoisonError::into_inner),
                measurement.started,
            );
        }
    }
}
