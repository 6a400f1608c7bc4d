//! Waiting for a model to begin its answer.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::{Instant, sleep, timeout_at};

use super::spending::estimated;
use crate::degradation::Degradation;
use crate::generate::{ChatModel, Ending, Finish, Piece, Pieces, Prompt, Usage};
use crate::provider::ProviderError;

/// How long a busy model is waited for in all, and the first wait where it names none; each other is twice as long.
const BUSY_DEADLINE: Duration = Duration::from_secs(8);
const BUSY_WAIT: Duration = Duration::from_secs(1);

/// Why a model wrote nothing, and the tokens that are paid for nevertheless.
pub(super) struct Unwritten {
    pub(super) why: NoModel,
    pub(super) usage: Option<Usage>,
}

/// Why a model writes nothing.
pub(super) enum NoModel {
    /// Another way of answering stands in; what to call what is missing.
    Without(Degradation),
    /// It has too much to do.
    Busy,
}

/// The name of an ending that cut the answer off; `None` if the answer is complete.
pub(super) fn degradation_of(finish: Finish) -> Option<Degradation> {
    match finish {
        Finish::Complete => None,
        Finish::Truncated => Some(Degradation::Truncated),
        Finish::Filtered => Some(Degradation::ContentFilter),
    }
}

/// Waits for a model's first text, and returns it with the stream of the rest.
///
/// White space is not a beginning. Thoughts that the model writes down are one.
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
            Ok(Ok(OpenMode::Text(text, pieces))) => return Ok((text, pieces)),
            Ok(Ok(OpenMode::Blank(ending))) => {
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
                // Key, model or account: the operator must see to it.
                tracing::error!(stage = "generate", error = %format_args!("the chat model {error}"), "the book's own sentences answer");
                None
            }
            ProviderError::Timeout
            | ProviderError::Unavailable(_)
            | ProviderError::Malformed(_) => {
                tracing::warn!(stage = "generate", error = %format_args!("the chat model {error}"), "the book's own sentences answer");
                // It may have been read all the same, and is paid for then.
                Some(estimated(prompt, 0))
            }
        };
        return Err(Unwritten {
            why: NoModel::Without(Degradation::Generator),
            usage,
        });
    }
}

/// How a model's answer begins.
enum OpenMode {
    /// With this text.
    Text(String, Pieces),
    /// With its end.
    Blank(Ending),
}

async fn opened(
    model: &ChatModel,
    prompt: &Prompt,
    max_tokens: u32,
) -> Result<OpenMode, ProviderError> {
    let mut pieces = model.stream(prompt, max_tokens).await?;
    let mut text = String::new();
    loop {
        match pieces.next().await.unwrap_or(Err(ProviderError::Timeout))? {
            Piece::Text(more) => text.push_str(&more),
            Piece::End(ending) => return Ok(OpenMode::Blank(ending)),
        }
        if !text.trim().is_empty() {
            return Ok(OpenMode::Text(text, pieces));
        }
    }
}
