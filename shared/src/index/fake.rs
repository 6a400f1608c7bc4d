//! A vector store in memory, for the simulation of the ingest protocol.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::{ChunkPayload, IndexError, NewPoint};
use crate::faults::call;

/// Points by id; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeIndex {
    points: Arc<Mutex<Points>>,
}

#[derive(Debug, Default)]
struct Points {
    stored: BTreeMap<Uuid, StoredPoint>,
    ever: BTreeSet<Uuid>,
}

/// What a point holds.
#[derive(Debug, Clone)]
pub(crate) struct StoredPoint {
    pub(crate) payload: ChunkPayload,
    pub(crate) vectors: Vec<Vec<f32>>,
}

impl FakeIndex {
    fn lock(&self) -> MutexGuard<'_, Points> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the points there are.
    pub(crate) fn with_stored<T>(&self, look: impl FnOnce(&BTreeMap<Uuid, StoredPoint>) -> T) -> T {
        look(&self.lock().stored)
    }

    /// Loses a point, and keeps a copy of another under an id that nobody knows, as no protocol would.
    pub(crate) fn damage(&self, lost: usize, stray: Uuid) {
        let mut all = self.lock();
        let count = all.stored.len();
        if count == 0 {
            return;
        }
        let keys: Vec<Uuid> = all.stored.keys().copied().collect();
        if let Some(point) = all.stored.remove(&keys[lost % count]) {
            all.stored.insert(stray, point);
        }
    }

    pub(super) async fn point_ids(&self) -> Result<BTreeSet<Uuid>, IndexError> {
        call(|| Ok(self.lock().stored.keys().copied().collect()), lost).await
    }

    pub(super) async fn ensure_collection(&self) -> Result<(), IndexError> {
        call(|| Ok(()), lost).await
    }

    pub(super) async fn upsert(&self, points: Vec<NewPoint>) -> Result<(), IndexError> {
        let work = || {
            let mut all = self.lock();
            for point in points {
                assert!(
                    all.ever.insert(point.point_id),
                    "the point id {} is used again",
                    point.point_id
                );
                let stored = StoredPoint {
                    payload: point.payload,
                    vectors: point.vectors,
                };
                all.stored.insert(point.point_id, stored);
            }
            Ok(())
        };
        call(work, lost).await
    }

    pub(super) async fn delete(&self, points: &[Uuid]) -> Result<(), IndexError> {
        let work = || {
            let mut all = self.lock();
            for point in points {
                all.stored.remove(point);
            }
            Ok(())
        };
        call(work, lost).await
    }

    pub(super) async fn vectors(
        &self,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, Vec<Vec<f32>>>, IndexError> {
        let work = || {
            let all = self.lock();
            let found = points.iter().filter_map(|id| {
                let point = all.stored.get(id)?;
                Some((*id, point.vectors.clone()))
            });
            Ok(found.collect())
        };
        call(work, lost).await
    }
}

fn lost() -> IndexError {
    IndexError::Unavailable("the answer was lost".to_owned())
}
