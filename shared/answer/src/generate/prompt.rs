//! Builds prompts from the texts in `prompts/`, with the passages and the reader's words as fenced data.

use super::readable::readable;
use crate::quote::Passage;
use models::chat::{Functions, Prompt, close_fence, open_fence, push_fenced};

/// The rules for answers.
const ANSWER: &str = include_str!("../../prompts/answer.md");
/// Repeated after the question, because small models follow the latest instructions best. Without it, a small model invented steps. It does not say
/// how to refuse: with the refusal here, a small model refused 19 of 20 questions that the site answers.
const LAST: &str = "The passages stand best first, and most may be beside the point. Answer the reader's question, which may be a few \
    words or a problem to solve, briefly and from the passages alone. Give no step, command or option that they do not have.";
/// The rules for rewriting a question to stand alone.
const REWRITE: &str = include_str!("../../prompts/rewrite.md");

/// Inserted before [`LAST`] for a model that may call functions.
const LOOK_UP: &str = "If the passages do not answer, look it up before you write: call search with the words that the book may use, or fetch to \
    read on where a passage is cut. ";

/// A question of a conversation, with its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The reader's question; empty if a client's history begins with an answer.
    pub question: String,
    /// The answer; `None` if it is incomplete.
    pub answer: Option<String>,
}

/// The parts of a prompt for an answer.
#[derive(Debug, Clone)]
pub struct AnswerRequest<'a> {
    /// The book's title.
    pub book: &'a str,
    /// The sentence to write if the passages do not answer.
    pub refusal: &'a str,
    /// The passages, in order.
    pub passages: &'a [Passage<'a>],
    /// The conversation so far, oldest first.
    pub history: &'a [Exchange],
    /// The text the reader selected.
    pub selected_text: Option<&'a str>,
    /// Background on the question, in the reader's words.
    pub context: Option<&'a str>,
    /// The page that the reader has open.
    pub page: Option<&'a str>,
    /// The version of the passages, if the book has several.
    pub version: Option<&'a str>,
    /// The reader's question, as asked.
    pub question: &'a str,
    /// How often the model may look something up in the book before it writes.
    pub lookups: usize,
}

/// Returns the prompt for an answer. `fence` is a word that the authors of the inserted texts cannot know, so no text can close its fence.
#[must_use]
pub fn answer_prompt(asked: &AnswerRequest<'_>, fence: &str) -> Prompt {
    let system = ANSWER
        .replace("{book}", asked.book)
        .replace("{refusal}", asked.refusal)
        .replace("{fence}", fence);
    let mut user = fenced(asked.passages, fence);
    conversation(&mut user, fence, asked.history);
    if let Some(selected) = asked.selected_text {
        push_fenced(
            &mut user,
            fence,
            "text the reader selected on the page",
            selected,
        );
    }
    if let Some(context) = asked.context {
        let about = "the reader's words on what the question is about, which are no source";
        push_fenced(&mut user, fence, about, context);
    }
    for (about, place) in [
        ("the page that the reader is on", asked.page),
        ("the book's version that the passages are of", asked.version),
    ] {
        if let Some(place) = place {
            push_fenced(&mut user, fence, about, place);
        }
    }
    push_fenced(&mut user, fence, "the reader's question", asked.question);
    if asked.lookups > 0 {
        user.push_str(LOOK_UP);
    }
    user.push_str(LAST);
    Prompt {
        system,
        user,
        functions: Functions {
            left: asked.lookups,
            rounds: Vec::new(),
        },
    }
}

/// Returns passages with their numbers, as fenced data.
#[must_use]
pub fn fenced(passages: &[Passage<'_>], fence: &str) -> String {
    let mut text = String::new();
    for passage in passages {
        let (n, chunk) = (passage.n, &passage.candidate.chunk);
        let cut = if chunk.goes_on() { ", cut" } else { "" };
        let about = format!("passage [{n}]{cut}, from: {}", chunk.breadcrumb);
        open_fence(
            &mut text,
            fence,
            &about,
            &readable(&chunk.text, &chunk.marks),
        );
    }
    // There may be dozens of passages, so only the last one has a line for its end.
    if !passages.is_empty() {
        close_fence(&mut text, fence);
    }
    text
}

/// Returns the constant part of the prompt for an answer.
#[must_use]
pub fn form_of_prompts() -> Prompt {
    let nothing = AnswerRequest {
        book: "",
        refusal: "",
        passages: &[],
        history: &[],
        selected_text: None,
        context: None,
        page: Some(""),
        version: Some(""),
        question: "",
        lookups: 1,
    };
    answer_prompt(&nothing, "")
}

/// Returns the prompt for rewriting a question to stand alone, in its own language or in that of a locale.
#[must_use]
pub fn rewrite_prompt(
    question: &str,
    history: &[Exchange],
    locale: Option<&str>,
    fence: &str,
) -> Prompt {
    let language = locale.map_or_else(
        || "the language of the question".to_owned(),
        |locale| format!("the language with the code {locale}"),
    );
    let mut user = String::new();
    conversation(&mut user, fence, history);
    push_fenced(&mut user, fence, "the reader's last question", question);
    user.push_str("Rewrite the reader's last question by the rules.");
    Prompt {
        system: REWRITE
            .replace("{language}", &language)
            .replace("{fence}", fence),
        user,
        functions: Functions::default(),
    }
}

/// Returns the latest exchanges of a conversation, oldest first, up to `max_bytes` together. The last one is always included.
pub(crate) fn latest(history: &[Exchange], max_bytes: usize) -> &[Exchange] {
    let mut left = max_bytes;
    let newest_first = history.iter().rev();
    let fit = newest_first.take_while(|exchange| {
        let bytes = exchange.question.len() + exchange.answer.as_ref().map_or(0, String::len);
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    });
    let kept = fit.count().max(1);
    &history[history.len().saturating_sub(kept)..]
}

fn conversation(user: &mut String, fence: &str, history: &[Exchange]) {
    for exchange in history {
        if !exchange.question.is_empty() {
            push_fenced(user, fence, "the reader asked earlier", &exchange.question);
        }
        let answer = exchange.answer.as_deref().unwrap_or("(broke off)");
        push_fenced(user, fence, "the answer then", answer);
    }
}

#[cfg(test)]
mod tests;
