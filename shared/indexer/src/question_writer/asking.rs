//! Asks a chat model for the questions of a section, and waits where it limits requests.

use std::time::Duration;

use super::prompt::{MAX_QUESTIONS_TOKENS, parse_questions};
use models::chat::{ChatModel, Finish, Prompt, Usage};
use models::provider::ProviderError;

/// The most requests for one section while the model limits requests.
const MAX_LIMITED: u32 = 8;
/// The most requests for one section after other failures that may pass.
const MAX_FAILED: u32 = 3;
/// The wait before the second request; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait that a provider may ask for.
const MAX_WAIT: Duration = Duration::from_mins(5);

/// The outcome of asking for the questions of a section.
#[derive(Debug)]
pub struct Asked {
    /// The questions, at least one.
    pub questions: Result<Vec<String>, AskFailure>,
    /// The tokens used; `None` if the provider does not report them.
    pub usage: Option<Usage>,
}

/// Why a section has no questions.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskFailure {
    /// The model gave no answer.
    #[error("the chat model {0}")]
    Model(ProviderError),
    /// The model's answer has no usable question. Asking again is unlikely to help.
    #[error("{0}")]
    Unusable(&'static str),
}

/// Asks for the questions of a section. Calls `waiting` before each wait for another request.
pub async fn ask_for_questions(
    model: &ChatModel,
    prompt: &Prompt,
    mut waiting: impl FnMut(&ProviderError, Duration),
) -> Asked {
    let mut attempt = 0;
    loop {
        let answer = model.complete(prompt, MAX_QUESTIONS_TOKENS).await;
        attempt += 1;
        let error = match answer {
            Ok((text, ending)) => {
                return Asked {
                    questions: usable(&text, ending.finish),
                    usage: ending.usage,
                };
            }
            Err(error) => error,
        };
        let Some(wait) = wait(&error, attempt) else {
            return Asked {
                questions: Err(AskFailure::Model(error)),
                usage: Some(Usage::default()),
            };
        };
        waiting(&error, wait);
        tokio::time::sleep(wait).await;
    }
}

fn usable(text: &str, finish: Finish) -> Result<Vec<String>, AskFailure> {
    if finish == Finish::Filtered {
        return Err(AskFailure::Unusable(
            "the provider's content filter stopped the model",
        ));
    }
    let text = match finish {
        // The last line may be half a question.
        Finish::Truncated => text.rsplit_once('\n').map_or("", |(whole, _)| whole),
        _ => text,
    };
    match parse_questions(text) {
        questions if questions.is_empty() => Err(AskFailure::Unusable(
            "the chat model wrote no line that is a question",
        )),
        questions => Ok(questions),
    }
}

/// Returns the wait before the next request; `None` if there is none.
fn wait(error: &ProviderError, attempt: u32) -> Option<Duration> {
    let backoff = FIRST_WAIT * 2u32.pow(attempt - 1);
    match error {
        ProviderError::RateLimited { retry_after } if attempt < MAX_LIMITED => {
            Some(retry_after.unwrap_or(backoff).min(MAX_WAIT))
        }
        ProviderError::RateLimited { .. } => None,
        error if error.may_pass() && attempt < MAX_FAILED => Some(backoff),
        _ => None,
    }
}
