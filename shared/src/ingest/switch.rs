//! From a new index to the one that queries read.

use super::{Ingest, IngestError, MAX_ATTEMPTS, Status};
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
    pub async fn switch(&self) -> Result<Switched, IngestError> {
        let index = &self.index_row;
        for _ in 0..MAX_ATTEMPTS {
            let status = self.status("").await?;
            if !status.pending.is_empty() {
                return Ok(Switched::Behind(status));
            }
            match self
                .catalog
                .switch(index.index_id, &status.expected)
                .await?
            {
                SwitchOutcome::Switched => {
                    self.follow_alias().await?;
                    let status = self.status("").await?;
                    #[cfg(test)]
                    let status = if crate::faults::removed(crate::faults::Part::LookAfterSwitch) {
                        Status::default()
                    } else {
                        status
                    };
                    return Ok(Switched::Live(status));
                }
                // A writer was at work, or the files changed under it.
                SwitchOutcome::Behind(_) => {}
                SwitchOutcome::Retired => return Err(IngestError::Retired),
            }
        }
        Ok(Switched::Behind(self.status("").await?))
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
