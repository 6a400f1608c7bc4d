//! Chat models behind HTTP.

mod prompt;
mod functions;
mod openai;
mod cohere;

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;

use crate::prices::Price;
use crate::provider::ProviderError;

pub use cohere::CohereChat;
pub use functions::{Called, FunctionCall, Functions, Lookup};
pub use openai::OpenAiChat;
pub use prompt::{Prompt, close_fence, fence, open_fence, push_fenced};

/// A chat model; clones share connections.
#[derive(Debug, Clone)]
pub enum ChatModel {
    /// A model behind an OpenAI-compatible API.
    OpenAi(OpenAiChat),
    /// A Cohere model.
    Cohere(CohereChat),
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

    /// Returns the model's address and name.
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

/// Returns the error for an answer that ended midway.
fn broke_off() -> ProviderError {
    ProviderError::Unavailable("the answer broke off".to_owned())
}
