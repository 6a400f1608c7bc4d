//! Embedders that run in this process.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use tokio::task::spawn_blocking;

use super::windows::windows;
use super::{EmbedderIdentity, Embedding, Purpose, TokenVectors, Windows, rounded};
use crate::local::{
    EmbedderTraits, MAX_TOKENS, ModelFiles, Pooling, SPECIAL_TOKENS, TokenProjection, Transformer,
};
use crate::provider::ProviderError;

/// Length of the models' vectors (their hidden size).
const DIMENSIONS: usize = 384;

/// A loaded embedding model. A process takes at most 135 MB with bge-small, and 184 MB with the multilingual model.
pub struct LocalEmbedder {
    identity: EmbedderIdentity,
    transformer: Transformer,
    traits: EmbedderTraits,
    /// Computes the token vectors; `None` if the model has no projection.
    projection: Option<TokenProjection>,
}

impl LocalEmbedder {
    /// Loads the model to run on `threads` threads, or one for each core.
    ///
    /// # Errors
    ///
    /// `Unavailable`, naming the file, if a file is unreadable or invalid; `Rejected` if the model is not an embedder.
    pub async fn load(
        files: &ModelFiles,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, ProviderError> {
        let model = files.model;
        let traits = model.embedder().ok_or_else(|| {
            ProviderError::Rejected(format!("{} is not an embedder", model.name()))
        })?;
        let projection = TokenProjection::for_model(model);
        let files = files.clone();
        let transformer = spawn_blocking(move || Transformer::load(&files, threads))
            .await
            .map_err(|error| ProviderError::Unavailable(format!("loading the model: {error}")))??;
        Ok(Self {
            identity: EmbedderIdentity {
                name: model.name().to_owned(),
                fingerprint: transformer.fingerprint.to_owned(),
                dimensions: DIMENSIONS,
                max_tokens: MAX_TOKENS,
                token_vectors: projection.as_ref().map(TokenProjection::identity),
            },
            transformer,
            traits,
            projection,
        })
    }

    pub(super) fn identity(&self) -> &EmbedderIdentity {
        &self.identity
    }

    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Windows {
        let tokenizer = &self.transformer.tokenizer;
        let prefix = tokenizer.count(self.traits.passage_prefix);
        windows(
            breadcrumb,
            text,
            MAX_TOKENS - SPECIAL_TOKENS - prefix,
            |piece| tokenizer.count(piece),
        )
    }

    /// True if the model understands a text.
    pub(super) fn reads(&self, text: &str) -> bool {
        self.transformer.tokenizer.reads(text)
    }

    pub(super) fn is_multilingual(&self) -> bool {
        self.traits.is_multilingual
    }

    /// Returns the share of the token score in the similarity; the cosine has the rest.
    pub(super) fn token_share(&self) -> f32 {
        self.traits.token_share
    }

    pub(super) fn token_words(&self, text: &str) -> Vec<Range<usize>> {
        if self.projection.is_none() {
            return Vec::new();
        }
        let words = self.transformer.tokenizer.words(text).into_iter();
        words.take(MAX_TOKENS - SPECIAL_TOKENS).flatten().collect()
    }

    /// Embeds each text in a separate blocking task, so that after cancellation at most one text for each thread is finished.
    pub(super) async fn embed(
        self: Arc<Self>,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Embedding>, ProviderError> {
        let prefix = match purpose {
            Purpose::Query => self.traits.question_prefix,
            Purpose::Document => self.traits.passage_prefix,
        };
        let inputs: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let runs = inputs.into_iter().map(|text| {
            let embedder = Arc::clone(&self);
            async move {
                let run = spawn_blocking(move || embedder.embed_blocking(&text, prefix));
                run.await.map_err(|error| {
                    ProviderError::Unavailable(format!("running the model: {error}"))
                })?
            }
        });
        futures::stream::iter(runs)
            .buffered(self.transformer.width())
            .try_collect()
            .await
    }

    /// Embeds a text that begins with a prefix, which has no token vectors.
    fn embed_blocking(&self, text: &str, prefix: &str) -> Result<Embedding, ProviderError> {
        let states = self.states(text)?;
        let mut vector = pool(&states, self.traits.pooling);
        if let Some(centre) = self.traits.centre {
            subtract(&mut vector, centre);
        }
        Ok(Embedding {
            vector,
            tokens: self.token_vectors(&states, text, prefix),
            questions: Vec::new(),
        })
    }

    /// Returns the model's states for a text's tokens.
    fn states(&self, text: &str) -> Result<NdTensor<f32, 3>, ProviderError> {
        let ids = self.transformer.tokenizer.encode(text, MAX_TOKENS);
        let types = vec![0; ids.len()];
        self.transformer.run(ids, types)
    }

    /// Returns the projected states of a text's words, without the prefix.
    fn token_vectors(&self, states: &NdTensor<f32, 3>, text: &str, prefix: &str) -> TokenVectors {
        let Some(projection) = &self.projection else {
            return TokenVectors::default();
        };
        let [_, tokens, dimensions] = states.shape();
        let states = states.data().expect("a model writes its states in order");
        let of_words = states.chunks_exact(dimensions).take(tokens - 1).skip(1);
        let words = of_words.zip(self.transformer.tokenizer.words(text));
        let kept = words.filter(|(_, word)| {
            let word = word.as_ref();
            word.is_some_and(|word| word.start >= prefix.len())
        });
        TokenVectors::new(kept.map(|(state, _)| rounded(&projection.project(state))))
    }
}

impl fmt::Debug for LocalEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LocalEmbedder")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

/// Scales a vector to length 1 and subtracts a mean of such vectors.
fn subtract(vector: &mut [f32], centre: &[u8]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    for (number, mean) in vector.iter_mut().zip(centre.as_chunks::<4>().0) {
        *number = *number / length - f32::from_le_bytes(*mean);
    }
}

/// Returns a text's vector. There is no padding, so a mean covers all tokens; the caller scales the vector to length 1.
fn pool(states: &NdTensor<f32, 3>, pooling: Pooling) -> Vec<f32> {
    let [_, tokens, dimensions] = states.shape();
    let tokens = match pooling {
        Pooling::First => tokens.min(1),
        Pooling::Mean => tokens,
    };
    let mut sum = vec![0.0; dimensions];
    for token in 0..tokens {
        for (dimension, total) in sum.iter_mut().enumerate() {
            *total += states[[0, token, dimension]];
        }
    }
    sum
}

#[cfg(test)]
mod tests;
