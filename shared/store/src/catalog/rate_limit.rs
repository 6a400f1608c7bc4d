//! Rate limits with the generic cell rate algorithm.
//!
//! Each key stores one time, the theoretical arrival time (TAT): when the next permit would be due if permits were evenly
//! spaced. A permit is granted if the TAT is no further ahead than a burst allows. Source: ITU-T I.371, the virtual scheduling
//! algorithm.

use std::time::Duration;

use super::microseconds;

/// A number of permits per period, all of which may be acquired at once; one returns every `period / permits`.
///
/// In the long run this rate is never exceeded. After a period without requests, twice as many permits can be acquired within one period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Permits per period; with 0, every request is denied.
    pub permits: u32,
    /// The period. Permits return at most once per microsecond.
    pub period: Duration,
}

/// The response to a request for a permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatePermit {
    /// True if the permit is granted. A denied request costs nothing.
    pub allowed: bool,
    /// Permits still available.
    pub remaining: u32,
    /// If granted, the time until all permits are available again; if denied, the time until the next one is.
    pub reset: Duration,
}

impl RateLimit {
    /// Requests a permit at `now`, in microseconds from any fixed origin. `tat` is the value returned by the last call for the same
    /// key, `None` for the first.
    #[must_use]
    pub fn acquire(self, tat: Option<i64>, now: i64) -> (i64, RatePermit) {
        let due = tat
            .filter(|tat| *tat <= now.saturating_add(self.furthest()))
            .map_or(now, |tat| tat.max(now));
        let allowed = due.saturating_sub(now) <= self.tolerance();
        let tat = if allowed {
            due.saturating_add(self.interval())
        } else {
            due
        };
        (tat, self.permit(allowed, tat.saturating_sub(now)))
    }

    /// Returns the time in which a permit returns, in microseconds, at least 1.
    pub(super) fn interval(self) -> i64 {
        (microseconds(self.period) / i64::from(self.permits.max(1))).max(1)
    }

    /// Returns how far ahead the TAT may be for a permit to be granted, in microseconds; negative if none is ever granted.
    pub(super) fn tolerance(self) -> i64 {
        self.interval() * (i64::from(self.permits) - 1)
    }

    /// Returns how far ahead a stored TAT may be, in microseconds: two periods. The algorithm stores at most one. A TAT beyond both is from a clock
    /// that was ahead, and would otherwise lock the client out for as long; it counts as now. The second period keeps a statement that began earlier
    /// than the one before it, or a clock that is set back a little, from restoring all permits.
    pub(super) fn furthest(self) -> i64 {
        (self.interval() * i64::from(self.permits)).saturating_mul(2)
    }

    /// Returns the response after which the TAT is `ahead` microseconds in the future.
    pub(super) fn permit(self, allowed: bool, ahead: i64) -> RatePermit {
        let beyond = ahead.saturating_sub(self.tolerance());
        let reset = if allowed { ahead } else { beyond };
        // Within the tolerance, one more than the number of whole intervals left.
        let remaining = if beyond > 0 {
            0
        } else {
            1 - beyond / self.interval()
        };
        RatePermit {
            allowed,
            remaining: u32::try_from(remaining)
                .unwrap_or(u32::MAX)
                .min(self.permits),
            reset: Duration::from_micros(u64::try_from(reset).unwrap_or(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: i64 = 1_000_000;

    fn limit(permits: u32, period: Duration) -> RateLimit {
        RateLimit { permits, period }
    }

    /// Requests permits at these moments; returns the moments when they were granted.
    fn given(limit: RateLimit, moments: impl IntoIterator<Item = i64>) -> Vec<i64> {
        let mut tat = None;
        let mut given = Vec::new();
        for now in moments {
            let (next, permit) = limit.acquire(tat, now);
            tat = Some(next);
            if permit.allowed {
                given.push(now);
            }
        }
        given
    }

    fn micros(time: Duration) -> i64 {
        i64::try_from(time.as_micros()).unwrap()
    }

    proptest! {
        #[test]
        fn all_permits_may_come_at_once_and_no_more(permits in 0_u32..60, period_ms in 0_u64..5_000) {
            let limit = limit(permits, Duration::from_millis(period_ms));
            prop_assert_eq!(given(limit, vec![START; 70]).len(), permits as usize);
        }

        #[test]
        fn never_more_permits_are_given_than_there_are_and_came_back(
            permits in 1_u32..9, period in 1_u64..2_000, gaps in proptest::collection::vec(0_i64..400, 1..80),
        ) {
            let limit = limit(permits, Duration::from_micros(period));
            let moments = gaps.iter().scan(START, |now, gap| {
                *now += gap;
                Some(*now)
            });
            let given = given(limit, moments);
            for (place, first) in given.iter().enumerate() {
                for (count, last) in (1..).zip(&given[place..]) {
                    let back = (last - first) / limit.interval();
                    prop_assert!(count <= i64::from(permits) + back, "{count} from {first} to {last}");
                }
            }
        }

        #[test]
        fn after_a_clock_that_was_ahead_nobody_waits_for_more_than_two_periods(
            permits in 1_u32..9, period in 1_u64..2_000, ahead in 0_i64..100_000,
        ) {
            let limit = limit(permits, Duration::from_micros(period));
            let (_, permit) = limit.acquire(Some(START + ahead), START);
            prop_assert!(micros(permit.reset) <= limit.furthest());
            prop_assert!(permit.allowed || ahead <= limit.furthest());
        }

        #[test]
        fn a_clock_that_goes_back_by_a_period_restores_no_permit(permits in 1_u32..9, period in 1_u64..2_000, back in 0_i64..2_000) {
            let limit = limit(permits, Duration::from_micros(period));
            let mut tat = None;
            for _ in 0..permits {
                tat = Some(limit.acquire(tat, START).0);
            }
            let now = START - back.min(limit.furthest() / 2);
            prop_assert!(!limit.acquire(tat, now).1.allowed);
        }

        #[test]
        fn a_refused_permit_costs_nothing_and_says_when_to_come_again(permits in 1_u32..9, period in 1_u64..2_000, early in 0_i64..400) {
            let limit = limit(permits, Duration::from_micros(period));
            let (mut tat, _) = limit.acquire(None, START);
            for _ in 1..permits {
                tat = limit.acquire(Some(tat), START).0;
            }
            let now = START + early.min(limit.interval() - 1);
            let (after, refused) = limit.acquire(Some(tat), now);
            prop_assert_eq!((after, refused.allowed, refused.remaining), (tat, false, 0));
            let again = now + micros(refused.reset);
            prop_assert!(!limit.acquire(Some(tat), again - 1).1.allowed);
            prop_assert!(limit.acquire(Some(tat), again).1.allowed);
        }

        #[test]
        fn the_remaining_permits_are_given_and_all_are_back_in_time(permits in 1_u32..9, period in 1_u64..2_000, taken in 1_u32..9) {
            let limit = limit(permits, Duration::from_micros(period));
            let mut last = limit.acquire(None, START);
            for _ in 1..taken.min(permits) {
                last = limit.acquire(Some(last.0), START);
            }
            let (tat, permit) = last;
            prop_assert_eq!(permit.remaining, permits - taken.min(permits));
            let mut rest = Some(tat);
            for _ in 0..permit.remaining {
                let (next, permit) = limit.acquire(rest, START);
                prop_assert!(permit.allowed);
                rest = Some(next);
            }
            prop_assert!(!limit.acquire(rest, START).1.allowed);
            let (_, rested) = limit.acquire(Some(tat), START + micros(permit.reset));
            prop_assert_eq!(rested.remaining, permits - 1);
        }
    }

    #[test]
    fn five_in_a_minute_come_back_every_twelve_seconds() {
        let limit = limit(5, Duration::from_mins(1));
        let (mut tat, first) = limit.acquire(None, START);
        let expected = RatePermit {
            allowed: true,
            remaining: 4,
            reset: Duration::from_secs(12),
        };
        assert_eq!(first, expected);
        for _ in 0..4 {
            tat = limit.acquire(Some(tat), START).0;
        }
        let expected = RatePermit {
            allowed: false,
            remaining: 0,
            reset: Duration::from_secs(11),
        };
        let second = micros(Duration::from_secs(1));
        assert_eq!(limit.acquire(Some(tat), START + second).1, expected);
    }

    #[test]
    fn limits_of_any_size_give_an_answer() {
        for permits in [0, 1, u32::MAX] {
            for period in [Duration::ZERO, Duration::MAX] {
                let limit = limit(permits, period);
                for now in [i64::MIN / 2, 0, i64::MAX / 2] {
                    for tat in [None, Some(i64::MIN), Some(now), Some(i64::MAX)] {
                        let (_, permit) = limit.acquire(tat, now);
                        assert!(permit.remaining <= permits);
                    }
                }
            }
        }
    }
}
