//! Formulas of the metrics.

use std::cmp::min;

use serde::{Serialize, Serializer};

/// The 97.5 % quantile of the standard normal distribution. 95 % lie between it and its negative.
const NORMAL_97_5: f64 = 1.959_963_984_540_054;

/// Metrics are rounded to 4 digits.
const PARTS: f64 = 10_000.0;

/// Rounds to the 4 printed digits.
pub(super) fn rounded(value: f64) -> f64 {
    // Adding 0 turns -0 into 0.
    (value * PARTS).round() / PARTS + 0.0
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(super) fn real(count: usize) -> f64 {
    count as f64
}

/// Returns the arithmetic mean; `None` without values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real(values.len()))
}

/// Returns 1 if the rank, from 1, is at most `depth`, else 0.
pub(super) fn success(rank: Option<usize>, depth: usize) -> f64 {
    f64::from(rank.is_some_and(|rank| rank <= depth))
}

/// Returns 1 / rank if the rank, from 1, is at most `depth`, else 0.
pub(super) fn reciprocal_rank(rank: Option<usize>, depth: usize) -> f64 {
    match rank {
        Some(rank) if rank <= depth => 1.0 / real(rank),
        _ => 0.0,
    }
}

/// Returns the number of relevant results among the first `depth`, divided by `depth` even if the list is shorter.
pub(super) fn precision(relevant: &[bool], depth: usize) -> f64 {
    let first = relevant.iter().take(depth);
    real(first.filter(|relevant| **relevant).count()) / real(depth)
}

/// Returns the highest [`precision`] possible with this many relevant results.
pub(super) fn precision_ceiling(all_relevant: usize, depth: usize) -> f64 {
    real(min(all_relevant, depth)) / real(depth)
}

/// Returns the normalized discounted cumulative gain: DCG = Σ 1 / log2(rank + 1) over relevant results among the first `depth`,
/// ranks from 1, divided by the DCG of the best possible list.
///
/// 0 if nothing is relevant. Source: Järvelin and Kekäläinen, TOIS 20(4), 2002, for cumulated gain; the discount is
/// that of Burges et al., ICML 2005, which lowers rank 2 as well.
pub(super) fn ndcg(relevant: &[bool], all_relevant: usize, depth: usize) -> f64 {
    let discount = |place: usize| 1.0 / real(place + 2).log2();
    let gains = relevant.iter().take(depth).enumerate();
    let gained: f64 = gains
        .filter(|(_, relevant)| **relevant)
        .map(|(place, _)| discount(place))
        .sum();
    let ideal: f64 = (0..min(all_relevant, depth)).map(discount).sum();
    if ideal > 0.0 { gained / ideal } else { 0.0 }
}

/// A 95 % confidence interval. A pair in JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
}

impl Interval {
    /// Returns the 95 % score interval of the share `successes` / `trials`; `None` without trials.
    ///
    /// (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n). Unlike p ± z √(p(1 − p)/n), it is valid for few trials and for shares near
    /// 0 and 1. Source: Wilson, Journal of the American Statistical Association 22, 1927.
    #[must_use]
    pub fn wilson(successes: usize, trials: usize) -> Option<Self> {
        if trials == 0 {
            return None;
        }
        let count = real(trials);
        let share = real(successes) / count;
        let square = NORMAL_97_5 * NORMAL_97_5;
        let scale = 1.0 + square / count;
        let center = (share + square / (2.0 * count)) / scale;
        let spread = share * (1.0 - share) / count + square / (4.0 * count * count);
        let half = NORMAL_97_5 * spread.sqrt() / scale;
        Some(Self {
            lower: (center - half).max(0.0),
            upper: (center + half).min(1.0),
        })
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [rounded(self.lower), rounded(self.upper)].serialize(serializer)
    }
}

/// Durations of a stage, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Percentiles {
    /// How often it ran.
    pub count: usize,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
}

impl Percentiles {
    /// Returns percentiles of durations in milliseconds, in any order; `None` without durations.
    ///
    /// By nearest rank: the ⌈p·n/100⌉-th shortest, so each is a measured duration. Source: Hyndman and Fan,
    /// The American Statistician 50(4), 1996, definition 1.
    #[must_use]
    pub fn of(mut durations_ms: Vec<f64>) -> Option<Self> {
        if durations_ms.is_empty() {
            return None;
        }
        durations_ms.sort_by(f64::total_cmp);
        let count = durations_ms.len();
        let nearest = |percent: usize| rounded(durations_ms[(percent * count).div_ceil(100) - 1]);
        Some(Self {
            count,
            p50: nearest(50),
            p95: nearest(95),
            p99: nearest(99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(is: f64, expected: f64) {
        assert!((is - expected).abs() < 1e-9, "{is} is not {expected}");
    }

    #[test]
    fn success_ends_at_its_depth() {
        assert_close(success(Some(1), 1), 1.0);
        assert_close(success(Some(2), 1), 0.0);
        assert_close(success(Some(5), 5), 1.0);
        assert_close(success(Some(6), 5), 0.0);
        assert_close(success(None, 5), 0.0);
    }

    #[test]
    fn a_reciprocal_rank_is_nothing_beyond_its_depth() {
        assert_close(reciprocal_rank(Some(1), 10), 1.0);
        assert_close(reciprocal_rank(Some(4), 10), 0.25);
        assert_close(reciprocal_rank(Some(10), 10), 0.1);
        assert_close(reciprocal_rank(Some(11), 10), 0.0);
        assert_close(reciprocal_rank(None, 10), 0.0);
    }

    #[test]
    fn precision_counts_missing_results_as_wrong() {
        assert_close(precision(&[true, false, true, false, false, true], 5), 0.4);
        assert_close(precision(&[true], 5), 0.2);
        assert_close(precision(&[], 5), 0.0);
        assert_close(precision_ceiling(1, 5), 0.2);
        assert_close(precision_ceiling(5, 5), 1.0);
        assert_close(precision_ceiling(12, 5), 1.0);
    }

    #[test]
    fn gain_is_discounted_and_measured_against_the_best_list() {
        // One relevant result, at rank 2: 1 / log2 3.
        assert_close(ndcg(&[false, true], 1, 5), 0.630_929_753_571);
        // Two of three relevant results, at ranks 1 and 4: (1 + 1 / log2 5) / (1 + 1 / log2 3 + 1 / 2).
        let two = [true, false, false, true];
        assert_close(ndcg(&two, 3, 5), 0.671_386_072_523);
        // Six results are relevant, but a list of five holds at most five.
        assert_close(ndcg(&[true; 6], 6, 5), 1.0);
        assert_close(ndcg(&[false, false, false, false, false, true], 1, 5), 0.0);
        assert_close(ndcg(&[], 1, 5), 0.0);
        assert_close(ndcg(&[], 0, 5), 0.0);
    }

    #[test]
    fn wilson_holds_at_the_ends_and_for_few_trials() {
        for (successes, trials, lower, upper) in [
            (5, 6, 0.436_497_177_814, 0.969_946_630_252),
            (0, 10, 0.0, 0.277_532_799_863),
            (10, 10, 0.722_467_200_137, 1.0),
            (1, 2, 0.094_531_205_734, 0.905_468_794_266),
        ] {
            let interval = Interval::wilson(successes, trials).unwrap();
            assert_close(interval.lower, lower);
            assert_close(interval.upper, upper);
        }
        assert_eq!(Interval::wilson(0, 0), None);
    }

    #[test]
    fn percentiles_are_durations_that_were_measured() {
        let of_100 = Percentiles::of((1..=100_u8).rev().map(f64::from).collect()).unwrap();
        assert_eq!(of_100.count, 100);
        assert_close(of_100.p50, 50.0);
        assert_close(of_100.p95, 95.0);
        assert_close(of_100.p99, 99.0);
        // Ranks 3, 5 and 5 of five.
        let of_5 = Percentiles::of(vec![9.0, 1.0, 2.5, 4.0, 3.0]).unwrap();
        assert_close(of_5.p50, 3.0);
        assert_close(of_5.p95, 9.0);
        assert_close(of_5.p99, 9.0);
        let of_1 = Percentiles::of(vec![7.0]).unwrap();
        assert_close(of_1.p50, 7.0);
        assert_close(of_1.p99, 7.0);
        assert_eq!(Percentiles::of(Vec::new()), None);
    }
}
