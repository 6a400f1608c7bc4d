//! Rewrites a question that depends on the conversation, or is in another language than the book, so that the search can use it alone.

use std::time::Duration;

use models::chat::{ChatModel, Ending, Prompt};
use models::provider::ProviderError;

/// The longest rewritten question in tokens, and the time limit for rewriting.
pub(crate) const MAX_REWRITTEN_TOKENS: u32 = 120;
const DEADLINE: Duration = Duration::from_secs(4);
/// The longest rewritten question in characters; longer text is rejected.
const MAX_REWRITTEN_CHARACTERS: usize = 600;

/// Asks a model for the standalone question.
pub(crate) async fn rewritten(
    model: &ChatModel,
    prompt: &Prompt,
) -> Result<(String, Ending), ProviderError> {
    let asked = model.complete(prompt, MAX_REWRITTEN_TOKENS);
    let (text, ending) = tokio::time::timeout(DEADLINE, asked)
        .await
        .map_err(|_| ProviderError::Timeout)??;
    let text = text.trim().trim_matches('"').trim();
    let one_line = !text.is_empty() && !text.contains('\n');
    if !one_line || text.chars().count() > MAX_REWRITTEN_CHARACTERS {
        return Err(ProviderError::Malformed("no question".to_owned()));
    }
    Ok((text.to_owned(), ending))
}
