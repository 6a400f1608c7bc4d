//! From a new index to the one that queries read.

use super::sync::check_deletions;
use super::{Ingest, IngestError, MAX_ATTEMPTS, Status, SyncError, SyncOptions};
use crate::catalog::{IndexState, SwitchOutcome};

/// What became of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switched {
    /// Queries read this index. Writers of the one before may have served the newest changes until now: what they left
    /// out of this one is still to be done.
    Live(Status),
    /// It does not hold the whole book yet: this is to be done.
    Behind(Status),
}

impl Ingest {
    /// Makes this index the live one, if it holds exactly the book as the files are now, and lets the alias follow.
    ///
    /// # Errors
    /// Also when the live index has more than twice as many documents: the source looks like a wrong one.
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
                // A writer was at work, or the files changed under it.
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

    /// Points the alias, for tools other than this, to the live index.
    pub(super) async fn follow_alias(&self) -> Result<(), IngestError> {
        let mut indexes = self.catalog.indexes().await?.into_iter();
        if let Some(live) = indexes.find(|index| index.state == IndexState::Live) {
            let alias = &self.options.collection;
            self.index.point_alias(alias, &live.collection).await?;
        }
        Ok(())
    }
}
