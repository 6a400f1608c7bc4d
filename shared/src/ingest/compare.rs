//! The store and the catalog, compared both ways.
//!
//! Neither loses or keeps a point by itself: the protocol sees to that. A restored backup, a lost disk or a hand that
//! deleted points does.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::{Change, Ingest, IngestError};

/// In what the store and the catalog differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Points that the catalog knows nothing of: no chunk has them, and they are not pending.
    pub stray: Vec<Uuid>,
    /// Points that chunks have and the store has not, by their document's source.
    pub lost: BTreeMap<String, BTreeSet<Uuid>>,
}

impl Ingest {
    /// Compares the store's points with the catalog's, while others may write.
    pub async fn compare(&self) -> Result<Differences, IngestError> {
        let collection = &self.index_row.collection;
        // Points first: an id is written to the catalog before its point is stored, so one that is stored and that the
        // catalog does not know afterwards is stray, or was deleted meanwhile.
        let exists = self.index.has_collection(collection).await?;
        let stored = if exists {
            self.index.point_ids(collection).await?
        } else {
            BTreeSet::new()
        };
        let known = self.known_points().await?;
        let stray = stored
            .iter()
            .filter(|point| !known.contains_key(point))
            .copied()
            .collect();
        // A chunk's point that was not there may have been stored since, or replaced: looked at again, first the store,
        // then the catalog, it is lost if a chunk still has it.
        let missing: Vec<Uuid> = known
            .iter()
            .filter(|(point, source)| source.is_some() && !stored.contains(point))
            .map(|(point, _)| *point)
            .collect();
        let mut lost: BTreeMap<String, BTreeSet<Uuid>> = BTreeMap::new();
        if !missing.is_empty() {
            let found = if exists {
                self.index.vectors(collection, &missing).await?
            } else {
                HashMap::new()
            };
            let known = self.known_points().await?;
            for point in missing.iter().filter(|point| !found.contains_key(point)) {
                if let Some(Some(source)) = known.get(point) {
                    lost.entry(source.clone()).or_default().insert(*point);
                }
            }
        }
        Ok(Differences { stray, lost })
    }

    /// Deletes stray points, and stores what was lost anew. Returns the sources that were restored.
    pub async fn repair(&self, differences: &Differences) -> Result<Vec<String>, IngestError> {
        self.index
            .delete(&self.index_row.collection, &differences.stray)
            .await?;
        let mut restored = Vec::new();
        for (source, points) in &differences.lost {
            let outcome = self.ingest_without(source, points).await?;
            if matches!(outcome.change, Change::Indexed | Change::Deleted) {
                restored.push(source.clone());
            }
        }
        Ok(restored)
    }

    /// Every point the catalog knows, with its document's source if a chunk has it.
    async fn known_points(&self) -> Result<BTreeMap<Uuid, Option<String>>, IngestError> {
        let points = self.catalog.known_points(self.index_row.index_id).await?;
        let mut known = BTreeMap::new();
        for (point, source) in points {
            let entry = known.entry(point).or_insert(None);
            if source.is_some() {
                *entry = source;
            }
        }
        Ok(known)
    }
}
