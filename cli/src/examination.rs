//! Compares a book's files, catalog and vector store.

use std::collections::BTreeMap;

use bookrag::ingest::{Differences, Ingest, IngestError, Status};
use serde::Serialize;

use crate::local::LocalError;

/// Differences between the three.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Examination {
    /// Differences between the files and the catalog.
    pub(crate) status: Status,
    /// Points that are only in the store.
    pub(crate) stray_points: usize,
    /// Number of points per document that are only in the catalog.
    pub(crate) lost_points: BTreeMap<String, usize>,
    pub(crate) damage: Vec<String>,
    /// Locales that the embedder does not support.
    pub(crate) unread_locales: Vec<String>,
    pub(crate) embedder: String,
}

impl Examination {
    /// Compares the three.
    ///
    /// # Errors
    /// Also if a store cannot be read.
    pub(crate) async fn read(ingest: &Ingest) -> Result<Self, IngestError> {
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

    /// Returns the examination of a book whose stores are damaged; it has only the error.
    pub(crate) fn damaged(error: &LocalError) -> Self {
        Self {
            damage: vec![error.to_string()],
            ..Self::default()
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.status.pending.is_empty()
            && self.stray_points == 0
            && self.lost_points.is_empty()
            && self.damage.is_empty()
    }
}
