//! Whether the book answers a question.

use serde::{Deserialize, Serialize};

use crate::retrieve::Signals;

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The book answers it.
    Answered,
    /// The book may not answer it. The answer names the sections that come closest, or a model has written one from them.
    Uncertain,
    /// The book has nothing near it.
    NotCovered,
}

/// A weighted sum of signals: the logarithm of the odds that the book answers, up to a constant. Fitted by logistic
/// regression on the questions of four books.
///
/// `ARCHITECTURE.md` has the questions, the rates and the curve.
struct Rule {
    z: f32,
    lexical: f32,
    unknown_words: f32,
    rerank_logit: f32,
    /// The least sum that counts as an answer.
    answered: f32,
}

/// With the cross-encoder. It does not look at the cosine.
const RERANKED: Rule = Rule {
    z: 0.0,
    lexical: 9.3,
    unknown_words: 0.0,
    rerank_logit: 0.27,
    answered: 0.16,
};
/// Without one, by cosines on the scale that the index has measured, so it holds for every embedder.
const CALIBRATED: Rule = Rule {
    z: 2.41,
    lexical: 8.29,
    unknown_words: -3.18,
    rerank_logit: 0.0,
    answered: 1.28,
};
/// By the words alone, where no model reads the question, or the index has not measured what its cosines mean.
const WORDS: Rule = Rule {
    z: 0.0,
    lexical: 9.5,
    unknown_words: -4.5,
    rerank_logit: 0.0,
    answered: -0.6,
};
/// How far below an answer a question is uncertain, in the logarithm of the odds: down to odds that are e times worse.
const UNCERTAIN: f32 = 1.0;
/// A reranker's scores are this far from 0 and 1 at least, so that logits are finite.
const SMALLEST: f32 = 1e-6;

impl Rule {
    fn sum(&self, signals: &Signals) -> f32 {
        let rerank = signals
            .rerank
            .unwrap_or(0.5)
            .clamp(SMALLEST, 1.0 - SMALLEST);
        let logit = (rerank / (1.0 - rerank)).ln();
        self.z * signals.z.unwrap_or_default()
            + self.lexical * signals.lexical
            + self.unknown_words * signals.unknown_words
            + self.rerank_logit * logit
    }
}

/// Decides whether the book answers a question, from what a search for it found.
#[must_use]
pub fn outcome(signals: &Signals) -> Outcome {
    let rule = match (signals.rerank, signals.z) {
        (Some(_), _) => RERANKED,
        (None, Some(_)) => CALIBRATED,
        (None, None) => WORDS,
    };
    let sum = rule.sum(signals);
    if sum >= rule.answered {
        Outcome::Answered
    } else if sum >= rule.answered - UNCERTAIN {
        Outcome::Uncertain
    } else {
        Outcome::NotCovered
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
        let share = || 0.0_f32..=1.0;
        let z = proptest::option::of(-1.0_f32..2.0);
        (z, share(), share(), proptest::option::of(share())).prop_map(
            |(z, lexical, unknown_words, rerank)| Signals {
                z,
                lexical,
                unknown_words,
                rerank,
                ..Signals::default()
            },
        )
    }

    proptest! {
        #[test]
        fn a_better_signal_never_makes_the_outcome_worse(signals in signals(), gain in 0.0_f32..1.0) {
            let better = [
                Signals { z: signals.z.map(|z| z + gain), ..signals },
                Signals { lexical: signals.lexical + gain, ..signals },
                Signals { unknown_words: signals.unknown_words - gain, ..signals },
                Signals { rerank: signals.rerank.map(|score| (score + gain).min(1.0)), ..signals },
            ];
            for better in better {
                prop_assert!(rank(&better) >= rank(&signals), "{better:?}");
            }
        }
    }

    #[test]
    fn each_rule_has_all_three_outcomes() {
        for (z, rerank) in [(None, None), (Some(0.5), None), (None, Some(0.01))] {
            let shares = (0..=1_000_u16).map(|lexical| {
                outcome(&Signals {
                    z,
                    rerank,
                    lexical: f32::from(lexical) / 1_000.0,
                    unknown_words: 1.0,
                    ..Signals::default()
                })
            });
            let mut outcomes: Vec<Outcome> = shares.collect();
            outcomes.dedup();
            let expected = [Outcome::NotCovered, Outcome::Uncertain, Outcome::Answered];
            assert_eq!(outcomes, expected, "{z:?} {rerank:?}");
        }
    }
}
