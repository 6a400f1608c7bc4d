//! Has a chat model write an answer from passages, within its limits and its budget.

mod readable;
mod prompt;
pub(crate) mod limits;
pub(crate) mod first_token;
pub(crate) mod lookup;
pub(crate) mod cache;

use models::chat::ChatModel;

pub(crate) use prompt::latest;
pub use prompt::{AnswerRequest, Exchange, answer_prompt, fenced, form_of_prompts, rewrite_prompt};
pub use readable::readable;

/// The backend that writes answers.
#[derive(Debug, Clone)]
pub enum Generator {
    /// Quotes the part of the book that answers best.
    Extractive,
    /// A chat model.
    Model(ChatModel),
}

impl Generator {
    pub(crate) fn is_model(&self) -> bool {
        matches!(self, Self::Model(_))
    }
}
