//! Chat models behind an OpenAI-compatible `POST {base}/chat/completions`: `OpenAI`, Ollama, vLLM, llama.cpp and others.

use async_stream::try_stream;
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::functions::{CallPart, CallReader, Message, descriptions, messages};
use super::{ChatOptions, Ending, Finish, Piece, Pieces, Prompt, Usage, broke_off};
use crate::http::Endpoint;
use crate::prices::Price;
use crate::provider::ProviderError;

const OPENAI_HOST: &str = "api.openai.com";

/// An OpenAI-compatible chat model; clones share connections.
#[derive(Debug, Clone)]
pub struct OpenAiChat {
    endpoint: Endpoint,
    model: String,
    price: Option<Price>,
}

/// `CreateChatCompletionRequest`.
#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
    /// `none` if the model must write.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    stream: bool,
    stream_options: StreamOptions,
    /// Omitted for reasoning models, which reject it.
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    /// The name of the same limit on servers other than `OpenAI`'s.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// `CreateChatCompletionStreamResponse`, or an error in its place.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<ChunkUsage>,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<CallPart>>,
}

#[derive(Deserialize)]
struct ChunkUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl OpenAiChat {
    /// The default model.
    pub const DEFAULT_MODEL: &'static str = "gpt-4.1-mini";

    /// Creates the client without sending a request.
    ///
    /// # Errors
    ///
    /// `Rejected` if the base URL is invalid.
    pub fn new(options: ChatOptions) -> Result<Self, ProviderError> {
        let paths = ["/chat/completions", "/models"];
        Ok(Self {
            endpoint: Endpoint::new(&options.base_url, paths, options.api_key, options.timeout)?,
            model: options.model,
            price: options.price,
        })
    }

    pub(super) async fn ping(&self) -> Result<(), ProviderError> {
        self.endpoint.ping().await
    }

    pub(super) fn identity(&self) -> String {
        format!("{} {}", self.endpoint.address(), self.model)
    }

    pub(super) fn price(&self) -> Option<Price> {
        self.price
            .or_else(|| Price::listed(self.endpoint.host(), &self.model))
    }

    pub(super) async fn stream(
        &self,
        prompt: &Prompt,
        max_tokens: u32,
    ) -> Result<Pieces, ProviderError> {
        let of_openai = self.endpoint.host() == OPENAI_HOST;
        let tools = descriptions(prompt);
        let request = ChatRequest {
            model: &self.model,
            messages: messages(prompt),
            tool_choice: (tools.is_some() && prompt.functions.left == 0).then_some("none"),
            tools,
            stream: true,
            stream_options: StreamOptions {
                include_usage: true,
            },
            temperature: (!reasons(&self.model)).then_some(0.0),
            max_tokens: (!of_openai).then_some(max_tokens),
            max_completion_tokens: of_openai.then_some(max_tokens),
        };
        let mut chunks = self.endpoint.stream::<Chunk>(&request, "answer").await?;
        let pieces = try_stream! {
            let mut finish = None;
            let mut usage = None;
            let mut calls = CallReader::default();
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk?;
                if chunk.error.is_some() {
                    Err(broke_off())?;
                }
                if let Some(counted) = chunk.usage {
                    usage = Some(Usage {
                        input_tokens: counted.prompt_tokens,
                        output_tokens: counted.completion_tokens,
                    });
                }
                if let Some(choice) = chunk.choices.into_iter().next() {
                    if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
                        yield Piece::Text(text);
                    }
                    for part in choice.delta.tool_calls.into_iter().flatten() {
                        calls.push(part);
                    }
                    if let Some(reason) = choice.finish_reason {
                        finish = Some(finish_of(&reason));
                    }
                }
            }
            // Without a finish reason, the connection was cut.
            let finish = finish.ok_or_else(broke_off)?;
            if let Some(calls) = calls.finish() {
                yield Piece::Calls(calls);
            }
            yield Piece::End(Ending { finish, usage });
        };
        Ok(pieces.boxed())
    }
}

fn finish_of(reason: &str) -> Finish {
    match reason {
        "length" => Finish::Truncated,
        "content_filter" => Finish::Filtered,
        _ => Finish::Complete,
    }
}

/// True for `OpenAI`'s reasoning models, which reject a temperature.
fn reasons(model: &str) -> bool {
    let number = model.strip_prefix('o').unwrap_or_default();
    model.starts_with("gpt-5") || number.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
