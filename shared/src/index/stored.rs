//! Payloads as a database holds them: without the text, which has a column of its own.

use serde_json::{Map, Value};

use super::ChunkPayload;

/// The field that the stored form leaves out.
const TEXT: &str = "text";

/// The fields that many chunks of a page share, among them all that [`super::Filters`] name.
#[cfg(feature = "embedded")]
const OF_A_PAGE: [&str; 22] = [
    "chapter",
    "chapter_number",
    "document_id",
    "fallback_urls",
    "has_code",
    "has_equations",
    "hardware_tier",
    "keywords",
    "layer",
    "lesson",
    "lesson_id",
    "lesson_number",
    "locale",
    "module",
    "module_number",
    "proficiency_level",
    "section_type",
    "source",
    "title",
    "unlisted",
    "url",
    "version",
];

/// Returns the fields of a payload but its text.
pub(crate) fn without_text(payload: &ChunkPayload) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(payload) else {
        unreachable!("a payload of plain fields is a JSON object");
    };
    fields.remove(TEXT);
    fields
}

/// Separates the fields that the chunks of a page share from those of one chunk: `(shared, own)`.
#[cfg(feature = "embedded")]
pub(crate) fn split(mut own: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    let shared = OF_A_PAGE
        .iter()
        .filter_map(|field| own.remove_entry(*field));
    (shared.collect(), own)
}

/// Reads a payload whose text and JSON objects are stored apart; of a field that several have, the last one's value counts.
/// `None` if this program cannot read it, for example another release's: the caller goes on without the chunk.
pub(crate) fn payload(text: String, objects: &[&str]) -> Option<ChunkPayload> {
    let mut fields = Map::new();
    let read = objects.iter().try_for_each(|object| {
        fields.extend(serde_json::from_str::<Map<String, Value>>(object)?);
        Ok(())
    });
    fields.insert(TEXT.to_owned(), Value::String(text));
    let payload = read.and_then(|()| serde_json::from_value(Value::Object(fields)));
    payload
        .inspect_err(|error: &serde_json::Error| {
            tracing::warn!(stage = "catalog", %error, "a chunk is left out: its payload cannot be read");
        })
        .ok()
}
