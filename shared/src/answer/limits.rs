//! How long a chat model may take, and how much it reads: a model of one's own is slower than a hosted one.

use std::time::Duration;

use crate::http::is_private;

/// Bytes of a token of English, about.
pub(super) const BYTES_PER_TOKEN: usize = 4;

/// What a chat model is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelLimits {
    /// How long it has for its first text, from the request to the model. Without any by then the book's own sentences answer.
    pub first_text: Duration,
    /// How long it has for an answer in all. What it has not written by then is cut off.
    pub answer: Duration,
    /// How many tokens the passages that it reads have, about. The best passage is always read. The conversation before may have
    /// half as many, and the addresses of links a tenth.
    pub passage_tokens: usize,
}

impl ModelLimits {
    /// Those of a hosted model. `ARCHITECTURE.md` has the measurements for the passages.
    pub const HOSTED: Self = Self {
        first_text: Duration::from_secs(30),
        answer: Duration::from_secs(30),
        passage_tokens: 2_500,
    };
    /// Those of a model on this machine or in this network: without a graphics card one reads 20 to 40 tokens a second.
    pub const LOCAL: Self = Self {
        first_text: Duration::from_mins(2),
        answer: Duration::from_mins(5),
        passage_tokens: 1_500,
    };

    /// How many bytes of passages a model reads.
    pub(super) fn passage_bytes(&self) -> usize {
        self.passage_tokens.saturating_mul(BYTES_PER_TOKEN)
    }

    /// How many bytes of the conversation before a question a model reads.
    pub(super) fn history_bytes(&self) -> usize {
        self.passage_bytes() / 2
    }

    /// How many bytes the addresses of links may add to the passages.
    pub(super) fn link_bytes(&self) -> usize {
        self.passage_bytes() / 10
    }

    /// Those of the model at an address.
    #[must_use]
    pub fn at(base_url: &str) -> Self {
        if is_private(base_url) {
            Self::LOCAL
        } else {
            Self::HOSTED
        }
    }
}
