//! Splits a chunk's payload for SQLite so that each value is stored once: in columns of the chunk's row, in `chunk_metadata` for values shared by a
//! page's chunks, or as JSON in the row.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value;

use crate::index::ChunkPayload;
use crate::index::stored::{Fields, with_text};

/// Fields that many chunks of a page share, including all filtered fields.
const OF_A_PAGE: [&str; 25] = [
    "chapter",
    "chapter_number",
    "date",
    "document_id",
    "facets",
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
    "search_words",
    "section_type",
    "source",
    "title",
    "unlisted",
    "url",
    "version",
];

/// Fields with a column of the same name.
const COLUMNS: [&str; 6] = [
    "chunk_id",
    "section",
    "section_id",
    "start_line",
    "end_line",
    "token_count",
];

/// The columns that [`stored_payload`] reads, of `document_chunks JOIN chunk_metadata`.
pub(crate) const STORED_COLUMNS: &str =
    "chunk_id, section, section_id, start_line, end_line, token_count, text, payload, fields";

/// Separates fields shared by a page's chunks from those of one chunk, `(shared, own)`, without fields that have columns.
pub(crate) fn split(mut own: Fields) -> (Fields, Fields) {
    let shared = OF_A_PAGE
        .iter()
        .filter_map(|field| own.remove_entry(*field))
        .collect();
    for column in COLUMNS {
        own.remove(column);
    }
    (shared, own)
}

/// Reads a row's payload. `None` if this program cannot read it.
pub(crate) fn stored_payload(row: &Row) -> rusqlite::Result<Option<ChunkPayload>> {
    let (own, shared) = (json(row, "payload")?, json(row, "fields")?);
    let mut fields = own.and_then(|own| Ok(own.into_iter().chain(shared?).collect::<Fields>()));
    if let Ok(fields) = &mut fields {
        for column in COLUMNS {
            let value = match row.get_ref(column)? {
                ValueRef::Integer(number) => Value::from(number),
                ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text)),
                _ => Value::Null,
            };
            fields.insert(column.to_owned(), value);
        }
    }
    Ok(with_text(fields, row.get("text")?))
}

fn json(row: &Row, column: &str) -> rusqlite::Result<serde_json::Result<Fields>> {
    Ok(serde_json::from_str(row.get_ref(column)?.as_str()?))
}
