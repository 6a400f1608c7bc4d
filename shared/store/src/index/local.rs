//! Vectors in the book's SQLite file, searched exactly.
//!
//! Only vectors are stored here; texts and filter values are those of the catalog's chunks, so a search sees exactly what is committed. Search data
//! is held in memory as an [`Image`] of the index. It is read again when a commit of any process raised the index's generation.

mod image;
mod nearest;
mod questions;
mod stored;
mod vectors;
mod words;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use super::{ChunkPayload, Filters, IndexError, ScoredPoint, VectorQuery};
use crate::sqlite::{Database, DatabaseError, begin_write, lock};
use image::Image;
use models::embed::MaxSim;
use text::{DocumentFrequencies, Language};

pub(crate) use stored::{STORED_COLUMNS, split, stored_payload};

/// The vectors in a book's SQLite file; clones share the in-memory data.
#[derive(Debug, Clone)]
pub struct LocalIndex {
    database: Arc<Database>,
    /// The image of the index searched last, normally the live one.
    image: Arc<Mutex<Option<Arc<Image>>>>,
    /// Held while an image is read, so that concurrent callers read it once.
    loading: Arc<Mutex<()>>,
}

/// The index to search: its catalog id, and its collection if it has one here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Searched {
    index_id: i64,
    generation: i64,
    collection: Option<Collection>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Collection {
    collection_id: i64,
    dimensions: usize,
}

impl LocalIndex {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Self {
            database,
            image: Arc::default(),
            loading: Arc::default(),
        }
    }

    /// Checks that the file can be read and has this program's tables.
    pub async fn ping(&self) -> Result<(), IndexError> {
        Ok(self.database.ping().await?)
    }

    /// Creates a collection if it does not exist.
    pub async fn ensure_collection(
        &self,
        collection: &str,
        dimensions: usize,
    ) -> Result<(), IndexError> {
        let collection = collection.to_owned();
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO vector_collections (collection, dimensions) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                (collection, dimensions),
            )?;
            Ok(())
        })
        .await
    }

    /// True if a collection of this name exists.
    pub async fn has_collection(&self, collection: &str) -> Result<bool, IndexError> {
        let name = collection.to_owned();
        let found = self
            .database
            .read(move |connection| find(connection, &name));
        Ok(found.await?.is_some())
    }

    /// Drops a collection. A missing one is not an error.
    pub async fn drop_collection(&self, collection: &str) -> Result<(), IndexError> {
        let name = collection.to_owned();
        self.write(move |connection| {
            let transaction = begin_write(connection)?;
            if let Some(Collection { collection_id, .. }) = find(&transaction, &name)? {
                for table in ["point_vectors", "vector_collections"] {
                    let statement = format!("DELETE FROM {table} WHERE collection_id = ?1");
                    transaction.execute(&statement, [collection_id])?;
                }
                raise_generation(&transaction, &name)?;
            }
            transaction.commit()?;
            Ok(())
        })
        .await
    }

    /// Does nothing, because readers find the live index in the catalog, in the same file.
    #[expect(
        clippy::unused_async,
        reason = "the port's other stores are asked over a network"
    )]
    pub async fn point_alias(&self, _alias: &str, _collection: &str) -> Result<(), IndexError> {
        Ok(())
    }

    /// Deletes the vectors of points. Missing points are not an error.
    pub async fn delete(&self, collection: &str, points: &[Uuid]) -> Result<(), IndexError> {
        let (name, points) = (collection.to_owned(), points.to_vec());
        self.write(move |connection| {
            let transaction = begin_write(connection)?;
            let Collection { collection_id, .. } = existing(&transaction, &name)?;
            let mut statement = transaction.prepare_cached(
                "DELETE FROM point_vectors WHERE collection_id = ?1 AND point_id = ?2",
            )?;
            for point_id in &points {
                statement.execute((collection_id, point_id.as_bytes()))?;
            }
            drop(statement);
            raise_generation(&transaction, &name)?;
            transaction.commit()?;
            Ok(())
        })
        .await
    }

    /// Returns the ids of a collection's points that follow `after`, the first `limit` in the order of ids.
    pub async fn point_ids_after(
        &self,
        collection: &str,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<BTreeSet<Uuid>, IndexError> {
        let after = after.map(|id| id.as_bytes().to_vec());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(collection, move |connection, collection| {
            let ids = connection
                .prepare_cached(
                    "SELECT point_id FROM point_vectors WHERE collection_id = ?1 AND point_id > coalesce(?2, x'')
                     ORDER BY point_id LIMIT ?3",
                )?
                .query_map((collection.collection_id, after, limit), |row| {
                    Ok(Uuid::from_bytes(row.get(0)?))
                })?
                .collect::<Result<_, _>>()?;
            Ok(ids)
        })
        .await
    }

    /// Counts the points of a collection.
    pub async fn count(&self, collection: &str) -> Result<u64, IndexError> {
        self.read(collection, |connection, collection| {
            let count: i64 = connection.query_row(
                "SELECT count(*) FROM point_vectors WHERE collection_id = ?1",
                [collection.collection_id],
                |row| row.get(0),
            )?;
            Ok(u64::try_from(count).unwrap_or(0))
        })
        .await
    }

    /// Returns the payloads of points that belong to the book, by point.
    pub async fn payloads(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, ChunkPayload>, IndexError> {
        let (name, points) = (collection.to_owned(), points.to_vec());
        self.read(collection, move |connection, _| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {STORED_COLUMNS}
                 FROM indexes JOIN document_chunks USING (index_id) JOIN chunk_metadata USING (metadata_id)
                 WHERE indexes.collection = ?1 AND qdrant_point_id = ?2"
            ))?;
            let mut found = HashMap::with_capacity(points.len());
            for point_id in points {
                let mut rows = statement.query((&name, point_id.to_string()))?;
                if let Some(row) = rows.next()? {
                    found.extend(stored_payload(row)?.map(|payload| (point_id, payload)));
                }
            }
            Ok(found)
        })
        .await
    }

    /// Returns the `limit` nearest chunks, the `limit` with the nearest questions, and the `limit` best by BM25, merged and sorted by cosine, with
    /// all scores. If the vector is empty, returns only the best by BM25, with that score.
    pub async fn search(
        &self,
        collection: &str,
        query: &VectorQuery<'_>,
    ) -> Result<Vec<ScoredPoint>, IndexError> {
        let (name, index) = (collection.to_owned(), self.clone());
        let (terms, filters, limit) = (query.terms.to_vec(), query.filters.clone(), query.limit);
        let with_questions = query.with_questions;
        let vector = nearest::unit(query.vector);
        let question = MaxSim::new(query.tokens);
        let found = self.database.read(move |connection| {
            // One transaction, so that the image and the full-text index are consistent.
            let transaction = connection.transaction()?;
            let collection = existing(&transaction, &name)?;
            let Some(searched) = Searched::new(&transaction, "collection = ?1", &name)? else {
                return Ok(Vec::new());
            };
            if !vector.is_empty() {
                nearest::check_dimensions(&vector, collection.dimensions)?;
            }
            let image = index.image(&transaction, searched)?;
            let admitted = image.chunks.admitted(&filters);
            let by_words = image
                .chunks
                .best_by_words(&transaction, &terms, &admitted, limit)?;
            if vector.is_empty() {
                return Ok(image.chunks.points(by_words));
            }
            let mut points = image.nearest(&vector, &admitted, by_words, limit, with_questions);
            if let Some(question) = question {
                vectors::score_tokens(&transaction, collection, &question, &mut points)?;
            }
            Ok(points)
        });
        Ok(found.await?)
    }

    /// Returns an index's best points by BM25, best first, for the catalog's search while another vector store is unavailable. Takes the connection,
    /// so that the caller can read the chunks in the same transaction.
    pub(crate) fn search_words(
        &self,
        connection: &Connection,
        index_id: i64,
        terms: &[String],
        filters: &Filters,
        limit: usize,
    ) -> Result<Vec<ScoredPoint>, DatabaseError> {
        let Some(searched) = Searched::new(connection, "index_id = ?1", index_id)? else {
            return Ok(Vec::new());
        };
        let image = self.image(connection, searched)?;
        let admitted = image.chunks.admitted(filters);
        let best = image
            .chunks
            .best_by_words(connection, terms, &admitted, limit)?;
        Ok(image.chunks.points(best))
    }

    /// Counts the chunks of an index that contain each word. Takes the connection, like [`Self::search_words`].
    pub(crate) fn document_frequencies(
        &self,
        connection: &Connection,
        index_id: i64,
        words: BTreeSet<String>,
        language: Language,
    ) -> Result<DocumentFrequencies, DatabaseError> {
        let Some(searched) = Searched::new(connection, "index_id = ?1", index_id)? else {
            return Ok(DocumentFrequencies::default());
        };
        let image = self.image(connection, searched)?;
        image
            .chunks
            .document_frequencies(connection, words, language)
    }

    /// Returns the image of this generation, reading it if the cached one is outdated.
    fn image(
        &self,
        connection: &Connection,
        searched: Searched,
    ) -> Result<Arc<Image>, DatabaseError> {
        if let Some(image) = self.last_image()
            && image.searched == searched
        {
            return Ok(image);
        }
        let _loading = lock(&self.loading);
        let former = self.last_image();
        if let Some(image) = &former
            && image.searched == searched
        {
            return Ok(Arc::clone(image));
        }
        let image = Arc::new(Image::load(connection, searched, former.as_deref())?);
        // A transaction that began before a commit may get here after one that saw the commit.
        let is_outdated = former.as_ref().is_some_and(|former| {
            former.searched.index_id == searched.index_id
                && former.searched.generation > searched.generation
        });
        if !is_outdated {
            *lock(&self.image) = Some(Arc::clone(&image));
        }
        Ok(image)
    }

    fn last_image(&self) -> Option<Arc<Image>> {
        lock(&self.image).clone()
    }

    async fn write<T, Work>(&self, work: Work) -> Result<T, IndexError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    {
        Ok(self.database.write(work).await?)
    }

    async fn read<T, Work>(&self, collection: &str, work: Work) -> Result<T, IndexError>
    where
        T: Send + 'static,
        Work: FnOnce(&Connection, Collection) -> Result<T, DatabaseError> + Send + 'static,
    {
        let name = collection.to_owned();
        let read = self.database.read(move |connection| {
            let transaction = connection.transaction()?;
            let collection = existing(&transaction, &name)?;
            work(&transaction, collection)
        });
        Ok(read.await?)
    }
}

impl Searched {
    /// Finds the index by `condition`, which matches at most one.
    fn new(
        connection: &Connection,
        condition: &str,
        value: impl rusqlite::ToSql,
    ) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!(
                "SELECT index_id, generation, collection_id, dimensions
                 FROM indexes LEFT JOIN vector_collections USING (collection) WHERE {condition}"
            ))?
            .query_row([value], |row| {
                let collection_id: Option<i64> = row.get("collection_id")?;
                let dimensions: Option<usize> = row.get("dimensions")?;
                Ok(Self {
                    index_id: row.get("index_id")?,
                    generation: row.get("generation")?,
                    collection: collection_id
                        .zip(dimensions)
                        .map(|(collection_id, dimensions)| Collection {
                            collection_id,
                            dimensions,
                        }),
                })
            })
            .optional()
    }
}

fn find(connection: &Connection, name: &str) -> Result<Option<Collection>, DatabaseError> {
    let found = connection
        .prepare_cached(
            "SELECT collection_id, dimensions FROM vector_collections WHERE collection = ?1",
        )?
        .query_row([name], |row| {
            Ok(Collection {
                collection_id: row.get(0)?,
                dimensions: row.get(1)?,
            })
        })
        .optional()?;
    Ok(found)
}

fn existing(connection: &Connection, name: &str) -> Result<Collection, DatabaseError> {
    find(connection, name)?
        .ok_or_else(|| DatabaseError::Rejected(format!("there is no collection {name}")))
}

fn raise_generation(connection: &Connection, collection: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE indexes SET generation = generation + 1 WHERE collection = ?1")?
        .execute([collection])?;
    Ok(())
}

impl From<DatabaseError> for IndexError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Unavailable(reason) => Self::Unavailable(reason),
            DatabaseError::StorageFull { path } => Self::StorageFull(format!(
                "no space is left to write {}; free some disk space and try again",
                path.display()
            )),
            DatabaseError::Damaged { .. } => Self::Damaged(format!(
                "{error}; run `bookrag doctor SITE --repair` to index the book again"
            )),
            DatabaseError::Schema { .. } | DatabaseError::Rejected(_) => {
                Self::Rejected(error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests;
