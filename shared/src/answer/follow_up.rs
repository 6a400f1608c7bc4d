//! A question that leans on the conversation before it, made to stand alone for the search.

use std::time::Duration;

use crate::generate::{ChatModel, Ending, Turn, rewrite_prompt};
use crate::provider::ProviderError;

/// The longest rewritten question, in tokens, and how long the model has for it.
const MAX_REWRITTEN_TOKENS: u32 = 120;
const DEADLINE: Duration = Duration::from_secs(4);
/// Characters that a rewritten question may have; what is longer is no question.
const MAX_REWRITTEN_CHARACTERS: usize = 600;

/// The question behind the one before: what is searched for without a model that rewrites.
pub(super) fn joined(question: &str, history: &[Turn]) -> String {
    let mut before = history.iter().rev().map(|turn| turn.question.as_str());
    match before.find(|text| !text.is_empty()) {
        Some(before) => format!("{before}\n{question}"),
        None => question.to_owned(),
    }
}

/// Asks a model for the question that stands alone.
pub(super) async fn rewritten(
    model: &ChatModel,
    question: &str,
    history: &[Turn],
    fence: &str,
) -> Result<(String, Ending), ProviderError> {
    let prompt = rewrite_prompt(question, history, fence);
    let asked = model.complete(&prompt, MAX_REWRITTEN_TOKENS);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_model_the_last_question_goes_before() {
        let turn = |question: &str| Turn {
            question: question.to_owned(),
            answer: Some("yes".to_owned()),
        };
        let history = [turn("What is a node?"), turn("")];
        assert_eq!(joined("Why?", &history), "What is a node?\nWhy?");
        assert_eq!(joined("Why?", &[]), "Why?");
    }
}
