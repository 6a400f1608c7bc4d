//! The pipeline from a file to chunks that readers find: read → chunk → plan → embed → upsert → commit → sweep.
//!
//! The catalog is the root: a point that it does not list is not in the book, and a commit is the moment of change.

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
mod switch;
mod calibrate;
mod sync;
mod report;
mod site;
#[cfg(all(test, feature = "embedded"))]
mod simulation;
#[cfg(all(test, feature = "embedded", target_os = "linux"))]
mod unreadable_tests;

use uuid::Uuid;

use crate::book::SiteSettings;
use crate::catalog::{Catalog, CatalogError, IndexRow};
use crate::embed::Embedder;
use crate::index::{IndexError, VectorIndex};
use crate::provider::ProviderError;
use crate::source::{Source, SourceError};

use batches::Batches;

pub use compare::Differences;
pub use open::{OpenMode, OpenOptions, Ports};
pub use outcome::{Change, DocumentOutcome};
pub use report::{Report, SkippedFile};
pub use site::site_info;
pub use status::{NOT_UTF8, PendingChange, PendingDocument, Status};
pub use sweep::{forget_readers, sweep};
pub use switch::Switched;
pub use sync::{MassDeletion, Progress, Settled, SyncError, SyncOptions, sync};

/// How often a document is started over when another writer, or the author, was faster.
const MAX_ATTEMPTS: usize = 5;

/// All that converging a document needs.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// Where the files are.
    pub source: Source,
    /// The site's settings.
    pub settings: SiteSettings,
    /// How documents are identified, cut and stored.
    pub options: OpenOptions,
    /// What makes vectors.
    pub embedder: Embedder,
    /// Where they go.
    pub index: VectorIndex,
    /// The root.
    pub catalog: Catalog,
    /// The index that is fed.
    pub index_row: IndexRow,
    /// What documents at work have embedded together.
    batches: Batches,
    /// Makes the id of a new point, which no point had before.
    new_point_id: fn() -> Uuid,
}

/// Why a document could not be converged; it stays at its last revision.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The files.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The vector store.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The embedder.
    #[error("the embedder {0}")]
    Embed(#[from] ProviderError),
    /// Others kept changing it.
    #[error("{path} changed during each of {MAX_ATTEMPTS} attempts")]
    Contended {
        /// The file.
        path: String,
    },
    /// The index was retired meanwhile.
    #[error("the index is retired")]
    Retired,
}

impl IngestError {
    /// True if a store, a model or the whole source failed, so that the next page would fail as well.
    fn is_outage(&self) -> bool {
        match self {
            Self::Source(SourceError::Forbidden { .. }) | Self::Contended { .. } => false,
            Self::Source(
                SourceError::NotFound(_)
                | SourceError::Unavailable { .. }
                | SourceError::Settings(_),
            )
            | Self::Catalog(_)
            | Self::Index(_)
            | Self::Embed(_)
            | Self::Retired => true,
        }
    }

    /// True if the same run may succeed later without a change of the book or of the settings.
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
