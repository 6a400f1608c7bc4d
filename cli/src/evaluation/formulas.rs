//! The formulas behind the metrics.

use std::cmp::min;

use serde::{Serialize, Serializer};

/// The standard normal's 97.5 % quantile: between it and its negative lie 95 %.
const NORMAL_97_5: f64 = 1.959_963_984_540_054;

/// Metrics are printed, written and compared with this many of their parts to one: 4 digits.
const PARTS: f64 = 10_000.0;

/// A number with the 4 digits it is printed with.
pub(super) fn rounded(value: f64) -> f64 {
    // Adding 0 makes -0 to 0.
    (value * PARTS).round() / PARTS + 0.0
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(super) fn real(count: usize) -> f64 {
    count as f64
}

/// The plain mean; none of nothing.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real(values.len()))
}

/// 1 where something was found at one of the first `depth` ranks, which are from 1; else 0.
pub(super) fn success(rank: Option<usize>, depth: usize) -> f64 {
    f64::from(rank.is_some_and(|rank| rank <= depth))
}

/// 1 / rank where something was found at one of the first `depth` ranks, which are from 1; else 0.
pub(super) fn reciprocal_rank(rank: Option<usize>, depth: usize) -> f64 {
    match rank {
        Some(rank) if rank <= depth => 1.0 / real(rank),
        _ => 0.0,
    }
}

/// How many of the first `depth` results are relevant, of `depth`: lists that are shorter lose by it.
pub(super) fn precision(relevant: &[bool], depth: usize) -> f64 {
    let first = relevant.iter().take(depth);
    real(first.filter(|relevant| **relevant).count()) / real(depth)
}

/// The highest [`precision`] a list can reach when so many results are relevant.
pub(super) fn precision_ceiling(all_relevant: usize, depth: usize) -> f64 {
    real(min(all_relevant, depth)) / real(depth)
}

/// Normalized discounted cumulative gain: DCG = Σ 1 / log2(rank + 1) over relevant results among the first `depth`,
/// ranks from 1, divided by the DCG of a list that has as many as it can of the relevant ones first.
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

/// Where a figure lies, with 95 % confidence. In JSON a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
}

impl Interval {
    /// The 95 % score interval of a share that was measured as `successes` of `trials`; none without trials.
    ///
    /// (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n). It holds for few trials and for shares near 0 and 1, where
    /// p ± z √(p(1 − p)/n) does not. Source: Wilson, Journal of the American Statistical Association 22, 1927.
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

/// How long a stage took, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Percentiles {
    /// How often it ran.
    pub count: usize,
    /// Half of its runs took no longer.
    pub p50: f64,
    /// 95 % of its runs took no longer.
    pub p95: f64,
    /// 99 % of its runs took no longer.
    pub p99: f64,
}

impl Percentiles {
    /// Percentiles of durations in milliseconds, in any order; none of nothing.
    ///
    /// By nearest rank: the ⌈p·n/100⌉-th shortest, so each is a duration that was measured. Source: Hyndman and Fan,
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
        // The only one, second: 1 / log2 3.
        assert_close(ndcg(&[false, true], 1, 5), 0.630_929_753_571);
        // Two of three, first and fourth: (1 + 1 / log2 5) / (1 + 1 / log2 3 + 1 / 2).
        let two = [true, false, false, true];
        assert_close(ndcg(&two, 3, 5), 0.671_386_072_523);
        // Six are relevant, of which no list of five holds more than five.
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
        // Of five: ranks 3, 5 and 5.
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
