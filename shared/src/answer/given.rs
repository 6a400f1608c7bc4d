//! Answers from a given section, to measure extraction apart from retrieval.

use uuid::Uuid;

use super::{Outcome, Prepared};
use crate::catalog::CatalogError;
use crate::retrieve::{ScoredChunk, Scores};

impl Prepared {
    /// Answers from the section of the chunk at `position` in its document, instead of the sections found. Returns `None` if there is no such chunk.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub async fn given(
        mut self,
        document_id: Uuid,
        position: i32,
    ) -> Result<Option<Self>, CatalogError> {
        let retriever = &self.answerer.retriever;
        let place = (document_id, position..=position);
        let catalog = retriever.catalog();
        let read = catalog.around(retriever.index.index_id, &[place]).await?;
        let Some(chunk) = read.into_iter().flatten().next() else {
            return Ok(None);
        };
        self.retrieved.candidates = vec![ScoredChunk {
            point_id: chunk.point_id,
            position: Some(chunk.position),
            chunk: std::sync::Arc::new(chunk.payload),
            scores: Scores::default(),
        }];
        self.outcome = Outcome::Answered;
        let answerer = self.answerer.clone();
        let locale = self.locale.clone();
        let texts = answerer.read_texts(&mut self.retrieved, 1, locale.as_deref());
        self.texts = texts.await;
        Ok(Some(self))
    }
}
