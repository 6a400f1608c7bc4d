//! The id and the measurements of a request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use uuid::Uuid;

use super::book_view::BookView;
use crate::metrics::{Metric, Metrics, MetricsOptions};
use answer::degradation::Degradation;
use answer::retrieve::{StageTimes, milliseconds};
use answer::{Answer, Outcome};
use models::prices::dollars;

/// The request's id from the platform, as in its logs.
#[derive(Debug, Clone)]
pub struct PlatformRequestId(pub String);

/// Identifies and measures a request.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The platform's id, else a new one.
    pub request_id: String,
    /// The request's measurements.
    pub measured: Measured,
    /// The book that answers, if the request names none of several.
    pub book: Option<BookView>,
}

impl Observed {
    /// Returns the id and the measurements that are attached to a request.
    #[must_use]
    pub fn from_request(request: &Request) -> Self {
        let extensions = request.extensions();
        let request_id = match extensions.get() {
            Some(PlatformRequestId(id)) => id.clone(),
            None => Uuid::new_v4().to_string(),
        };
        Self {
            request_id,
            measured: extensions.get().cloned().unwrap_or_default(),
            book: extensions.get().cloned(),
        }
    }
}

/// Labels for the metrics of [`measure`].
#[derive(Debug, Clone)]
pub struct Measuring {
    /// Where the metrics go.
    pub metrics: MetricsOptions,
    /// The function's name.
    pub function: &'static str,
}

/// Middleware for a whole function: writes the metrics of a request at its end, or at the last event of its stream.
pub async fn measure(
    State(Measuring { metrics, function }): State<Measuring>,
    mut request: Request,
    next: Next,
) -> Response {
    // Preflights come from browsers, not from readers.
    if request.method() == Method::OPTIONS {
        return next.run(request).await;
    }
    let id = Observed::from_request(&request).request_id;
    let measured = Measured::begin(Metrics::new(&metrics, function).of_request(&id));
    request.extensions_mut().insert(measured.clone());
    let response = next.run(request).await;
    measured.status(response.status());
    response
}

/// Measures one request; the default measures nothing. Clones measure the same request, and dropping the last one writes the metrics.
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

    /// Records the response's status.
    fn status(&self, status: StatusCode) {
        self.with(|metrics, _| {
            // A stream that was interrupted stays an error.
            if status.is_server_error() {
                metrics.rate(Metric::Errors, true);
            }
            metrics.rate(Metric::Limited, status == StatusCode::TOO_MANY_REQUESTS);
        });
    }

    /// Records that the stream was interrupted.
    pub fn broke_off(&self) {
        self.with(|metrics, _| metrics.rate(Metric::Errors, true));
    }

    /// Records the first text of the answer.
    pub fn first_token(&self) {
        self.with(|metrics, started| metrics.first(Metric::FirstToken, milliseconds(started)));
    }

    /// Records that a search served the request.
    pub fn searched(&self, times: &StageTimes, degraded: &[Degradation]) {
        self.with(|metrics, started| {
            metrics.note(Metric::Latency, milliseconds(started));
            metrics.note(Metric::Embed, times.embed_ms);
            metrics.note(Metric::Search, times.search_ms);
            metrics.note(Metric::Join, times.join_ms);
            metrics.note(Metric::Rerank, times.rerank_ms);
            metrics.rate(Metric::Degraded, !degraded.is_empty());
        });
    }

    /// Records that an answer served the request.
    pub fn answered(&self, answer: &Answer) {
        self.searched(&answer.times, &answer.degraded);
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
