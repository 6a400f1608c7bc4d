//! A vector store in memory, for the simulation of the ingest protocol.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::{ChunkPayload, IndexError, NewPoint};
use crate::faults::call;

/// Points by collection and id; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeIndex {
    points: Arc<Mutex<Points>>,
}

#[derive(Debug, Default)]
struct Points {
    collections: BTreeMap<String, Stored>,
    ever: BTreeSet<Uuid>,
}

/// A collection's points.
pub(crate) type Stored = BTreeMap<Uuid, StoredPoint>;

/// What a point holds.
#[derive(Debug, Clone)]
pub(crate) struct StoredPoint {
    pub(crate) payload: ChunkPayload,
    pub(crate) vector: Vec<f32>,
}

impl Points {
    fn of(&mut self, collection: &str) -> Result<&mut Stored, IndexError> {
        let stored = self.collections.get_mut(collection);
        stored.ok_or_else(|| IndexError::Rejected(format!("there is no collection {collection}")))
    }
}

impl FakeIndex {
    fn lock(&self) -> MutexGuard<'_, Points> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the collections there are.
    pub(crate) fn collections(&self) -> BTreeSet<String> {
        self.lock().collections.keys().cloned().collect()
    }

    /// Looks at the points of a collection; none when it is not there.
    pub(crate) fn with_stored<T>(&self, collection: &str, look: impl FnOnce(&Stored) -> T) -> T {
        look(
            self.lock()
                .collections
                .get(collection)
                .unwrap_or(&Stored::new()),
        )
    }

    /// Loses a point, and keeps a copy of another under an id that nobody knows, as no protocol would.
    pub(crate) fn damage(&self, collection: &str, lost: usize, stray: Uuid) {
        let mut all = self.lock();
        let Some(stored) = all.collections.get_mut(collection) else {
            return;
        };
        let keys: Vec<Uuid> = stored.keys().copied().collect();
        if keys.is_empty() {
            return;
        }
        if let Some(point) = stored.remove(&keys[lost % keys.len()]) {
            stored.insert(stray, point);
        }
    }

    pub(super) async fn point_ids(&self, collection: &str) -> Result<BTreeSet<Uuid>, IndexError> {
        let work = || Ok(self.lock().of(collection)?.keys().copied().collect());
        call(work, lost).await
    }

    pub(super) async fn ensure_collection(&self, collection: &str, _: usize) -> Result<(), IndexError> {
        let work = || {
            let mut all = self.lock();
            all.collections.entry(collection.to_owned()).or_default();
            Ok(())
        };
        call(work, lost).await
    }

    pub(super) async fn ping(&self) -> Result<(), IndexError> {
        Ok(())
    }

    pub(super) async fn point_alias(&self, _: &str, _: &str) -> Result<(), IndexError> {
        Ok(())
    }

    pub(super) async fn count(&self, collection: &str) -> Result<u64, IndexError> {
        Ok(self.point_ids(collection).await?.len() as u64)
    }

    pub(super) async fn search(
        &self,
        _: &str,
        _: &super::VectorQuery<'_>,
    ) -> Result<Vec<super::ScoredPoint>, IndexError> {
        Ok(Vec::new())
    }

    pub(super) async fn payloads(
        &self,
        _: &str,
        _: &[Uuid],
    ) -> Result<HashMap<Uuid, ChunkPayload>, IndexError> {
        Ok(HashMap::new())
    }

    pub(super) async fn has_collection(&self, collection: &str) -> Result<bool, IndexError> {
        call(
            || Ok(self.lock().collections.contains_key(collection)),
            lost,
        )
        .await
    }

    pub(super) async fn drop_collection(&self, collection: &str) -> Result<(), IndexError> {
        let work = || {
            self.lock().collections.remove(collection);
            Ok(())
        };
        call(work, lost).await
    }

    pub(super) async fn upsert(
        &self,
        collection: &str,
        points: Vec<NewPoint>,
    ) -> Result<(), IndexError> {
        let work = || {
            let mut all = self.lock();
            all.of(collection)?;
            for point in points {
                assert!(
                    all.ever.insert(point.point_id),
                    "the point id {} is used again",
                    point.point_id
                );
                let stored = StoredPoint {
                    payload: point.payload,
                    vector: point.vector,
                };
                all.of(collection)?.insert(point.point_id, stored);
            }
            Ok(())
        };
        call(work, lost).await
    }

    pub(super) async fn delete(&self, collection: &str, points: &[Uuid]) -> Result<(), IndexError> {
        let work = || {
            let mut all = self.lock();
            let stored = all.of(collection)?;
            for point in points {
                stored.remove(point);
            }
            Ok(())
        };
        call(work, lost).await
    }

    pub(super) async fn vectors(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, Vec<f32>>, IndexError> {
        let work = || {
            let mut all = self.lock();
            let stored = all.of(collection)?;
            let found = points.iter().filter_map(|id| {
                let point = stored.get(id)?;
                Some((*id, point.vector.clone()))
            });
            Ok(found.collect())
        };
        call(work, lost).await
    }
}

fn lost() -> IndexError {
    IndexError::Unavailable("the answer was lost".to_owned())
}
