//! Full-text search, and the values that filters accept.

use std::collections::{BTreeSet, HashMap};

use super::SqliteCatalog;
use super::documents::joined;
use crate::catalog::{CatalogError, JoinedChunk};
use crate::index::Filters;
use text::{DocumentFrequencies, Language};

impl SqliteCatalog {
    pub(in crate::catalog) async fn search_text(
        &self,
        index_id: i64,
        terms: &[String],
        filters: &Filters,
        limit: u32,
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        let (terms, filters, index) = (terms.to_vec(), filters.clone(), self.index.clone());
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.read(move |connection| {
            let transaction = connection.transaction()?;
            let found = index.search_words(&transaction, index_id, &terms, &filters, limit)?;
            let points: Vec<_> = found.into_iter().map(|point| point.point_id).collect();
            let mut chunks = joined(&transaction, index_id, &points)?;
            let ranks: HashMap<_, _> = points.into_iter().zip(0..).collect();
            chunks.sort_by_key(|chunk| ranks.get(&chunk.point_id).copied().unwrap_or(usize::MAX));
            Ok(chunks)
        })
        .await
    }

    pub(in crate::catalog) async fn document_frequencies(
        &self,
        index_id: i64,
        words: &BTreeSet<String>,
        language: Language,
    ) -> Result<DocumentFrequencies, CatalogError> {
        let (words, index) = (words.clone(), self.index.clone());
        self.read(move |connection| {
            let transaction = connection.transaction()?;
            index.document_frequencies(&transaction, index_id, words, language)
        })
        .await
    }
}
