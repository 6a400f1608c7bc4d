//! Vectors with 16 bits for each number, in the file and in memory, and their cosines.
//!
//! A vector is stored as a scale and integers up to 32,767. That halves the disk space and the memory bandwidth, which limits an exact search.
//! Rounding changes a cosine by some millionths: 384 numbers of a unit vector are below about 0.3, so each is off by at most 0.000005, in either
//! direction.

use std::path::PathBuf;

use rusqlite::Row;

use crate::sqlite::DatabaseError;

/// The number of separate sums in a dot product, so that the compiler can add several at once.
const LANES: usize = 8;
/// Bytes of the scale, and of a number.
const SCALE_WIDTH: usize = size_of::<f32>();
const WIDTH: usize = size_of::<i16>();

/// Vectors of equal length, stored consecutively.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    dimensions: usize,
    numbers: Vec<i16>,
    scales: Vec<f32>,
}

impl Vectors {
    /// Creates `count` zero vectors.
    pub(super) fn zeros(count: usize, dimensions: usize) -> Self {
        Self {
            dimensions,
            numbers: vec![0; count * dimensions],
            scales: vec![0.0; count],
        }
    }

    /// Returns the cosine of a vector and a query of unit length.
    pub(super) fn cosine(&self, slot: usize, query: &[f32]) -> f32 {
        dot(query, self.numbers_of(slot)) * self.scales[slot]
    }

    /// Copies a vector from others of the same dimensions.
    pub(super) fn copy(&mut self, slot: usize, from: &Self, other: usize) {
        self.numbers[slot * self.dimensions..][..self.dimensions]
            .copy_from_slice(from.numbers_of(other));
        self.scales[slot] = from.scales[other];
    }

    /// Reads a vector from the bytes of a row.
    pub(super) fn read(
        &mut self,
        slot: usize,
        row: &Row,
        column: usize,
    ) -> Result<(), DatabaseError> {
        let bytes = row.get_ref(column)?.as_blob();
        self.set(slot, bytes.map_err(rusqlite::Error::from)?)
    }

    /// Sets a vector from its bytes.
    pub(super) fn set(&mut self, slot: usize, bytes: &[u8]) -> Result<(), DatabaseError> {
        let expected = width(self.dimensions);
        if bytes.len() != expected {
            return Err(DatabaseError::Damaged {
                path: PathBuf::new(),
                reason: format!("a vector has {} bytes instead of {expected}", bytes.len()),
            });
        }
        let (scale, bytes) = bytes.split_at(SCALE_WIDTH);
        let (scale, _) = scale.as_chunks();
        self.scales[slot] = f32::from_le_bytes(scale[0]);
        let (bytes, _) = bytes.as_chunks();
        let numbers = &mut self.numbers[slot * self.dimensions..][..self.dimensions];
        for (number, bytes) in numbers.iter_mut().zip(bytes) {
            *number = i16::from_le_bytes(*bytes);
        }
        Ok(())
    }

    /// Appends a vector from its bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        self.numbers.resize(self.numbers.len() + self.dimensions, 0);
        self.scales.push(0.0);
        self.set(self.scales.len() - 1, bytes)
    }

    /// Returns the number of vectors.
    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns a vector as 32-bit floats.
    pub(super) fn get(&self, slot: usize) -> Vec<f32> {
        let numbers = self.numbers_of(slot).iter();
        let scale = self.scales[slot];
        numbers.map(|number| f32::from(*number) * scale).collect()
    }

    fn numbers_of(&self, slot: usize) -> &[i16] {
        &self.numbers[slot * self.dimensions..][..self.dimensions]
    }
}

/// Returns the number of bytes of a stored vector.
pub(super) fn width(dimensions: usize) -> usize {
    SCALE_WIDTH + dimensions * WIDTH
}

/// Scales a vector to length 1; zeros stay zeros.
pub(super) fn unit(vector: &[f32]) -> Vec<f32> {
    let length: f32 = vector.iter().map(|value| value * value).sum();
    let length = length.sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    vector.iter().map(|value| value * scale).collect()
}

/// Returns the little-endian bytes that [`Vectors::read`] reads.
pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    let largest = vector
        .iter()
        .fold(0.0_f32, |most, value| most.max(value.abs()));
    let scale = largest / f32::from(i16::MAX);
    let mut bytes = Vec::with_capacity(SCALE_WIDTH + vector.len() * WIDTH);
    bytes.extend(scale.to_le_bytes());
    for value in vector {
        bytes.extend(rounded(*value, scale).to_le_bytes());
    }
    bytes
}

/// Returns a value as a multiple of the scale, rounded; 0 if the scale is 0.
#[expect(
    clippy::cast_possible_truncation,
    reason = "at most the largest number"
)]
fn rounded(value: f32, scale: f32) -> i16 {
    if scale > 0.0 {
        (value / scale).round() as i16
    } else {
        0
    }
}

pub(super) fn check_dimensions(vector: &[f32], expected: usize) -> Result<(), DatabaseError> {
    if vector.len() == expected {
        return Ok(());
    }
    Err(DatabaseError::Rejected(format!(
        "the vector has {} dimensions, the collection expects {expected}",
        vector.len()
    )))
}

fn dot(query: &[f32], numbers: &[i16]) -> f32 {
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (numbers, numbers_rest) = numbers.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (query, numbers) in query.iter().zip(numbers) {
        for lane in 0..LANES {
            sums[lane] += query[lane] * f32::from(numbers[lane]);
        }
    }
    let rest: f32 = query_rest
        .iter()
        .zip(numbers_rest)
        .map(|(value, number)| value * f32::from(*number))
        .sum();
    sums.iter().sum::<f32>() + rest
}
