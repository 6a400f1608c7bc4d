//! Payloads in a database, which stores the text in a separate column.

use serde_json::{Map, Value};

use super::ChunkPayload;

/// A payload's fields by name.
pub(crate) type Fields = Map<String, Value>;

/// The field with a column of its own.
pub(crate) const TEXT: &str = "text";

/// Returns the fields of a payload except its text.
pub(crate) fn without_text(payload: &ChunkPayload) -> Fields {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(payload) else {
        unreachable!("a payload of plain fields is a JSON object");
    };
    fields.remove(TEXT);
    fields
}

/// Reads a payload from fields and a separate text. `None` if this program cannot read it, for example another release's; the caller then skips the
/// chunk.
pub(crate) fn with_text(fields: serde_json::Result<Fields>, text: String) -> Option<ChunkPayload> {
    let payload = fields.and_then(|mut fields| {
        fields.insert(TEXT.to_owned(), text.into());
        serde_json::from_value(Value::Object(fields))
    });
    payload
        .inspect_err(|error| {
            tracing::warn!(stage = "catalog", %error, "leaving out a chunk whose payload cannot be read");
        })
        .ok()
}
