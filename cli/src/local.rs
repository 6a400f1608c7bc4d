//! A book on this machine: its stores and models.

mod folder;
mod former;

use std::path::PathBuf;

use bookrag::catalog::{Catalog, CatalogError, SqliteCatalog};
use bookrag::config::Config;
use bookrag::context::{Context, StartError, embedder, postgres_catalog, reranker, vector_index};
use bookrag::index::{IndexError, LocalIndex, VectorIndex};
use bookrag::ingest::{Ingest, IngestError, OpenMode, OpenOptions, Ports};
use bookrag::retrieve::Backends;
use bookrag::source::{Source, SourceError};

use crate::site::Site;

pub use folder::BookFolder;
pub(crate) use folder::unwritable;

/// Why a book could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The files.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// What answers questions.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The vector store.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The index.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A file or folder of the stores.
    #[error(
        "cannot write {}: {source}; make it writable, or name another folder for the index in BOOKRAG_DATA",
        path.display()
    )]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process serves the book.
    #[error("{} is in use by {holder}; stop it first", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process, as far as it is known.
        holder: String,
    },
    /// The book was never indexed.
    #[error("there is no index{0}; run `bookrag serve SITE` or `bookrag sync SITE` first")]
    NoBook(String),
    /// Only one of the two stores is hosted, and the other cannot be local.
    #[error(
        "DATABASE_URL is set and QDRANT_URL is not: the local vector store needs the local catalog. Set QDRANT_URL as well, or \
         remove DATABASE_URL"
    )]
    NoVectorStore,
}

impl LocalError {
    /// True if the file of the local stores is damaged.
    #[must_use]
    pub(crate) fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Catalog(CatalogError::Damaged { .. })
                | Self::Ingest(IngestError::Catalog(CatalogError::Damaged { .. }))
        )
    }
}

/// A book's opened stores.
#[derive(Debug)]
pub struct LocalBook {
    /// What answers questions.
    pub context: Context,
}

impl LocalBook {
    /// Opens the stores of a book: what the configuration names, else the local ones. `say` hears what takes long.
    pub async fn open(
        config: &Config,
        folder: &BookFolder,
        say: impl Fn(&str),
    ) -> Result<Self, LocalError> {
        let (catalog, index) = open_stores(config, folder).await?;
        let mut config = config.clone();
        if config.salt.is_none() {
            // Readers' hashes outlive the process, so that they can delete what they said later.
            config.salt = Some(folder.salt()?.into());
        }
        let backends = Backends {
            embedder: embedder(&config, &say).await?,
            reranker: reranker(&config, &say).await?,
            vectors: index,
            catalog,
        };
        Ok(Self {
            context: Context::new(&config, backends)?,
        })
    }

    /// What feeds the book from its site.
    pub async fn ingest(
        &self,
        config: &Config,
        site: &Site,
        mode: OpenMode,
    ) -> Result<Ingest, LocalError> {
        self.ingest_from(site.source().await?, config, site, mode)
            .await
    }

    /// What feeds the book from other files than the site has now.
    pub(crate) async fn ingest_from(
        &self,
        source: Source,
        config: &Config,
        site: &Site,
        mode: OpenMode,
    ) -> Result<Ingest, LocalError> {
        let backends = &self.context.backends;
        let ports = Ports {
            source,
            embedder: backends.embedder.clone(),
            index: backends.vectors.clone(),
            catalog: backends.catalog.clone(),
        };
        let options = OpenOptions {
            site: config.site.clone().unwrap_or_else(|| site.address()),
            title: site.name(),
            policy: config.chunk_policy.clone(),
            collection: config.collection.clone(),
            mode,
            retention: config.retention,
        };
        Ok(Ingest::open(ports, options).await?)
    }
}

async fn open_stores(
    config: &Config,
    folder: &BookFolder,
) -> Result<(Catalog, VectorIndex), LocalError> {
    let hosted_index = match &config.qdrant_url {
        Some(url) => Some(vector_index(config, url)?),
        None => None,
    };
    if let Some(url) = &config.database_url {
        let index = hosted_index.ok_or(LocalError::NoVectorStore)?;
        return Ok((postgres_catalog(config, url)?, index));
    }
    let sqlite = SqliteCatalog::open(&folder.store()).await?;
    let index = hosted_index.unwrap_or_else(|| VectorIndex::Local(LocalIndex::of(&sqlite)));
    let catalog = Catalog::Sqlite(sqlite);
    catalog.migrate().await?;
    Ok((catalog, index))
}

/// The catalog that the configuration names, else the one in the folder that `find` returns.
pub(crate) async fn open_catalog(
    config: &Config,
    find: impl FnOnce() -> Result<BookFolder, LocalError>,
) -> Result<Catalog, LocalError> {
    match &config.database_url {
        Some(url) => Ok(postgres_catalog(config, url)?),
        None => Ok(Catalog::Sqlite(
            SqliteCatalog::open(&find()?.store()).await?,
        )),
    }
}
