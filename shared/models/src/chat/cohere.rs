//! Cohere's chat models, through `POST {base}/v2/chat`.

use async_stream::try_stream;
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::functions::{CallPart, CallReader, Message, descriptions, messages};
use super::{ChatOptions, Ending, Finish, Piece, Pieces, Prompt, Usage, broke_off};
use crate::http::Endpoint;
use crate::prices::Price;
use crate::provider::ProviderError;

/// A Cohere chat model; clones share connections.
#[derive(Debug, Clone)]
pub struct CohereChat {
    endpoint: Endpoint,
    model: String,
    price: Option<Price>,
}

/// The request of `POST /v2/chat`.
#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
    /// `NONE` if the model must write.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    stream: bool,
    max_tokens: u32,
    temperature: f32,
}

/// `StreamedChatResponseV2`: the relevant event types.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Event {
    ContentDelta {
        delta: ContentDelta,
    },
    ToolCallStart {
        delta: CallDelta,
    },
    ToolCallDelta {
        delta: CallDelta,
    },
    MessageEnd {
        delta: MessageEnd,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct ContentDelta {
    message: DeltaMessage,
}

#[derive(Deserialize)]
struct DeltaMessage {
    content: DeltaContent,
}

#[derive(Deserialize)]
struct CallDelta {
    message: CallMessage,
}

/// The events of one call follow one another, so the part needs no index.
#[derive(Deserialize)]
struct CallMessage {
    tool_calls: CallPart,
}

#[derive(Deserialize)]
struct DeltaContent {
    text: Option<String>,
}

#[derive(Deserialize)]
struct MessageEnd {
    finish_reason: Option<String>,
    usage: Option<EndUsage>,
}

#[derive(Deserialize)]
struct EndUsage {
    /// The billed tokens.
    billed_units: Option<Counted>,
    tokens: Option<Counted>,
}

/// The API's description declares counts as numbers, not integers.
#[derive(Clone, Copy, Deserialize)]
struct Counted {
    #[serde(default)]
    input_tokens: f64,
    #[serde(default)]
    output_tokens: f64,
}

impl CohereChat {
    /// The default model.
    pub const DEFAULT_MODEL: &'static str = "command-a-03-2025";

    /// Creates the client without sending a request.
    ///
    /// # Errors
    ///
    /// `Rejected` if the base URL is invalid.
    pub fn new(options: ChatOptions) -> Result<Self, ProviderError> {
        let (key, timeout) = (options.api_key, options.timeout);
        Ok(Self {
            endpoint: Endpoint::new(&options.base_url, ["/v2/chat", "/v1/models"], key, timeout)?,
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
        let tools = descriptions(prompt);
        let request = ChatRequest {
            model: &self.model,
            messages: messages(prompt),
            tool_choice: (tools.is_some() && prompt.functions.left == 0).then_some("NONE"),
            tools,
            stream: true,
            max_tokens,
            temperature: 0.0,
        };
        let mut events = self.endpoint.stream::<Event>(&request, "answer").await?;
        let pieces = try_stream! {
            let mut ending = None;
            let mut calls = CallReader::default();
            while let Some(event) = events.next().await {
                match event? {
                    Event::ContentDelta { delta } => {
                        let text = delta.message.content.text.unwrap_or_default();
                        if !text.is_empty() {
                            yield Piece::Text(text);
                        }
                    }
                    Event::ToolCallStart { delta } | Event::ToolCallDelta { delta } => {
                        calls.push(delta.message.tool_calls);
                    }
                    Event::MessageEnd { delta } => ending = Some(ending_of(delta)?),
                    Event::Other => {}
                }
            }
            let ending = ending.ok_or_else(broke_off)?;
            if let Some(calls) = calls.finish() {
                yield Piece::Calls(calls);
            }
            yield Piece::End(ending);
        };
        Ok(pieces.boxed())
    }
}

fn ending_of(end: MessageEnd) -> Result<Ending, ProviderError> {
    let finish = match end.finish_reason.as_deref() {
        Some("MAX_TOKENS" | "TIMEOUT") => Finish::Truncated,
        Some("ERROR") => return Err(broke_off()),
        _ => Finish::Complete,
    };
    let counted = end
        .usage
        .and_then(|usage| usage.billed_units.or(usage.tokens));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of tokens are small whole numbers"
    )]
    let usage = counted.map(|counted| Usage {
        input_tokens: counted.input_tokens as u64,
        output_tokens: counted.output_tokens as u64,
    });
    Ok(Ending { finish, usage })
}

#[cfg(test)]
mod tests;
