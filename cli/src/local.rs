//! A book on this machine: its folder of stores, the embedded engine, the local model.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use bookrag::catalog::{Catalog, CatalogError, SqliteCatalog};
use bookrag::config::Config;
use bookrag::context::{Context, StartError, embedder, postgres_catalog, reranker, vector_index};
use bookrag::index::{IndexError, VectorIndex};
use bookrag::ingest::{Ingest, IngestError, OpenOptions, OpenMode, Ports};
use bookrag::retrieve::Backends;
use bookrag::source::SourceError;
use uuid::Uuid;

use crate::engine::{Engine, EngineError};
use crate::site::Site;

/// Names the book that `ask` and `search` take when none is named: the one last served or synced.
const CURRENT_FILE: &str = "current";
/// Where books are kept unless `BOOKRAG_DATA` says otherwise.
const DATA_FOLDER: &str = ".bookrag";
const CATALOG_FILE: &str = "catalog.sqlite";
const VECTORS_FOLDER: &str = "vectors";

/// Why a book could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The files.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// What answers questions.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The embedded engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The vector store.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The index.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A file of ours.
    #[error("{}: {source}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// No book was served or synced here before.
    #[error("there is no book in {0}; run `bookrag serve SITE` or `bookrag sync SITE` first")]
    NoBook(PathBuf),
}

impl LocalError {
    /// Which of the embedded stores is damaged, if that is the cause.
    #[must_use]
    pub(crate) fn damage(&self) -> Option<DamagedStore> {
        match self {
            Self::Ingest(IngestError::Index(IndexError::StorageFull(_))) => None,
            // The engine answers as unavailable if it fails on its files.
            Self::Engine(EngineError::Damaged { .. } | EngineError::Panicked { .. })
            | Self::Ingest(IngestError::Index(_)) => Some(DamagedStore::Vectors),
            Self::Catalog(CatalogError::Damaged { .. })
            | Self::Ingest(IngestError::Catalog(CatalogError::Damaged { .. })) => {
                Some(DamagedStore::Catalog)
            }
            _ => None,
        }
    }
}

/// An embedded store whose files are not as they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DamagedStore {
    /// The catalog: without it the vectors mean nothing either.
    Catalog,
    /// The vectors.
    Vectors,
}

impl DamagedStore {
    /// True if it is one of this machine's files, and not a hosted store.
    pub(crate) fn is_embedded(self, config: &Config) -> bool {
        match self {
            Self::Catalog => config.database_url.is_none(),
            Self::Vectors => config.qdrant_url.is_none(),
        }
    }
}

/// Where a book's stores are.
#[derive(Debug, Clone)]
pub struct BookFolder {
    /// The folder.
    pub path: PathBuf,
}

impl BookFolder {
    /// The folder of a site's stores: one for each site, so that two never mix.
    #[must_use]
    pub fn of_site(config: &Config, site: &Site) -> Self {
        let name: String = site
            .name()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, site.address().as_bytes())
            .simple()
            .to_string();
        Self {
            path: config.data.join(format!("{name}-{}", &id[..8])),
        }
    }

    /// The secret that readers are hashed with where none is configured: made once and kept beside the catalog.
    fn salt(&self) -> Result<String, LocalError> {
        let path = self.path.join("salt");
        kept_secret(&path).map_err(|source| LocalError::File { path, source })
    }

    /// The bytes that all its files take on the disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        bytes_below(&self.path)
    }

    /// The folder of the book last served or synced.
    pub fn current(config: &Config) -> Result<Self, LocalError> {
        let name = std::fs::read_to_string(config.data.join(CURRENT_FILE)).unwrap_or_default();
        let path = config.data.join(name.trim());
        let mut parts = Path::new(name.trim()).components();
        let is_folder = matches!(
            (parts.next(), parts.next()),
            (Some(Component::Normal(_)), None)
        );
        if !is_folder || !path.is_dir() {
            return Err(LocalError::NoBook(config.data.clone()));
        }
        Ok(Self { path })
    }

    /// Creates the folder. In the default place, or a new one, version control ignores what is in it.
    pub fn create(&self) -> Result<(), LocalError> {
        let data = self.path.parent().unwrap_or(&self.path);
        let is_ours = !data.exists() || data.file_name().is_some_and(|name| name == DATA_FOLDER);
        std::fs::create_dir_all(&self.path).map_err(file(&self.path))?;
        let ignore = data.join(".gitignore");
        if is_ours && !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(file(&ignore))?;
        }
        Ok(())
    }

    /// Makes it the folder of the book that commands take when none is named.
    pub fn make_current(&self) -> Result<(), LocalError> {
        if let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) {
            let current = parent.join(CURRENT_FILE);
            let name = name.to_string_lossy();
            std::fs::write(&current, name.as_bytes()).map_err(file(&current))?;
        }
        Ok(())
    }

    /// Takes the vector store away, so that the next run fills it again: it is a copy of what the site says.
    pub(crate) fn remove_vectors(&self) -> Result<(), LocalError> {
        let vectors = self.path.join(VECTORS_FOLDER);
        match std::fs::remove_dir_all(&vectors) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(file(&vectors)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Moves the catalog aside, and takes the vector store away, whose points nothing knows then. Returns the catalog's new
    /// path: conversations and judgements may still be read from it.
    pub(crate) fn set_catalog_aside(&self) -> Result<PathBuf, LocalError> {
        let seconds = SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap_or_default()
            .as_secs();
        let aside = format!("{CATALOG_FILE}.damaged-{seconds}");
        // With its log, which belongs to it.
        for kind in ["-wal", "-shm", ""] {
            let from = self.path.join(format!("{CATALOG_FILE}{kind}"));
            if from.exists() {
                let to = self.path.join(format!("{aside}{kind}"));
                std::fs::rename(&from, &to).map_err(file(&from))?;
            }
        }
        self.remove_vectors()?;
        Ok(self.path.join(aside))
    }
}

/// Names the path of an error of a file.
fn file(path: &Path) -> impl FnOnce(std::io::Error) -> LocalError + use<> {
    let path = path.to_owned();
    move |source| LocalError::File { path, source }
}

/// Reads the secret in a file that only its owner may read. Creates it if it is missing.
fn kept_secret(path: &Path) -> std::io::Result<String> {
    match std::fs::read_to_string(path) {
        Ok(secret) if !secret.trim().is_empty() => return Ok(secret.trim().to_owned()),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        // None yet, or a process died before it was written.
        _ => {}
    }
    let secret = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    std::io::Write::write_all(&mut options.open(path)?, secret.as_bytes())?;
    Ok(secret)
}

/// What goes away meanwhile counts nothing.
fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(file) if file.is_dir() => bytes_below(&entry.path()),
            Ok(file) => bytes_on_disk(&file),
            Err(_) => 0,
        })
        .sum()
}

/// What a file takes: the engine's logs are long and mostly holes.
#[cfg(unix)]
fn bytes_on_disk(file: &std::fs::Metadata) -> u64 {
    /// The unit of `st_blocks`, whatever the file system's own.
    const BLOCK: u64 = 512;
    std::os::unix::fs::MetadataExt::blocks(file) * BLOCK
}

#[cfg(not(unix))]
fn bytes_on_disk(file: &std::fs::Metadata) -> u64 {
    file.len()
}

/// A book's opened stores.
#[derive(Debug)]
pub struct LocalBook {
    /// What answers questions.
    pub context: Context,
    engine: Option<Engine>,
}

impl LocalBook {
    /// Opens the stores of a book: what the configuration names, else the embedded ones. `say` hears what takes long.
    pub async fn open(
        config: &Config,
        folder: &BookFolder,
        say: impl Fn(&str),
    ) -> Result<Self, LocalError> {
        let catalog = match &config.database_url {
            Some(url) => postgres_catalog(config, url)?,
            None => {
                let catalog = catalog_of(folder).await?;
                catalog.migrate().await?;
                catalog
            }
        };
        let (engine, index) = open_index(config, folder).await?;
        let mut config = config.clone();
        if config.salt.is_none() {
            // Readers' hashes outlive the process, so that they can delete what they said later.
            config.salt = Some(folder.salt()?.into());
        }
        let config = &config;
        let embedder = embedder(config, &say).await?;
        let reranker = reranker(config, &say).await?;
        let backends = Backends {
            embedder,
            reranker,
            vectors: index,
            catalog,
        };
        Ok(Self {
            context: Context::new(config, backends)?,
            engine,
        })
    }

    /// What feeds the book from its site.
    pub async fn ingest(
        &self,
        config: &Config,
        site: &Site,
        mode: OpenMode,
    ) -> Result<Ingest, LocalError> {
        let backends = &self.context.backends;
        let ports = Ports {
            source: site.source().await?,
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

    /// Closes the stores.
    pub async fn close(self) -> Result<(), LocalError> {
        match self.engine {
            Some(engine) => Ok(engine.stop().await?),
            None => Ok(()),
        }
    }
}

/// The catalog of a book whose stores are embedded.
pub(crate) async fn catalog_of(folder: &BookFolder) -> Result<Catalog, CatalogError> {
    let sqlite = SqliteCatalog::open(&folder.path.join(CATALOG_FILE)).await?;
    Ok(Catalog::Sqlite(sqlite))
}

async fn open_index(
    config: &Config,
    folder: &BookFolder,
) -> Result<(Option<Engine>, VectorIndex), LocalError> {
    if let Some(url) = &config.qdrant_url {
        return Ok((None, vector_index(config, url)?));
    }
    let engine = Engine::start(&folder.path.join(VECTORS_FOLDER)).await?;
    let index = vector_index(config, engine.url())?;
    Ok((Some(engine), index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_salt_is_made_once_and_only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("salt");
        let first = kept_secret(&path).unwrap();
        assert_eq!(first.len(), 64);
        let second = kept_secret(&path).unwrap();
        assert_eq!(first, second);
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::MetadataExt::mode(&path.metadata().unwrap());
            assert_eq!(mode & 0o777, 0o600);
        }
        std::fs::write(&path, "").unwrap();
        let anew = kept_secret(&path).unwrap();
        assert_ne!(first, anew);
    }
}
