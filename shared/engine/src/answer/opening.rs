//! Waits for a model to begin its answer.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::{Instant, sleep, timeout_at};

use super::spending::estimated;
use crate::degradation::Degradation;
use crate::generate::{ChatModel, Ending, Finish, Piece, Pieces, Prompt, Usage};
use crate::provider::ProviderError;

/// The total time limit for retrying a busy model, and the first delay if the model names none; each further delay doubles.
const BUSY_DEADLINE: Duration = Duration::from_secs(8);
const BUSY_WAIT: Duration = Duration::from_secs(1);

/// The reason why a model wrote nothing, and the tokens to pay for anyway.
pub(super) struct Unwritten {
    pub(super) why: NoModel,
    pub(super) usage: Option<Usage>,
}

/// The reason why a model writes nothing.
pub(super) enum NoModel {
    /// Answers without the model, and reports this degradation.
    Without(Degradation),
    /// The model is overloaded.
    Busy,
}

/// Returns the degradation for an ending that cut the answer off; `None` if the answer is complete.
pub(super) fn degradation_of(finish: Finish) -> Option<Degradation> {
    match finish {
        Finish::Complete => None,
        Finish::Truncated => Some(Degradation::Truncated),
        Finish::Filtered => Some(Degradation::ContentFilter),
    }
}

/// Waits for a model's first text, and returns it with the remaining stream.
///
/// White space does not count as text; thoughts that the model writes do.
pub(super) async fn first_text(
    model: &ChatModel,
    prompt: &Prompt,
    max_tokens: u32,
    deadline: Instant,
) -> Result<(String, Pieces), Unwritten> {
    let busy_deadline = deadline.min(Instant::now() + BUSY_DEADLINE);
    let mut wait = BUSY_WAIT;
    loop {
        let opening = opened(model, prompt, max_tokens);
        let error = match timeout_at(deadline, opening).await {
            Ok(Ok(FirstText::Text(text, pieces))) => return Ok((text, pieces)),
            Ok(Ok(FirstText::Blank(ending))) => {
                tracing::warn!(stage = "generate", finish = ?ending.finish, "the model wrote nothing");
                let usage = ending.usage.unwrap_or_else(|| estimated(prompt, 0));
                return Err(Unwritten {
                    why: NoModel::Without(
                        degradation_of(ending.finish).unwrap_or(Degradation::Generator),
                    ),
                    usage: Some(usage),
                });
            }
            Ok(Err(error)) => error,
            Err(_) => ProviderError::Timeout,
        };
        let usage = match error {
            ProviderError::RateLimited { retry_after } => {
                let pause = retry_after.unwrap_or(wait);
                if pause > busy_deadline.saturating_duration_since(Instant::now()) {
                    tracing::warn!(stage = "generate", "the model is busy");
                    return Err(Unwritten {
                        why: NoModel::Busy,
                        usage: None,
                    });
                }
                sleep(pause).await;
                wait *= 2;
                continue;
            }
            ProviderError::Rejected(_) => {
                // The key, model or account is wrong, so an operator must act.
                tracing::error!(stage = "generate", error = %format_args!("the chat model {error}"), "answering with a quote");
                None
            }
            ProviderError::Timeout
            | ProviderError::Unavailable(_)
            | ProviderError::Malformed(_) => {
                tracing::warn!(stage = "generate", error = %format_args!("the chat model {error}"), "answering with a quote");
                // The provider may have processed the prompt, and then charges for it.
                Some(estimated(prompt, 0))
            }
        };
        return Err(Unwritten {
            why: NoModel::Without(Degradation::Generator),
            usage,
        });
    }
}

enum FirstText {
    /// The first text and the remaining stream.
    Text(String, Pieces),
    /// The answer ended without text.
    Blank(Ending),
}

async fn opened(
    model: &ChatModel,
    prompt: &Prompt,
    max_tokens: u32,
) -> Result<FirstText, ProviderError> {
    let mut pieces = model.stream(prompt, max_tokens).await?;
    let mut text = String::new();
    loop {
        match pieces.next().await.unwrap_or(Err(ProviderError::Timeout))? {
            Piece::Text(more) => text.push_str(&more),
            Piece::End(ending) => return Ok(FirstText::Blank(ending)),
        }
        if !text.trim().is_empty() {
            return Ok(FirstText::Text(text, pieces));
        }
    }
}
