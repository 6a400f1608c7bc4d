//! Embedders in this process.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use tokio::task::spawn_blocking;

use super::windows::windows;
use super::{
    EmbedderIdentity, Embedding, LOCAL_MAX_TOKENS as MAX_TOKENS, Purpose, TokenVectors, Windows,
    rounded,
};
use crate::models::{
    LocalModel, ModelFiles, SPECIAL_TOKENS, Threads, TokenProjection, Transformer,
};
use crate::provider::ProviderError;

/// Length of the models' vectors (their hidden size).
const DIMENSIONS: usize = 384;

/// What bge-small was trained to see before a question (its model card).
const BGE_QUESTION: &str = "Represent this sentence for searching relevant passages: ";

/// How a text's vector is made of its tokens' states.
#[derive(Debug, Clone, Copy)]
enum Pooling {
    /// The state of `[CLS]`.
    First,
    /// Their mean.
    Mean,
}

/// An embedding model, loaded: about 130 MB.
pub struct LocalEmbedder {
    identity: EmbedderIdentity,
    transformer: Transformer,
    pooling: Pooling,
    /// Stands before each question.
    question_prefix: &'static str,
    /// Makes the token vectors; `None` if they were not measured for the model.
    projection: Option<TokenProjection>,
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
        let (pooling, question_prefix) = match files.model {
            LocalModel::BgeSmall => (Pooling::First, BGE_QUESTION),
            LocalModel::MiniLm => (Pooling::Mean, ""),
            LocalModel::MsMarco => {
                let name = files.model.name();
                return Err(ProviderError::Rejected(format!("{name} is no embedder")));
            }
        };
        let projection = TokenProjection::of(files.model);
        let files = files.clone();
        let name = files.model.name().to_owned();
        let transformer = spawn_blocking(move || Transformer::load(&files, threads))
            .await
            .map_err(|error| ProviderError::Unavailable(format!("loading the model: {error}")))??;
        Ok(Self {
            identity: EmbedderIdentity {
                name,
                fingerprint: transformer.fingerprint.clone(),
                dimensions: DIMENSIONS,
                max_tokens: MAX_TOKENS,
                token_vectors: projection.as_ref().map(TokenProjection::identity),
            },
            transformer,
            pooling,
            question_prefix,
            projection,
        })
    }

    pub(super) fn identity(&self) -> &EmbedderIdentity {
        &self.identity
    }

    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Windows {
        windows(breadcrumb, text, MAX_TOKENS - SPECIAL_TOKENS, |piece| {
            self.transformer.tokenizer.count(piece)
        })
    }

    pub(super) fn token_words(&self, text: &str) -> Vec<Range<usize>> {
        if self.projection.is_none() {
            return Vec::new();
        }
        let words = self.transformer.tokenizer.words(text).into_iter();
        words.take(MAX_TOKENS - SPECIAL_TOKENS).flatten().collect()
    }

    /// Embeds each text in a blocking task of its own, so that a caller who gives up pays for one text a thread at most.
    pub(super) async fn embed(
        self: Arc<Self>,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Embedding>, ProviderError> {
        let prefix = match purpose {
            Purpose::Query => self.question_prefix,
            Purpose::Document => "",
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
                let run = spawn_blocking(move || embedder.embed_blocking(&text, prefix, threads));
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
    fn embed_blocking(
        &self,
        text: &str,
        prefix: &str,
        threads: Threads,
    ) -> Result<Embedding, ProviderError> {
        let ids = self.transformer.tokenizer.encode(text, MAX_TOKENS);
        let types = vec![0; ids.len()];
        let states: NdTensor<f32, 3> = self.transformer.run(ids, types, threads)?;
        Ok(Embedding {
            vector: pool(&states, self.pooling),
            tokens: self.token_vectors(&states, text, prefix),
        })
    }

    /// The projected states of a text's words, those of the prefix left out.
    fn token_vectors(&self, states: &NdTensor<f32, 3>, text: &str, prefix: &str) -> TokenVectors {
        let Some(projection) = &self.projection else {
            return TokenVectors::default();
        };
        let [_, tokens, dimensions] = states.shape();
        let of_words = 1..tokens - 1;
        let words = of_words.zip(self.transformer.tokenizer.words(text));
        let kept = words.filter(|(_, word)| {
            let word = word.as_ref();
            word.is_some_and(|word| word.start >= prefix.len())
        });
        TokenVectors::new(kept.map(|(token, _)| {
            let state = (0..dimensions).map(|dimension| states[[0, token, dimension]]);
            rounded(&projection.project(state))
        }))
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
