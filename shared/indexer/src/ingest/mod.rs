//! The pipeline from a file to chunks that readers find: read → chunk → plan → embed → upsert → commit → sweep.
//!
//! The catalog is authoritative: a point that it does not list is not in the book, and a change takes effect with its commit.

mod open;
mod snapshot;
mod document;
mod plan;
mod batches;
mod outcome;
mod sweep;
mod compare;
mod status;
mod languages;
mod filling;
mod deletions;
mod switch;
mod calibrate;
mod sync;
mod warnings;
mod report;
mod site;
#[cfg(all(test, feature = "embedded"))]
pub(crate) mod simulation;
#[cfg(all(test, feature = "embedded", target_os = "linux"))]
mod unreadable_tests;
#[cfg(all(test, feature = "embedded", target_os = "linux"))]
mod build_tests;

use uuid::Uuid;

use crate::source::{Source, SourceError};
use book::SiteSettings;
use models::embed::Embedder;
use models::provider::ProviderError;
use store::catalog::{Catalog, CatalogError, IndexRow};
use store::index::{IndexError, VectorIndex};

use batches::Batches;

pub use compare::Differences;
pub use deletions::MassDeletion;
pub use open::{OpenMode, OpenOptions, Ports};
pub use outcome::{Change, DocumentOutcome};
pub use report::{Report, RunStatus, SkippedFile};
pub use site::site_info;
pub use status::{MissingFile, NOT_UTF8, PendingChange, PendingDocument, Status};
pub use sweep::{forget_readers, sweep};
pub use switch::Switched;
pub use sync::{Progress, Settled, SyncError, SyncOptions, no_pages, sync};
pub use warnings::PageWarnings;

/// Attempts to ingest a document before giving up because another writer or the author keeps changing it.
const MAX_ATTEMPTS: usize = 5;

/// Everything needed to ingest documents.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// The book's files.
    pub source: Source,
    /// The site's settings.
    pub settings: SiteSettings,
    /// How documents are identified, split and stored.
    pub options: OpenOptions,
    /// The embedder.
    pub embedder: Embedder,
    /// The vector index.
    pub index: VectorIndex,
    /// The catalog.
    pub catalog: Catalog,
    /// The index that is written.
    pub index_row: IndexRow,
    /// Texts that active documents embed together.
    batches: Batches,
    /// Generates the id of a new point. Ids are never reused.
    new_point_id: fn() -> Uuid,
}

/// The reason that a document was not ingested; its last revision stays.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Reading the files failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The catalog failed.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The vector store failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The embedder failed.
    #[error("the embedder {0}")]
    Embed(#[from] ProviderError),
    /// Other writers or the author kept changing the document.
    #[error("{path} changed during each of {MAX_ATTEMPTS} attempts")]
    Contended {
        /// The file's path.
        path: String,
    },
    /// The index was retired in the meantime.
    #[error("the index is retired")]
    Retired,
}

impl IngestError {
    /// True if a store, a model or the whole source failed, so the next page would fail as well.
    pub(crate) fn is_outage(&self) -> bool {
        match self {
            Self::Source(SourceError::Forbidden { .. } | SourceError::NotPublished { .. })
            | Self::Contended { .. } => false,
            Self::Source(
                SourceError::NotFound(_)
                | SourceError::NotInThisBuild(_)
                | SourceError::Unavailable { .. }
                | SourceError::SeveralSites { .. }
                | SourceError::Settings(_),
            )
            | Self::Catalog(_)
            | Self::Index(_)
            | Self::Embed(_)
            | Self::Retired => true,
        }
    }

    /// True if the same run may succeed later, with unchanged book and settings.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Source(error) => matches!(error, SourceError::Unavailable { .. }),
            Self::Catalog(error) => matches!(
                error,
                CatalogError::Unavailable(_) | CatalogError::StorageFull { .. }
            ),
            Self::Index(error) => {
                matches!(
                    error,
                    IndexError::Unavailable(_) | IndexError::StorageFull(_)
                )
            }
            Self::Embed(error) => error.may_pass(),
            Self::Contended { .. } => true,
            Self::Retired => false,
        }
    }
}
