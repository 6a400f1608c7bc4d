//! What a process holds from its start to its end: the ports, built from the configuration.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use tokio::sync::Mutex;

use crate::book::hex;
use crate::catalog::{Catalog, CatalogError, IndexRow, PostgresCatalog, PostgresOptions};
use crate::config::{Config, EmbedderChoice, RerankerChoice};
use crate::embed::{
    CohereEmbedder, CohereOptions, Dimensions, EmbedError, Embedder, OpenAiEmbedder, OpenAiOptions,
};
use crate::error::{Error, ErrorKind};
use crate::generate::Generator;
use crate::index::{IndexError, VectorIndex};
use crate::rerank::{CohereRerankOptions, CohereReranker, RerankError, Reranker};
use crate::retrieve::Retriever;

/// How long a query waits for the vector store.
const INDEX_TIMEOUT: Duration = Duration::from_secs(5);
/// How long ingest waits for one call of the vector store, which is tried three times.
pub const INGEST_INDEX_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a statement may take, and a connection.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections an instance keeps: it serves one request at a time.
const POOL_SIZE: usize = 2;
/// How long an embedding request may take.
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a reranking request may take: without it the order of retrieval stands.
const RERANK_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the live index is remembered.
const LIVE_INDEX_AGE: Duration = Duration::from_secs(10);

/// The ports of a process.
#[derive(Debug, Clone)]
pub struct Context {
    /// Retrieval, with its ports.
    pub retriever: Retriever,
    /// What writes answers.
    pub generator: Generator,
    /// Origins that may call from a browser.
    pub origins: Vec<String>,
    /// Whether pages of this machine may.
    pub local_origins: bool,
    salt: SecretString,
    live: Arc<Mutex<Option<(Instant, IndexRow)>>>,
}

/// Why a process cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The embedder.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The reranker.
    #[error(transparent)]
    Rerank(#[from] RerankError),
    /// The vector store.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// What is configured is not in this build.
    #[error("{0}")]
    NotInThisBuild(String),
}

/// The catalog at `DATABASE_URL`; it connects on first use.
///
/// # Errors
/// [`CatalogError::Rejected`] when the URL is none.
pub fn postgres_catalog(config: &Config, url: &SecretString) -> Result<Catalog, CatalogError> {
    let catalog = PostgresCatalog::new(PostgresOptions {
        url: url.clone(),
        direct_url: config.database_url_direct.clone(),
        statement_timeout: STATEMENT_TIMEOUT,
        connect_timeout: CONNECT_TIMEOUT,
        pool_size: POOL_SIZE,
    })?;
    Ok(Catalog::Postgres(catalog))
}

/// The vector store at a URL.
pub fn vector_index(config: &Config, url: &str) -> Result<VectorIndex, IndexError> {
    VectorIndex::new(url, config.qdrant_api_key.as_ref(), INDEX_TIMEOUT)
}

/// The reranker that is configured; `None` for a local model.
pub fn hosted_reranker(config: &Config) -> Result<Option<Reranker>, RerankError> {
    Ok(Some(match &config.reranker {
        RerankerChoice::CrossEncoder => return Ok(None),
        RerankerChoice::None => Reranker::None,
        RerankerChoice::Weighted => Reranker::Weighted,
        RerankerChoice::Cohere { model } => {
            let api_key = config.cohere_api_key.clone();
            let missing = || RerankError::Rejected("COHERE_API_KEY is not set".to_owned());
            let default = || CohereReranker::DEFAULT_MODEL.to_owned();
            Reranker::Cohere(CohereReranker::new(CohereRerankOptions {
                base_url: config.cohere_base_url.clone(),
                api_key: api_key.ok_or_else(missing)?,
                model: model.clone().unwrap_or_else(default),
                timeout: RERANK_TIMEOUT,
            })?)
        }
    }))
}

/// The hosted embedder that is configured; `None` for a local model.
pub fn hosted_embedder(config: &Config) -> Result<Option<Embedder>, EmbedError> {
    let embedder = match &config.embedder {
        EmbedderChoice::BgeSmall | EmbedderChoice::MiniLm => return Ok(None),
        EmbedderChoice::OpenAi { model, dimensions } => {
            Embedder::OpenAi(OpenAiEmbedder::new(OpenAiOptions {
                base_url: config.openai_base_url.clone(),
                api_key: config.openai_api_key.clone(),
                model: model.clone(),
                dimensions: Dimensions::of_model(model, *dimensions),
                timeout: EMBEDDING_TIMEOUT,
            })?)
        }
        EmbedderChoice::Cohere { model, dimensions } => {
            let api_key = config.cohere_api_key.clone();
            let missing = || EmbedError::Rejected("COHERE_API_KEY is not set".to_owned());
            Embedder::Cohere(CohereEmbedder::new(CohereOptions {
                base_url: config.cohere_base_url.clone(),
                api_key: api_key.ok_or_else(missing)?,
                model: model.clone(),
                dimensions: Dimensions::of_model(model, *dimensions),
                timeout: EMBEDDING_TIMEOUT,
            })?)
        }
    };
    Ok(Some(embedder))
}

impl Context {
    /// Builds the ports of a function from its configuration.
    ///
    /// # Errors
    /// When something configured cannot be built. Nothing is sent yet.
    pub fn hosted(config: &Config) -> Result<Self, StartError> {
        let missing = |name: &str| StartError::NotInThisBuild(format!("{name} is not set"));
        let url = config
            .qdrant_url
            .as_deref()
            .ok_or_else(|| missing("QDRANT_URL"))?;
        let database = config
            .database_url
            .as_ref()
            .ok_or_else(|| missing("DATABASE_URL"))?;
        let not_here = |hint: &str| {
            StartError::NotInThisBuild(format!("local models are not in this build; set {hint}"))
        };
        let embedder = hosted_embedder(config)?
            .ok_or_else(|| not_here("BOOKRAG_EMBEDDER to openai or cohere"))?;
        let reranker = hosted_reranker(config)?
            .ok_or_else(|| not_here("BOOKRAG_RERANKER to none, weighted or cohere"))?;
        let retriever = Retriever {
            embedder,
            reranker,
            index: vector_index(config, url)?,
            catalog: postgres_catalog(config, database)?,
        };
        Ok(Self::new(config, retriever))
    }

    /// A context around ports that are there already.
    #[must_use]
    pub fn new(config: &Config, retriever: Retriever) -> Self {
        // Without a configured salt hashes last as long as the process: nothing to correlate later.
        let salt = config
            .salt
            .clone()
            .unwrap_or_else(|| SecretString::from(uuid::Uuid::new_v4().to_string()));
        Self {
            retriever,
            generator: Generator::Extractive,
            origins: config.origins.clone(),
            local_origins: config.place == crate::config::Place::Laptop,
            salt,
            live: Arc::default(),
        }
    }

    /// The catalog.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.retriever.catalog
    }

    /// The index that queries read, remembered for 10 seconds; when the catalog is away, the last one known.
    ///
    /// # Errors
    /// `Unavailable` when it is not known.
    pub async fn live_index(&self) -> Result<IndexRow, Error> {
        let mut live = self.live.lock().await;
        if let Some((since, row)) = live.as_ref()
            && since.elapsed() < LIVE_INDEX_AGE
        {
            return Ok(row.clone());
        }
        let row = match (self.catalog().live_index().await, live.as_ref()) {
            (Ok(Some(row)), _) => row,
            (Ok(None), _) => {
                let message = "the book has not been indexed yet";
                return Err(Error::new(ErrorKind::Unavailable, message));
            }
            (Err(CatalogError::Unavailable(_)), Some((_, last))) => last.clone(),
            (Err(error), _) => return Err(Error::unavailable(error)),
        };
        *live = Some((Instant::now(), row.clone()));
        Ok(row)
    }

    /// Retrieval from an index, its questions embedded by the model that the index was made with: what is configured may
    /// be the model of the next one.
    ///
    /// # Errors
    /// `Unavailable` when this process cannot have that model.
    pub fn retriever_of(&self, index: &IndexRow) -> Result<Retriever, Error> {
        let (spec, embedder) = (&index.spec, &self.retriever.embedder);
        let model = embedder.of_model(&spec.embedder, &spec.embedder_fingerprint, spec.dimensions);
        let embedder = model.ok_or_else(|| {
            let identity = embedder.identity();
            Error::unavailable(EmbedError::Rejected(format!(
                "the index was embedded with {} ({}), this process has {} ({})",
                spec.embedder, spec.embedder_fingerprint, identity.name, identity.fingerprint
            )))
        })?;
        Ok(Retriever {
            embedder,
            ..self.retriever.clone()
        })
    }

    /// HMAC-SHA-256 of a text under the secret salt, in hexadecimal digits.
    #[must_use]
    pub fn hash(&self, text: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.salt.expose_secret().as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(text.as_bytes());
        hex(&mac.finalize().into_bytes())
    }
}
