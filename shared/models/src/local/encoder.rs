//! A BERT encoder: computes a state for each token from the tokens' vectors.
//!
//! Weights are 8-bit numbers with one scale for each output. The inputs of each linear map are rounded to 8 bits with the scale that their smallest and
//! largest number need (`DynamicQuantizeLinear` of ONNX). The multiplications are those of `rten-gemm`; [`super::kernels`] has everything else.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rten_gemm::{GemmError, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::SimdOp as _;
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};

use super::kernels::{
    Activate, AddNormalize, Bounds, Normalization, Normalize, PlaceHead, Product, Quantize,
    Rescale, Softmax,
};

/// Query, key and value.
const ATTENTION_INPUTS: usize = 3;

/// The numbers of a state, before and after it is widened, are a multiple of this, as [`super::kernels`] need it.
const ROW_MULTIPLE: usize = 64;
/// The numbers of an attention head are a multiple of this, as [`super::kernels`] need it.
const HEAD_MULTIPLE: usize = 16;

/// Weights and sizes of an encoder.
pub(super) struct Encoder {
    pub(super) heads: usize,
    /// Prevents division by zero in normalisation.
    pub(super) epsilon: f32,
    /// Normalises the input.
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
    /// Those of runs that have ended, one for each thread at most.
    pub(super) buffers: Mutex<Vec<Buffers>>,
}

/// The memory of a run. Runs use it one after the other, because getting it from the system takes a thirtieth of their time.
#[derive(Default)]
pub(super) struct Buffers {
    /// The rounded input of a linear map.
    bytes: Vec<u8>,
    /// The output of a linear map, before it is scaled.
    sums: Vec<i32>,
    /// An output that has several numbers for each number of a state.
    wide: Vec<f32>,
    /// What attention mixes from the values.
    mixed: Vec<f32>,
    /// One head's scores of each token for each token.
    scores: Vec<f32>,
    /// One head's columns of `mixed`.
    head: Vec<f32>,
}

/// A transformer layer: attention, then two linear maps with an activation between them.
pub(super) struct Layer {
    /// Query, key and value, in this order.
    pub(super) attention: Linear,
    pub(super) output: Linear,
    pub(super) attention_norm: Norm,
    pub(super) widen: Linear,
    pub(super) narrow: Linear,
    pub(super) norm: Norm,
}

/// Layer normalisation.
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Norm {
    fn has_width(&self, width: usize) -> bool {
        self.scale.len() == width && self.bias.len() == width
    }
}

impl Layer {
    /// True if the sizes of the layer's weights fit each other and states of `hidden` numbers.
    fn fits(&self, hidden: usize) -> bool {
        let inner = self.widen.scales.len();
        inner.is_multiple_of(ROW_MULTIPLE)
            && self.attention.maps(hidden, ATTENTION_INPUTS * hidden)
            && self.output.maps(hidden, hidden)
            && self.attention_norm.has_width(hidden)
            && self.widen.maps(hidden, inner)
            && self.narrow.maps(inner, hidden)
            && self.norm.has_width(hidden)
    }
}

/// A linear map.
pub(super) struct Linear {
    /// A row for each input, in the order in which the processor multiplies them.
    weights: PackedBMatrix<i8>,
    /// The sum of the weights of each output, which is multiplied with what the input has for 0.
    column_sums: Vec<i32>,
    /// One for each output.
    scales: Vec<f32>,
    bias: Vec<f32>,
}

/// The weights of a linear map as they are stored.
pub(super) struct LinearWeights {
    /// One row for each input.
    pub(super) weights: Vec<i8>,
    /// One for each output.
    pub(super) scales: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl LinearWeights {
    /// Quantises weights given row by row for each output; the largest of each output becomes ±127.
    pub(super) fn quantized(weights: &[f32], inputs: usize, bias: Vec<f32>) -> Self {
        const LARGEST: f32 = 127.0;
        let outputs = weights.len() / inputs;
        let mut quantized = vec![0; weights.len()];
        let mut scales = Vec::with_capacity(outputs);
        for (output, row) in weights.chunks_exact(inputs).enumerate() {
            let largest = row.iter().fold(f32::MIN_POSITIVE, |largest, weight| {
                largest.max(weight.abs())
            });
            let scale = largest / LARGEST;
            for (input, weight) in row.iter().enumerate() {
                #[expect(clippy::cast_possible_truncation, reason = "at most ±127")]
                let weight = (weight / scale).round() as i8;
                quantized[input * outputs + output] = weight;
            }
            scales.push(scale);
        }
        Self {
            weights: quantized,
            scales,
            bias,
        }
    }

    fn has_shape(&self, inputs: usize, outputs: usize) -> bool {
        self.weights.len() == inputs * outputs
            && self.scales.len() == outputs
            && self.bias.len() == outputs
    }
}

impl Linear {
    /// Joins maps of the same input and of the same number of outputs into one, whose output has theirs side by side.
    ///
    /// # Errors
    /// If the sizes of the weights do not fit each other.
    pub(super) fn joined(maps: &[LinearWeights]) -> Result<Self, String> {
        let width = maps.first().map_or(0, |map| map.scales.len());
        let inputs = maps
            .first()
            .and_then(|map| map.weights.len().checked_div(width))
            .filter(|inputs| *inputs > 0 && maps.iter().all(|map| map.has_shape(*inputs, width)))
            .ok_or("the weights, scales and biases of a linear map do not fit each other")?;
        let outputs = maps.len() * width;
        let mut weights = Vec::with_capacity(inputs * outputs);
        for input in 0..inputs {
            for map in maps {
                weights.extend_from_slice(&map.weights[input * width..][..width]);
            }
        }
        let mut column_sums = vec![0; outputs];
        for row in weights.chunks_exact(outputs) {
            for (sum, weight) in column_sums.iter_mut().zip(row) {
                *sum += i32::from(*weight);
            }
        }
        let weights = NdTensor::from_data([inputs, outputs], weights);
        Ok(Self {
            weights: GemmExecutor::<u8, i8, i32>::new().prepack_b(weights.view()),
            column_sums,
            scales: maps.iter().flat_map(|map| map.scales.clone()).collect(),
            bias: maps.iter().flat_map(|map| map.bias.clone()).collect(),
        })
    }

    /// Creates a map.
    ///
    /// # Errors
    /// If the sizes of the weights do not fit each other.
    pub(super) fn new(weights: LinearWeights) -> Result<Self, String> {
        Self::joined(&[weights])
    }

    fn maps(&self, inputs: usize, outputs: usize) -> bool {
        (self.weights.rows(), self.weights.cols()) == (inputs, outputs)
    }
}

impl Encoder {
    /// Returns the encoder if its sizes fit each other, states of `hidden` numbers, and the vectors of the processor. A file of another model, or a
    /// damaged one, may have any sizes.
    ///
    /// # Errors
    /// What does not fit.
    pub(super) fn checked(self, hidden: usize) -> Result<Self, String> {
        if hidden == 0 || !hidden.is_multiple_of(ROW_MULTIPLE) || !self.norm.has_width(hidden) {
            return Err(format!("its states cannot have {hidden} numbers"));
        }
        if !hidden.is_multiple_of(self.heads.saturating_mul(HEAD_MULTIPLE)) {
            let heads = self.heads;
            return Err(format!("{hidden} numbers cannot have {heads} heads"));
        }
        if self.layers.is_empty() || !self.layers.iter().all(|layer| layer.fits(hidden)) {
            return Err(format!("its layers do not fit states of {hidden} numbers"));
        }
        Ok(self)
    }

    /// Computes the tokens' states from their vectors, a row for each token. Uses the threads of the pool that calls it.
    ///
    /// # Errors
    /// If sizes of the weights do not fit each other.
    pub(super) fn states(&self, vectors: Vec<f32>) -> Result<Vec<f32>, GemmError> {
        let tokens = vectors.len() / self.hidden();
        let mut run = Run {
            encoder: self,
            integers: GemmExecutor::new(),
            floats: GemmExecutor::new(),
            tokens,
            states: vectors,
        };
        let mut buffers = self.buffers().pop().unwrap_or_default();
        let norm = self.normalization(&self.norm);
        let states = &mut run.states;
        let mut bounds = Normalize { states, norm }.dispatch();
        for layer in &self.layers {
            bounds = run.attend(layer, bounds, &mut buffers)?;
            bounds = run.transform(layer, bounds, &mut buffers)?;
        }
        self.buffers().push(buffers);
        Ok(run.states)
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Buffers>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hidden(&self) -> usize {
        self.norm.scale.len()
    }

    fn normalization<'a>(&self, norm: &'a Norm) -> Normalization<'a> {
        Normalization {
            scale: &norm.scale,
            bias: &norm.bias,
            epsilon: self.epsilon,
        }
    }
}

/// The states of a text's tokens, layer after layer.
struct Run<'a> {
    encoder: &'a Encoder,
    integers: GemmExecutor<u8, i8, i32>,
    floats: GemmExecutor<f32>,
    tokens: usize,
    states: Vec<f32>,
}

impl Run<'_> {
    /// Adds to each state what it attends to; `bounds` are those of the states, before and after.
    fn attend(
        &mut self,
        layer: &Layer,
        bounds: Bounds,
        buffers: &mut Buffers,
    ) -> Result<Bounds, GemmError> {
        let Buffers { bytes, sums, .. } = buffers;
        let rounded = Rounded::new(&self.states, bounds, bytes);
        let input = self.multiply(rounded, &layer.attention, sums)?;
        let output = start(&mut buffers.wide, input.sums.len());
        Rescale { input, output }.dispatch();
        let bounds = self.mix(buffers)?;
        let Buffers { bytes, sums, .. } = buffers;
        let rounded = Rounded::new(&buffers.mixed[..self.states.len()], bounds, bytes);
        let input = self.multiply(rounded, &layer.output, sums)?;
        let norm = self.encoder.normalization(&layer.attention_norm);
        Ok(self.add(input, norm))
    }

    /// Mixes the values of each head by the softmax of the products of query and keys; returns the bounds.
    fn mix(&self, buffers: &mut Buffers) -> Result<Bounds, GemmError> {
        let (tokens, hidden) = (self.tokens, self.encoder.hidden());
        let width = hidden / self.encoder.heads;
        let shape = [tokens, ATTENTION_INPUTS * hidden];
        let inputs = start(&mut buffers.wide, shape.iter().product());
        let inputs = NdTensorView::from_data(shape, &*inputs);
        let scores = start(&mut buffers.scores, tokens * tokens);
        let head = start(&mut buffers.head, tokens * width);
        let mixed = start(&mut buffers.mixed, tokens * hidden);
        #[expect(clippy::cast_precision_loss, reason = "some dozens")]
        let options = GemmOptions {
            alpha: 1.0 / (width as f32).sqrt(),
            ..GemmOptions::default()
        };
        let mut bounds = Bounds::default();
        for first_column in (0..hidden).step_by(width) {
            let [query, key, value] = [0, hidden, 2 * hidden].map(|input| {
                let first = input + first_column;
                inputs.slice((.., first..first + width))
            });
            self.floats.gemm(
                scores,
                GemmInputA::Unpacked(query),
                GemmInputB::Unpacked(key.transposed()),
                options.clone(),
            )?;
            let softmax = Softmax {
                scores,
                width: tokens,
            };
            softmax.dispatch();
            let shares = NdTensorView::from_data([tokens, tokens], &*scores);
            self.floats.gemm(
                head,
                GemmInputA::Unpacked(shares),
                GemmInputB::Unpacked(value),
                GemmOptions::default(),
            )?;
            let place = PlaceHead {
                head,
                head_width: width,
                output: mixed,
                output_width: hidden,
                first_column,
            };
            bounds = bounds.with(place.dispatch());
        }
        Ok(bounds)
    }

    /// Adds to each state what two linear maps make of it; `bounds` are those of the states, before and after.
    fn transform(
        &mut self,
        layer: &Layer,
        bounds: Bounds,
        buffers: &mut Buffers,
    ) -> Result<Bounds, GemmError> {
        let Buffers {
            bytes, sums, wide, ..
        } = buffers;
        let rounded = Rounded::new(&self.states, bounds, bytes);
        let input = self.multiply(rounded, &layer.widen, sums)?;
        let output = start(wide, input.sums.len());
        let bounds = Activate { input, output }.dispatch();
        let rounded = Rounded::new(output, bounds, bytes);
        let input = self.multiply(rounded, &layer.narrow, sums)?;
        let norm = self.encoder.normalization(&layer.norm);
        Ok(self.add(input, norm))
    }

    /// Multiplies a rounded input with the weights. The input is packed as a whole, because `gemm` packs it again for each thousand outputs.
    fn multiply<'b>(
        &self,
        input: Rounded,
        linear: &'b Linear,
        sums: &'b mut Vec<i32>,
    ) -> Result<Product<'b>, GemmError> {
        let shape = [self.tokens, input.bytes.len() / self.tokens];
        let bytes = NdTensorView::from_data(shape, input.bytes);
        let sums = start(sums, self.tokens * linear.scales.len());
        self.integers.gemm(
            sums,
            GemmInputA::Packed(&self.integers.prepack_a(bytes)),
            GemmInputB::Packed(&linear.weights),
            GemmOptions::default(),
        )?;
        Ok(Product {
            sums,
            zero: input.zero.into(),
            column_sums: &linear.column_sums,
            input_scale: input.scale,
            scales: &linear.scales,
            bias: &linear.bias,
        })
    }

    fn add(&mut self, input: Product, norm: Normalization) -> Bounds {
        let states = &mut self.states;
        let op = AddNormalize {
            input,
            states,
            norm,
        };
        op.dispatch()
    }
}

/// Returns the start of a buffer, which grows if it is shorter. Its content is arbitrary.
fn start<T: Clone + Default>(buffer: &mut Vec<T>, length: usize) -> &mut [T] {
    if buffer.len() < length {
        buffer.resize(length, T::default());
    }
    &mut buffer[..length]
}

/// Numbers rounded to bytes, which stand for (byte − `zero`) × `scale`.
struct Rounded<'a> {
    bytes: &'a [u8],
    scale: f32,
    zero: u8,
}

impl<'a> Rounded<'a> {
    /// Rounds numbers so that the bytes span their bounds.
    fn new(numbers: &[f32], bounds: Bounds, bytes: &'a mut Vec<u8>) -> Self {
        const LARGEST: f32 = 255.0;
        let scale = (bounds.max - bounds.min) / LARGEST;
        let zero = (-bounds.min / scale).clamp(0.0, LARGEST);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 255"
        )]
        let zero = zero.round_ties_even() as u8;
        let bytes = start(bytes, numbers.len());
        let op = Quantize {
            numbers,
            bytes,
            inverse_scale: 1.0 / scale,
            zero,
        };
        op.dispatch();
        Self { bytes, scale, zero }
    }
}

#[cfg(test)]
mod tests;
