//! The formats of answers in the two APIs. Source: their published descriptions; the `content: null` of the first
//! delta is from llama.cpp.

use serde_json::{Value, json};
use uuid::Uuid;

/// The creation time of all answers, in Unix seconds.
const CREATED: u64 = 1_760_000_000;
/// Follows the last event.
const DONE: &str = "data: [DONE]\n\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    OpenAi,
    Cohere,
}

/// Formats the answer to a request. Counts a token for each piece, and for each word of the messages.
pub(super) struct Writer {
    wire: Wire,
    id: String,
    model: Value,
    include_usage: bool,
    input_tokens: usize,
}

impl Wire {
    /// Formats an error. Its message quotes the key and the prompt, neither of which may leak.
    pub(super) fn refusal(self, code: &str, authorization: &str, request: &Value) -> Value {
        let prompt = prompt(request);
        let message = format!("{authorization} may not ask: {prompt}");
        match self {
            Self::OpenAi => json!({
                "error": { "message": message, "type": "invalid_request_error", "param": null, "code": code }
            }),
            Self::Cohere => {
                json!({ "id": Uuid::new_v4(), "message": format!("{code}: {message}") })
            }
        }
    }
}

impl Writer {
    pub(super) fn new(wire: Wire, request: &Value) -> Self {
        Self {
            wire,
            id: Uuid::new_v4().to_string(),
            model: request["model"].clone(),
            include_usage: request["stream_options"]["include_usage"] == true,
            input_tokens: prompt(request).split_whitespace().count(),
        }
    }

    /// Returns the events before the first piece.
    pub(super) fn opening(&self) -> String {
        match self.wire {
            Wire::OpenAi => {
                let delta = json!({ "role": "assistant", "content": null });
                self.chunk(&choice(&delta, None), &Value::Null)
            }
            Wire::Cohere => {
                let start = json!({
                    "type": "message-start", "id": self.id, "delta": { "message": { "role": "assistant" } }
                });
                let content = json!({
                    "type": "content-start",
                    "index": 0,
                    "delta": { "message": { "content": { "type": "text", "text": "" } } }
                });
                cohere_event(&start) + &cohere_event(&content)
            }
        }
    }

    pub(super) fn piece(&self, text: &str) -> String {
        match self.wire {
            Wire::OpenAi => self.chunk(&choice(&json!({ "content": text }), None), &Value::Null),
            Wire::Cohere => cohere_event(&json!({
                "type": "content-delta", "index": 0, "delta": { "message": { "content": { "text": text } } }
            })),
        }
    }

    /// Returns the events of a call, whose arguments come in two parts.
    pub(super) fn call(&self, index: usize, name: &str, arguments: &str) -> Vec<String> {
        let half = arguments.floor_char_boundary(arguments.len() / 2);
        let (first, second) = arguments.split_at(half);
        let begin = json!({
            "id": format!("call_{}_{index}", self.id),
            "type": "function",
            "function": { "name": name, "arguments": first }
        });
        let more = json!({ "function": { "arguments": second } });
        match self.wire {
            Wire::OpenAi => {
                let parts = [begin, more].into_iter();
                let delta = parts.map(|mut part| {
                    part["index"] = index.into();
                    json!({ "tool_calls": [part] })
                });
                delta
                    .map(|delta| self.chunk(&choice(&delta, None), &Value::Null))
                    .collect()
            }
            Wire::Cohere => {
                let event = |name: &str, part: &Value| {
                    cohere_event(&json!({
                        "type": name, "index": index, "delta": { "message": { "tool_calls": part } }
                    }))
                };
                let end = json!({ "type": "tool-call-end", "index": index });
                vec![
                    event("tool-call-start", &begin),
                    event("tool-call-delta", &more),
                    cohere_event(&end),
                ]
            }
        }
    }

    /// Returns the events after the last piece.
    pub(super) fn closing(&self, reason: &str, pieces: usize) -> String {
        match self.wire {
            Wire::OpenAi => {
                let mut events = self.chunk(&choice(&json!({}), Some(reason)), &Value::Null);
                if self.include_usage {
                    events += &self.chunk(&json!([]), &self.usage(pieces));
                }
                events + DONE
            }
            Wire::Cohere => {
                let content = json!({ "type": "content-end", "index": 0 });
                let delta =
                    json!({ "finish_reason": cohere_reason(reason), "usage": self.usage(pieces) });
                let end = json!({ "type": "message-end", "id": self.id, "delta": delta });
                cohere_event(&content) + &cohere_event(&end) + DONE
            }
        }
    }

    /// Formats an answer that is not streamed.
    pub(super) fn whole(&self, reason: &str, pieces: &[String]) -> String {
        let (text, usage) = (pieces.concat(), self.usage(pieces.len()));
        let answer = match self.wire {
            Wire::OpenAi => json!({
                "id": self.id,
                "object": "chat.completion",
                "created": CREATED,
                "model": self.model,
                "choices": [{
                    "index": 0,
                    "message": { "role": "assistant", "content": text, "refusal": null },
                    "logprobs": null,
                    "finish_reason": reason
                }],
                "usage": usage
            }),
            Wire::Cohere => json!({
                "id": self.id,
                "finish_reason": cohere_reason(reason),
                "message": { "role": "assistant", "content": [{ "type": "text", "text": text }] },
                "usage": usage
            }),
        };
        answer.to_string()
    }

    /// Formats an event of `OpenAI`. If usage is requested, every event has the field, and the last one sets it.
    fn chunk(&self, choices: &Value, usage: &Value) -> String {
        let mut chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": self.model,
            "choices": choices
        });
        if self.include_usage {
            chunk["usage"] = usage.clone();
        }
        format!("data: {chunk}\n\n")
    }

    fn usage(&self, output_tokens: usize) -> Value {
        let input_tokens = self.input_tokens;
        match self.wire {
            Wire::OpenAi => json!({
                "prompt_tokens": input_tokens,
                "completion_tokens": output_tokens,
                "total_tokens": input_tokens + output_tokens
            }),
            Wire::Cohere => {
                let tokens =
                    json!({ "input_tokens": input_tokens, "output_tokens": output_tokens });
                json!({ "billed_units": tokens, "tokens": tokens })
            }
        }
    }
}

/// Returns the user's last message; empty if there is none.
pub(super) fn last_user_message(request: &Value) -> String {
    let last = messages(request).rfind(|message| message["role"] == "user");
    last.map(text_of).unwrap_or_default()
}

/// Concatenates the texts of all messages.
fn prompt(request: &Value) -> String {
    let texts: Vec<String> = messages(request).map(text_of).collect();
    texts.join("\n")
}

fn messages(request: &Value) -> std::slice::Iter<'_, Value> {
    let messages = request["messages"].as_array();
    messages.map(Vec::as_slice).unwrap_or_default().iter()
}

/// Returns a message's text: its content is a string, or parts that may be text.
fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

fn choice(delta: &Value, finish_reason: Option<&str>) -> Value {
    json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason }])
}

/// Formats an event of Cohere, named by its type.
fn cohere_event(event: &Value) -> String {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n")
}

/// Cohere has no finish reason for its content filter; a filtered answer is reported as an error.
fn cohere_reason(reason: &str) -> &str {
    match reason {
        "stop" => "COMPLETE",
        "length" => "MAX_TOKENS",
        "content_filter" => "ERROR",
        "tool_calls" => "TOOL_CALL",
        other => other,
    }
}
