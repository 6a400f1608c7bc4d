//! The time limits of an invocation.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use crate::HandlerError;

/// The most time reserved for returning messages and answering.
const RESERVE: Duration = Duration::from_secs(15);

/// Deadlines of an invocation's work, before Lambda ends the invocation.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// No work starts after this.
    last_start: Instant,
    /// Running work is cancelled at this time.
    end: Instant,
    /// Work needed for the answer is cancelled at this time.
    answer: Instant,
}

impl Deadline {
    /// Returns the deadlines of an invocation that Lambda ends at `epoch_ms`, in milliseconds since 1970. A quarter of the remaining time is
    /// reserved, at most 15 seconds.
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

    /// True if it is too late to start work.
    pub(crate) fn has_passed(self) -> bool {
        Instant::now() >= self.last_start
    }

    /// Runs work that may be left unfinished, and cancels it when no other work may start; after `most` at the latest. `None` if it was cancelled.
    pub(crate) async fn spare<T>(
        self,
        most: Option<Duration>,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let most = most.map_or(self.last_start, |most| Instant::now() + most);
        timeout_at(self.last_start.min(most), work).await.ok()
    }

    /// Runs the work, and cancels it at the deadline.
    pub(crate) async fn bound<T>(
        self,
        work: impl Future<Output = Result<T, HandlerError>>,
    ) -> Result<T, HandlerError> {
        timeout_at(self.end, work)
            .await
            .unwrap_or(Err(HandlerError::Deadline))
    }

    /// Like [`Self::bound`], with slightly more time, for work that the answer needs.
    pub(crate) async fn bound_for_answer<T>(
        self,
        work: impl Future<Output = Result<T, HandlerError>>,
    ) -> Result<T, HandlerError> {
        timeout_at(self.answer, work)
            .await
            .unwrap_or(Err(HandlerError::Deadline))
    }
}

/// Returns the milliseconds until a deadline. cargo-lambda's emulator (1.9) sends a duration instead of a time.
fn left(epoch_ms: u64, now_ms: u64) -> u64 {
    const A_DAY: u64 = 24 * 60 * 60 * 1000;
    if epoch_ms < A_DAY {
        epoch_ms
    } else {
        epoch_ms.saturating_sub(now_ms)
    }
}

/// Returns the reserved part of the remaining time.
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
