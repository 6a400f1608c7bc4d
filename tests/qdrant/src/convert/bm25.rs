//! Server-side inference of the one model that Qdrant runs itself: `qdrant/bm25`.

use qdrant_client::qdrant::Document;
use qdrant_edge::SparseVector;
use qdrant_edge::bm25_embed::{EdgeBm25, EdgeBm25Config};
use serde_json::{Map, Value};

use crate::error::CallError;

const MODEL: &str = "qdrant/bm25";

/// The known options of `qdrant/bm25`; serde would silently drop others.
const OPTIONS: [&str; 11] = [
    "k",
    "b",
    "avg_len",
    "tokenizer",
    "language",
    "lowercase",
    "ascii_folding",
    "stopwords",
    "stemmer",
    "min_token_len",
    "max_token_len",
];

/// The purpose of an embedding: BM25 weighs the words of a document, but only marks those of a query.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TextRole {
    Document,
    Query,
}

/// Embeds a text like Qdrant's server: with the same token ids, and BM25 weights without IDF, which the
/// collection applies.
pub(crate) fn embed(document: Document, role: TextRole) -> Result<SparseVector, CallError> {
    let Document {
        text,
        model,
        options,
    } = document;
    if !model.eq_ignore_ascii_case(MODEL) {
        return Err(CallError::Unsupported(format!(
            "the inference model `{model}`, only `{MODEL}`"
        )));
    }
    let mut known = Map::new();
    for (name, value) in options {
        if !OPTIONS.contains(&name.as_str()) {
            return Err(CallError::Invalid(format!(
                "`{MODEL}` has no option `{name}`"
            )));
        }
        known.insert(name, super::point::to_json(&value)?);
    }
    let config: EdgeBm25Config = serde_json::from_value(Value::Object(known))
        .map_err(|error| CallError::Invalid(format!("options of `{MODEL}`: {error}")))?;
    let model = EdgeBm25::new(config)
        .map_err(|error| CallError::Invalid(format!("options of `{MODEL}`: {error}")))?;
    Ok(match role {
        TextRole::Document => model.embed_document(&text),
        TextRole::Query => model.embed_query(&text),
    })
}
