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
    /// The book may not answer it. The answer says so and quotes the closest passages, or a model wrote it from them.
    Uncertain,
    /// The book has nothing close to it.
    NotCovered,
    /// It is no question about the book: a greeting, thanks, a question about the assistant, or abuse.
    SmallTalk,
}

/// The least z of a covered question, and the coverage at which a question is covered whatever its z. Chosen on 330 questions of real users, each
/// answered by one of eleven English sites, and 44 about other things, and on 250 in five other languages. Leaving out the questions of any one site
/// gives a z from 1.16 to 1.31, and in English any coverage from .6 to .7 the same decisions.
const NEAR: f32 = 1.25;
const FULL: f32 = 0.6;
/// The least margin of a certain answer, unless the coverage alone suffices. Of 480 questions of real users that a site answers, it puts in doubt .20
/// of those whose first section answers and .55 of the others, and .59 of 128 near misses.
const CERTAIN: f32 = 0.14;
/// The least margin if the first section has questions. Of 240 questions of real users about eight sites with such questions, it puts as large a
/// share in doubt as [`CERTAIN`] does on sites without.
const ASKED_CERTAIN: f32 = 0.18;

pub(crate) fn thresholds() -> [f32; 4] {
    [NEAR, FULL, CERTAIN, ASKED_CERTAIN]
}

/// Decides whether the book answers a question, from the signals of its search.
///
/// A question is refused only if its meaning is far from the book's; words that the book lacks are no reason. Without a scale of cosines, it is
/// refused only if none of its words was found. The constants are the same for every embedder. `docs/decisions/0005-not-in-this-book.md` has the
/// rule's error rates.
#[must_use]
pub fn outcome(signals: &Signals) -> Outcome {
    let is_near = match signals.z {
        Some(z) => z >= NEAR || signals.coverage >= FULL,
        None => signals.coverage > 0.0,
    };
    let certain = if signals.is_asked {
        ASKED_CERTAIN
    } else {
        CERTAIN
    };
    let stands_out = signals.margin.is_some_and(|margin| margin >= certain);
    let is_certain = stands_out || signals.coverage >= FULL;
    match (is_near, is_certain) {
        (false, _) => Outcome::NotCovered,
        (true, false) => Outcome::Uncertain,
        (true, true) => Outcome::Answered,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rank(signals: &Signals) -> u8 {
        match outcome(signals) {
            Outcome::NotCovered | Outcome::SmallTalk => 0,
            Outcome::Uncertain => 1,
            Outcome::Answered => 2,
        }
    }

    fn signals() -> impl Strategy<Value = Signals> {
        let z = proptest::option::of(-1.0_f32..3.0);
        let margin = proptest::option::of(0.0_f32..0.5);
        (z, 0.0_f32..=1.0, margin).prop_map(|(z, coverage, margin)| Signals {
            z,
            coverage,
            margin,
            ..Signals::default()
        })
    }

    proptest! {
        #[test]
        fn a_better_signal_never_makes_the_outcome_worse(signals in signals(), gain in 0.0_f32..1.0) {
            let better = [
                Signals { z: signals.z.map(|z| z + gain), ..signals },
                Signals { coverage: signals.coverage + gain, ..signals },
                Signals { margin: signals.margin.map(|margin| margin + gain), ..signals },
            ];
            for better in better {
                prop_assert!(rank(&better) >= rank(&signals), "{better:?}");
            }
        }

        #[test]
        fn words_that_the_book_lacks_refuse_nothing(signals in signals()) {
            let lacking = Signals { coverage: 0.001, ..signals };
            prop_assert_eq!(rank(&lacking) == 0, signals.z.is_some_and(|z| z < NEAR));
        }
    }

    #[test]
    fn a_section_that_does_not_stand_out_is_doubted() {
        for (z, coverage, margin, is_asked, expected) in [
            (0.0, 0.1, Some(0.3), false, Outcome::NotCovered),
            (1.5, 0.1, Some(0.1), false, Outcome::Uncertain),
            (0.0, 0.9, Some(0.1), false, Outcome::Answered),
            (1.5, 0.1, Some(0.16), false, Outcome::Answered),
            (1.5, 0.1, Some(0.16), true, Outcome::Uncertain),
            (1.5, 0.1, Some(0.2), true, Outcome::Answered),
            (1.5, 0.1, None, false, Outcome::Uncertain),
            (1.5, 0.7, None, true, Outcome::Answered),
        ] {
            let signals = Signals {
                z: Some(z),
                coverage,
                margin,
                is_asked,
                ..Signals::default()
            };
            assert_eq!(outcome(&signals), expected, "{signals:?}");
        }
    }
}
