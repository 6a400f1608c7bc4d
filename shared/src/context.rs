//! The state that a process keeps for its lifetime: the backends, built from the configuration.

#[cfg(feature = "local-models")]
mod local;
#[cfg(feature = "local-models")]
pub use local::{cache_folder, model_files};
#[cfg(feature = "cloud")]
mod cloud;
#[cfg(not(feature = "cloud"))]
#[path = "context/without_cloud.rs"]
mod cloud;
mod hosted;
mod remembered;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

pub use cloud::{delete_book, postgres_catalog, vector_index};
pub use remembered::{Ages, LookUp, Reading, Remembered};

use crate::api::{
    Authorizer, LimitedRoute, Limiter, Origins, Route, client_address, client_network,
};
use crate::config::{
    Config, EmbedderChoice, Environment, GeneratorChoice, QuestionBudget, RerankerChoice,
};
use crate::mcp;
use answer::error::{Error, ErrorKind};
use answer::generate::Generator;
use answer::retrieve::{Backends, Retriever, UNKNOWN_INDEX};
use answer::{Answerer, Asker, Question, Rules};
use book::chunk::EMBEDDED_TEXT_VERSION;
use book::hex;
use indexer::question_writer::QuestionWriter;
use models::chat::{ChatModel, ChatOptions, CohereChat, OpenAiChat};
use models::embed::{
    CohereEmbedder, CohereOptions, Dimensions, Embedder, OpenAiEmbedder, OpenAiOptions,
};
use models::provider::ProviderError;
use models::rerank::{CohereRerankOptions, CohereReranker, Reranker};
use store::catalog::{Catalog, CatalogError, IndexRow, IndexSpec, IndexState, SiteInfo};
use store::index::{IndexError, bm25_settings};

/// Time limit of one ingest call to the vector store; there are three attempts.
pub const INGEST_INDEX_TIMEOUT: Duration = Duration::from_secs(20);
/// Time limit of a statement of ingest or of a command, which may read the whole book.
pub const INGEST_STATEMENT_TIMEOUT: Duration = Duration::from_mins(2);
/// Time limit of a statement while a reader waits.
const READER_STATEMENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of an embedding request.
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(20);
/// Time limit of a reranking request; after it, the order of retrieval is kept.
const RERANK_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the live index is cached, and how long the former one is used while a query reads it again: much less than the hour for which a retired
/// index is kept.
const LIVE_INDEX_AGES: Ages = Ages {
    fresh: Duration::from_secs(10),
    usable: Duration::from_mins(10),
};

/// The backends and rules of a process.
#[derive(Debug, Clone)]
pub struct Context {
    /// The backends of retrieval.
    pub backends: Backends,
    /// Writes the answers.
    pub generator: Generator,
    /// The rules of answering.
    pub rules: Rules,
    /// Limits how often a client may call.
    pub limiter: Limiter,
    /// Checks tokens; `None` lets everybody ask.
    pub authorizer: Option<Authorizer>,
    /// The number of proxies whose `X-Forwarded-For` entries are trusted.
    pub trusted_proxies: usize,
    /// Origins whose pages may call from a browser.
    pub origins: Vec<String>,
    /// True if pages of this machine may call.
    pub local_origins: bool,
    salt: SecretString,
    /// The alias of the live index's collection, used while the catalog is unavailable.
    alias: String,
    chunk_policy: String,
    live: Arc<Remembered<IndexRow>>,
}

/// What was deleted of a book.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct DeletedBook {
    /// Its collections in the vector store.
    pub collections: Vec<String>,
    /// The name of its database.
    pub database: Option<String>,
}

/// The reason why a process cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The embedder failed.
    #[error("the embedder {0}")]
    Embed(#[source] ProviderError),
    /// The reranker failed.
    #[error("the reranker {0}")]
    Rerank(#[source] ProviderError),
    /// The chat model failed.
    #[error("the chat model {0}")]
    Generate(#[source] ProviderError),
    /// The vector store failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The catalog failed.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The settings for checking tokens are invalid.
    #[error("{0}")]
    Auth(String),
    /// The local models' files are unavailable.
    #[cfg(feature = "local-models")]
    #[error(transparent)]
    Models(#[from] models::local::ModelFilesError),
    /// A setting that is needed is missing.
    #[error("{0} is not set")]
    MissingSetting(&'static str),
    /// This build lacks a configured feature.
    #[error("{0}")]
    NotInThisBuild(String),
}

/// Creates the configured reranker. `say` gets a line for the user while a local model is downloaded.
///
/// # Errors
/// If it cannot be created, or this build lacks it.
pub async fn reranker(config: &Config, say: impl Fn(&str)) -> Result<Reranker, StartError> {
    if let Some(hosted) = hosted_reranker(config).map_err(StartError::Rerank)? {
        return Ok(hosted);
    }
    #[cfg(feature = "local-models")]
    return local::reranker(config, say).await;
    #[cfg(not(feature = "local-models"))]
    {
        let _ = say;
        Err(not_here("BOOKRAG_RERANKER to none, weighted or cohere"))
    }
}

/// Creates the configured embedder. `say` gets a line for the user while a local model is downloaded.
///
/// # Errors
/// If it cannot be created, or this build lacks it.
pub async fn embedder(config: &Config, say: impl Fn(&str)) -> Result<Embedder, StartError> {
    #[cfg(feature = "local-models")]
    if let Some(model) = config.embedder.local() {
        return local::embedder(config, model, say).await;
    }
    #[cfg(not(feature = "local-models"))]
    let _ = say;
    let hosted = hosted_embedder(config).map_err(StartError::Embed)?;
    hosted.ok_or_else(|| not_here("BOOKRAG_EMBEDDER to openai or cohere"))
}

fn not_here(hint: &str) -> StartError {
    StartError::NotInThisBuild(format!("local models are not in this build; set {hint}"))
}

/// Creates the configured reranker; `None` for a local model.
fn hosted_reranker(config: &Config) -> Result<Option<Reranker>, ProviderError> {
    Ok(Some(match &config.reranker {
        RerankerChoice::CrossEncoder => return Ok(None),
        RerankerChoice::None => Reranker::None,
        RerankerChoice::Weighted => Reranker::Weighted,
        RerankerChoice::Cohere { model } => {
            let model = model.as_deref().unwrap_or(CohereReranker::DEFAULT_MODEL);
            Reranker::Cohere(CohereReranker::new(CohereRerankOptions {
                base_url: config.cohere_base_url.clone(),
                api_key: cohere_api_key(config)?,
                model: model.to_owned(),
                timeout: RERANK_TIMEOUT,
            })?)
        }
    }))
}

/// Creates the configured hosted embedder; `None` for a local model.
fn hosted_embedder(config: &Config) -> Result<Option<Embedder>, ProviderError> {
    let embedder = match &config.embedder {
        EmbedderChoice::ByLanguage | EmbedderChoice::Local(_) => return Ok(None),
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
            Embedder::Cohere(CohereEmbedder::new(CohereOptions {
                base_url: config.cohere_base_url.clone(),
                api_key: cohere_api_key(config)?,
                model: model.clone(),
                dimensions: Dimensions::of_model(model, *dimensions),
                timeout: EMBEDDING_TIMEOUT,
            })?)
        }
    };
    Ok(Some(embedder))
}

fn cohere_api_key(config: &Config) -> Result<SecretString, ProviderError> {
    let api_key = config.cohere_api_key.clone();
    api_key.ok_or_else(|| ProviderError::Rejected("COHERE_API_KEY is not set".to_owned()))
}

/// Creates the configured writer of answers.
///
/// # Errors
/// If its address cannot be used.
pub fn generator(config: &Config) -> Result<Generator, ProviderError> {
    let Some(server) = config.chat_server() else {
        return Ok(Generator::Extractive);
    };
    let options = ChatOptions {
        base_url: server.base_url.to_owned(),
        api_key: server.api_key.cloned(),
        model: server.model.to_owned(),
        timeout: config.rules.model.answer,
        price: config.chat_price,
    };
    Ok(Generator::Model(match config.generator {
        GeneratorChoice::Cohere { .. } => ChatModel::Cohere(CohereChat::new(options)?),
        GeneratorChoice::OpenAi { .. } | GeneratorChoice::Extractive => {
            ChatModel::OpenAi(OpenAiChat::new(options)?)
        }
    }))
}

/// Creates the writer of the questions that sections lack; `None` if the configuration has none written.
///
/// # Errors
/// If the chat model's address cannot be used.
pub fn question_writer(config: &Config) -> Result<Option<QuestionWriter>, ProviderError> {
    let budget = match config.question_budget() {
        QuestionBudget::Off => return Ok(None),
        QuestionBudget::Unlimited => None,
        QuestionBudget::Daily(budget) => Some(budget),
    };
    let (Some(server), Generator::Model(model)) = (config.chat_server(), generator(config)?) else {
        return Ok(None);
    };
    let name = server.model.to_owned();
    Ok(Some(QuestionWriter::new(model, name, budget)))
}

impl Context {
    /// Creates a context with existing backends.
    ///
    /// # Errors
    /// If the writer of answers or the authorizer cannot be created.
    pub fn new(config: &Config, backends: Backends) -> Result<Self, StartError> {
        // Without a configured salt, hashes are valid only for this process and cannot be correlated later.
        let salt = config
            .salt
            .clone()
            .unwrap_or_else(|| SecretString::from(uuid::Uuid::new_v4().to_string()));
        Ok(Self {
            generator: generator(config).map_err(StartError::Generate)?,
            rules: config.rules.clone(),
            limiter: Limiter::new(backends.catalog.clone(), config.limits),
            authorizer: config.auth.check().map_err(StartError::Auth)?,
            trusted_proxies: config.trusted_proxies,
            backends,
            origins: config.origins.clone(),
            local_origins: config.environment == Environment::Local,
            salt,
            alias: config.collection.clone(),
            chunk_policy: config.chunk_policy.identity(),
            live: Arc::default(),
        })
    }

    /// Returns the catalog.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.backends.catalog
    }

    /// Returns the index that queries read, cached for 10 seconds. If the catalog is unavailable, returns the last known index, else the one behind
    /// the alias. While one query waits for the catalog, the others use the last known index.
    ///
    /// # Errors
    /// `Unavailable` if there is none.
    pub async fn live_index(&self) -> Result<IndexRow, Error> {
        let mut reading = match self.live.look_up(live_index_ages) {
            LookUp::Known(row) => return Ok(row),
            LookUp::Read(reading) => reading,
        };
        let row = match (self.catalog().live_index().await, reading.former.take()) {
            (Ok(Some(row)), _) => row,
            (Ok(None), _) => {
                let message = "the documentation has not been indexed yet";
                return Err(Error::new(ErrorKind::Unavailable, message));
            }
            (Err(CatalogError::Unavailable(_)), Some(last)) => last,
            (Err(CatalogError::Unavailable(reason)), None) => {
                tracing::warn!(stage = "catalog", reason, "using the index of the alias");
                // Not cached, because the catalog may be back for the next question.
                return Ok(self.index_behind_alias());
            }
            (Err(error), _) => return Err(Error::unavailable(error)),
        };
        reading.remember(row.clone());
        Ok(row)
    }

    /// Returns the alias's index, as far as it is known without the catalog. It is assumed to have this process's settings, and nothing is known
    /// about the site.
    fn index_behind_alias(&self) -> IndexRow {
        let identity = self.backends.embedder.identity();
        IndexRow {
            index_id: UNKNOWN_INDEX,
            spec: IndexSpec {
                site: String::new(),
                embedder: identity.name.clone(),
                embedder_fingerprint: identity.fingerprint.clone(),
                dimensions: identity.dimensions,
                chunk_policy: self.chunk_policy.clone(),
                embedded_text_version: EMBEDDED_TEXT_VERSION,
                bm25: bm25_settings(),
                // The collection may have been created before token vectors were introduced.
                token_vectors: None,
                question_vectors: None,
            },
            collection: self.alias.clone(),
            state: IndexState::Live,
            site: SiteInfo::default(),
            pages_expected: None,
            calibration: None,
            changed_at: None,
            compared_at: None,
            commit_hash: None,
        }
    }

    /// Creates the answerer for an index.
    ///
    /// # Errors
    /// `Unavailable` if this process cannot load the index's model.
    pub fn answerer(&self, index: &IndexRow) -> Result<Answerer, Error> {
        Ok(Answerer {
            retriever: self.retriever_of(index)?,
            generator: self.generator.clone(),
            rules: self.rules.clone(),
        })
    }

    /// Returns who asks, as hashes. Clients without a session share the conversations of their network.
    #[must_use]
    pub fn asker(&self, address: &str, question: &Question, session: Option<&str>) -> Asker {
        Asker {
            address_hash: self.client_key(address),
            question_hash: self.hash(&question.normalised()),
            session_hash: self.session_hash(address, session),
        }
    }

    /// Returns the key of a session's conversations.
    #[must_use]
    pub fn session_hash(&self, address: &str, session: Option<&str>) -> String {
        match session {
            Some(session) => self.hash(&format!("session {session}")),
            None => self.client_key(address),
        }
    }

    /// Returns the key for counting a client: the hash of its address, or of an IPv6 address's network.
    #[must_use]
    pub fn client_key(&self, address: &str) -> String {
        self.hash(&client_network(address))
    }

    /// Returns the state of the middleware `limit` for a route.
    #[must_use]
    pub fn limited(self: &Arc<Self>, route: Route) -> LimitedRoute {
        let context = Arc::clone(self);
        LimitedRoute::new(self.limiter.clone(), route, move |request| {
            context.client_key(&client_address(request, context.trusted_proxies))
        })
    }

    /// Returns the origins whose pages may call.
    #[must_use]
    pub fn pages(&self) -> Origins {
        if self.local_origins {
            Origins::with_local(&self.origins)
        } else {
            Origins::new(&self.origins)
        }
    }

    /// Returns the book for the Model Context Protocol.
    #[must_use]
    pub fn mcp_book(self: &Arc<Self>) -> mcp::Book {
        let context = Arc::clone(self);
        mcp::Book {
            id: None,
            live: Arc::new(move || {
                let context = Arc::clone(&context);
                async move { context.answerer(&context.live_index().await?) }.boxed()
            }),
            origin: self.origins.first().cloned(),
        }
    }

    /// Returns a client of the Model Context Protocol.
    #[must_use]
    pub fn mcp_caller(self: &Arc<Self>, address: &str) -> mcp::Caller {
        let (context, address) = (Arc::clone(self), address.to_owned());
        mcp::Caller {
            limiter: self.limiter.clone(),
            client_key: self.client_key(&address),
            asker: Arc::new(move |question| context.asker(&address, question, None)),
        }
    }

    /// Returns the retriever for an index, with the model that the index was made with. The configured model may already be that of the next index.
    ///
    /// # Errors
    /// `Unavailable` if this process cannot load the index's model.
    pub fn retriever_of(&self, index: &IndexRow) -> Result<Retriever, Error> {
        let (spec, embedder) = (&index.spec, &self.backends.embedder);
        let model = embedder.of_model(&spec.embedder, &spec.embedder_fingerprint, spec.dimensions);
        let embedder = model.ok_or_else(|| {
            let identity = embedder.identity();
            Error::unavailable(StartError::NotInThisBuild(format!(
                "the index was embedded with {} ({}), but this process uses {} ({})",
                spec.embedder, spec.embedder_fingerprint, identity.name, identity.fingerprint
            )))
        })?;
        Ok(Retriever {
            backends: Backends {
                embedder,
                ..self.backends.clone()
            },
            index: index.clone(),
        })
    }

    /// Returns the HMAC-SHA-256 of a text under the secret salt, in hexadecimal digits.
    #[must_use]
    pub fn hash(&self, text: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.salt.expose_secret().as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(text.as_bytes());
        hex(&mac.finalize().into_bytes())
    }
}

fn log_start(line: &str) {
    tracing::info!(stage = "start", "{line}");
}

fn live_index_ages(row: &IndexRow) -> Ages {
    match row.pages_expected {
        // During the first indexing, each answer reports the current progress.
        Some(_) => Ages::ZERO,
        None => LIVE_INDEX_AGES,
    }
}
