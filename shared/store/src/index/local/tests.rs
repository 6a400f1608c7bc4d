//! Laws of stored vectors.

use super::nearest::{Vectors, bytes, unit};

/// The largest rounding error of a unit vector's number: half of 1 / 32,767.
const TOLERANCE: f32 = 1.6e-5;

/// Reads the bytes of a row.
fn read(bytes: Vec<u8>, dimensions: usize) -> Vectors {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    let mut vectors = Vectors::zeros(1, dimensions);
    connection
        .query_row("SELECT ?1", [bytes], |row| {
            vectors.read(0, row, 0).unwrap();
            Ok(())
        })
        .unwrap();
    vectors
}

#[test]
fn a_vector_is_read_as_it_was_written() {
    for dimensions in [1_i16, 7, 8, 9, 384] {
        let vector = (0..dimensions).map(|place| f32::from(place % 7) - 2.5);
        let vector = unit(&vector.collect::<Vec<_>>());
        let vectors = read(bytes(&vector), vector.len());
        for (read, written) in vectors.get(0).iter().zip(&vector) {
            assert!(
                (read - written).abs() < TOLERANCE,
                "{read} is not {written}"
            );
        }
        assert!((vectors.cosine(0, &vector) - 1.0).abs() < TOLERANCE);
        // Writing a vector that was read gives the same bytes.
        assert_eq!(bytes(&unit(&vectors.get(0)))[4..], bytes(&vector)[4..]);
    }
    let zeros = read(bytes(&[0.0, 0.0]), 2);
    assert_eq!(zeros.get(0), [0.0, 0.0]);
    assert_eq!(unit(&[0.0, 0.0]), [0.0, 0.0]);
}
