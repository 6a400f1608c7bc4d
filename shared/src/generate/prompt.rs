//! What a model is told and asked: the texts of `prompts/`, with the passages and the reader's words as data between fences.

use super::Passage;
use super::readable::readable;

/// The rules for answers.
const ANSWER: &str = include_str!("../../prompts/answer.md");
/// What is said last, after the question: a small model keeps to what it read last. With the rules above alone it made up steps.
const LAST: &str = "The passages stand best first, and most may be beside the point. Answer the reader's question, which may be a few \
    words or a problem to solve, briefly and from the passages alone. Give no step, command, option or code that they do not have. \
    If they do not answer it, reply only: {refusal}";
/// The rules for questions that are to stand alone.
const REWRITE: &str = include_str!("../../prompts/rewrite.md");

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The rules.
    pub system: String,
    /// Passages, conversation and question.
    pub user: String,
}

/// A question of a conversation, with its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// What the reader asked; empty when a client's history begins with an answer.
    pub question: String,
    /// What was answered; absent when the answer broke off.
    pub answer: Option<String>,
}

/// All that an answer is asked for with.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The book's title.
    pub book: &'a str,
    /// What is to be said when the passages do not answer.
    pub refusal: &'a str,
    /// The passages, in order.
    pub passages: &'a [Passage<'a>],
    /// The conversation before, oldest first.
    pub history: &'a [Turn],
    /// The text the reader selected.
    pub selected_text: Option<&'a str>,
    /// The reader's own words on what it is about.
    pub context: Option<&'a str>,
    /// The page that the reader is on.
    pub page: Option<&'a str>,
    /// The version of the book that the passages are of, if it has several.
    pub version: Option<&'a str>,
    /// The question.
    pub question: &'a str,
}

/// The rules for answers, in pieces: without what is filled in, a book's title or a sentence that a model may well write.
pub fn rules_of_answers() -> impl Iterator<Item = &'static str> {
    let pieces = [ANSWER, LAST]
        .into_iter()
        .flat_map(|rules| rules.split(['{', '}']));
    pieces.filter(|piece| !["book", "refusal", "fence"].contains(piece))
}

/// The prompt for an answer. `fence` is a word that nobody who wrote a text in it could know, so that no text can close its
/// fence.
#[must_use]
pub fn answer_prompt(asked: &Asked<'_>, fence: &str) -> Prompt {
    let system = ANSWER
        .replace("{book}", asked.book)
        .replace("{refusal}", asked.refusal)
        .replace("{fence}", fence);
    let mut user = String::new();
    for passage in asked.passages {
        let (n, candidate) = (passage.n, passage.candidate);
        let about = format!("passage [{n}], from: {}", candidate.chunk.breadcrumb);
        let text = readable(&candidate.chunk.text, &candidate.chunk.marks);
        data(&mut user, fence, &about, &text);
    }
    conversation(&mut user, fence, asked.history);
    if let Some(selected) = asked.selected_text {
        data(
            &mut user,
            fence,
            "text the reader selected on the page",
            selected,
        );
    }
    if let Some(context) = asked.context {
        let about = "the reader's words on what the question is about, which are no source";
        data(&mut user, fence, about, context);
    }
    for (about, place) in [
        ("the page that the reader is on", asked.page),
        ("the book's version that the passages are of", asked.version),
    ] {
        if let Some(place) = place {
            data(&mut user, fence, about, place);
        }
    }
    data(&mut user, fence, "the reader's question", asked.question);
    user.push_str(&LAST.replace("{refusal}", asked.refusal));
    Prompt { system, user }
}

/// The prompt for an answer without anything filled in: what is the same in all of them.
#[must_use]
pub fn form_of_prompts() -> Prompt {
    let nothing = Asked {
        book: "",
        refusal: "",
        passages: &[],
        history: &[],
        selected_text: None,
        context: None,
        page: Some(""),
        version: Some(""),
        question: "",
    };
    answer_prompt(&nothing, "")
}

/// The prompt that makes a follow-up stand alone.
#[must_use]
pub fn rewrite_prompt(question: &str, history: &[Turn], fence: &str) -> Prompt {
    let mut user = String::new();
    conversation(&mut user, fence, history);
    data(&mut user, fence, "the reader's last question", question);
    user.push_str("Rewrite the reader's last question by the rules.");
    Prompt {
        system: REWRITE.replace("{fence}", fence),
        user,
    }
}

fn conversation(user: &mut String, fence: &str, history: &[Turn]) {
    for turn in history {
        if !turn.question.is_empty() {
            data(user, fence, "the reader asked earlier", &turn.question);
        }
        let answer = turn.answer.as_deref().unwrap_or("(broke off)");
        data(user, fence, "the answer then", answer);
    }
}

/// A text between fences, with a line of ours on what it is.
fn data(user: &mut String, fence: &str, about: &str, text: &str) {
    // What it is from may be an author's words: it stays on its line.
    let about = about.replace(['\n', '\r'], " ");
    user.push_str(&format!("{fence} begin: {about}\n{text}\n{fence} end\n\n"));
}

#[cfg(test)]
mod tests;
