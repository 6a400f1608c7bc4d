//! Embedders in this process.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use tokio::task::spawn_blocking;

use super::windows::windows;
use super::{EmbedderIdentity, LOCAL_MAX_TOKENS as MAX_TOKENS, Purpose};
use crate::models::{Embedding, ModelFiles, Pooling, SPECIAL_TOKENS, Threads, Transformer};
use crate::provider::ProviderError;

/// Length of the models' vectors (their hidden size).
const DIMENSIONS: usize = 384;

/// An embedding model, loaded. A process has 135 MB at most with bge-small, 184 MB with the multilingual model.
pub struct LocalEmbedder {
    identity: EmbedderIdentity,
    transformer: Transformer,
    embedding: Embedding,
}

impl LocalEmbedder {
    /// Loads the model, to run on `threads` threads, else on one for each core.
    ///
    /// # Errors
    ///
    /// `Unavailable`, naming the file, if one cannot be read or is no such model; `Rejected` if the model is no embedder.
    pub async fn load(
        files: &ModelFiles,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, ProviderError> {
        let model = files.model;
        let embedding = model.embedding().ok_or_else(|| {
            ProviderError::Rejected(format!("{} is not an embedder", model.name()))
        })?;
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
            },
            transformer,
            embedding,
        })
    }

    pub(super) fn identity(&self) -> &EmbedderIdentity {
        &self.identity
    }

    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Vec<String> {
        let tokenizer = &self.transformer.tokenizer;
        let prefix = tokenizer.count(self.embedding.passage_prefix);
        windows(
            breadcrumb,
            text,
            MAX_TOKENS - SPECIAL_TOKENS - prefix,
            |piece| tokenizer.count(piece),
        )
    }

    /// True if the model makes sense of a text.
    pub(super) fn reads(&self, text: &str) -> bool {
        self.transformer.tokenizer.reads(text)
    }

    /// Embeds each text in a blocking task of its own, so that a caller who gives up pays for one text a thread at most.
    pub(super) async fn embed(
        self: Arc<Self>,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let prefix = match purpose {
            Purpose::Query => self.embedding.question_prefix,
            Purpose::Document => self.embedding.passage_prefix,
        };
        let alone = texts.len() > 1;
        let inputs: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let runs = inputs.into_iter().enumerate().map(|(number, text)| {
            let embedder = Arc::clone(&self);
            let threads = if alone {
                Threads::Alone(number)
            } else {
                Threads::Together
            };
            async move {
                let run = spawn_blocking(move || embedder.embed_blocking(&text, threads));
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

    fn embed_blocking(&self, text: &str, threads: Threads) -> Result<Vec<f32>, ProviderError> {
        let mut vector = self.pooled(text, threads)?;
        if let Some(centre) = self.embedding.centre {
            subtract(&mut vector, centre);
        }
        Ok(vector)
    }

    /// The vector that the model makes of a text, of any length.
    fn pooled(&self, text: &str, threads: Threads) -> Result<Vec<f32>, ProviderError> {
        let ids = self.transformer.tokenizer.encode(text, MAX_TOKENS);
        let types = vec![0; ids.len()];
        let states: NdTensor<f32, 3> = self.transformer.run(ids, types, threads)?;
        Ok(pool(&states, self.embedding.pooling))
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

/// A text's vector: there is no padding, so a mean is over all tokens; the port scales it to length 1, mean or sum.
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
