//! Vectors as bytes, and their cosines.

use rusqlite::Row;

use crate::sqlite::DatabaseError;

/// Sums that are kept apart, so that the compiler adds several at once.
const LANES: usize = 8;
/// Bytes of a number.
const WIDTH: usize = size_of::<f32>();

/// The vector in its direction that has length 1; zeros stay zeros.
pub(super) fn unit(vector: &[f32]) -> Vec<f32> {
    let length = dot(vector, vector).sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    vector.iter().map(|value| value * scale).collect()
}

/// The dot product: of unit vectors, their cosine.
pub(super) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Reads a row's column into `vector`.
pub(super) fn read_into(vector: &mut [f32], row: &Row, column: usize) -> Result<(), DatabaseError> {
    let bytes = row
        .get_ref(column)?
        .as_blob()
        .map_err(rusqlite::Error::from)?;
    if bytes.len() != vector.len() * WIDTH {
        return Err(DatabaseError::Damaged {
            path: std::path::PathBuf::new(),
            reason: format!(
                "a vector has {} bytes instead of {}",
                bytes.len(),
                vector.len() * WIDTH
            ),
        });
    }
    let (numbers, _) = bytes.as_chunks::<WIDTH>();
    for (value, number) in vector.iter_mut().zip(numbers) {
        *value = f32::from_le_bytes(*number);
    }
    Ok(())
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
