//! Bootstrap intervals of means over books.
//!
//! Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13 (percentile intervals).

use super::formulas::{Interval, mean};

/// Number of resamples.
const RESAMPLES: usize = 2_000;
/// Fixed, so that results are reproducible.
const SEED: u64 = 1979;

/// Returns the 95 % percentile interval of the mean over books of a statistic of each book's questions; `None` if no book has
/// a value.
///
/// Each resample draws as many questions of each book as it has, with replacement. A book whose statistic is `None` is left out of
/// that resample's mean.
pub(super) fn interval<T>(
    books: &[Vec<T>],
    statistic: impl Fn(&[&T]) -> Option<f64>,
) -> Option<Interval> {
    let mut random = SplitMix64(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let values = books.iter().filter_map(|questions| {
                let drawn = questions
                    .iter()
                    .map(|_| &questions[random.below(questions.len())]);
                statistic(&drawn.collect::<Vec<&T>>())
            });
            mean(&values.collect::<Vec<f64>>())
        })
        .collect();
    means.sort_by(f64::total_cmp);
    // 2.5 % and 97.5 % by nearest rank.
    let at = |thousandths: usize| {
        let rank = (thousandths * means.len()).div_ceil(1_000);
        means.get(rank.checked_sub(1)?).copied()
    };
    Some(Interval {
        lower: at(25)?,
        upper: at(975)?,
    })
}

/// A random number generator. Source: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
struct SplitMix64(u64);

impl SplitMix64 {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which must be positive.
    fn below(&mut self, end: usize) -> usize {
        let scaled = (u128::from(self.draw()) * end as u128) >> u64::BITS;
        usize::try_from(scaled).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores where every third question succeeds.
    fn thirds(count: u32) -> Vec<f64> {
        (0..count)
            .map(|at| f64::from(at.is_multiple_of(3)))
            .collect()
    }

    fn of_means(books: &[Vec<f64>]) -> Option<Interval> {
        interval(books, |values| {
            mean(&values.iter().map(|value| **value).collect::<Vec<_>>())
        })
    }

    fn width(interval: Interval) -> f64 {
        interval.upper - interval.lower
    }

    #[test]
    fn an_interval_contains_the_mean_and_lies_among_the_values() {
        for count in [1, 2, 3, 10, 50] {
            let books = [thirds(count), thirds(2 * count + 1)];
            let middle = mean(&books.each_ref().map(|book| mean(book).unwrap())).unwrap();
            let Interval { lower, upper } = of_means(&books).unwrap();
            assert!((0.0..=middle).contains(&lower), "{count}: {lower} {middle}");
            assert!((middle..=1.0).contains(&upper), "{count}: {upper} {middle}");
        }
    }

    #[test]
    fn an_interval_shrinks_with_the_square_root_of_the_questions() {
        let few = width(of_means(&[thirds(30), thirds(30)]).unwrap());
        let many = width(of_means(&[thirds(480), thirds(480)]).unwrap());
        // 16 times the questions narrow the interval to a quarter, about 4 standard errors √(p(1 − p)/n).
        assert!((3.0..5.0).contains(&(few / many)), "{few} {many}");
        let standard_error = (2.0 / 9.0 / 960.0_f64).sqrt();
        assert!((many / standard_error - 3.92).abs() < 0.4, "{many}");
    }

    #[test]
    fn the_same_questions_have_the_same_interval() {
        let books = [thirds(20), thirds(7)];
        assert_eq!(of_means(&books), of_means(&books));
    }

    #[test]
    fn a_book_counts_as_much_as_another() {
        // A large book with only wrong answers and a small one with only right ones.
        let books = [vec![0.0; 200], vec![1.0; 3]];
        let half = Interval {
            lower: 0.5,
            upper: 0.5,
        };
        assert_eq!(of_means(&books), Some(half));
    }

    #[test]
    fn books_without_a_value_are_left_out() {
        let ones = Interval {
            lower: 1.0,
            upper: 1.0,
        };
        assert_eq!(of_means(&[Vec::new(), vec![1.0; 3]]), Some(ones));
        assert_eq!(of_means(&[Vec::new()]), None);
        assert_eq!(of_means(&[]), None);
    }

    #[test]
    fn numbers_are_drawn_evenly_below_their_end() {
        let mut random = SplitMix64(SEED);
        let mut counts = [0_u32; 7];
        for _ in 0..7_000 {
            counts[random.below(7)] += 1;
        }
        assert!(
            counts.iter().all(|count| (880..1_120).contains(count)),
            "{counts:?}"
        );
    }
}
