//! Degradations of an answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A dependency that was bypassed, or another reason for a reduced answer. `meta.degraded` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Degradation {
    /// The embedder failed: only full-text search was used.
    Embedder,
    /// The vector store failed: chunks come from the catalog's full-text search.
    VectorStore,
    /// The catalog failed: texts come from the vector store's payloads, or the question is not logged.
    Catalog,
    /// The reranker failed: the order of retrieval is kept.
    Reranker,
    /// The book is being indexed for the first time: some pages cannot be found yet.
    Indexing,
    /// The stored conversation could not be read.
    Memory,
    /// The daily budget is spent: the answer is extractive.
    Budget,
    /// The chat model failed: the answer is extractive.
    Generator,
    /// The model cited no passage.
    Citations,
    /// The model's answer was cut off.
    Truncated,
    /// The provider's content filter stopped the model.
    ContentFilter,
}

impl Degradation {
    /// Returns the degradation's name in responses of the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedder => "embedder",
            Self::VectorStore => "vector_store",
            Self::Catalog => "catalog",
            Self::Reranker => "reranker",
            Self::Indexing => "indexing",
            Self::Memory => "memory",
            Self::Budget => "budget",
            Self::Generator => "generator",
            Self::Citations => "citations",
            Self::Truncated => "truncated",
            Self::ContentFilter => "content_filter",
        }
    }
}

impl fmt::Display for Degradation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_has_the_names() {
        for degradation in [Degradation::VectorStore, Degradation::ContentFilter] {
            let wire = serde_json::to_value(degradation).unwrap();
            assert_eq!(wire, degradation.name());
        }
    }
}
