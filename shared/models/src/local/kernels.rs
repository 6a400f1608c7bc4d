//! The passes of an encoder and of its token projection over numbers, with the vector instructions of the processor that runs them.
//!
//! Each does the operations of the ONNX graph in the order in which `rten` does them, so that the states are equal to its states, bit by bit. `rten`
//! makes a pass for each operator; here one pass does all that follows a multiplication.
//!
//! Rows are multiples of 64 numbers, those of an attention head of 16, and projected states of 96: the widest vectors have 16 numbers.

#![expect(
    clippy::inline_always,
    reason = "a call to code without vector instructions takes longer than a pass"
)]

use rten_simd::ops::{BitOps, FloatOps, NarrowSaturate, NumOps, ToFloat};
use rten_simd::{Isa, Simd, SimdOp, SimdUnaryOp};
use rten_vecmath::{Exp, Gelu};

/// Partial sums that are computed side by side.
const PARTS: usize = 4;

/// The smallest and the largest of some numbers, and of 0.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) min: f32,
    pub(super) max: f32,
}

impl Bounds {
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// The bounds of each place of a vector.
struct LaneBounds<I: Isa> {
    isa: I,
    min: I::F32,
    max: I::F32,
}

impl<I: Isa> LaneBounds<I> {
    #[inline(always)]
    fn new(isa: I) -> Self {
        let (min, max) = (isa.f32().zero(), isa.f32().zero());
        Self { isa, min, max }
    }

    #[inline(always)]
    fn add(&mut self, numbers: I::F32) {
        self.min = self.isa.f32().min(self.min, numbers);
        self.max = self.isa.f32().max(self.max, numbers);
    }

    #[inline(always)]
    fn bounds(self) -> Bounds {
        Bounds {
            min: self.min.to_array().into_iter().fold(0.0, f32::min),
            max: self.max.to_array().into_iter().fold(0.0, f32::max),
        }
    }
}

/// Rounds numbers to bytes: number × `inverse_scale` + `zero`.
pub(super) struct Quantize<'a> {
    pub(super) numbers: &'a [f32],
    pub(super) bytes: &'a mut [u8],
    pub(super) inverse_scale: f32,
    pub(super) zero: u8,
}

impl SimdOp for Quantize<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (floats, integers) = (isa.f32(), isa.i32());
        let lanes = floats.len();
        let scale = floats.splat(self.inverse_scale);
        let zero = integers.splat(self.zero.into());
        let numbers = self.numbers.chunks_exact(4 * lanes);
        for (numbers, bytes) in numbers.zip(self.bytes.chunks_exact_mut(4 * lanes)) {
            let mut rounded = [zero; 4];
            for (number, rounded) in rounded.iter_mut().enumerate() {
                let scaled = floats.mul(floats.load(&numbers[number * lanes..]), scale);
                *rounded = integers.add(floats.to_int_round(scaled), zero);
            }
            let [a, b, c, d] = rounded;
            let (low, high) = (
                integers.narrow_saturate(a, b),
                integers.narrow_saturate(c, d),
            );
            isa.u8().store(isa.i16().narrow_saturate(low, high), bytes);
        }
    }
}

/// The product of a rounded input and the weights, a row for each token, and what makes numbers of it:
/// (sum − `zero` × sum of the column) × `input_scale` × scale of the output + bias.
pub(super) struct Product<'a> {
    pub(super) sums: &'a [i32],
    /// The input's byte for 0.
    pub(super) zero: i32,
    pub(super) column_sums: &'a [i32],
    pub(super) input_scale: f32,
    pub(super) scales: &'a [f32],
    pub(super) bias: &'a [f32],
}

impl Product<'_> {
    /// Returns the numbers of a row from `column` on.
    #[inline(always)]
    fn numbers<I: Isa>(&self, isa: I, row: &[i32], column: usize) -> I::F32 {
        let (floats, integers) = (isa.f32(), isa.i32());
        let zeros = integers.load(&self.column_sums[column..]);
        let zeros = integers.mul(integers.splat(self.zero), zeros);
        let sums = integers.sub(integers.load(&row[column..]), zeros);
        let scale = floats.load(&self.scales[column..]);
        let scale = floats.mul(floats.splat(self.input_scale), scale);
        let numbers = floats.mul(integers.to_float(sums), scale);
        floats.add(numbers, floats.load(&self.bias[column..]))
    }
}

/// Writes the numbers of a product.
pub(super) struct Rescale<'a> {
    pub(super) input: Product<'a>,
    pub(super) output: &'a mut [f32],
}

impl SimdOp for Rescale<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let width = self.input.scales.len();
        let rows = self.input.sums.chunks_exact(width);
        for (sums, output) in rows.zip(self.output.chunks_exact_mut(width)) {
            for column in (0..width).step_by(isa.f32().len()) {
                let numbers = self.input.numbers(isa, sums, column);
                isa.f32().store(numbers, &mut output[column..]);
            }
        }
    }
}

/// Writes the activations of a product's numbers (GELU); returns their bounds.
pub(super) struct Activate<'a> {
    pub(super) input: Product<'a>,
    pub(super) output: &'a mut [f32],
}

impl SimdOp for Activate<'_> {
    type Output = Bounds;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> Bounds {
        let width = self.input.scales.len();
        let mut bounds = LaneBounds::new(isa);
        let rows = self.input.sums.chunks_exact(width);
        for (sums, output) in rows.zip(self.output.chunks_exact_mut(width)) {
            for column in (0..width).step_by(isa.f32().len()) {
                let numbers = self.input.numbers(isa, sums, column);
                let activations = Gelu {}.eval(isa, numbers);
                bounds.add(activations);
                isa.f32().store(activations, &mut output[column..]);
            }
        }
        bounds.bounds()
    }
}

/// A layer normalisation.
#[derive(Clone, Copy)]
pub(super) struct Normalization<'a> {
    pub(super) scale: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) epsilon: f32,
}

impl Normalization<'_> {
    #[inline(always)]
    fn apply<I: Isa>(self, row: &mut [f32], bounds: &mut LaneBounds<I>) {
        let isa = bounds.isa;
        let floats = isa.f32();
        let lanes = floats.len();
        #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
        let width = row.len() as f32;
        let mut sums = [floats.zero(); PARTS];
        for numbers in row.chunks_exact(PARTS * lanes) {
            for (part, sum) in sums.iter_mut().enumerate() {
                *sum = floats.add(*sum, floats.load(&numbers[part * lanes..]));
            }
        }
        let mean = floats.splat(total(isa, sums) / width);
        let mut squares = [floats.zero(); PARTS];
        for numbers in row.chunks_exact(PARTS * lanes) {
            for (part, square) in squares.iter_mut().enumerate() {
                let difference = floats.sub(floats.load(&numbers[part * lanes..]), mean);
                *square = floats.mul_add(difference, difference, *square);
            }
        }
        let variance = total(isa, squares) / width;
        let factor = floats.splat(1.0 / (variance + self.epsilon).sqrt());
        for column in (0..row.len()).step_by(lanes) {
            let difference = floats.sub(floats.load(&row[column..]), mean);
            let scale = floats.mul(floats.load(&self.scale[column..]), factor);
            let bias = floats.load(&self.bias[column..]);
            let numbers = floats.mul_add(difference, scale, bias);
            bounds.add(numbers);
            floats.store(numbers, &mut row[column..]);
        }
    }
}

/// Adds partial sums.
#[inline(always)]
fn total<I: Isa>(isa: I, sums: [I::F32; PARTS]) -> f32 {
    let floats = isa.f32();
    let [a, b, c, d] = sums;
    let sum = floats.add(floats.add(floats.add(a, b), c), d);
    sum.to_array().into_iter().sum()
}

/// Normalises states, a row for each token; returns their bounds.
pub(super) struct Normalize<'a> {
    pub(super) states: &'a mut [f32],
    pub(super) norm: Normalization<'a>,
}

impl SimdOp for Normalize<'_> {
    type Output = Bounds;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> Bounds {
        let mut bounds = LaneBounds::new(isa);
        for row in self.states.chunks_exact_mut(self.norm.scale.len()) {
            self.norm.apply(row, &mut bounds);
        }
        bounds.bounds()
    }
}

/// Adds the numbers of a product to states and normalises them; returns their bounds.
pub(super) struct AddNormalize<'a> {
    pub(super) input: Product<'a>,
    pub(super) states: &'a mut [f32],
    pub(super) norm: Normalization<'a>,
}

impl SimdOp for AddNormalize<'_> {
    type Output = Bounds;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> Bounds {
        let floats = isa.f32();
        let width = self.norm.scale.len();
        let mut bounds = LaneBounds::new(isa);
        let rows = self.input.sums.chunks_exact(width);
        for (sums, row) in rows.zip(self.states.chunks_exact_mut(width)) {
            for column in (0..width).step_by(floats.len()) {
                let numbers = self.input.numbers(isa, sums, column);
                let sum = floats.add(numbers, floats.load(&row[column..]));
                floats.store(sum, &mut row[column..]);
            }
            self.norm.apply(row, &mut bounds);
        }
        bounds.bounds()
    }
}

/// Replaces each row of `width` scores by its softmax.
pub(super) struct Softmax<'a> {
    pub(super) scores: &'a mut [f32],
    pub(super) width: usize,
}

impl SimdOp for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let floats = isa.f32();
        let lanes = floats.len();
        let lowest = floats.splat(f32::MIN);
        for row in self.scores.chunks_exact_mut(self.width) {
            // The scores after the last whole vector.
            let rest = row.len() - row.len() % lanes;
            let (last, mask) = floats.load_pad(&row[rest..]);
            let mut largest = floats.select(last, lowest, mask);
            for column in (0..rest).step_by(lanes) {
                largest = floats.max(largest, floats.load(&row[column..]));
            }
            let largest = largest.to_array().into_iter().fold(f32::MIN, f32::max);
            let largest = floats.splat(largest);
            let mut sum = floats.zero();
            for column in (0..rest).step_by(lanes) {
                let power = Exp {}.eval(isa, floats.sub(floats.load(&row[column..]), largest));
                sum = floats.add(sum, power);
                floats.store(power, &mut row[column..]);
            }
            let last = Exp {}.eval(isa, floats.sub(last, largest));
            let last = floats.select(last, floats.zero(), mask);
            sum = floats.add(sum, last);
            let factor = floats.splat(1.0 / sum.to_array().into_iter().sum::<f32>());
            for column in (0..rest).step_by(lanes) {
                let share = floats.mul(floats.load(&row[column..]), factor);
                floats.store(share, &mut row[column..]);
            }
            let shares = floats.mul(last, factor).to_array();
            for (share, score) in shares.into_iter().zip(&mut row[rest..]) {
                *score = share;
            }
        }
    }
}

/// Copies the rows of one head into its columns of `output`; returns their bounds.
pub(super) struct PlaceHead<'a> {
    pub(super) head: &'a [f32],
    pub(super) head_width: usize,
    pub(super) output: &'a mut [f32],
    pub(super) output_width: usize,
    pub(super) first_column: usize,
}

impl SimdOp for PlaceHead<'_> {
    type Output = Bounds;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> Bounds {
        let floats = isa.f32();
        let mut bounds = LaneBounds::new(isa);
        let rows = self.head.chunks_exact(self.head_width);
        for (row, output) in rows.zip(self.output.chunks_exact_mut(self.output_width)) {
            let output = &mut output[self.first_column..];
            for column in (0..self.head_width).step_by(floats.len()) {
                let numbers = floats.load(&row[column..]);
                bounds.add(numbers);
                floats.store(numbers, &mut output[column..]);
            }
        }
        bounds.bounds()
    }
}

/// Writes the sum of a state's numbers, each times its row of `shares`.
pub(super) struct Project<'a, const WIDTH: usize> {
    pub(super) state: &'a [f32],
    pub(super) shares: &'a [[f32; WIDTH]],
    pub(super) output: &'a mut [f32; WIDTH],
}

impl<const WIDTH: usize> SimdOp for Project<'_, WIDTH> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        /// Vectors that stay in registers; six of the widest have the 96 numbers of a projected state.
        const VECTORS: usize = 6;
        let floats = isa.f32();
        let lanes = floats.len();
        for (block, output) in self.output.chunks_exact_mut(VECTORS * lanes).enumerate() {
            let first = block * VECTORS * lanes;
            let mut sums = [floats.zero(); VECTORS];
            for (number, shares) in self.state.iter().zip(self.shares) {
                let number = floats.splat(*number);
                for (vector, sum) in sums.iter_mut().enumerate() {
                    let shares = floats.load(&shares[first + vector * lanes..]);
                    *sum = floats.add(*sum, floats.mul(number, shares));
                }
            }
            for (sum, output) in sums.into_iter().zip(output.chunks_exact_mut(lanes)) {
                floats.store(sum, output);
            }
        }
    }
}
