//! An in-memory index whose calls are steps of a simulation.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::{IndexError, LocalIndex, NewPoint};
use fakes::faults;
use models::embed::TokenVectors;

/// A local index whose calls may fail, and that records its input. Clones share it.
///
/// Methods that it does not override are the local index's.
#[derive(Debug, Clone)]
pub struct FaultyIndex {
    local: LocalIndex,
    given: Arc<Mutex<Given>>,
    /// True if reads of token vectors never finish; everything else works.
    is_silent: bool,
}

/// Everything that was upserted.
#[derive(Debug, Default)]
struct Given {
    collections: BTreeSet<String>,
    points: BTreeMap<Uuid, NewPoint>,
}

impl Deref for FaultyIndex {
    type Target = LocalIndex;

    fn deref(&self) -> &LocalIndex {
        &self.local
    }
}

impl FaultyIndex {
    /// Creates an index whose calls may fail.
    #[must_use]
    pub fn new(local: LocalIndex) -> Self {
        Self {
            local,
            given: Arc::default(),
            is_silent: false,
        }
    }

    /// Creates an index whose reads of token vectors never finish. No other call fails.
    #[cfg(feature = "cloud")]
    #[must_use]
    pub fn without_tokens(local: LocalIndex) -> Self {
        Self {
            is_silent: true,
            ..Self::new(local)
        }
    }

    /// Makes an index call a simulation step.
    pub(super) async fn step<T>(
        &self,
        work: impl Future<Output = Result<T, IndexError>>,
    ) -> Result<T, IndexError> {
        if self.is_silent {
            return work.await;
        }
        faults::call(work, || {
            IndexError::Unavailable("the answer was lost".to_owned())
        })
        .await
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a point as it was upserted.
    pub fn with_point<T>(&self, point_id: Uuid, read: impl FnOnce(&NewPoint) -> T) -> T {
        read(&self.given().points[&point_id])
    }

    pub(super) async fn tokens(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, TokenVectors>, IndexError> {
        if self.is_silent {
            return std::future::pending().await;
        }
        self.local.tokens(collection, points).await
    }

    /// Returns the names of the existing collections.
    pub async fn collections(&self) -> Result<BTreeSet<String>, IndexError> {
        let ever = self.given().collections.clone();
        let mut collections = BTreeSet::new();
        for collection in ever {
            if self.local.has_collection(&collection).await? {
                collections.insert(collection);
            }
        }
        Ok(collections)
    }

    /// Loses a point and stores its vector under an unknown id, which no protocol step would do. `false` if there is no point.
    pub async fn damage(
        &self,
        collection: &str,
        lost: usize,
        stray: Uuid,
    ) -> Result<bool, IndexError> {
        let points = Vec::from_iter(
            self.local
                .point_ids_after(collection, None, usize::MAX)
                .await?,
        );
        if points.is_empty() {
            return Ok(false);
        }
        let lost = points[lost % points.len()];
        let vectors = self.local.vectors(collection, &[lost]).await?;
        self.local.delete(collection, &[lost]).await?;
        let stray = vectors.into_values().map(|embedding| (stray, embedding));
        self.local.upsert(collection, stray.collect()).await?;
        Ok(true)
    }

    pub(super) async fn ensure_collection(
        &self,
        collection: &str,
        dimensions: usize,
    ) -> Result<(), IndexError> {
        self.given().collections.insert(collection.to_owned());
        self.local.ensure_collection(collection, dimensions).await
    }

    pub(super) async fn upsert(
        &self,
        collection: &str,
        points: Vec<NewPoint>,
    ) -> Result<(), IndexError> {
        let embeddings = points
            .iter()
            .map(|point| (point.point_id, point.embedding.clone()))
            .collect();
        self.local.upsert(collection, embeddings).await?;
        for point in points {
            let id = point.point_id;
            let former = self.given().points.insert(id, point);
            assert!(former.is_none(), "the point id {id} is used again");
        }
        Ok(())
    }
}
