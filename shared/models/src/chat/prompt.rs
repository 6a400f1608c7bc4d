//! A prompt, and the fences around what it quotes.

use uuid::Uuid;

use super::functions::Functions;

/// A prompt for a chat model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The rules.
    pub system: String,
    /// Passages, conversation and question.
    pub user: String,
    /// The functions that the model may call, and the calls so far.
    pub functions: Functions,
}

impl Prompt {
    /// Returns the bytes that the model reads.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let results = self.functions.rounds.iter().flatten();
        let results: usize = results
            .map(|called| called.call.arguments.len() + called.result.len())
            .sum();
        self.system.len() + self.user.len() + results
    }
}

/// Hexadecimal digits of a fence: 48 random bits. Each fence line costs a model about one token per digit.
const FENCE_DIGITS: usize = 12;

/// Returns a word that encloses untrusted data in a prompt. It is random, so the data cannot contain it.
#[must_use]
pub fn fence(message_id: Uuid) -> String {
    let digits = message_id.simple().to_string();
    format!("data-{}", &digits[..FENCE_DIGITS])
}

/// Appends a fenced text, with a line that describes it.
pub fn push_fenced(user: &mut String, fence: &str, about: &str, text: &str) {
    open_fence(user, fence, about, text);
    close_fence(user, fence);
}

/// Appends the line that describes a fenced text, and the text.
pub fn open_fence(user: &mut String, fence: &str, about: &str, text: &str) {
    // The description may contain an author's words, so it must stay on one line.
    let about = about.replace(['\n', '\r'], " ");
    user.push_str(&format!("{fence} begin: {about}\n{text}\n"));
}

/// Appends the line after a fenced text.
pub fn close_fence(user: &mut String, fence: &str) {
    user.push_str(&format!("{fence} end\n\n"));
}
