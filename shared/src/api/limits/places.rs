//! Limits how many requests a process works on at once, in all and for one client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::error::Error;

/// Waiting requests allowed for each active one.
const WAITING_FOR_EACH: usize = 4;
/// One client may have this fraction of all places, and at least one.
const CLIENTS: usize = 4;
/// The longest time that a request waits. After it, a reader is served sooner by trying again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Permits for active requests and for waiting ones. A request that gets neither is refused.
///
/// A client may hold a quarter of both kinds, so that four must act together to keep out all others.
///
/// Tower's layers do not fit: `ConcurrencyLimit` has an unlimited queue, with `LoadShed` none, and with a `Buffer` one queue for each route.
#[derive(Debug)]
pub(super) struct Places {
    all: Permits,
    /// The permits of each client that has a request.
    clients: Mutex<HashMap<String, Arc<Permits>>>,
    /// The places of one client.
    share: usize,
    patience: Duration,
}

/// Permits for a number of active requests, and for waiting ones.
#[derive(Debug)]
struct Permits {
    active: Arc<Semaphore>,
    waiting: Semaphore,
}

impl Permits {
    fn new(active: usize) -> Self {
        Self {
            active: Arc::new(Semaphore::new(active)),
            waiting: Semaphore::new(active * WAITING_FOR_EACH),
        }
    }
}

/// The permits of an active request.
#[derive(Debug)]
pub(super) struct Place<'a> {
    places: &'a Places,
    client_key: String,
    // Dropped before the client is forgotten.
    held: Option<(SemaphorePermit<'a>, OwnedSemaphorePermit)>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.held = None;
        self.places.forget(&self.client_key);
    }
}

impl Places {
    pub(super) fn new(active: usize) -> Self {
        let active = active.clamp(1, Semaphore::MAX_PERMITS / WAITING_FOR_EACH);
        Self {
            all: Permits::new(active),
            clients: Mutex::default(),
            share: (active / CLIENTS).max(1),
            patience: PATIENCE,
        }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// `Unavailable` if too many requests of the client or of all clients wait already, or no permit became free in time.
    pub(super) async fn enter(&self, client_key: &str) -> Result<Place<'_>, Error> {
        let mut place = Place {
            places: self,
            client_key: client_key.to_owned(),
            held: None,
        };
        let client = self.client(client_key);
        let own = Arc::clone(&client.active).try_acquire_owned();
        if let (Ok(own), Ok(one_of_all)) = (own, self.all.active.try_acquire()) {
            place.held = Some((one_of_all, own));
            return Ok(place);
        }
        let full = |_| Error::overloaded();
        let _own_wait = client.waiting.try_acquire().map_err(full)?;
        let _wait = self.all.waiting.try_acquire().map_err(full)?;
        let both = async {
            let own = Arc::clone(&client.active).acquire_owned().await;
            (own, self.all.active.acquire().await)
        };
        let (own, one_of_all) = timeout(self.patience, both)
            .await
            .map_err(|_| Error::overloaded())?;
        let closed = "the semaphore is never closed";
        place.held = Some((one_of_all.expect(closed), own.expect(closed)));
        Ok(place)
    }

    fn client(&self, key: &str) -> Arc<Permits> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Permits::new(self.share));
        Arc::clone(clients.entry(key.to_owned()).or_insert_with(new))
    }

    /// Removes the permits of a client without requests.
    fn forget(&self, key: &str) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = |client: &Arc<Permits>| {
            Arc::strong_count(client) == 1 && client.active.available_permits() == self.share
        };
        if clients.get(key).is_some_and(is_idle) {
            clients.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

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
        assert_eq!(refused.kind, ErrorKind::Unavailable);
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
    async fn a_client_holds_a_quarter_of_the_places_and_of_the_queue() {
        let places = Places::new(8);
        let held = [
            places.enter("a").await.unwrap(),
            places.enter("a").await.unwrap(),
        ];
        let waiting = std::iter::repeat_with(|| Box::pin(places.enter("a")));
        let mut waiting: Vec<_> = waiting.take(2 * WAITING_FOR_EACH).collect();
        for next in &mut waiting {
            assert!(futures::poll!(next).is_pending());
        }
        assert!(places.enter("a").await.is_err());
        let others = ["b", "b", "c", "c", "d", "d"];
        for other in others.map(|other| Box::pin(places.enter(other))) {
            std::mem::forget(other.await.unwrap());
        }
        assert!(futures::poll!(std::pin::pin!(places.enter("e"))).is_pending());
        drop((held, waiting));
        drop(places.enter("e").await.unwrap());
        let clients = places.clients.lock().unwrap();
        assert!(!clients.contains_key("a") && !clients.contains_key("e"));
    }

    #[tokio::test]
    async fn nobody_waits_longer_than_its_patience() {
        let places = Places {
            patience: Duration::ZERO,
            ..Places::new(1)
        };
        let _working = places.enter("a").await.unwrap();
        let refused = places.enter("b").await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Unavailable);
    }
}
