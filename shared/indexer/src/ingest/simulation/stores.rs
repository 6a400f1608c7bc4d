//! The stores of one simulated book.

use super::super::{Ingest, IngestError, OpenMode, OpenOptions, Ports};
use crate::source::{MemorySource, Source};
use ::book::chunk::ChunkPolicy;
use fakes::faults;
use models::embed::{Embedder, FaultyEmbedder};
use store::catalog::{Catalog, FaultyCatalog, SqliteCatalog};
use store::index::{FaultyIndex, LocalIndex, VectorIndex};

/// An in-memory catalog and vector index whose every call is a step of the simulation. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Stores {
    pub(crate) catalog: FaultyCatalog,
    pub(crate) index: FaultyIndex,
}

impl Stores {
    pub(crate) fn new() -> Self {
        let tables = SqliteCatalog::in_memory().expect("there is memory");
        Self {
            index: FaultyIndex::new(LocalIndex::from_catalog(&tables)),
            catalog: FaultyCatalog::new(tables),
        }
    }

    pub(crate) fn ports(&self, source: Source) -> Ports {
        Ports {
            source,
            embedder: Embedder::Faulty(FaultyEmbedder::default()),
            index: VectorIndex::Faulty(self.index.clone()),
            catalog: Catalog::Faulty(self.catalog.clone()),
        }
    }

    /// Opens the book for a process that reads `source`. The seed determines the ids of new points.
    pub(crate) async fn open(
        &self,
        source: &MemorySource,
        options: OpenOptions,
    ) -> Result<Ingest, IngestError> {
        let source = Source::Memory(source.clone());
        let ingest = Ingest::open(self.ports(source), options).await?;
        Ok(Ingest {
            new_point_id: faults::point_id,
            ..ingest
        })
    }

    /// Returns the catalog, accessed without steps.
    pub(crate) fn tables(&self) -> Catalog {
        Catalog::Sqlite((*self.catalog).clone())
    }
}

pub(crate) fn options() -> OpenOptions {
    OpenOptions {
        site: "site".to_owned(),
        title: "The book".to_owned(),
        policy: ChunkPolicy::ADAPTIVE,
        collection: "simulated".to_owned(),
        mode: OpenMode::Write,
        retention: None,
    }
}
