//! How long an invocation may still take.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use crate::HandlerError;

/// What is kept of an invocation's time, at most, to hand back what was not begun and to answer.
const RESERVE: Duration = Duration::from_secs(15);

/// The moments that end an invocation's work, before Lambda ends the invocation.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// Nothing is begun after it.
    last_start: Instant,
    /// What was begun is given up then.
    end: Instant,
    /// What has to be known for the answer is given up then.
    answer: Instant,
}

impl Deadline {
    /// Those of an invocation that Lambda ends at `epoch_ms`, in milliseconds since 1970: a quarter of the time that is
    /// left is kept, 15 seconds at most.
    #[must_use]
    pub fn before(epoch_ms: u64) -> Self {
        let now_ms = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0);
        Self::within(Duration::from_millis(left(epoch_ms, now_ms)))
    }

    fn within(left: Duration) -> Self {
        let reserve = reserve(left);
        let now = Instant::now();
        Self {
            last_start: now + left - reserve,
            end: now + left - reserve / 2,
            answer: now + left - reserve / 4,
        }
    }

    /// Whether it is too late to begin anything.
    pub(crate) fn has_passed(self) -> bool {
        Instant::now() >= self.last_start
    }

    /// Does the work, or gives it up in time.
    pub(crate) async fn bound<T>(
        self,
        work: impl Future<Output = Result<T, HandlerError>>,
    ) -> Result<T, HandlerError> {
        timeout_at(self.end, work)
            .await
            .unwrap_or(Err(HandlerError::Deadline))
    }

    /// As [`Self::bound`], of what the answer depends on: it has a little more time.
    pub(crate) async fn bound_for_answer<T>(
        self,
        work: impl Future<Output = Result<T, HandlerError>>,
    ) -> Result<T, HandlerError> {
        timeout_at(self.answer, work)
            .await
            .unwrap_or(Err(HandlerError::Deadline))
    }
}

/// Milliseconds until a deadline. cargo-lambda's emulator (1.9) says how long instead of until when.
fn left(epoch_ms: u64, now_ms: u64) -> u64 {
    const A_DAY: u64 = 24 * 60 * 60 * 1000;
    if epoch_ms < A_DAY {
        epoch_ms
    } else {
        epoch_ms.saturating_sub(now_ms)
    }
}

/// What is kept of the time that is left.
fn reserve(left: Duration) -> Duration {
    RESERVE.min(left / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_time_is_kept_15_seconds_at_most() {
        for (left, kept) in [(900, 15), (60, 15), (20, 5), (0, 0)] {
            let left = Duration::from_secs(left);
            assert_eq!(reserve(left), Duration::from_secs(kept));
        }
    }

    #[tokio::test]
    async fn work_that_takes_too_long_is_given_up() {
        let deadline = Deadline::within(Duration::from_millis(40));
        let quick = deadline.bound(async { Ok(1) }).await;
        assert_eq!(quick.unwrap(), 1);
        let slow = deadline
            .bound(std::future::pending::<Result<(), _>>())
            .await;
        assert_eq!(slow.unwrap_err().kind(), "Deadline");
        assert!(deadline.has_passed());
    }

    #[test]
    fn a_deadline_is_a_time_and_to_an_emulator_a_duration() {
        let now = 1_795_372_633_000;
        assert_eq!(left(now + 300_000, now), 300_000);
        assert_eq!(left(now - 1, now), 0);
        assert_eq!(left(600_000, now), 600_000);
    }
}
