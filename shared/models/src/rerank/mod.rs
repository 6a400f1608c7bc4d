//! Scores how well passages answer a question, 0 to 1.

mod cohere;
#[cfg(feature = "local-models")]
mod cross_encoder;

use crate::provider::ProviderError;
#[cfg(feature = "local-models")]
use std::sync::Arc;

pub use cohere::{CohereRerankOptions, CohereReranker};
#[cfg(feature = "local-models")]
pub use cross_encoder::CrossEncoder;

/// Reranks the best candidates.
#[derive(Debug, Clone)]
pub enum Reranker {
    /// No reranking: the order of retrieval is kept.
    None,
    /// 0.7 × cosine + 0.2 × BM25 + 0.1 × recency, without a model.
    Weighted,
    /// A cross-encoder in this process.
    #[cfg(feature = "local-models")]
    CrossEncoder(Arc<CrossEncoder>),
    /// A Cohere reranker.
    Cohere(CohereReranker),
}

impl Reranker {
    /// Returns the number of candidates to rerank, best first.
    ///
    /// Five for the cross-encoder: twice as many take twice the time and improve nothing.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::None | Self::Weighted => 0,
            #[cfg(feature = "local-models")]
            Self::CrossEncoder(_) => 5,
            Self::Cohere(_) => 20,
        }
    }

    /// True if the model understands a question; otherwise it is not called.
    #[must_use]
    pub fn reads(&self, question: &str) -> bool {
        match self {
            #[cfg(feature = "local-models")]
            Self::CrossEncoder(encoder) => encoder.reads(question),
            Self::None | Self::Weighted | Self::Cohere(_) => {
                let _ = question;
                true
            }
        }
    }

    /// Returns a score for each passage, 0 to 1, in their order; empty for rerankers that do not read passages.
    ///
    /// # Errors
    /// Any [`ProviderError`]; then no score is returned.
    #[tracing::instrument(target = "spans", name = "rerank", skip_all)]
    pub async fn scores(
        &self,
        question: &str,
        passages: &[String],
    ) -> Result<Vec<f32>, ProviderError> {
        match self {
            Self::None | Self::Weighted => Ok(Vec::new()),
            #[cfg(feature = "local-models")]
            Self::CrossEncoder(model) => Arc::clone(model).scores(question, passages).await,
            Self::Cohere(hosted) => hosted.scores(question, passages).await,
        }
    }
}
