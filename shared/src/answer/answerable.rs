//! Decides whether the book answers a question.

use serde::{Deserialize, Serialize};

use crate::retrieve::Signals;

/// Whether the book answered a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The book answers it.
    Answered,
    /// The book may not answer it. The answer lists the closest sections, or a model wrote it from them.
    Uncertain,
    /// The book has nothing close to it.
    NotCovered,
}

/// The least z + [`COVERAGE_WEIGHT`] × coverage of a covered question.
const NEAR: f32 = 1.1;
/// See [`NEAR`].
const COVERAGE_WEIGHT: f32 = 2.0;
/// The least coverage of a covered question if there is no cosine.
const NEAR_BY_WORDS: f32 = 0.25;
/// The least coverage of a certain answer.
const CERTAIN: f32 = 0.4;

pub(super) fn thresholds() -> [f32; 4] {
    [NEAR, COVERAGE_WEIGHT, NEAR_BY_WORDS, CERTAIN]
}

/// Decides whether the book answers a question, from the signals of its search.
///
/// The constants are the same for every embedder. `docs/decisions/0005-not-in-this-book.md` has the rule's error rates.
#[must_use]
pub fn outcome(signals: &Signals) -> Outcome {
    let is_near = match signals.z {
        Some(z) => z + COVERAGE_WEIGHT * signals.coverage >= NEAR,
        None => signals.coverage >= NEAR_BY_WORDS,
    };
    if !is_near {
        Outcome::NotCovered
    } else if signals.unknown_name || signals.coverage < CERTAIN {
        Outcome::Uncertain
    } else {
        Outcome::Answered
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rank(signals: &Signals) -> u8 {
        match outcome(signals) {
            Outcome::NotCovered => 0,
            Outcome::Uncertain => 1,
            Outcome::Answered => 2,
        }
    }

    fn signals() -> impl Strategy<Value = Signals> {
        let z = proptest::option::of(-1.0_f32..2.0);
        (z, 0.0_f32..=1.0, proptest::bool::ANY).prop_map(|(z, coverage, unknown_name)| Signals {
            z,
            coverage,
            unknown_name,
            ..Signals::default()
        })
    }

    proptest! {
        #[test]
        fn a_better_signal_never_makes_the_outcome_worse(signals in signals(), gain in 0.0_f32..1.0) {
            let better = [
                Signals { z: signals.z.map(|z| z + gain), ..signals },
                Signals { coverage: signals.coverage + gain, ..signals },
                Signals { unknown_name: false, ..signals },
            ];
            for better in better {
                prop_assert!(rank(&better) >= rank(&signals), "{better:?}");
            }
        }
    }

    #[test]
    fn all_three_outcomes_are_reached_with_and_without_a_scale_of_cosines() {
        for z in [None, Some(0.5)] {
            let shares = (0..=1_000_u16).map(|coverage| {
                outcome(&Signals {
                    z,
                    coverage: f32::from(coverage) / 1_000.0,
                    ..Signals::default()
                })
            });
            let mut outcomes: Vec<Outcome> = shares.collect();
            outcomes.dedup();
            let expected = [Outcome::NotCovered, Outcome::Uncertain, Outcome::Answered];
            assert_eq!(outcomes, expected, "{z:?}");
        }
    }
}
