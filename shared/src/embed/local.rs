//! all-MiniLM-L6-v2 in this process: int8-weight ONNX run by `rten`.
//!
//! Mean pooling over the tokens, one text at a time: batches are slower and need far more memory.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use rten::{Model, NodeId, RunOptions, ThreadPool};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use tokio::task::spawn_blocking;

use super::model_files::{self, ModelFiles};
use super::tokenizer::{SPECIAL_TOKENS, Tokenizer};
use super::windows::windows;
use super::{EmbedError, EmbedderIdentity};

const NAME: &str = "all-MiniLM-L6-v2";

/// Length of the model's vectors (its hidden size).
const DIMENSIONS: usize = 384;

/// The input the model was trained on (`max_seq_length` of its sentence-transformers configuration).
const MAX_TOKENS: usize = 256;

/// The model, loaded: about 130 MB.
pub struct LocalEmbedder {
    identity: EmbedderIdentity,
    tokenizer: Tokenizer,
    model: Model,
    /// Token ids, attention mask, token types.
    inputs: [NodeId; 3],
    /// A vector for each token.
    output: NodeId,
    threads: Arc<ThreadPool>,
}

impl LocalEmbedder {
    /// Loads the model, to run on `threads` threads, else on one for each core.
    ///
    /// # Errors
    ///
    /// `Unavailable`, naming the file, if one cannot be read or is no such model.
    pub async fn load(
        files: &ModelFiles,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, EmbedError> {
        let files = files.clone();
        spawn_blocking(move || Self::load_blocking(&files, threads))
            .await
            .map_err(|error| EmbedError::Unavailable(format!("loading the model: {error}")))?
    }

    fn load_blocking(
        files: &ModelFiles,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, EmbedError> {
        let read = |path: std::path::PathBuf| {
            std::fs::read(&path).map_err(|error| unusable(&path.display(), &error))
        };
        let weights = read(files.weights())?;
        let fingerprint = model_files::sha256_hex(&weights);
        let unusable_weights =
            |error: &dyn fmt::Display| unusable(&files.weights().display(), error);
        let model = Model::load(weights).map_err(|error| unusable_weights(&error))?;
        let node = |name| {
            model
                .node_id(name)
                .map_err(|error| unusable_weights(&error))
        };
        let inputs = [
            node("input_ids")?,
            node("attention_mask")?,
            node("token_type_ids")?,
        ];
        let output = *model
            .output_ids()
            .first()
            .ok_or_else(|| unusable_weights(&"it has no output"))?;
        let tokenizer = Tokenizer::from_json(&read(files.tokenizer())?)
            .map_err(|error| unusable(&files.tokenizer().display(), &error))?;
        let threads = threads
            .or_else(|| thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get);
        Ok(Self {
            identity: EmbedderIdentity {
                name: NAME.to_owned(),
                fingerprint,
                dimensions: DIMENSIONS,
                max_tokens: MAX_TOKENS,
            },
            tokenizer,
            inputs,
            output,
            model,
            threads: Arc::new(ThreadPool::with_num_threads(threads)),
        })
    }

    pub(super) fn identity(&self) -> &EmbedderIdentity {
        &self.identity
    }

    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Vec<String> {
        windows(breadcrumb, text, MAX_TOKENS - SPECIAL_TOKENS, |piece| {
            self.tokenizer.count(piece)
        })
    }

    /// Embeds each text in a blocking task of its own, so that a caller who gives up pays for one text at most.
    pub(super) async fn embed(
        self: Arc<Self>,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let (embedder, text) = (Arc::clone(&self), text.clone());
            let vector = spawn_blocking(move || embedder.embed_blocking(&text))
                .await
                .map_err(|error| EmbedError::Unavailable(format!("running {NAME}: {error}")))??;
            vectors.push(vector);
        }
        Ok(vectors)
    }

    fn embed_blocking(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let ids = self.tokenizer.encode(text, MAX_TOKENS);
        let shape = [1, ids.len()];
        let ids = ids.into_iter().map(u32::cast_signed).collect::<Vec<_>>();
        let ids = NdTensor::<i32, 2>::from_data(shape, ids);
        let mask = NdTensor::<i32, 2>::full(shape, 1);
        let types = NdTensor::<i32, 2>::zeros(shape);
        let [ids_input, mask_input, types_input] = self.inputs;
        let mut options = RunOptions::default();
        options.thread_pool = Some(Arc::clone(&self.threads));
        let [states] = self
            .model
            .run_n(
                vec![
                    (ids_input, ids.view().into()),
                    (mask_input, mask.view().into()),
                    (types_input, types.view().into()),
                ],
                [self.output],
                Some(options),
            )
            .map_err(|error| EmbedError::Unavailable(format!("running {NAME}: {error}")))?;
        let states: NdTensor<f32, 3> = states
            .try_into()
            .map_err(|error| EmbedError::Malformed(format!("{NAME} gave {error}")))?;
        Ok(pool(&states))
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

/// The sum over the tokens (no padding, so the mask covers all); the port scales it to length 1, mean or not.
fn pool(states: &NdTensor<f32, 3>) -> Vec<f32> {
    let [_, tokens, dimensions] = states.shape();
    let mut sum = vec![0.0; dimensions];
    for token in 0..tokens {
        for (dimension, total) in sum.iter_mut().enumerate() {
            *total += states[[0, token, dimension]];
        }
    }
    sum
}

fn unusable(file: &dyn fmt::Display, error: &dyn fmt::Display) -> EmbedError {
    EmbedError::Unavailable(format!("cannot use {file}: {error}"))
}

#[cfg(test)]
mod tests;
