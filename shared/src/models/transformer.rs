//! Inference: token ids to the model's output.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use rten::{Model, NodeId, RunOptions, ThreadPool};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use super::files::{ModelFiles, sha256_hex};
use super::tokenizer::Tokenizer;
use crate::provider::ProviderError;

/// A model, loaded.
pub(crate) struct Transformer {
    name: &'static str,
    /// SHA-256 of the weights, hex.
    pub(crate) fingerprint: String,
    pub(crate) tokenizer: Tokenizer,
    model: Model,
    /// Token ids, attention mask, token types.
    inputs: [NodeId; 3],
    output: NodeId,
    /// For one input that somebody waits for: all threads at once.
    together: Arc<ThreadPool>,
    /// For many inputs: a thread for each, which does more in the same time.
    apart: Vec<Arc<ThreadPool>>,
}

/// Which threads an input runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Threads {
    /// All of them: one answer soonest.
    Together,
    /// The one with this number, round and round: most answers a second.
    Alone(usize),
}

impl Transformer {
    /// Loads a model, to run on `threads` threads, else on one for each core. Blocks.
    pub(crate) fn load(
        files: &ModelFiles,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, ProviderError> {
        let read = |path: &std::path::Path| {
            std::fs::read(path).map_err(|error| unusable(&path.display(), &error))
        };
        let (weights_file, tokenizer_file) = (files.weights(), files.tokenizer());
        let weights = read(&weights_file)?;
        let fingerprint = sha256_hex(&weights);
        let unusable_weights =
            |error: &dyn std::fmt::Display| unusable(&weights_file.display(), error);
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
        let tokenizer = Tokenizer::from_json(&read(&tokenizer_file)?)
            .map_err(|error| unusable(&tokenizer_file.display(), &error))?;
        let threads = threads
            .or_else(|| thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get);
        Ok(Self {
            name: files.model.name(),
            fingerprint,
            tokenizer,
            model,
            inputs,
            output,
            together: Arc::new(ThreadPool::with_num_threads(threads)),
            apart: (0..threads)
                .map(|_| Arc::new(ThreadPool::with_num_threads(1)))
                .collect(),
        })
    }

    /// How many inputs run side by side at best.
    pub(crate) fn width(&self) -> usize {
        self.apart.len()
    }

    /// Runs one input; `types` says for each token whether it is of the first or the second text. Blocks.
    ///
    /// The output's shape is the model's: one row of logits, or a state for each token.
    pub(crate) fn run<const RANK: usize>(
        &self,
        ids: Vec<u32>,
        types: Vec<i32>,
        threads: Threads,
    ) -> Result<NdTensor<f32, RANK>, ProviderError> {
        let failed = |error: &dyn std::fmt::Display| {
            ProviderError::Unavailable(format!("running {}: {error}", self.name))
        };
        let shape = [1, ids.len()];
        let ids = ids.into_iter().map(u32::cast_signed).collect::<Vec<_>>();
        let ids = NdTensor::<i32, 2>::from_data(shape, ids);
        let mask = NdTensor::<i32, 2>::full(shape, 1);
        let types = NdTensor::<i32, 2>::from_data(shape, types);
        let [ids_input, mask_input, types_input] = self.inputs;
        let mut options = RunOptions::default();
        let pool = match threads {
            Threads::Together => &self.together,
            Threads::Alone(number) => &self.apart[number % self.apart.len()],
        };
        options.thread_pool = Some(Arc::clone(pool));
        let [output] = self
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
            .map_err(|error| failed(&error))?;
        output.try_into().map_err(|error| failed(&error))
    }
}

impl std::fmt::Debug for Transformer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Transformer")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn unusable(file: &dyn std::fmt::Display, error: &dyn std::fmt::Display) -> ProviderError {
    ProviderError::Unavailable(format!("cannot use the model file {file}: {error}"))
}
