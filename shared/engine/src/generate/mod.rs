//! Writes an answer from passages and a question, citing passages by number.

mod cohere;
mod extractive;
mod blocks;
mod similarity;
mod openai;
mod functions;
mod readable;
mod prompt;
mod questions;
mod asking;

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;

use crate::retrieve::ScoredChunk;
use models::prices::Price;
use models::provider::ProviderError;

pub use asking::{AskFailure, Asked, ask_for_questions};
pub use cohere::CohereChat;
pub use functions::{Called, FunctionCall, Functions, Lookup};
pub use openai::OpenAiChat;
pub use prompt::{
    AnswerRequest, Exchange, Prompt, answer_prompt, fence, fenced, form_of_prompts, rewrite_prompt,
    rules_of_answers,
};
pub use questions::{
    MAX_QUESTIONS_TOKENS, USUAL_QUESTIONS_TOKENS, parse_questions, questions_prompt,
    tokens_of_prompt,
};
pub use readable::readable;
pub use similarity::Similarities;

/// Writes answers.
#[derive(Debug, Clone)]
pub enum Generator {
    /// Quotes the part of the book that answers best.
    Extractive,
    /// A chat model.
    Model(ChatModel),
}

/// A chat model; clones share connections.
#[derive(Debug, Clone)]
pub enum ChatModel {
    /// A model behind an OpenAI-compatible API.
    OpenAi(OpenAiChat),
    /// A Cohere model.
    Cohere(CohereChat),
}

/// A passage the answer may use, cited as `[n]`.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// The passage's number, from 1.
    pub n: usize,
    /// The section's chunk.
    pub candidate: &'a ScoredChunk,
}

/// Connection settings of a chat model.
#[derive(Debug, Clone)]
pub struct ChatOptions {
    /// The URL before the API's path.
    pub base_url: String,
    /// The bearer token; local servers need none.
    pub api_key: Option<secrecy::SecretString>,
    /// The model's name.
    pub model: String,
    /// Time limit for one complete answer.
    pub timeout: Duration,
    /// The model's price, if it differs from the list price.
    pub price: Option<Price>,
}

/// A piece of a model's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Non-empty text.
    Text(String),
    /// The functions that the model calls instead of writing on.
    Calls(Vec<FunctionCall>),
    /// The end of the output.
    End(Ending),
}

/// How a model's answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Why the model stopped.
    pub finish: Finish,
    /// The tokens used, if the provider reports them.
    pub usage: Option<Usage>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The answer is complete.
    Complete,
    /// The answer reached its token or time limit.
    Truncated,
    /// The provider's content filter stopped the model.
    Filtered,
}

/// Tokens of one call, as counted by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// A model's output, piece by piece; dropping it stops the model.
pub type Pieces = BoxStream<'static, Result<Piece, ProviderError>>;

impl ChatModel {
    /// Sends a prompt to the model, which may write `max_tokens` tokens. The stream ends with [`Piece::End`], or with an error.
    ///
    /// # Errors
    /// Any [`ProviderError`].
    pub async fn stream(&self, prompt: &Prompt, max_tokens: u32) -> Result<Pieces, ProviderError> {
        match self {
            Self::OpenAi(model) => model.stream(prompt, max_tokens).await,
            Self::Cohere(model) => model.stream(prompt, max_tokens).await,
        }
    }

    /// Requests a short text and waits for all of it.
    ///
    /// # Errors
    /// Any [`ProviderError`].
    pub async fn complete(
        &self,
        prompt: &Prompt,
        max_tokens: u32,
    ) -> Result<(String, Ending), ProviderError> {
        let mut pieces = self.stream(prompt, max_tokens).await?;
        let mut text = String::new();
        while let Some(piece) = pieces.next().await {
            match piece? {
                Piece::Text(more) => text.push_str(&more),
                Piece::Calls(_) => {}
                Piece::End(ending) => return Ok((text, ending)),
            }
        }
        Err(broke_off())
    }

    /// Checks, free of charge, that the provider is reachable and accepts the key.
    ///
    /// # Errors
    /// Any [`ProviderError`].
    pub async fn ping(&self) -> Result<(), ProviderError> {
        match self {
            Self::OpenAi(model) => model.ping().await,
            Self::Cohere(model) => model.ping().await,
        }
    }

    /// The model's address and name.
    #[must_use]
    pub fn identity(&self) -> String {
        match self {
            Self::OpenAi(model) => model.identity(),
            Self::Cohere(model) => model.identity(),
        }
    }

    /// Returns the model's price; `None` if it is unknown, as for self-hosted models.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        match self {
            Self::OpenAi(model) => model.price(),
            Self::Cohere(model) => model.price(),
        }
    }
}

/// The error for an answer that ended midway.
fn broke_off() -> ProviderError {
    ProviderError::Unavailable("the answer broke off".to_owned())
}

/// A piece of an extractive answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quote {
    /// Markdown that renders as exactly the book's text: a block, or the space between two. Text that looks like a marker is not a citation.
    Text(String),
    /// The number of the passage of the preceding text.
    Citation(usize),
}

/// Returns the extractive answer; empty if no passage has text. `similarities` compare the passages' lines with the question; without them, shared
/// words are used. `continues` is written after a quote that ends before its section.
#[must_use]
pub fn extract(
    query: &str,
    passages: &[Passage<'_>],
    similarities: Option<&Similarities>,
    continues: &str,
) -> Vec<Quote> {
    extractive::answer(query, passages, similarities, continues)
}

/// Returns the block of a passage that fits the question best, as plain text; empty if the passage has no text of its own.
#[must_use]
pub fn brief(query: &str, passage: &Passage<'_>, similarities: Option<&Similarities>) -> String {
    extractive::brief(query, passage, similarities)
}
