//! Reads the encoder of an ONNX file whose weights `onnxruntime` quantised: `bge-small-en-v1.5`.
//!
//! The file's graph could be run as it is, but an encoder made for it takes half the time (`docs/decisions/0009-dependencies-and-builds.md`). Weights
//! are found by the names that `PyTorch` gave to the layers. Their zero is 0, and all files are checked by their hash.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Mutex;

use rten_onnx::onnx::{GraphProto, ModelProto, TensorProto};

use super::MAX_TOKENS;
use super::encoder::{Encoder, Layer, Linear, LinearWeights, Norm};

/// Numbers of an attention head.
const HEAD_WIDTH: usize = 32;
/// BERT's.
const EPSILON: f32 = 1e-12;

/// The encoder's input: for each token, the sum of its word vector, the vector of token type 0 and its position vector.
pub(super) struct InputEmbeddings {
    words: ByteTable,
    first_type: Vec<f32>,
    /// One after the other.
    positions: Vec<f32>,
}

/// Numbers rounded to bytes: (byte − `zero`) × `scale`.
struct ByteTable {
    bytes: Vec<u8>,
    scale: f32,
    zero: u8,
}

impl ByteTable {
    fn numbers(&self, from: usize, count: usize) -> impl Iterator<Item = f32> {
        let bytes = self.bytes[from..from + count].iter();
        bytes.map(|byte| (f32::from(*byte) - f32::from(self.zero)) * self.scale)
    }

    fn all(&self) -> Vec<f32> {
        self.numbers(0, self.bytes.len()).collect()
    }
}

impl InputEmbeddings {
    /// Returns the tables if they have whole vectors of `hidden` numbers, for as many places as an input has tokens.
    fn checked(self, hidden: usize) -> Result<Self, String> {
        let words = self.words.bytes.len();
        let fits = self.first_type.len() == hidden
            && words > 0
            && words.is_multiple_of(hidden)
            && self.positions.len() >= MAX_TOKENS * hidden;
        if fits {
            Ok(self)
        } else {
            Err(format!("its tables do not fit states of {hidden} numbers"))
        }
    }

    /// Returns one vector for each token, one after the other.
    pub(super) fn rows(&self, ids: &[u32]) -> Vec<f32> {
        let hidden = self.first_type.len();
        let mut rows = Vec::with_capacity(ids.len() * hidden);
        for (id, position) in ids.iter().zip(self.positions.chunks_exact(hidden)) {
            let word = self.words.numbers(*id as usize * hidden, hidden);
            let others = self.first_type.iter().zip(position);
            rows.extend(
                word.zip(others)
                    .map(|(word, (of_type, at))| word + of_type + at),
            );
        }
        rows
    }
}

/// Reads a file; the error says what it lacks.
pub(super) fn read(file: File) -> Result<(InputEmbeddings, Encoder), String> {
    let model = ModelProto::parse_file(file).map_err(|error| error.to_string())?;
    let mut file = EncoderFile::new(model.graph.ok_or("it has no graph")?);
    let types = file.table("embeddings.token_type_embeddings")?.all();
    let norm = file.norm("embeddings.LayerNorm")?;
    let hidden = norm.scale.len();
    let embeddings = InputEmbeddings {
        words: file.table("embeddings.word_embeddings")?,
        first_type: types.into_iter().take(hidden).collect(),
        positions: file.table("embeddings.position_embeddings")?.all(),
    };
    let layers = (0..file.layers()).map(|number| file.layer(number));
    let encoder = Encoder {
        heads: hidden / HEAD_WIDTH,
        epsilon: EPSILON,
        norm,
        layers: layers.collect::<Result<_, _>>()?,
        buffers: Mutex::default(),
    };
    // The encoder first: its numbers in a state are not 0.
    let encoder = encoder.checked(hidden)?;
    Ok((embeddings.checked(hidden)?, encoder))
}

struct EncoderFile {
    /// By name; each is taken out once.
    tensors: HashMap<String, TensorProto>,
    /// The name of the weights of each multiplication, by its own name.
    weights: HashMap<String, String>,
}

impl EncoderFile {
    fn new(graph: GraphProto) -> Self {
        let named = graph.initializer.into_iter();
        let multiplications = graph.node.into_iter().filter_map(|node| {
            let is_multiplication = node.op_type.as_deref() == Some("MatMulInteger");
            let weights = node.input.into_iter().nth(1)?;
            Some((node.name.filter(|_| is_multiplication)?, weights))
        });
        Self {
            tensors: named
                .filter_map(|tensor| Some((tensor.name.clone()?, tensor)))
                .collect(),
            weights: multiplications.collect(),
        }
    }

    fn layers(&self) -> usize {
        let is_query = |name: &&String| name.ends_with("/self/query/MatMul_quant");
        self.weights.keys().filter(is_query).count()
    }

    fn layer(&mut self, number: usize) -> Result<Layer, String> {
        let layer = format!("layer.{number}");
        let attention = ["query", "key", "value"]
            .into_iter()
            .map(|name| self.linear(&layer, &["attention", "self", name]))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Layer {
            attention: Linear::joined(&attention)?,
            output: Linear::new(self.linear(&layer, &["attention", "output", "dense"])?)?,
            attention_norm: self.norm(&format!("encoder.{layer}.attention.output.LayerNorm"))?,
            widen: Linear::new(self.linear(&layer, &["intermediate", "dense"])?)?,
            narrow: Linear::new(self.linear(&layer, &["output", "dense"])?)?,
            norm: self.norm(&format!("encoder.{layer}.output.LayerNorm"))?,
        })
    }

    fn linear(&mut self, layer: &str, path: &[&str]) -> Result<LinearWeights, String> {
        let node = format!("/encoder/{layer}/{}/MatMul_quant", path.join("/"));
        let weights = self.weights.remove(&node);
        let weights = weights.ok_or_else(|| format!("it lacks the multiplication {node}"))?;
        let scales = self.floats(&weights.replace("_quantized", "_scale"))?;
        let bytes = self.bytes(&weights)?.into_iter();
        Ok(LinearWeights {
            weights: bytes.map(u8::cast_signed).collect(),
            scales,
            bias: self.floats(&format!("encoder.{layer}.{}.bias", path.join(".")))?,
        })
    }

    fn norm(&mut self, name: &str) -> Result<Norm, String> {
        Ok(Norm {
            scale: self.floats(&format!("{name}.weight"))?,
            bias: self.floats(&format!("{name}.bias"))?,
        })
    }

    fn table(&mut self, name: &str) -> Result<ByteTable, String> {
        let bytes = self.bytes(&format!("{name}.weight_quantized"))?;
        let scale = self.floats(&format!("{name}.weight_scale"))?;
        let zero = self.bytes(&format!("{name}.weight_zero_point"))?;
        Ok(ByteTable {
            bytes,
            scale: *scale.first().ok_or("it has no scale")?,
            zero: *zero.first().ok_or("it has no zero")?,
        })
    }

    fn floats(&mut self, name: &str) -> Result<Vec<f32>, String> {
        let tensor = self.tensor(name)?;
        let Some(bytes) = tensor.raw_data else {
            return Ok(tensor.float_data);
        };
        let bytes = bytes.into_inner();
        let numbers = bytes.as_chunks().0.iter();
        Ok(numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn bytes(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let tensor = self.tensor(name)?;
        let Some(bytes) = tensor.raw_data else {
            let numbers = tensor.int32_data.into_iter();
            let bytes = numbers.map(u8::try_from).collect::<Result<_, _>>();
            return bytes.map_err(|error| format!("{name}: {error}"));
        };
        Ok(bytes.into_inner())
    }

    fn tensor(&mut self, name: &str) -> Result<TensorProto, String> {
        let tensor = self.tensors.remove(name);
        tensor.ok_or_else(|| format!("it lacks the tensor {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_the_sum_of_its_word_its_type_and_its_place() {
        let embeddings = InputEmbeddings {
            words: ByteTable {
                bytes: vec![3, 5, 4, 2],
                scale: 0.5,
                zero: 3,
            },
            first_type: vec![10.0, 20.0],
            positions: vec![100.0, 200.0, 300.0, 400.0],
        };
        let rows = embeddings.rows(&[1, 0]);
        assert_eq!(rows, [110.5, 219.5, 310.0, 421.0]);
    }

    fn tables(words: usize, types: usize, positions: usize) -> InputEmbeddings {
        InputEmbeddings {
            words: ByteTable {
                bytes: vec![0; words],
                scale: 1.0,
                zero: 0,
            },
            first_type: vec![0.0; types],
            positions: vec![0.0; positions],
        }
    }

    #[test]
    fn tables_of_other_sizes_are_refused() {
        const HIDDEN: usize = 64;
        let positions = MAX_TOKENS * HIDDEN;
        assert!(tables(128, HIDDEN, positions).checked(HIDDEN).is_ok());
        for damaged in [
            tables(0, HIDDEN, positions),
            tables(100, HIDDEN, positions),
            tables(128, HIDDEN - 1, positions),
            tables(128, HIDDEN, positions - 1),
        ] {
            assert!(damaged.checked(HIDDEN).is_err());
        }
    }

    #[test]
    fn a_file_without_the_weights_is_refused() {
        let file = EncoderFile::new(GraphProto::default()).layer(0);
        let missing =
            "it lacks the multiplication /encoder/layer.0/attention/self/query/MatMul_quant";
        assert_eq!(file.err().unwrap(), missing);
    }
}
