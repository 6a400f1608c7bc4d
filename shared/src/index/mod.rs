//! Port: the chunks' vectors and the search among them: in Qdrant, or in the book's one file.

mod filters;
mod payload;
mod stored;
mod qdrant;
#[cfg(feature = "embedded")]
mod local;
#[cfg(all(test, feature = "embedded"))]
mod faulty;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use secrecy::SecretString;
use uuid::Uuid;

use crate::embed::{Embedding, TokenVectors, WeightedToken};

#[cfg(all(test, feature = "embedded"))]
pub use faulty::FaultyIndex;
pub(crate) use filters::FilterValues;
pub use filters::{Filters, TitleOrNumber};
#[cfg(feature = "embedded")]
pub use local::LocalIndex;
#[cfg(feature = "embedded")]
pub(crate) use local::{STORED_COLUMNS, document_terms, split, stored_payload};
pub use payload::ChunkPayload;
pub use qdrant::{QdrantIndex, bm25_settings};
pub(crate) use stored::{with_text, without_text};

/// The vector store.
#[derive(Debug, Clone)]
pub enum VectorIndex {
    /// A Qdrant server.
    Qdrant(QdrantIndex),
    /// The book's one SQLite file.
    #[cfg(feature = "embedded")]
    Local(LocalIndex),
    /// A file in memory whose calls may fail.
    #[cfg(all(test, feature = "embedded"))]
    Faulty(FaultyIndex),
}

/// What can go wrong, by what a caller can do.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Out of reach or over its time: may pass.
    #[error("the vector store is unavailable: {0}")]
    Unavailable(String),
    /// No room for more points.
    #[error("the vector store is full: {0}")]
    StorageFull(String),
    /// It refused the request: a bug or a wrong configuration.
    #[error("the vector store refused: {0}")]
    Rejected(String),
    /// Its answer could not be read.
    #[error("the vector store answered with {0}")]
    Malformed(String),
    /// It is of a version that lacks what is needed.
    #[error(
        "it is Qdrant {found}, and bookrag needs {needed} or newer, which computes BM25: update it"
    )]
    TooOld {
        /// Its version.
        found: String,
        /// The oldest version that works.
        needed: String,
    },
}

/// A chunk to store.
#[derive(Debug, Clone)]
pub struct NewPoint {
    /// A fresh id, never used before.
    pub point_id: Uuid,
    /// Its text and metadata. The local store leaves them to the catalog.
    pub payload: ChunkPayload,
    /// Its dense vector, of unit length, and those of its tokens.
    pub embedding: Embedding,
}

/// A search by meaning and by words.
#[derive(Debug, Clone, Copy)]
pub struct VectorQuery<'a> {
    /// The question, for BM25.
    pub text: &'a str,
    /// Its vector, of unit length; empty to search by words alone.
    pub vector: &'a [f32],
    /// Its tokens; empty without token scores, for example if the collection has no token vectors.
    pub tokens: &'a [WeightedToken],
    /// Which chunks may be found.
    pub filters: &'a Filters,
    /// How many points each ranker contributes.
    pub limit: usize,
}

/// A point that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredPoint {
    /// The point.
    pub point_id: Uuid,
    /// Its cosine with the query's vector, −1 to 1; without one its BM25 score.
    pub score: f32,
    /// How well its tokens resemble the question's, about −1 to 1, as [`MaxSim`](crate::embed::MaxSim) says; `None` if either has none.
    pub token_score: Option<f32>,
}

/// Calls the same method on whichever store this is.
macro_rules! on_store {
    ($self:ident, $store:ident => $call:expr) => {
        match $self {
            VectorIndex::Qdrant($store) => $call.await,
            #[cfg(feature = "embedded")]
            VectorIndex::Local($store) => $call.await,
            #[cfg(all(test, feature = "embedded"))]
            VectorIndex::Faulty($store) => $store.step($call).await,
        }
    };
}

impl VectorIndex {
    /// Prepares a client of a Qdrant server; nothing is sent yet.
    ///
    /// # Errors
    /// [`IndexError::Rejected`] when the URL is invalid.
    pub fn qdrant(
        url: &str,
        api_key: Option<&SecretString>,
        timeout: Duration,
    ) -> Result<Self, IndexError> {
        Ok(Self::Qdrant(QdrantIndex::new(url, api_key, timeout)?))
    }

    /// Asks for an answer.
    pub async fn ping(&self) -> Result<(), IndexError> {
        on_store!(self, store => store.ping())
    }

    /// Checks that the store's version is one that works.
    ///
    /// # Errors
    /// [`IndexError::TooOld`], or why it does not tell its version.
    pub async fn check_version(&self) -> Result<(), IndexError> {
        match self {
            Self::Qdrant(store) => store.check_version().await,
            // The others are part of this program.
            #[cfg(feature = "embedded")]
            _ => Ok(()),
        }
    }

    /// Creates a collection and its field indexes if they are not there.
    pub async fn ensure_collection(
        &self,
        collection: &str,
        dimensions: usize,
    ) -> Result<(), IndexError> {
        on_store!(self, store => store.ensure_collection(collection, dimensions))
    }

    /// True if there is a collection of this name.
    pub async fn has_collection(&self, collection: &str) -> Result<bool, IndexError> {
        on_store!(self, store => store.has_collection(collection))
    }

    /// Drops a collection. One that is not there is no error.
    pub async fn drop_collection(&self, collection: &str) -> Result<(), IndexError> {
        on_store!(self, store => store.drop_collection(collection))
    }

    /// Makes `alias` a name of the collection, whatever it was a name of before.
    pub async fn point_alias(&self, alias: &str, collection: &str) -> Result<(), IndexError> {
        on_store!(self, store => store.point_alias(alias, collection))
    }

    /// Stores points and waits until they are there.
    pub async fn upsert(&self, collection: &str, points: Vec<NewPoint>) -> Result<(), IndexError> {
        match self {
            Self::Qdrant(store) => store.upsert(collection, points).await,
            // The catalog, which is in the same file, stores the payloads.
            #[cfg(feature = "embedded")]
            Self::Local(store) => {
                let embeddings = points
                    .into_iter()
                    .map(|point| (point.point_id, point.embedding));
                store.upsert(collection, embeddings.collect()).await
            }
            #[cfg(all(test, feature = "embedded"))]
            Self::Faulty(store) => store.step(store.upsert(collection, points)).await,
        }
    }

    /// Deletes points and waits until they are gone. Points that are not there are no error.
    pub async fn delete(&self, collection: &str, points: &[Uuid]) -> Result<(), IndexError> {
        if points.is_empty() {
            return Ok(());
        }
        on_store!(self, store => store.delete(collection, points))
    }

    /// The vectors of points, those of tokens included, by point; points that are not there are missing.
    pub async fn vectors(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, Embedding>, IndexError> {
        on_store!(self, store => store.vectors(collection, points))
    }

    /// The vectors of the tokens of a few points, by point; points without any are missing. The collection must be one with
    /// token vectors.
    pub async fn tokens(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, TokenVectors>, IndexError> {
        on_store!(self, store => store.tokens(collection, points))
    }

    /// The ids of all points of a collection.
    pub async fn point_ids(&self, collection: &str) -> Result<BTreeSet<Uuid>, IndexError> {
        on_store!(self, store => store.point_ids(collection))
    }

    /// How many points a collection holds.
    pub async fn count(&self, collection: &str) -> Result<u64, IndexError> {
        on_store!(self, store => store.count(collection))
    }

    /// Returns the union of the points that are nearest by cosine and those whose words match best by BM25, `limit` of each, with
    /// their cosines and token scores, best by cosine first. Without a vector: the best by BM25, with its scores. Neither texts nor
    /// vectors travel.
    pub async fn search(
        &self,
        collection: &str,
        query: &VectorQuery<'_>,
    ) -> Result<Vec<ScoredPoint>, IndexError> {
        on_store!(self, store => store.search(collection, query))
    }

    /// The payloads of points, by point, for when the catalog is unavailable. Points that are not there are missing.
    pub async fn payloads(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, ChunkPayload>, IndexError> {
        on_store!(self, store => store.payloads(collection, points))
    }
}
