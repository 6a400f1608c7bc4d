//! A book on this machine with its stores and models.

mod folder;

use std::collections::BTreeMap;
use std::path::PathBuf;

use bookrag::catalog::{Catalog, CatalogError, SqliteCatalog};
use bookrag::config::{Config, EmbedderChoice};
use bookrag::context::{
    Context, INGEST_STATEMENT_TIMEOUT, StartError, embedder, postgres_catalog, reranker,
    vector_index,
};
use bookrag::embed::Embedder;
use bookrag::index::{IndexError, LocalIndex, VectorIndex};
use bookrag::ingest::{Ingest, IngestError, OpenMode, OpenOptions, Ports};
use bookrag::local::LocalModel;
use bookrag::rerank::Reranker;
use bookrag::retrieve::{Backends, Language, OffTopicCache, QuestionCache};
use bookrag::source::{Source, SourceError};
use tokio::sync::Mutex;

use crate::commands::output;
use crate::site::Site;

pub use folder::BookFolder;
pub(crate) use folder::unwritable;

/// Why a book could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// Reading the site's files failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Creating the services that answer questions failed.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The vector store failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The catalog failed.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Ingest failed.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A file or folder of the stores cannot be written.
    #[error(
        "cannot write {}: {source}; make it writable, or name another folder for the index in BOOKRAG_DATA",
        path.display()
    )]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Another process serves the book.
    #[error("{} is in use by {holder}; stop it first", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process, if known.
        holder: String,
    },
    /// The book was never indexed.
    #[error("there is no index{0}; run `bookrag serve SITE` or `bookrag sync SITE` first")]
    NoBook(String),
    /// Only one of the two stores is hosted; the other cannot be local then.
    #[error(
        "DATABASE_URL is set and QDRANT_URL is not: the local vector store needs the local catalog. Set QDRANT_URL as well, or \
         remove DATABASE_URL"
    )]
    NoVectorStore,
}

impl LocalError {
    /// True if the SQLite file is damaged.
    #[must_use]
    pub(crate) fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Catalog(CatalogError::Damaged { .. })
                | Self::Ingest(IngestError::Catalog(CatalogError::Damaged { .. }))
        ) || self.is_damage_of_vectors()
    }

    /// True if only the vector store's tables are damaged, as far as is known.
    #[must_use]
    pub(crate) fn is_damage_of_vectors(&self) -> bool {
        matches!(
            self,
            Self::Index(IndexError::Damaged(_))
                | Self::Ingest(IngestError::Index(IndexError::Damaged(_)))
        )
    }
}

/// The models of this process, each loaded once for all books.
#[derive(Debug, Default)]
pub(crate) struct Models {
    embedders: Vec<(EmbedderChoice, Embedder)>,
    reranker: Option<Reranker>,
    /// The embeddings of the last questions, which all books share.
    questions: QuestionCache,
}

impl Models {
    /// Creates the models of several books.
    pub(crate) fn shared() -> Self {
        Self {
            questions: QuestionCache::new(),
            ..Self::default()
        }
    }

    async fn embedder(
        &mut self,
        config: &Config,
        say: impl Fn(&str),
    ) -> Result<Embedder, StartError> {
        let mut loaded = self.embedders.iter();
        if let Some((_, embedder)) = loaded.find(|(choice, _)| *choice == config.embedder) {
            return Ok(embedder.clone());
        }
        let loaded = embedder(config, say).await?;
        self.embedders
            .push((config.embedder.clone(), loaded.clone()));
        Ok(loaded)
    }

    async fn reranker(
        &mut self,
        config: &Config,
        say: impl Fn(&str),
    ) -> Result<Reranker, StartError> {
        match &self.reranker {
            Some(reranker) => Ok(reranker.clone()),
            None => Ok(self.reranker.insert(reranker(config, say).await?).clone()),
        }
    }
}

/// A book's opened stores.
#[derive(Debug)]
pub struct LocalBook {
    /// Services that answer questions.
    pub context: Context,
}

impl LocalBook {
    /// Opens the configured stores of a book, else the local ones. `say` receives progress messages.
    pub async fn open(
        config: &Config,
        folder: &BookFolder,
        say: impl Fn(&str),
    ) -> Result<Self, LocalError> {
        Self::open_with(config, folder, &Mutex::default(), say).await
    }

    /// The same with models that other books have, too.
    pub(crate) async fn open_with(
        config: &Config,
        folder: &BookFolder,
        models: &Mutex<Models>,
        say: impl Fn(&str),
    ) -> Result<Self, LocalError> {
        let (catalog, index) = open_stores(config, folder).await?;
        let mut config = config.clone();
        if config.embedder == EmbedderChoice::ByLanguage && is_multilingual(&catalog).await {
            config.embedder = EmbedderChoice::Local(LocalModel::Multilingual);
        }
        if config.salt.is_none() {
            // Stored, so that readers can delete their data after a restart.
            config.salt = Some(folder.salt()?.into());
        }
        let mut models = models.lock().await;
        let backends = Backends {
            embedder: models.embedder(&config, &say).await?,
            reranker: models.reranker(&config, &say).await?,
            vectors: index,
            catalog,
            off_topic: OffTopicCache::default(),
            questions: models.questions.clone(),
        };
        drop(models);
        Ok(Self {
            context: Context::new(&config, backends)?,
        })
    }

    /// Opens the book's site for ingestion.
    pub async fn ingest(
        &self,
        config: &Config,
        site: &Site,
        mode: OpenMode,
    ) -> Result<Ingest, LocalError> {
        self.ingest_from(site.source().await?, config, site, mode)
            .await
    }

    /// Opens other files than the site's current ones for ingestion.
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
            site: site_name(config, site),
            title: site.name(),
            policy: config.chunk_policy.clone(),
            collection: config.collection.clone(),
            mode,
            retention: config.retention,
        };
        Ok(Ingest::open(ports, options).await?)
    }
}

/// Returns the configuration for a site's index: if no embedder was chosen, with the English one or, if the site's default locale is not English, the
/// multilingual one.
///
/// # Errors
/// If the site's settings cannot be read.
pub(crate) async fn config_for(config: &Config, site: &Site) -> Result<Config, LocalError> {
    let mut config = config.clone();
    // A deployment's functions have the English model alone.
    if config.embedder != EmbedderChoice::ByLanguage || config.database_url.is_some() {
        return Ok(config);
    }
    let locale = site.source().await?.settings().await?.default_locale;
    config.embedder = EmbedderChoice::Local(LocalModel::BgeSmall);
    if Language::of_locale(&locale) != Language::ENGLISH {
        output::status(&format!(
            "note: the site's language is {locale}, so its meaning is compared by the multilingual model; \
             BOOKRAG_EMBEDDER=bge-small chooses the English one"
        ));
        config.embedder = EmbedderChoice::Local(LocalModel::Multilingual);
    }
    Ok(config)
}

/// True if the live index was made with the multilingual model.
async fn is_multilingual(catalog: &Catalog) -> bool {
    // A catalog that cannot be read fails where it is needed.
    let live = catalog.live_index().await.ok().flatten();
    live.is_some_and(|index| index.spec.embedder == LocalModel::Multilingual.name())
}

/// Returns the site's name in the stores.
fn site_name(config: &Config, site: &Site) -> String {
    config.site.clone().unwrap_or_else(|| site.address())
}

/// Returns the questions that a model wrote for the site's pages, by the source of the page; none if the book was never indexed.
pub(crate) async fn written_questions(
    config: &Config,
    site: &Site,
) -> Result<BTreeMap<String, String>, LocalError> {
    let folder = BookFolder::of_site(config, site);
    if config.database_url.is_none() && !folder.has_store() {
        return Ok(BTreeMap::new());
    }
    let catalog = open_catalog(config, || Ok(folder)).await?;
    let name = site_name(config, site);
    Ok(catalog.written_questions(&name, None).await?)
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
        return Ok((
            postgres_catalog(config, url, INGEST_STATEMENT_TIMEOUT)?,
            index,
        ));
    }
    let sqlite = SqliteCatalog::open(&folder.store()).await?;
    let index =
        hosted_index.unwrap_or_else(|| VectorIndex::Local(LocalIndex::from_catalog(&sqlite)));
    let catalog = Catalog::Sqlite(sqlite);
    catalog.migrate().await?;
    Ok((catalog, index))
}

/// Opens the configured catalog, else the one in the folder that `find` returns.
pub(crate) async fn open_catalog(
    config: &Config,
    find: impl FnOnce() -> Result<BookFolder, LocalError>,
) -> Result<Catalog, LocalError> {
    match &config.database_url {
        Some(url) => Ok(postgres_catalog(config, url, INGEST_STATEMENT_TIMEOUT)?),
        None => Ok(Catalog::Sqlite(
            SqliteCatalog::open(&find()?.store()).await?,
        )),
    }
}
