//! The three gRPC services that `qdrant_client::Qdrant` calls.

mod collections;
mod health;
mod points;

use std::time::Instant;

use tonic::Status;

use super::error::CallError;

pub(super) use collections::CollectionCalls;
pub(super) use health::HealthCalls;
pub(super) use points::PointCalls;

/// Runs a call off the async threads, and returns its duration in seconds. A panic in Qdrant's engine becomes INTERNAL.
async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, CallError> + Send + 'static,
) -> Result<(T, f64), Status> {
    let started = Instant::now();
    let result = tokio::task::spawn_blocking(call)
        .await
        .map_err(|_| CallError::Panicked)??;
    Ok((result, started.elapsed().as_secs_f64()))
}

/// Implements calls that answer UNIMPLEMENTED with their name.
///
/// `async_trait` does not expand macros inside it, so this writes the form into which it would turn an `async fn`.
macro_rules! unimplemented_calls {
    ($($call:ident($request:ty) -> $response:ty;)+) => {$(
        fn $call<'life0, 'async_trait>(
            &'life0 self,
            _: tonic::Request<$request>,
        ) -> std::pin::Pin<Box<
            dyn Future<Output = Result<tonic::Response<$response>, tonic::Status>>
                + Send
                + 'async_trait,
        >>
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            let error = $crate::error::CallError::Unsupported(
                concat!("the call `", stringify!($call), "`").to_owned(),
            );
            Box::pin(std::future::ready(Err(error.into())))
        }
    )+};
}
use unimplemented_calls;

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::blocking;

    #[tokio::test]
    async fn a_panic_is_an_internal_error() {
        let answer = blocking::<()>(|| panic!("a bug in the engine")).await;
        assert_eq!(answer.map_err(|status| status.code()), Err(Code::Internal));
    }
}
