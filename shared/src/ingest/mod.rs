//! The pipeline from a file to chunks that readers find: read → chunk → plan → embed → upsert → commit → sweep.
//!
//! The catalog is the root: a point that it does not list is not in the book, and a commit is the moment of change.

mod open;
mod look;
mod document;
mod plan;
mod outcome;
mod sweep;
mod compare;
mod status;
mod filling;
mod switch;
mod sync;
mod report;
mod site;
#[cfg(all(test, feature = "embedded"))]
mod simulation;

use crate::book::SiteSettings;
use crate::catalog::{Catalog, CatalogError, IndexRow};
use crate::embed::{EmbedError, Embedder};
use crate::index::{IndexError, VectorIndex};
use crate::source::{Source, SourceError};

pub use compare::Differences;
pub use open::{OpenOptions, Opening, Ports};
pub use outcome::{Change, DocumentOutcome};
pub use report::{Report, SkippedFile};
pub use site::site_info;
pub use status::{PendingChange, PendingDocument, Status};
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
    #[error(transparent)]
    Embed(#[from] EmbedError),
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
