//! A book's files, catalog and vector store, compared.

use std::collections::BTreeMap;

use bookrag::ingest::{Differences, Ingest, IngestError, Status};
use serde::Serialize;

use crate::local::LocalError;

/// In what the three differ.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Examination {
    /// The files against the catalog.
    pub(crate) status: Status,
    /// Points of the store that the catalog does not know.
    pub(crate) stray_points: usize,
    /// Points of the catalog that the store does not have: how many, by document.
    pub(crate) lost_points: BTreeMap<String, usize>,
    /// Damage of the stores' files.
    pub(crate) damage: Vec<String>,
    /// Locales that the embedder does not read.
    pub(crate) unread_locales: Vec<String>,
    /// The embedder.
    pub(crate) embedder: String,
}

impl Examination {
    /// # Errors
    /// Also if a store cannot be read.
    pub(crate) async fn of(ingest: &Ingest) -> Result<Self, IngestError> {
        let stores = async {
            if ingest.is_indexed() {
                tokio::try_join!(ingest.compare(), ingest.damage())
            } else {
                Ok((Differences::default(), Vec::new()))
            }
        };
        let ((differences, damage), status, unread_locales) =
            tokio::try_join!(stores, ingest.status(""), ingest.unread_locales())?;
        let lost = differences.lost.into_iter();
        Ok(Self {
            status,
            stray_points: differences.stray.len(),
            lost_points: lost
                .map(|(source, points)| (source, points.len()))
                .collect(),
            damage,
            unread_locales,
            embedder: ingest.embedder.identity().name.clone(),
        })
    }

    /// Of stores that cannot be read.
    pub(crate) fn damaged(error: &LocalError) -> Self {
        Self {
            damage: vec![error.to_string()],
            ..Self::default()
        }
    }

    /// Whether there is nothing to repair.
    pub(crate) fn is_clean(&self) -> bool {
        self.status.pending.is_empty()
            && self.stray_points == 0
            && self.lost_points.is_empty()
            && self.damage.is_empty()
    }
}
