//! An in-memory catalog whose calls are steps of a simulation.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::sqlite::SqliteCatalog;
use super::sqlite::values::rows;
use super::{
    CatalogError, Commit, CommitOutcome, Pending, StoredDocument, SwitchOutcome, microseconds,
};
use fakes::faults::{self, Freeze, Part, removed};

/// An in-memory SQLite catalog whose calls may fail and may lack a part of the protocol. Clones share the tables.
///
/// Methods that it does not override are those of the SQLite catalog.
#[derive(Debug, Clone)]
pub struct FaultyCatalog {
    tables: SqliteCatalog,
    /// The source of this clone's task, to be frozen after a commit or a switch.
    source: Option<Arc<dyn Freeze>>,
}

impl Deref for FaultyCatalog {
    type Target = SqliteCatalog;

    fn deref(&self) -> &SqliteCatalog {
        &self.tables
    }
}

impl FaultyCatalog {
    /// Creates a catalog whose calls may fail.
    #[must_use]
    pub fn new(tables: SqliteCatalog) -> Self {
        Self {
            tables,
            source: None,
        }
    }

    /// Returns the same catalog for a task that reads `source`. If the check after a commit is disabled, the task sees its first reading of the file
    /// again.
    #[must_use]
    pub fn freezing(&self, source: Arc<dyn Freeze>) -> Self {
        Self {
            tables: self.tables.clone(),
            source: Some(source),
        }
    }

    pub(super) async fn step<T>(
        &self,
        work: impl Future<Output = Result<T, CatalogError>>,
    ) -> Result<T, CatalogError> {
        faults::call(work, || {
            CatalogError::Unavailable("the answer was lost".to_owned())
        })
        .await
    }

    /// Advances the clock by making the catalog's rows older.
    pub async fn pass(&self, time: Duration) -> Result<(), CatalogError> {
        let time = microseconds(time);
        self.execute(format!(
            "UPDATE pending_points SET created_at = created_at - {time}, claimed_at = claimed_at - {time};
             UPDATE indexes SET retired_at = retired_at - {time}"
        ))
        .await
    }

    /// Executes statements; never fails on purpose.
    pub async fn execute(&self, statements: impl Into<String>) -> Result<(), CatalogError> {
        let statements = statements.into();
        self.tables
            .run(move |connection| Ok(connection.execute_batch(&statements)?))
            .await
    }

    /// Returns the number of rows ever changed. If it is unchanged, so are the rows.
    pub async fn changes(&self) -> Result<u64, CatalogError> {
        self.tables.run(|it| Ok(it.total_changes())).await
    }

    pub(super) async fn document(
        &self,
        index_id: i64,
        source: &str,
    ) -> Result<Option<StoredDocument>, CatalogError> {
        if let Some(source) = &self.source {
            source.thaw();
        }
        self.tables.document(index_id, source).await
    }

    pub(super) async fn add_intents(
        &self,
        index_id: i64,
        document_id: Uuid,
        points: &[Uuid],
    ) -> Result<(), CatalogError> {
        let points = if removed(Part::Intents) { &[] } else { points };
        self.tables.add_intents(index_id, document_id, points).await
    }

    pub(super) async fn commit(&self, commit: &Commit) -> Result<CommitOutcome, CatalogError> {
        let mut commit = commit.clone();
        let fresh = commit.intents.len();
        self.weaken(&mut commit).await?;
        let mut outcome = self.tables.commit(&commit).await?;
        match &mut outcome {
            CommitOutcome::Committed { garbage } => {
                self.freeze_without(Part::LookAfterCommit);
                if removed(Part::GarbageList) {
                    garbage.clear();
                    self.execute("DELETE FROM pending_points WHERE kind = 'garbage'")
                        .await?;
                }
            }
            CommitOutcome::Conflict => {
                faults::with(|script| script.wasted += usize::from(fresh > 0));
            }
            CommitOutcome::Retired => {}
        }
        Ok(outcome)
    }

    async fn weaken(&self, commit: &mut Commit) -> Result<(), CatalogError> {
        let index_id = commit.index_id;
        if removed(Part::CompareAndSet) {
            let source = &commit.document.source;
            let stored = self.tables.document(index_id, source).await?;
            commit.expected_revision = stored.map_or(0, |stored| stored.revision);
        }
        if removed(Part::Intents) {
            commit.intents.clear();
        }
        if removed(Part::IntentCheck) {
            let there = self.intents(index_id).await?;
            commit
                .intents
                .retain(|point| there.contains(&point.to_string()));
        }
        Ok(())
    }

    async fn intents(&self, index_id: i64) -> Result<Vec<String>, CatalogError> {
        self.tables
            .run(move |connection| {
                rows(
                    connection,
                    "SELECT point_id FROM pending_points WHERE index_id = ?1 AND kind = 'intent'",
                    [index_id],
                )
            })
            .await
    }

    pub(super) async fn claim_pending(
        &self,
        index_id: i64,
        age: Duration,
    ) -> Result<Vec<Pending>, CatalogError> {
        let mut pending = self.tables.claim_pending(index_id, age).await?;
        for pending in &mut pending {
            pending.last_time |= removed(Part::ClaimBeforeSweep);
        }
        Ok(pending)
    }

    pub(super) async fn switch(
        &self,
        index_id: i64,
        documents: &BTreeMap<String, String>,
    ) -> Result<SwitchOutcome, CatalogError> {
        let outcome = self.tables.switch(index_id, documents).await?;
        if outcome == SwitchOutcome::Switched {
            self.freeze_without(Part::LookAfterSwitch);
        }
        Ok(outcome)
    }

    fn freeze_without(&self, part: Part) {
        if let Some(source) = &self.source
            && removed(part)
        {
            source.freeze();
        }
    }
}
