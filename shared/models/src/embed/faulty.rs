//! The fake embedder whose calls are steps of a simulation.

use std::ops::Deref;
use std::time::Duration;

use super::{Embedding, FakeEmbedder};
use crate::provider::ProviderError;
use fakes::faults;

/// The fake embedder, whose calls may fail with the advice to retry at once.
#[derive(Debug, Clone, Default)]
pub struct FaultyEmbedder(FakeEmbedder);

impl Deref for FaultyEmbedder {
    type Target = FakeEmbedder;

    fn deref(&self) -> &FakeEmbedder {
        &self.0
    }
}

impl FaultyEmbedder {
    pub(super) async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>, ProviderError> {
        let work = async {
            faults::with(|script| script.embedded += texts.len());
            Ok(self.0.embed(texts))
        };
        let embedded = faults::call(work, || ProviderError::RateLimited {
            retry_after: Some(Duration::ZERO),
        })
        .await;
        faults::with(|script| script.wasted += usize::from(embedded.is_err()));
        embedded
    }
}
