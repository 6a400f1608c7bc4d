//! Limits on a chat model's time and input. Self-hosted models are slower than hosted ones.

use std::time::Duration;

use models::http::is_private;

/// Approximate bytes of an English token.
pub(crate) const BYTES_PER_TOKEN: usize = 4;

/// Limits on a chat model's time and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelLimits {
    /// Time from the request to the first text. After it, the answer is quoted from the book.
    pub first_text: Duration,
    /// Time for the whole answer; the text is cut off after it.
    pub answer: Duration,
    /// Time for the first sentence, which is withheld until it is checked. After it, the text is shown unchecked.
    pub first_sentence: Duration,
    /// The longest silence after the first text. The text is cut off there.
    pub silence: Duration,
    /// Approximate number of tokens of the passages to read. The best passage is always read. The conversation may have half as many in addition, and
    /// link addresses a tenth.
    pub passage_tokens: usize,
    /// How often a model may look something up in the book before it writes.
    pub lookups: usize,
    /// True if a model decides whether the passages answer: it may refuse, and its text is an answer if passages support it. The small model that was
    /// tried refused most of what its passages answer.
    pub is_trusted: bool,
}

impl ModelLimits {
    /// The limits for a hosted model. `docs/decisions/0003-one-chunk-one-vector.md` has the measurement.
    pub const HOSTED: Self = Self {
        first_text: Duration::from_secs(30),
        answer: Duration::from_secs(30),
        first_sentence: Duration::from_millis(400),
        silence: Duration::from_secs(10),
        passage_tokens: 6_000,
        lookups: 2,
        is_trusted: true,
    };
    /// The limits for a model on this machine or network, which has more time.
    pub const LOCAL: Self = Self {
        first_text: Duration::from_mins(2),
        answer: Duration::from_mins(5),
        first_sentence: Duration::from_secs(4),
        silence: Duration::from_mins(1),
        ..Self::HOSTED
    };

    /// Returns the limits for a small model, which reads less, looks nothing up and is not trusted. Without a graphics card, one of 1.5 billion
    /// parameters reads 20 to 40 tokens a second.
    #[must_use]
    pub fn small(self) -> Self {
        Self {
            passage_tokens: 1_500,
            lookups: 0,
            is_trusted: false,
            ..self
        }
    }

    /// Returns the most bytes of passages that a model reads.
    pub(crate) fn passage_bytes(&self) -> usize {
        self.passage_tokens.saturating_mul(BYTES_PER_TOKEN)
    }

    /// Returns the most bytes of conversation that a model reads.
    pub(crate) fn history_bytes(&self) -> usize {
        self.passage_bytes() / 2
    }

    /// Returns the most bytes that link addresses may add to the passages.
    pub(crate) fn link_bytes(&self) -> usize {
        self.passage_bytes() / 10
    }

    /// Returns the limits for the model at an address.
    #[must_use]
    pub fn at(base_url: &str) -> Self {
        if is_private(base_url) {
            Self::LOCAL
        } else {
            Self::HOSTED
        }
    }
}
