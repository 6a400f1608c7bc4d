//! Counts requests in this process while the catalog is unavailable.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use store::catalog::{RateLimit, RatePermit};

/// The most clients remembered: at about 200 bytes each, two megabytes.
pub(super) const MAX_KEYS: usize = 10_000;

/// The theoretical arrival times of recent clients, as the catalog stores them.
#[derive(Debug, Default)]
pub(super) struct StandIn {
    arrival_times: HashMap<Arc<str>, i64>,
    /// The same times, earliest first.
    by_time: BTreeSet<(i64, Arc<str>)>,
}

impl StandIn {
    /// Counts a request at `now`, in microseconds since any fixed moment. If there are too many clients, it forgets the one whose limit resets first,
    /// because that client gains least.
    pub(super) fn acquire(&mut self, key: String, limit: RateLimit, now: i64) -> RatePermit {
        let key: Arc<str> = key.into();
        let known = self.arrival_times.get(&key).copied();
        if let Some(known) = known {
            self.by_time.remove(&(known, Arc::clone(&key)));
        } else if self.arrival_times.len() >= MAX_KEYS
            && let Some((_, earliest)) = self.by_time.pop_first()
        {
            self.arrival_times.remove(&earliest);
        }
        let (arrival_time, permit) = limit.acquire(known, now);
        self.by_time.insert((arrival_time, Arc::clone(&key)));
        self.arrival_times.insert(key, arrival_time);
        permit
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ONE_A_MINUTE: RateLimit = RateLimit {
        permits: 1,
        period: Duration::from_mins(1),
    };

    #[test]
    fn no_more_clients_than_that_are_remembered_and_the_oldest_goes_first() {
        let mut stand_in = StandIn::default();
        for now in 0..=10_000 {
            assert!(stand_in.acquire(now.to_string(), ONE_A_MINUTE, now).allowed);
        }
        assert_eq!(stand_in.arrival_times.len(), MAX_KEYS);
        assert_eq!(stand_in.by_time.len(), MAX_KEYS);
        let mut asks = |key: &str| {
            stand_in
                .acquire(key.to_owned(), ONE_A_MINUTE, 10_001)
                .allowed
        };
        assert!(!asks("1") && !asks("10000"));
        assert!(asks("0"), "the oldest is forgotten");
        assert!(asks("1"), "then the next");
    }

    #[test]
    fn a_known_client_takes_nobodys_place() {
        let mut stand_in = StandIn::default();
        for now in 0..10_000 {
            stand_in.acquire(now.to_string(), ONE_A_MINUTE, now);
        }
        for _ in 0..3 {
            assert!(
                !stand_in
                    .acquire("9999".to_owned(), ONE_A_MINUTE, 10_000)
                    .allowed
            );
        }
        assert!(
            !stand_in
                .acquire("0".to_owned(), ONE_A_MINUTE, 10_000)
                .allowed
        );
    }
}
