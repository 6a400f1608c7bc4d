//! Payloads as a database holds them: without the text, which has a column of its own.

use serde_json::{Map, Value};

use super::ChunkPayload;

/// A payload's fields by name.
pub(crate) type Fields = Map<String, Value>;

/// The field that has a column of its own.
pub(crate) const TEXT: &str = "text";

/// Returns the fields of a payload but its text.
pub(crate) fn without_text(payload: &ChunkPayload) -> Fields {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(payload) else {
        unreachable!("a payload of plain fields is a JSON object");
    };
    fields.remove(TEXT);
    fields
}

/// Reads a payload of fields and a text that are stored apart. `None` if this program cannot read it, for example another
/// release's: the caller goes on without the chunk.
pub(crate) fn with_text(fields: serde_json::Result<Fields>, text: String) -> Option<ChunkPayload> {
    let payload = fields.and_then(|mut fields| {
        fields.insert(TEXT.to_owned(), text.into());
        serde_json::from_value(Value::Object(fields))
    });
    payload
        .inspect_err(|error| {
            tracing::warn!(stage = "catalog", %error, "a chunk is left out: its payload cannot be read");
        })
        .ok()
}
