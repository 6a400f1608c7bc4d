//! The vectors of the questions that chunks answer. Each search compares all of them.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::Collection;
use super::nearest::{self, Vectors};
use crate::sqlite::DatabaseError;

/// The questions of an index. Chunks of one section, and the same section in several versions, share their vectors.
#[derive(Debug, Default)]
pub(super) struct Questions {
    vectors: Vectors,
    /// The slots of chunks, each with the index of one of its questions in `vectors`.
    owners: Vec<(u32, u32)>,
}

impl Questions {
    /// Reads the questions of the points, whose places are the chunks' slots.
    pub(super) fn load(
        connection: &Connection,
        collection: Collection,
        points: &[Uuid],
    ) -> Result<Self, DatabaseError> {
        let slots: HashMap<Uuid, u32> = points.iter().copied().zip(0..).collect();
        let mut questions = Self {
            vectors: Vectors::zeros(0, collection.dimensions),
            owners: Vec::new(),
        };
        let mut places: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut statement = connection.prepare_cached(
            "SELECT point_id, questions FROM point_questions JOIN point_vectors USING (vector_id) WHERE collection_id = ?1",
        )?;
        let mut rows = statement.query([collection.collection_id])?;
        while let Some(row) = rows.next()? {
            let Some(slot) = slots.get(&Uuid::from_bytes(row.get(0)?)) else {
                continue;
            };
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            for vector in each_vector(bytes, collection.dimensions)? {
                let place = match places.get(vector) {
                    Some(place) => *place,
                    None => {
                        let place = number(questions.vectors.len());
                        questions.vectors.push(vector)?;
                        places.insert(vector.to_vec(), place);
                        place
                    }
                };
                questions.owners.push((*slot, place));
            }
        }
        Ok(questions)
    }

    /// Returns the cosine of a query and the nearest question of each of `chunks` chunks; `None` for a chunk without questions. Empty if no chunk has
    /// one.
    pub(super) fn scores(&self, query: &[f32], chunks: usize) -> Vec<Option<f32>> {
        if self.owners.is_empty() {
            return Vec::new();
        }
        let cosines: Vec<f32> = (0..self.vectors.len())
            .map(|place| self.vectors.cosine(place, query))
            .collect();
        let mut nearest = vec![None; chunks];
        for (slot, place) in &self.owners {
            let cosine = cosines[*place as usize];
            let best: &mut Option<f32> = &mut nearest[*slot as usize];
            *best = Some(best.map_or(cosine, |best| best.max(cosine)));
        }
        nearest
    }
}

/// Returns the stored form of the vectors of a point's questions.
///
/// # Errors
/// If a vector has other dimensions.
pub(super) fn bytes(questions: &[Vec<f32>], dimensions: usize) -> Result<Vec<u8>, DatabaseError> {
    let mut bytes = Vec::with_capacity(questions.len() * nearest::width(dimensions));
    for vector in questions {
        nearest::check_dimensions(vector, dimensions)?;
        bytes.extend(nearest::bytes(&nearest::unit(vector)));
    }
    Ok(bytes)
}

/// Reads the vectors of a point's questions from a column; none if it is NULL.
pub(super) fn vectors(
    row: &Row,
    column: usize,
    dimensions: usize,
) -> Result<Vec<Vec<f32>>, DatabaseError> {
    let bytes = row.get_ref(column)?.as_blob_or_null();
    let Some(bytes) = bytes.map_err(rusqlite::Error::from)? else {
        return Ok(Vec::new());
    };
    let mut read = Vectors::zeros(0, dimensions);
    for vector in each_vector(bytes, dimensions)? {
        read.push(vector)?;
    }
    Ok((0..read.len()).map(|place| read.get(place)).collect())
}

fn each_vector(
    bytes: &[u8],
    dimensions: usize,
) -> Result<impl Iterator<Item = &[u8]>, DatabaseError> {
    let vectors = bytes.chunks_exact(nearest::width(dimensions));
    if vectors.remainder().is_empty() {
        return Ok(vectors);
    }
    Err(DatabaseError::Damaged {
        path: PathBuf::new(),
        reason: format!(
            "the vectors of a chunk's questions have {} bytes",
            bytes.len()
        ),
    })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
