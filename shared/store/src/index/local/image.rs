//! The in-memory data of searches: one index at one generation.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use rusqlite::types::Type;
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::Searched;
use super::nearest::Vectors;
use super::questions::Questions;
use super::words::Postings;
use crate::index::conditions::all_hold;
use crate::index::{FilterValues, Filters, ScoredPoint};
use crate::sqlite::DatabaseError;

/// The in-memory data of an index at one generation. Each chunk has a slot, its position in the lists.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) searched: Searched,
    pub(super) chunks: Chunks,
    /// One unit vector for each slot; zeros for a chunk whose vector is lost. Empty if the index has no collection here.
    vectors: Vectors,
    questions: Questions,
}

/// The chunks of an index, sorted by their ids in the table, for filters and BM25.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    pub(super) numbers: Vec<i64>,
    points: Vec<Uuid>,
    /// The index in `fields` of each chunk's filter values.
    field_places: Vec<usize>,
    fields: Vec<Fields>,
    pub(super) term_counts: Vec<u32>,
    /// The mean number of terms in a chunk, at least 1.
    pub(super) mean_terms: f32,
    /// A cache of postings. It stays valid because chunks do not change within a generation.
    pub(super) postings: Mutex<Postings>,
}

/// The values of a row of `chunk_metadata`; `None` if this program cannot read them, so that no filter admits them.
#[derive(Debug, Clone)]
struct Fields {
    metadata_id: i64,
    values: Option<Arc<FilterValues>>,
}

/// A score and its chunk's slot.
pub(super) type Scored = (f32, usize);

impl Image {
    /// Reads an index. Reuses the immutable vectors and fields of the former image.
    pub(super) fn load(
        connection: &Connection,
        searched: Searched,
        former: Option<&Self>,
    ) -> Result<Self, DatabaseError> {
        let chunks = Chunks::load(
            connection,
            searched.index_id,
            former.map(|image| &image.chunks),
        )?;
        let former = former.filter(|former| former.searched.collection == searched.collection);
        let vectors = load_vectors(connection, searched, &chunks, former)?;
        let questions = match searched.collection {
            Some(collection) => Questions::load(connection, collection, &chunks.points)?,
            None => Questions::default(),
        };
        Ok(Self {
            searched,
            chunks,
            vectors,
            questions,
        })
    }

    /// Returns the `limit` nearest admitted chunks, the `limit` with the nearest questions, and the given ones, with their scores, sorted by cosine.
    pub(super) fn nearest(
        &self,
        query: &[f32],
        admitted: &[bool],
        given: Vec<Scored>,
        limit: usize,
        with_questions: bool,
    ) -> Vec<ScoredPoint> {
        let by_questions = if with_questions {
            self.questions.scores(query, self.chunks.numbers.len())
        } else {
            Vec::new()
        };
        let mut asked: Vec<Scored> = (0..by_questions.len())
            .filter(|slot| self.chunks.is_admitted(*slot, admitted))
            .filter_map(|slot| Some((by_questions[slot]?, slot)))
            .collect();
        keep_best(&mut asked, limit);
        let mut cosines: Vec<Scored> = (0..self.chunks.numbers.len())
            .filter(|slot| self.chunks.is_admitted(*slot, admitted))
            .map(|slot| (self.vectors.cosine(slot, query), slot))
            .collect();
        keep_best(&mut cosines, limit);
        let mut known: BTreeSet<usize> = cosines.iter().map(|(_, slot)| *slot).collect();
        for (_, slot) in asked.into_iter().chain(given) {
            if known.insert(slot) {
                cosines.push((self.vectors.cosine(slot, query), slot));
            }
        }
        keep_best(&mut cosines, usize::MAX);
        let slots: Vec<usize> = cosines.iter().map(|(_, slot)| *slot).collect();
        let mut points = self.chunks.points(cosines);
        for (point, slot) in points.iter_mut().zip(slots) {
            point.question_score = by_questions.get(slot).copied().flatten();
        }
        points
    }
}

impl Chunks {
    fn load(
        connection: &Connection,
        index_id: i64,
        former: Option<&Self>,
    ) -> Result<Self, DatabaseError> {
        let mut statement = connection.prepare_cached(
            "SELECT chunk_number, qdrant_point_id, metadata_id, term_count FROM document_chunks
             WHERE index_id = ?1 AND metadata_id IS NOT NULL",
        )?;
        let mut rows: Vec<(i64, Uuid, i64, u32)> = statement
            .query_map([index_id], |row| {
                Ok((row.get(0)?, point_id(row, 1)?, row.get(2)?, row.get(3)?))
            })?
            .collect::<Result<_, _>>()?;
        rows.sort_unstable_by_key(|(number, ..)| *number);
        let mut known: HashMap<i64, Fields> = former
            .into_iter()
            .flat_map(|former| &former.fields)
            .map(|fields| (fields.metadata_id, fields.clone()))
            .collect();
        let mut chunks = Self::default();
        let mut places = HashMap::new();
        for (number, point_id, metadata_id, term_count) in rows {
            let place = match places.get(&metadata_id) {
                Some(place) => *place,
                None => {
                    let fields = match known.remove(&metadata_id) {
                        Some(fields) => fields,
                        None => Fields::load(connection, metadata_id)?,
                    };
                    let place = chunks.add_fields(fields);
                    places.insert(metadata_id, place);
                    place
                }
            };
            chunks.numbers.push(number);
            chunks.points.push(point_id);
            chunks.field_places.push(place);
            chunks.term_counts.push(term_count);
        }
        let terms: u64 = chunks.term_counts.iter().copied().map(u64::from).sum();
        #[expect(clippy::cast_precision_loss, reason = "a mean of counts needs no more")]
        let mean = terms as f32 / chunks.numbers.len().max(1) as f32;
        chunks.mean_terms = mean.max(1.0);
        Ok(chunks)
    }

    /// Adds the filter values of a page's chunks; returns their index.
    fn add_fields(&mut self, fields: Fields) -> usize {
        self.fields.push(fields);
        self.fields.len() - 1
    }

    /// Returns whether the filters admit each entry of `fields`.
    pub(super) fn admitted(&self, filters: &Filters) -> Vec<bool> {
        let conditions = filters.conditions();
        self.fields
            .iter()
            .map(|fields| fields.values.as_ref())
            .map(|values| values.is_some_and(|values| all_hold(&conditions, values)))
            .collect()
    }

    pub(super) fn is_admitted(&self, slot: usize, admitted: &[bool]) -> bool {
        admitted[self.field_places[slot]]
    }

    pub(super) fn points(&self, scored: Vec<Scored>) -> Vec<ScoredPoint> {
        scored
            .into_iter()
            .map(|(score, slot)| ScoredPoint {
                point_id: self.points[slot],
                score,
                token_score: None,
                question_score: None,
            })
            .collect()
    }
}

impl Fields {
    fn load(connection: &Connection, metadata_id: i64) -> Result<Self, DatabaseError> {
        let mut statement = connection
            .prepare_cached("SELECT fields FROM chunk_metadata WHERE metadata_id = ?1")?;
        let mut rows = statement.query([metadata_id])?;
        let values = match rows.next()? {
            Some(row) => {
                let fields = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                let fields = serde_json::from_str(fields).ok();
                fields.map(|fields| Arc::new(FilterValues::new(fields)))
            }
            None => None,
        };
        Ok(Self {
            metadata_id,
            values,
        })
    }
}

fn point_id(row: &Row, column: usize) -> rusqlite::Result<Uuid> {
    Uuid::parse_str(row.get_ref(column)?.as_str()?).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
    })
}

/// Keeps the `limit` best, best first; ties are ordered by slot, so that results are reproducible.
pub(super) fn keep_best(scored: &mut Vec<Scored>, limit: usize) {
    if limit < scored.len() {
        scored.select_nth_unstable_by(limit, best_first);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(best_first);
}

fn best_first((left, left_slot): &Scored, (right, right_slot): &Scored) -> Ordering {
    right.total_cmp(left).then(left_slot.cmp(right_slot))
}

fn load_vectors(
    connection: &Connection,
    searched: Searched,
    chunks: &Chunks,
    former: Option<&Image>,
) -> Result<Vectors, DatabaseError> {
    let Some(collection) = searched.collection else {
        return Ok(Vectors::default());
    };
    let mut vectors = Vectors::zeros(chunks.points.len(), collection.dimensions);
    let mut missing: HashMap<Uuid, usize> = chunks.points.iter().copied().zip(0..).collect();
    if let Some(former) = former {
        for (other, point_id) in former.chunks.points.iter().enumerate() {
            if let Some(slot) = missing.remove(point_id) {
                vectors.copy(slot, &former.vectors, other);
            }
        }
    }
    // Reading the whole table sequentially is faster than looking up most of it.
    if missing.len() * 4 > chunks.points.len() {
        let mut statement = connection.prepare_cached(
            "SELECT point_id, vector FROM point_vectors NOT INDEXED WHERE collection_id = ?1",
        )?;
        let mut rows = statement.query([collection.collection_id])?;
        while let Some(row) = rows.next()? {
            if let Some(slot) = missing.get(&Uuid::from_bytes(row.get(0)?)) {
                vectors.read(*slot, row, 1)?;
            }
        }
    } else {
        let mut statement = connection.prepare_cached(
            "SELECT vector FROM point_vectors WHERE collection_id = ?1 AND point_id = ?2",
        )?;
        for (point_id, slot) in missing {
            let mut rows = statement.query((collection.collection_id, point_id.as_bytes()))?;
            if let Some(row) = rows.next()? {
                vectors.read(slot, row, 0)?;
            }
        }
    }
    Ok(vectors)
}
