//! Whether the book covers a question.

use crate::retrieve::{Retrieved, Signals};

/// A weighted sum of signals and the least it must be, fitted by logistic regression on the questions of four books.
///
/// `ARCHITECTURE.md` has the questions, the rates and the curve.
struct Decision {
    cosine: f32,
    lexical: f32,
    unknown_words: f32,
    rerank_logit: f32,
    least: f32,
}

/// With the cross-encoder. It does not look at the cosine, so it holds for every embedder.
const RERANKED: Decision = Decision {
    cosine: 0.0,
    lexical: 9.3,
    unknown_words: 0.0,
    rerank_logit: 0.27,
    least: 0.16,
};
/// Without one, by the cosines of bge-small.
const RETRIEVED: Decision = Decision {
    cosine: 15.0,
    lexical: 7.8,
    unknown_words: -3.4,
    rerank_logit: 0.0,
    least: 10.2,
};
/// By the words alone, where no model reads the question, or what its scores mean was not measured.
const WORDS: Decision = Decision {
    cosine: 0.0,
    lexical: 9.5,
    unknown_words: -4.5,
    rerank_logit: 0.0,
    least: -0.6,
};
/// A reranker's scores are this far from 0 and 1 at least, so that logits are finite.
const SMALLEST: f32 = 1e-6;

impl Decision {
    fn covers(&self, signals: &Signals) -> bool {
        let rerank = signals
            .rerank
            .unwrap_or(0.5)
            .clamp(SMALLEST, 1.0 - SMALLEST);
        let logit = (rerank / (1.0 - rerank)).ln();
        let sum = self.cosine * signals.cosine.unwrap_or_default()
            + self.lexical * signals.lexical
            + self.unknown_words * signals.unknown_words
            + self.rerank_logit * logit;
        sum >= self.least
    }
}

/// Whether what was found covers the question. Without candidates: no.
#[must_use]
pub fn covers(retrieved: &Retrieved) -> bool {
    let decision = match (retrieved.signals.rerank, retrieved.signals.cosine) {
        (Some(_), _) => RERANKED,
        (None, Some(_)) => RETRIEVED,
        (None, None) => WORDS,
    };
    !retrieved.candidates.is_empty() && decision.covers(&retrieved.signals)
}
