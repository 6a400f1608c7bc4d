//! Limits how many requests a process works on at once.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::error::Error;

/// Waiting requests allowed for each active one.
const WAITING_FOR_EACH: usize = 4;
/// The longest time that a request waits. After it, a reader is served sooner by trying again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Permits for active requests and for waiting ones. A request that gets neither is refused.
///
/// Tower's layers do not fit: `ConcurrencyLimit` has an unlimited queue, with `LoadShed` none, and with a `Buffer` one queue for each route.
#[derive(Debug)]
pub(super) struct Places {
    working: Semaphore,
    waiting: Semaphore,
    patience: Duration,
}

impl Places {
    pub(super) fn new(working: usize) -> Self {
        let working = working.clamp(1, Semaphore::MAX_PERMITS / WAITING_FOR_EACH);
        Self {
            working: Semaphore::new(working),
            waiting: Semaphore::new(working * WAITING_FOR_EACH),
            patience: PATIENCE,
        }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// `Unavailable` if too many requests wait already, or no permit became free in time.
    pub(super) async fn enter(&self) -> Result<SemaphorePermit<'_>, Error> {
        if let Ok(place) = self.working.try_acquire() {
            return Ok(place);
        }
        let waits = self.waiting.try_acquire();
        let _waits = waits.map_err(|_| Error::overloaded())?;
        let place = timeout(self.patience, self.working.acquire()).await;
        let place = place.map_err(|_| Error::overloaded())?;
        Ok(place.expect("the semaphore is never closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[tokio::test]
    async fn a_queue_has_an_end_and_nobody_in_it_is_forgotten() {
        let places = Places::new(1);
        let working = places.enter().await.unwrap();
        let waiting = std::iter::repeat_with(|| Box::pin(places.enter()));
        let mut waiting: Vec<_> = waiting.take(WAITING_FOR_EACH).collect();
        for next in &mut waiting {
            assert!(futures::poll!(next).is_pending());
        }
        let refused = places.enter().await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Unavailable);
        assert!(refused.retry_after.is_some());
        drop(working);
        for next in waiting {
            drop(next.await.unwrap());
        }
    }

    #[tokio::test]
    async fn a_place_that_becomes_free_is_given_to_who_waits() {
        let places = Places::new(1);
        for _ in 0..3 {
            let working = places.enter().await.unwrap();
            let mut next = std::pin::pin!(places.enter());
            assert!(futures::poll!(&mut next).is_pending());
            drop(working);
            drop(next.await.unwrap());
        }
    }

    #[tokio::test]
    async fn nobody_waits_longer_than_its_patience() {
        let places = Places {
            patience: Duration::ZERO,
            ..Places::new(1)
        };
        let _working = places.enter().await.unwrap();
        let refused = places.enter().await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Unavailable);
    }
}
