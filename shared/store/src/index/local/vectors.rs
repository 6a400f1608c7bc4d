//! The stored vectors of points and of their tokens. Token vectors are read only for points that a search found.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::{CachedStatement, Connection};
use uuid::Uuid;

use super::nearest::{self, Vectors};
use super::{Collection, LocalIndex, existing, questions};
use crate::index::{IndexError, ScoredPoint};
use crate::sqlite::{DatabaseError, begin_write};
use models::embed::{Embedding, MaxSim, TokenVectors};

impl LocalIndex {
    /// Stores vectors by point id. Existing points keep their vectors, because points are immutable.
    ///
    /// # Errors
    /// [`IndexError::Rejected`] if the collection does not exist, or a vector has other dimensions; then nothing is stored.
    pub async fn upsert(
        &self,
        collection: &str,
        points: Vec<(Uuid, Embedding)>,
    ) -> Result<(), IndexError> {
        let name = collection.to_owned();
        self.write(move |connection| {
            let transaction = begin_write(connection)?;
            let Collection { collection_id, dimensions } = existing(&transaction, &name)?;
            let mut store = transaction.prepare_cached(
                "INSERT INTO point_vectors (collection_id, point_id, vector) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?;
            let mut store_tokens = transaction
                .prepare_cached("INSERT INTO point_tokens (vector_id, tokens) VALUES (?1, ?2)")?;
            let mut store_questions = transaction
                .prepare_cached("INSERT INTO point_questions (vector_id, questions) VALUES (?1, ?2)")?;
            for (point_id, Embedding { vector, tokens, questions }) in &points {
                nearest::check_dimensions(vector, dimensions)?;
                let bytes = nearest::bytes(&nearest::unit(vector));
                let is_new = store.execute((collection_id, point_id.as_bytes(), bytes))? > 0;
                if !is_new {
                    continue;
                }
                let vector_id = transaction.last_insert_rowid();
                if !tokens.is_empty() {
                    store_tokens.execute((vector_id, tokens.to_bytes()))?;
                }
                if !questions.is_empty() {
                    store_questions.execute((vector_id, questions::bytes(questions, dimensions)?))?;
                }
            }
            drop((store, store_tokens, store_questions));
            transaction.commit()?;
            Ok(())
        })
        .await
    }

    /// Returns the vectors of points, of their tokens and of their questions, by point; missing points are left out.
    pub async fn vectors(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, Embedding>, IndexError> {
        let points = points.to_vec();
        self.read(collection, move |connection, collection| {
            let mut found = HashMap::with_capacity(points.len());
            let mut statement = connection.prepare_cached(
                "SELECT vector, questions FROM point_vectors LEFT JOIN point_questions USING (vector_id)
                 WHERE collection_id = ?1 AND point_id = ?2",
            )?;
            let mut tokens = TokenReader::new(connection, collection)?;
            for point_id in points {
                let key = (collection.collection_id, point_id.as_bytes());
                let mut rows = statement.query(key)?;
                if let Some(row) = rows.next()? {
                    let mut read = Vectors::zeros(1, collection.dimensions);
                    read.read(0, row, 0)?;
                    let embedding = Embedding {
                        vector: read.get(0),
                        tokens: tokens.read(point_id)?,
                        questions: questions::vectors(row, 1, collection.dimensions)?,
                    };
                    found.insert(point_id, embedding);
                }
            }
            Ok(found)
        })
        .await
    }

    /// Returns the token vectors of points, by point; points without any are left out.
    pub async fn tokens(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, TokenVectors>, IndexError> {
        let points = points.to_vec();
        self.read(collection, move |connection, collection| {
            let mut tokens = TokenReader::new(connection, collection)?;
            let mut found = HashMap::with_capacity(points.len());
            for point_id in points {
                let tokens = tokens.read(point_id)?;
                if !tokens.is_empty() {
                    found.insert(point_id, tokens);
                }
            }
            Ok(found)
        })
        .await
    }
}

/// Computes the token scores of points.
pub(super) fn score_tokens(
    connection: &Connection,
    collection: Collection,
    question: &MaxSim,
    points: &mut [ScoredPoint],
) -> Result<(), DatabaseError> {
    let mut tokens = TokenReader::new(connection, collection)?;
    for point in points {
        point.token_score = question.score(&tokens.read(point.point_id)?);
    }
    Ok(())
}

/// Reads token vectors, one point at a time.
struct TokenReader<'c> {
    statement: CachedStatement<'c>,
    collection_id: i64,
}

impl<'c> TokenReader<'c> {
    fn new(connection: &'c Connection, collection: Collection) -> Result<Self, DatabaseError> {
        Ok(Self {
            statement: connection.prepare_cached(
                "SELECT tokens FROM point_vectors JOIN point_tokens USING (vector_id)
                 WHERE collection_id = ?1 AND point_id = ?2",
            )?,
            collection_id: collection.collection_id,
        })
    }

    /// Reads the token vectors of a point; empty if it has none.
    fn read(&mut self, point_id: Uuid) -> Result<TokenVectors, DatabaseError> {
        let key = (self.collection_id, point_id.as_bytes());
        let mut rows = self.statement.query(key)?;
        let Some(row) = rows.next()? else {
            return Ok(TokenVectors::default());
        };
        let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        TokenVectors::from_bytes(bytes).ok_or_else(|| DatabaseError::Damaged {
            path: PathBuf::new(),
            reason: format!("the token vectors of a point have {} bytes", bytes.len()),
        })
    }
}
