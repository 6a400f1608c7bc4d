//! Stores and searches the chunks' vectors, in Qdrant or in the book's SQLite file.

mod payload;
mod stored;
mod filters;
mod conditions;
mod bm25;
mod layout;
#[cfg(feature = "cloud")]
mod qdrant;
#[cfg(feature = "embedded")]
mod local;
#[cfg(all(feature = "faults", feature = "embedded"))]
mod faulty;

use std::collections::{BTreeSet, HashMap};
#[cfg(feature = "cloud")]
use std::time::Duration;

#[cfg(feature = "cloud")]
use secrecy::SecretString;
use uuid::Uuid;

use book::Facets;
use models::embed::{Embedding, TokenVectors, WeightedToken};

pub use bm25::bm25_settings;
pub(crate) use bm25::document_terms;
use conditions::facet_fields;
pub use conditions::{Condition, FilterValues, Test, facet_field};
#[cfg(all(feature = "faults", feature = "embedded"))]
pub use faulty::FaultyIndex;
pub use filters::{FacetFilter, Filters, PlacedBy, TitleOrNumber};
pub use layout::CollectionLayout;
#[cfg(feature = "embedded")]
pub use local::LocalIndex;
#[cfg(feature = "embedded")]
pub(crate) use local::{STORED_COLUMNS, split, stored_payload};
pub use payload::ChunkPayload;
#[cfg(feature = "cloud")]
pub use qdrant::QdrantIndex;
#[cfg(feature = "cloud")]
pub(crate) use stored::with_text;
pub(crate) use stored::without_text;

/// The version of the vectors of questions, part of an index's identity.
pub const QUESTION_VECTORS_VERSION: u32 = 1;

/// The vector store.
#[derive(Debug, Clone)]
pub enum VectorIndex {
    /// A Qdrant server.
    #[cfg(feature = "cloud")]
    Qdrant(QdrantIndex),
    /// The book's SQLite file.
    #[cfg(feature = "embedded")]
    Local(LocalIndex),
    /// An in-memory index whose calls may fail.
    #[cfg(all(feature = "faults", feature = "embedded"))]
    Faulty(FaultyIndex),
}

/// Errors of the vector store, by what a caller can do about them.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The store is unreachable or too slow; a retry may succeed.
    #[error("the vector store is unavailable: {0}")]
    Unavailable(String),
    /// The store has no room for more points.
    #[error("the vector store is full: {0}")]
    StorageFull(String),
    /// The store refused the request, because of a bug or a wrong configuration.
    #[error("the vector store refused: {0}")]
    Rejected(String),
    /// The local store's file was damaged.
    #[error("the vector store is damaged: {0}")]
    Damaged(String),
    /// The store's answer could not be read.
    #[error("the vector store answered with {0}")]
    Malformed(String),
    /// The store's version lacks required features.
    #[error("Qdrant {found} is too old: bookrag needs {needed} or newer")]
    TooOld {
        /// The store's version.
        found: String,
        /// The oldest supported version.
        needed: String,
    },
}

/// A chunk to store.
#[derive(Debug, Clone)]
pub struct NewPoint {
    /// A fresh id, never used before.
    pub point_id: Uuid,
    /// The chunk's text and metadata. The local store leaves them to the catalog.
    pub payload: ChunkPayload,
    /// The chunk's dense vector, of unit length, its token vectors, and the vectors of its questions.
    pub embedding: Embedding,
}

/// A combined vector search and full-text search.
#[derive(Debug, Clone, Copy)]
pub struct VectorQuery<'a> {
    /// The terms to find by BM25 (see [`text::terms_in`]); none for vector search only.
    pub terms: &'a [String],
    /// The question's vector, of unit length; empty for full-text search only.
    pub vector: &'a [f32],
    /// The question's tokens; empty for no token scores, for example if the collection has no token vectors.
    pub tokens: &'a [WeightedToken],
    /// True to search the vectors of the chunks' questions too. Must be false if the collection has none.
    pub with_questions: bool,
    /// The filters.
    pub filters: &'a Filters,
    /// The number of points from each ranker: the cosine, the nearest question, and BM25.
    pub limit: usize,
}

/// A point that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredPoint {
    /// The point's id.
    pub point_id: Uuid,
    /// The cosine with the question, −1 to 1; the BM25 score if there is no vector.
    pub score: f32,
    /// The similarity of its tokens and the question's, about −1 to 1 (see [`MaxSim`](models::embed::MaxSim)); `None` if either has none.
    pub token_score: Option<f32>,
    /// The largest cosine of the question and a question that the chunk answers, −1 to 1; `None` if it has none, or without a vector.
    pub question_score: Option<f32>,
}

/// Calls a method on the selected store, in a span with the method's name.
macro_rules! on_store {
    ($self:ident, $store:ident => $call:ident.$method:ident $arguments:tt) => {
        $crate::spans::store_call(
            $crate::spans::store_span!(concat!("vector_store.", stringify!($method))),
            async {
                match $self {
                    #[cfg(feature = "cloud")]
                    VectorIndex::Qdrant($store) => $call.$method $arguments.await,
                    #[cfg(feature = "embedded")]
                    VectorIndex::Local($store) => $call.$method $arguments.await,
                    #[cfg(all(feature = "faults", feature = "embedded"))]
                    VectorIndex::Faulty($store) => $store.step($call.$method $arguments).await,
                }
            },
        )
        .await
    };
}

/// The ids that are read at once of a whole collection.
const ID_PAGE: usize = 5_000;

impl VectorIndex {
    /// Returns the name of the store: `qdrant` or `local`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            #[cfg(feature = "cloud")]
            Self::Qdrant(_) => "qdrant",
            #[cfg(feature = "embedded")]
            _ => "local",
        }
    }

    /// Creates a client of a Qdrant server without sending a request.
    ///
    /// # Errors
    /// [`IndexError::Rejected`] if the URL is invalid.
    #[cfg(feature = "cloud")]
    pub fn qdrant(
        url: &str,
        api_key: Option<&SecretString>,
        timeout: Duration,
    ) -> Result<Self, IndexError> {
        Ok(Self::Qdrant(QdrantIndex::new(url, api_key, timeout)?))
    }

    /// Sets how the collections that this client creates are distributed and compressed.
    #[cfg(feature = "cloud")]
    #[must_use]
    pub fn with_layout(self, layout: CollectionLayout) -> Self {
        match self {
            Self::Qdrant(qdrant) => Self::Qdrant(qdrant.with_layout(layout)),
            #[cfg(feature = "embedded")]
            other => other,
        }
    }

    /// Checks that the store answers.
    pub async fn ping(&self) -> Result<(), IndexError> {
        on_store!(self, store => store.ping())
    }

    /// Checks that the store's version is supported.
    ///
    /// # Errors
    /// [`IndexError::TooOld`], or the error of reading the version.
    pub async fn check_version(&self) -> Result<(), IndexError> {
        match self {
            #[cfg(feature = "cloud")]
            Self::Qdrant(store) => store.check_version().await,
            // The other stores are part of this program.
            #[cfg(feature = "embedded")]
            _ => Ok(()),
        }
    }

    /// Creates a collection and its field indexes if they do not exist.
    pub async fn ensure_collection(
        &self,
        collection: &str,
        dimensions: usize,
    ) -> Result<(), IndexError> {
        on_store!(self, store => store.ensure_collection(collection, dimensions))
    }

    /// Creates the field indexes of a site's facets if they do not exist.
    pub async fn ensure_facets(&self, collection: &str, facets: &Facets) -> Result<(), IndexError> {
        let fields = facet_fields(facets);
        match self {
            #[cfg(feature = "cloud")]
            Self::Qdrant(store) => store.ensure_fields(collection, fields).await,
            // The other stores compare the fields themselves.
            #[cfg(feature = "embedded")]
            _ => {
                let _ = (collection, fields);
                Ok(())
            }
        }
    }

    /// True if a collection of this name exists.
    pub async fn has_collection(&self, collection: &str) -> Result<bool, IndexError> {
        on_store!(self, store => store.has_collection(collection))
    }

    /// Drops a collection. A missing one is not an error.
    pub async fn drop_collection(&self, collection: &str) -> Result<(), IndexError> {
        on_store!(self, store => store.drop_collection(collection))
    }

    /// Points `alias` to the collection, replacing its former target.
    pub async fn point_alias(&self, alias: &str, collection: &str) -> Result<(), IndexError> {
        on_store!(self, store => store.point_alias(alias, collection))
    }

    /// Stores points and waits until they are stored.
    #[tracing::instrument(target = "spans", name = "vector_store.upsert", skip_all)]
    pub async fn upsert(&self, collection: &str, points: Vec<NewPoint>) -> Result<(), IndexError> {
        match self {
            #[cfg(feature = "cloud")]
            Self::Qdrant(store) => store.upsert(collection, points).await,
            // The catalog stores the payloads in the same file.
            #[cfg(feature = "embedded")]
            Self::Local(store) => {
                let embeddings = points
                    .into_iter()
                    .map(|point| (point.point_id, point.embedding));
                store.upsert(collection, embeddings.collect()).await
            }
            #[cfg(all(feature = "faults", feature = "embedded"))]
            Self::Faulty(store) => store.step(store.upsert(collection, points)).await,
        }
    }

    /// Deletes points and waits until they are deleted. Missing points are not an error.
    pub async fn delete(&self, collection: &str, points: &[Uuid]) -> Result<(), IndexError> {
        if points.is_empty() {
            return Ok(());
        }
        on_store!(self, store => store.delete(collection, points))
    }

    /// Returns the vectors of points, of their tokens and of their questions, by point; missing points are left out.
    pub async fn vectors(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, Embedding>, IndexError> {
        on_store!(self, store => store.vectors(collection, points))
    }

    /// Returns the token vectors of a few points, by point; points without any are left out. The collection must have token vectors.
    pub async fn tokens(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, TokenVectors>, IndexError> {
        on_store!(self, store => store.tokens(collection, points))
    }

    /// Returns the ids of a collection's points that follow `after`: the first `limit` in the order of ids, including points without a chunk.
    pub async fn point_ids_after(
        &self,
        collection: &str,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<BTreeSet<Uuid>, IndexError> {
        on_store!(self, store => store.point_ids_after(collection, after, limit))
    }

    /// Returns the ids of all points in a collection.
    pub async fn point_ids(&self, collection: &str) -> Result<BTreeSet<Uuid>, IndexError> {
        let mut ids = BTreeSet::new();
        loop {
            let last = ids.last().copied();
            let page = self.point_ids_after(collection, last, ID_PAGE).await?;
            let is_last = page.len() < ID_PAGE;
            ids.extend(page);
            if is_last {
                return Ok(ids);
            }
        }
    }

    /// Returns the number of points in a collection.
    pub async fn count(&self, collection: &str) -> Result<u64, IndexError> {
        on_store!(self, store => store.count(collection))
    }

    /// Returns the `limit` nearest points by cosine, the `limit` with the nearest questions, and the `limit` best by BM25, merged and sorted by
    /// cosine, with all scores. Without a vector, returns only the best by BM25, with that score. Texts and vectors are not transferred.
    pub async fn search(
        &self,
        collection: &str,
        query: &VectorQuery<'_>,
    ) -> Result<Vec<ScoredPoint>, IndexError> {
        on_store!(self, store => store.search(collection, query))
    }

    /// Returns the payloads of points, by point, for use while the catalog is unavailable. Missing points are left out.
    pub async fn payloads(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, ChunkPayload>, IndexError> {
        on_store!(self, store => store.payloads(collection, points))
    }
}
