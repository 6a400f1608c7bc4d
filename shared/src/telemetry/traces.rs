//! Spans of requests, sent to an OpenTelemetry collector over OTLP/HTTP with Protobuf.
//!
//! The SDK reads its standard variables (`OTEL_…`). Without an endpoint there is no exporter, and no span is created. Spans have names, durations
//! and states; nothing that a reader wrote is added.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request};
use axum::http::{self, HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use futures::{Stream, StreamExt, stream};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanContext, TraceContextExt, TraceState, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_aws::trace::xray_propagator::span_context_from_str;
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::field::Empty;
use tracing::{Instrument, Metadata, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterExt, dynamic_filter_fn, filter_fn};
use tracing_subscriber::registry::LookupSpan;

use crate::config::Environment;

/// The target of all spans that are sent.
const TARGET: &str = "spans";
/// The name of the span of a whole request or event. Spans outside of one, such as those of a run over the book, are not sent.
const ROOT: &str = "request";

/// The variables of which one must be set.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
/// The variables with the time limit of a request to the collector, in milliseconds.
const TIMEOUTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
];
/// The specification's default for these.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest time that an answer in Lambda, or the end of the process, waits for the collector. `docs/deploy.md` states it.
const FLUSH_DEADLINE: Duration = Duration::from_millis(500);
/// How long no answer waits for a collector that did not accept spans.
const PAUSE: Duration = Duration::from_mins(1);

/// X-Ray's header. Lambda's runtime copies it from the invocation (`_X_AMZN_TRACE_ID`).
const XRAY_HEADER: &str = "x-amzn-trace-id";

static EXPORTER: OnceLock<Exporter> = OnceLock::new();

/// Sends spans in batches, on a thread of its own.
struct Exporter {
    provider: SdkTracerProvider,
    environment: Environment,
    /// No answer waits for the collector before this time.
    paused_until: Mutex<Option<Instant>>,
}

/// Returns the layer that sends spans; `None` without an endpoint, or with an invalid one.
pub(super) fn layer<S>(environment: Environment) -> Option<impl Layer<S>>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let tracer = is_configured().then(|| tracer(environment))?.ok()?;
    let spans = tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_location(false)
        .with_target(false)
        .with_threads(false)
        .with_tracked_inactivity(false);
    let of_requests = dynamic_filter_fn(|metadata, context| {
        metadata.name() == ROOT || context.lookup_current().is_some()
    });
    Some(spans.with_filter(filter_fn(is_ours).and(of_requests)))
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target() == TARGET
}

fn is_configured() -> bool {
    variable(ENDPOINTS).is_some()
        && variable(["OTEL_SDK_DISABLED"]).is_none_or(|value| !value.eq_ignore_ascii_case("true"))
        && variable(["OTEL_TRACES_EXPORTER"]).is_none_or(|value| value != "none")
}

/// Returns the first of these variables that is set and not empty.
fn variable<const COUNT: usize>(names: [&str; COUNT]) -> Option<String> {
    let mut values = names.iter().filter_map(|name| std::env::var(name).ok());
    values.find(|value| !value.is_empty())
}

/// Logs that traces are configured but cannot be sent. The error would show the endpoint, which may hold credentials.
pub(super) fn warn_if_unsent() {
    if is_configured() && EXPORTER.get().is_none() {
        tracing::error!(
            stage = "traces",
            "OTEL_EXPORTER_OTLP_ENDPOINT is not an address of a collector, so no traces are sent"
        );
    }
}

fn tracer(environment: Environment) -> Result<Tracer, ExporterBuildError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Collector::new()?)
        .build()?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource())
        .build();
    let tracer = provider.tracer("bookrag");
    // In tests, further exporters are unused.
    let _ = EXPORTER.set(Exporter {
        provider,
        environment,
        paused_until: Mutex::default(),
    });
    Ok(tracer)
}

/// Returns what describes this process. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override the defaults.
fn resource() -> Resource {
    let name = variable(["AWS_LAMBDA_FUNCTION_NAME"]).unwrap_or_else(|| "bookrag".to_owned());
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder_empty()
        .with_service_name(name)
        .with_attribute(version)
        .with_detectors(&[
            Box::new(TelemetryResourceDetector),
            Box::new(EnvResourceDetector::new()),
        ]);
    match variable(["OTEL_SERVICE_NAME"]) {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}

/// The HTTP client of the collector, with the TLS of hosted models.
#[derive(Debug)]
struct Collector {
    client: reqwest::Client,
    /// The exporter's thread has no runtime.
    runtime: Handle,
}

impl Collector {
    fn new() -> Result<Self, ExporterBuildError> {
        let timeout = variable(TIMEOUTS).and_then(|value| value.parse().ok());
        let timeout = timeout.map_or(DEFAULT_TIMEOUT, Duration::from_millis);
        let client = models::http::https_client(timeout);
        Ok(Self {
            client: client
                .map_err(|error| ExporterBuildError::InternalFailure(error.to_string()))?,
            runtime: Handle::current(),
        })
    }
}

#[async_trait::async_trait]
impl HttpClient for Collector {
    async fn send_bytes(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sending = async move { client.send_bytes(request).await };
        let response = self.runtime.spawn(sending).await?;
        match &response {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => {
                let status = response.status().as_u16();
                tracing::warn!(stage = "traces", status, "the collector refused spans");
            }
            Err(_) => tracing::warn!(stage = "traces", "the collector cannot be reached"),
        }
        response
    }
}

/// Middleware: runs a request in a span that continues the caller's trace, until the response's last byte.
///
/// In Lambda the spans are sent before the response ends, because the process is frozen then; a stream's last byte does not wait for that.
pub(super) async fn traced(request: Request, next: Next) -> Response {
    if EXPORTER.get().is_none() {
        return next.run(request).await;
    }
    // The logs' span.
    let platform = Span::current();
    let span = request_span(&request);
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    let (head, body) = response.into_parts();
    if body.size_hint().exact().is_some() {
        drop(span);
        flush_if_frozen().await;
        return Response::from_parts(head, body);
    }
    Response::from_parts(head, Body::from_stream(streamed(body, platform, span)))
}

/// Runs the handling of an event in a span of this name, which continues X-Ray's trace.
pub async fn traced_event<T>(
    name: &'static str,
    xray: Option<&str>,
    handling: impl Future<Output = T>,
) -> T {
    if EXPORTER.get().is_none() {
        return handling.await;
    }
    let span = tracing::info_span!(target: TARGET, ROOT, otel.name = name);
    continue_trace(&span, xray.and_then(span_context_from_str));
    let result = handling.instrument(span).await;
    flush_if_frozen().await;
    result
}

/// Creates the span of a request. A route has no ids and no words of readers; an address may.
fn request_span(request: &Request) -> Span {
    let method = match *request.method() {
        Method::GET | Method::HEAD | Method::POST | Method::DELETE | Method::OPTIONS => {
            request.method().as_str()
        }
        // Any text.
        _ => "_OTHER",
    };
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("", MatchedPath::as_str);
    let name = format!("{method} {route}");
    let span = tracing::info_span!(
        target: TARGET,
        ROOT,
        otel.name = name.trim_end(),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
    );
    continue_trace(&span, caller(request.headers()));
    span
}

/// Returns the caller's span: that of `traceparent`, else that of X-Ray.
fn caller(headers: &HeaderMap) -> Option<SpanContext> {
    let propagator = TraceContextPropagator::new();
    let context = propagator.extract_with_context(&Context::new(), &HeaderExtractor(headers));
    let caller = context.span().span_context().clone();
    if caller.is_valid() {
        return Some(caller);
    }
    span_context_from_str(headers.get(XRAY_HEADER)?.to_str().ok()?)
}

/// Makes a span a part of its caller's trace. The caller's further state is left out, because anybody can write anything there.
fn continue_trace(span: &Span, caller: Option<SpanContext>) {
    let Some(caller) = caller else {
        return;
    };
    let (trace, parent, flags) = (caller.trace_id(), caller.span_id(), caller.trace_flags());
    let caller = SpanContext::new(trace, parent, flags, true, TraceState::default());
    // Fails only for a span that is not sent.
    let _ = span.set_parent(Context::new().with_remote_span_context(caller));
}

/// Returns the body as a stream that runs in the spans, and ends them.
fn streamed(
    body: Body,
    platform: Span,
    span: Span,
) -> impl Stream<Item = Result<Bytes, axum::Error>> {
    let mut body = body.into_data_stream();
    let pieces = stream::poll_fn(move |context| {
        let _logged = platform.enter();
        let _traced = span.enter();
        body.poll_next_unpin(context)
    });
    // `chain` drops the body and its spans before the end.
    let end = stream::once(flush_if_frozen()).filter_map(async |()| None);
    pieces.chain(end)
}

/// Sends all spans that ended, if the process is about to be frozen.
async fn flush_if_frozen() {
    if let Some(exporter) = EXPORTER.get()
        && exporter.environment == Environment::Lambda
    {
        flush().await;
    }
}

/// Sends all spans that ended. Waits for [`FLUSH_DEADLINE`] at most, and not at all within [`PAUSE`] after a failure.
pub(super) async fn flush() {
    let Some(exporter) = EXPORTER.get() else {
        return;
    };
    if exporter.is_paused() {
        return;
    }
    let provider = exporter.provider.clone();
    let (sender, sent) = oneshot::channel();
    // Not a task of the runtime, which would wait for it before the process ends.
    std::thread::spawn(move || sender.send(provider.force_flush()));
    match tokio::time::timeout(FLUSH_DEADLINE, sent).await {
        Ok(Ok(Ok(()))) => {}
        _ => {
            tracing::warn!(
                stage = "traces",
                "the collector did not accept spans in time"
            );
            exporter.pause();
        }
    }
}

impl Exporter {
    fn is_paused(&self) -> bool {
        let paused = self.paused_until.lock();
        let until = *paused.unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn pause(&self) {
        let paused = self.paused_until.lock();
        *paused.unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + PAUSE);
    }
}
