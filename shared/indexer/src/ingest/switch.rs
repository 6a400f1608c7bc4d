//! Makes a new index the live one.

use super::deletions::check_deletions;
use super::{Ingest, IngestError, MAX_ATTEMPTS, Status, SyncError, SyncOptions};
use store::catalog::{IndexState, SwitchOutcome};

/// The outcome of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switched {
    /// Queries read this index. Writers of the former index may have handled the latest changes until now; the status lists what
    /// this index still lacks.
    Live(Status),
    /// The index does not hold the whole book yet; the status lists what is missing.
    Behind(Status),
}

impl Ingest {
    /// Makes this index the live one if it holds exactly the current book, and updates the alias.
    ///
    /// # Errors
    /// Also if the live index has more than twice as many documents, since the source is then probably the wrong one.
    pub async fn switch(&self, options: SyncOptions) -> Result<Switched, SyncError> {
        let index_id = self.index_row.index_id;
        for _ in 0..MAX_ATTEMPTS {
            let status = self.outstanding("", options).await?;
            if status.is_behind() || self.lost_by_a_switch(&status).await? {
                return Ok(Switched::Behind(status));
            }
            let total = self.documents_of_live_index().await?;
            check_deletions(total.saturating_sub(status.expected.len()), total, options)?;
            let switched = self.catalog.switch(index_id, &status.expected).await;
            match switched.map_err(IngestError::from)? {
                SwitchOutcome::Switched => {
                    self.follow_alias().await?;
                    return Ok(Switched::Live(self.outstanding("", options).await?));
                }
                // A writer was active, or the files changed.
                SwitchOutcome::Behind(_) => {}
                SwitchOutcome::Retired => return Err(IngestError::Retired.into()),
            }
        }
        Ok(Switched::Behind(self.outstanding("", options).await?))
    }

    async fn documents_of_live_index(&self) -> Result<usize, IngestError> {
        match self.catalog.live_index().await? {
            Some(live) if live.index_id != self.index_row.index_id => {
                let stats = self.catalog.stats(live.index_id).await?;
                Ok(usize::try_from(stats.documents).unwrap_or(usize::MAX))
            }
            _ => Ok(0),
        }
    }

    /// Points the alias, which only other tools use, to the live index.
    pub(super) async fn follow_alias(&self) -> Result<(), IngestError> {
        let indexes = self.catalog.indexes().await?;
        let live = indexes.iter().find(|index| index.state == IndexState::Live);
        if let Some(live) = live {
            let alias = &self.options.collection;
            self.index.point_alias(alias, &live.collection).await?;
        }
        Ok(())
    }
}
