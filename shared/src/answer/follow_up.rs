//! A question that leans on the conversation before it, made to stand alone for the search.

use std::time::Duration;

use crate::generate::{ChatModel, Ending, GenerateError, Turn, rewrite_prompt};
use crate::retrieve::{Language, Words};

/// Words that point back.
const POINTERS: [&str; 16] = [
    "it", "its", "that", "this", "these", "those", "they", "them", "their", "one", "ones", "he",
    "she", "former", "latter", "same",
];
/// Beginnings of a question that goes on from another.
const CONTINUATIONS: [&str; 12] = [
    "and ",
    "but ",
    "so ",
    "or ",
    "what about",
    "how about",
    "why not",
    "then ",
    "also ",
    "what else",
    "tell me more",
    "go on",
];
/// A question with fewer words of its own says too little alone.
const MIN_OWN_WORDS: usize = 2;
/// The longest rewritten question, in tokens, and how long the model has for it.
const MAX_REWRITTEN_TOKENS: u32 = 120;
const DEADLINE: Duration = Duration::from_secs(4);
/// Characters that a rewritten question may have; what is longer is no question.
const MAX_REWRITTEN_CHARACTERS: usize = 600;

/// Whether a question cannot be understood without those before it.
pub(super) fn leans_back(question: &str) -> bool {
    let lower = question.to_lowercase();
    let points = lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| POINTERS.contains(&word));
    let goes_on = CONTINUATIONS.iter().any(|start| lower.starts_with(start));
    points || goes_on || Words::of(Language::ENGLISH).terms(&lower).len() < MIN_OWN_WORDS
}

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
) -> Result<(String, Ending), GenerateError> {
    let prompt = rewrite_prompt(question, history, fence);
    let asked = model.complete(&prompt, MAX_REWRITTEN_TOKENS);
    let (text, ending) = tokio::time::timeout(DEADLINE, asked)
        .await
        .map_err(|_| GenerateError::Timeout)??;
    let text = text.trim().trim_matches('"').trim();
    let one_line = !text.is_empty() && !text.contains('\n');
    if !one_line || text.chars().count() > MAX_REWRITTEN_CHARACTERS {
        return Err(GenerateError::Malformed("no question".to_owned()));
    }
    Ok((text.to_owned(), ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_lean_on_others_are_known() {
        for question in [
            "And what does it cost?",
            "Why?",
            "How do I install that?",
            "What about topics?",
        ] {
            assert!(leans_back(question), "{question}");
        }
        for question in [
            "How do nodes talk to each other in ROS 2?",
            "What is a quality of service profile?",
        ] {
            assert!(!leans_back(question), "{question}");
        }
    }

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
