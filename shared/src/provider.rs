//! Why a model gave no answer, whatever it was asked for and wherever it runs.

use std::time::Duration;

/// Why an embedder, a reranker or a chat model gave no answer.
///
/// A message is a predicate: the port that asked puts its subject before it ("the embedder", "the reranker", "the chat model").
/// It never holds what was sent, what came back, or a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The provider wants fewer requests; try again, after that time if it named one.
    #[error("limits requests{}", wait(*retry_after))]
    RateLimited {
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// No answer came in time; a later request may succeed.
    #[error("timed out")]
    Timeout,
    /// The model cannot be reached, loaded or run, or broke off; a later request may succeed.
    #[error("is unavailable: {0}")]
    Unavailable(String),
    /// The request is refused and will be again: key, model or input.
    #[error("refused: {0}")]
    Rejected(String),
    /// The answer is not of the form that was asked for.
    #[error("gave a malformed answer: {0}")]
    Malformed(String),
}

impl ProviderError {
    /// True if the same request may succeed later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Timeout | Self::Unavailable(_) => true,
            Self::Rejected(_) | Self::Malformed(_) => false,
        }
    }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| {
        format!("; try again in {} s", wait.as_secs_f32().ceil())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_limit_names_the_wait() {
        let error = |retry_after| ProviderError::RateLimited { retry_after }.to_string();
        assert_eq!(error(None), "limits requests");
        let wait = Some(Duration::from_millis(1_500));
        assert_eq!(error(wait), "limits requests; try again in 2 s");
    }
}
