//! Spans of calls to the stores, for traces.

use tracing::{Instrument, Span};

/// Creates the span of a call. All spans have the target `spans`, which logs leave out.
macro_rules! store_span {
    ($name:expr $(, $($field:tt)+)?) => {
        tracing::info_span!(
            target: "spans",
            $name,
            otel.status_code = tracing::field::Empty
            $(, $($field)+)?
        )
    };
}
pub(crate) use store_span;

/// Waits for a call in its span, and marks the span of a failed one. The error's text is left out, because it may have a reader's words.
pub(crate) async fn store_call<T, E>(
    span: Span,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    // Boxed to keep the futures of all callers small.
    let result = Box::pin(call).instrument(span.clone()).await;
    if result.is_err() {
        span.record("otel.status_code", "ERROR");
    }
    result
}
