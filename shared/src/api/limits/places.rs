//! Limits how many requests a process works on at once, in all and for one client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use answer::error::Error;

/// Waiting requests allowed for each active one.
const WAITING_FOR_EACH: usize = 4;
/// A client may have one in this many of all places, and at least one.
const CLIENTS: usize = 4;
/// The longest time that a request waits. After it, a reader is served sooner by trying again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Permits for active requests and for waiting ones. A request that gets neither is refused.
///
/// A client may have a quarter of the active ones, at least one, so that others need not wait for it.
///
/// Tower's layers do not fit: `ConcurrencyLimit` has an unlimited queue, with `LoadShed` none, and with a `Buffer` one queue for each route.
#[derive(Debug)]
pub(super) struct Places {
    active: Semaphore,
    waiting: Semaphore,
    /// The permits of each client that has a request.
    clients: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// The number of requests that may be active for one client.
    share: usize,
    patience: Duration,
}

/// The permits of an active request.
#[derive(Debug)]
pub(super) struct Permits<'a> {
    places: &'a Places,
    client_key: String,
    // Dropped before the client is forgotten.
    held: Option<(SemaphorePermit<'a>, OwnedSemaphorePermit)>,
}

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        self.held = None;
        self.places.forget(&self.client_key);
    }
}

impl Places {
    pub(super) fn new(active: usize) -> Self {
        let active = active.clamp(1, Semaphore::MAX_PERMITS / WAITING_FOR_EACH);
        Self {
            active: Semaphore::new(active),
            waiting: Semaphore::new(active * WAITING_FOR_EACH),
            clients: Mutex::default(),
            share: (active / CLIENTS).max(1),
            patience: PATIENCE,
        }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// `Overloaded` if too many requests wait already, or no permit became free in time.
    pub(super) async fn enter(&self, client_key: &str) -> Result<Permits<'_>, Error> {
        let mut permits = Permits {
            places: self,
            client_key: client_key.to_owned(),
            held: None,
        };
        let client = self.client(client_key);
        let own = Arc::clone(&client).try_acquire_owned();
        if let (Ok(own), Ok(one_of_all)) = (own, self.active.try_acquire()) {
            permits.held = Some((one_of_all, own));
            return Ok(permits);
        }
        let _wait = self
            .waiting
            .try_acquire()
            .map_err(|_| Error::overloaded())?;
        let both = async {
            let own = Arc::clone(&client).acquire_owned().await;
            (own, self.active.acquire().await)
        };
        let (own, one_of_all) = timeout(self.patience, both)
            .await
            .map_err(|_| Error::overloaded())?;
        let closed = "the semaphore is never closed";
        permits.held = Some((one_of_all.expect(closed), own.expect(closed)));
        Ok(permits)
    }

    fn client(&self, key: &str) -> Arc<Semaphore> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let client = clients
            .entry(key.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(self.share)));
        Arc::clone(client)
    }

    /// Removes the permits of a client without requests.
    fn forget(&self, key: &str) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(key)
            // Permits that are held, and requests that wait for one, keep a reference.
            && Arc::strong_count(client) == 1
        {
            clients.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use answer::error::ErrorKind;

    #[tokio::test]
    async fn a_queue_has_an_end_and_nobody_in_it_is_forgotten() {
        let places = Places::new(1);
        let working = places.enter("a").await.unwrap();
        let waiting = std::iter::repeat_with(|| Box::pin(places.enter("a")));
        let mut waiting: Vec<_> = waiting.take(WAITING_FOR_EACH).collect();
        for next in &mut waiting {
            assert!(futures::poll!(next).is_pending());
        }
        let refused = places.enter("a").await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Overloaded);
        assert!(refused.retry_after.is_some());
        drop(working);
        for next in waiting {
            drop(next.await.unwrap());
        }
        assert!(places.clients.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_place_that_becomes_free_is_given_to_who_waits() {
        let places = Places::new(1);
        for _ in 0..3 {
            let working = places.enter("a").await.unwrap();
            let mut next = std::pin::pin!(places.enter("b"));
            assert!(futures::poll!(&mut next).is_pending());
            drop(working);
            drop(next.await.unwrap());
        }
    }

    #[tokio::test]
    async fn a_client_holds_a_quarter_of_the_places() {
        let places = Places::new(8);
        let mut held = vec![places.enter("a").await.unwrap()];
        held.push(places.enter("a").await.unwrap());
        let mut waiting: Vec<_> = (0..20).map(|_| Box::pin(places.enter("a"))).collect();
        for next in &mut waiting {
            assert!(futures::poll!(next).is_pending());
        }
        for other in ["b", "b", "c", "c", "d", "d"] {
            held.push(places.enter(other).await.unwrap());
        }
        assert!(futures::poll!(std::pin::pin!(places.enter("e"))).is_pending());
        drop(waiting);
        drop(held);
        assert!(places.clients.lock().unwrap().is_empty());
        drop(places.enter("e").await.unwrap());
    }

    #[tokio::test]
    async fn nobody_waits_longer_than_its_patience() {
        let places = Places {
            patience: Duration::ZERO,
            ..Places::new(1)
        };
        let _working = places.enter("a").await.unwrap();
        let refused = places.enter("b").await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Overloaded);
    }
}
