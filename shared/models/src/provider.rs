//! Errors of hosted and local models.

use std::time::Duration;

/// The reason why an embedder, a reranker or a chat model gave no answer.
///
/// A message is a predicate; the caller adds the subject ("the embedder", "the reranker", "the chat model"). It never contains the request, the
/// response or a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The provider limits requests; retry after the delay, if there is one.
    #[error("limits requests{}", wait(*retry_after))]
    RateLimited {
        /// The delay requested by the provider.
        retry_after: Option<Duration>,
    },
    /// No answer arrived in time; a later request may succeed.
    #[error("timed out")]
    Timeout,
    /// The model cannot be reached, loaded or run, or failed midway; a later request may succeed.
    #[error("is unavailable: {0}")]
    Unavailable(String),
    /// The key, account or model is refused, so every request will fail.
    #[error("refused: {0}")]
    Unauthorized(String),
    /// The request is refused, so a retry will fail too.
    #[error("refused: {0}")]
    Rejected(String),
    /// The answer has an unexpected format.
    #[error("gave a malformed answer: {0}")]
    Malformed(String),
}

impl ProviderError {
    /// True if the same request may succeed later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Timeout | Self::Unavailable(_) => true,
            Self::Unauthorized(_) | Self::Rejected(_) | Self::Malformed(_) => false,
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
