//! Port: passages and a question to an answer that cites them by number.

mod cohere;
mod extractive;
mod blocks;
mod similarity;
mod openai;
mod readable;
mod prompt;

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;

use crate::index::ChunkPayload;
use crate::prices::Price;
use crate::provider::ProviderError;
use crate::retrieve::ScoredChunk;

pub use cohere::CohereChat;
pub use openai::OpenAiChat;
pub use prompt::{
    Asked, Prompt, Turn, answer_prompt, form_of_prompts, rewrite_prompt, rules_of_answers,
};
pub use readable::readable;
pub use similarity::Similarities;

/// What writes answers.
#[derive(Debug, Clone)]
pub enum Generator {
    /// The part of the book that answers best, in its own words.
    Extractive,
    /// A hosted model.
    Model(ChatModel),
}

/// A hosted chat model; clones share connections.
#[derive(Debug, Clone)]
pub enum ChatModel {
    /// Behind an OpenAI-compatible API.
    OpenAi(OpenAiChat),
    /// Cohere's.
    Cohere(CohereChat),
}

/// A passage the answer may draw on; it is cited as `[n]`.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// Its number, from 1.
    pub n: usize,
    /// The section.
    pub candidate: &'a ScoredChunk,
}

/// What a model is asked with.
#[derive(Debug, Clone)]
pub struct ChatOptions {
    /// Up to and without the API's path.
    pub base_url: String,
    /// Sent as a bearer token; local servers need none.
    pub api_key: Option<secrecy::SecretString>,
    /// The model's name.
    pub model: String,
    /// Longest time for one answer, from its request to its end.
    pub timeout: Duration,
    /// The model's price, if it is not the one that is listed.
    pub price: Option<Price>,
}

/// A piece of what a model writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text, never empty.
    Text(String),
    /// The end; nothing follows.
    End(Ending),
}

/// How a model's answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Why.
    pub finish: Finish,
    /// What it took, if the provider says so.
    pub usage: Option<Usage>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It had said all.
    Complete,
    /// It may say no more: its output, or the time, was used up.
    Truncated,
    /// The provider's content filter stopped it.
    Filtered,
}

/// Tokens of one call, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
}

/// What a model writes, piece by piece; dropping it stops the model.
pub type Pieces = BoxStream<'static, Result<Piece, ProviderError>>;

impl ChatModel {
    /// Asks the model, which may write `max_tokens` tokens. Its pieces end with [`Piece::End`], or with an error.
    ///
    /// # Errors
    /// Any [`ProviderError`].
    pub async fn stream(&self, prompt: &Prompt, max_tokens: u32) -> Result<Pieces, ProviderError> {
        match self {
            Self::OpenAi(model) => model.stream(prompt, max_tokens).await,
            Self::Cohere(model) => model.stream(prompt, max_tokens).await,
        }
    }

    /// Asks the model for a short text and waits for the whole.
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
                Piece::End(ending) => return Ok((text, ending)),
            }
        }
        Err(broke_off())
    }

    /// Whether the provider is there and takes the key; costs nothing.
    ///
    /// # Errors
    /// Any [`ProviderError`].
    pub async fn ping(&self) -> Result<(), ProviderError> {
        match self {
            Self::OpenAi(model) => model.ping().await,
            Self::Cohere(model) => model.ping().await,
        }
    }

    /// Its address and name.
    #[must_use]
    pub fn identity(&self) -> String {
        match self {
            Self::OpenAi(model) => model.identity(),
            Self::Cohere(model) => model.identity(),
        }
    }

    /// The model's price; `None` where it is not known, as on a server of one's own.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        match self {
            Self::OpenAi(model) => model.price(),
            Self::Cohere(model) => model.price(),
        }
    }
}

/// The answer ended in the middle.
fn broke_off() -> ProviderError {
    ProviderError::Unavailable("the answer broke off".to_owned())
}

/// A piece of an extractive answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quote {
    /// The book's text as Markdown that shows exactly this text, a block or what stands between two. Text that looks like a
    /// citation marker is not a citation.
    Text(String),
    /// The number of the passage that the text before is from.
    Citation(usize),
}

/// True if a section is too long to be quoted whole: [`Similarities`] decide what is quoted of it.
#[must_use]
pub fn is_long(chunk: &ChunkPayload) -> bool {
    extractive::is_long(&chunk.text)
}

/// The extractive answer; empty if no passage has text. `similarities` are those of the first passage's lines; without any, the
/// words that they share with the question decide.
#[must_use]
pub fn extract(
    query: &str,
    passages: &[Passage<'_>],
    similarities: Option<&Similarities>,
) -> Vec<Quote> {
    extractive::answer(query, passages, similarities)
}
