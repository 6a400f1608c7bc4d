//! The configuration. Environment variables are read only here, and all problems are reported at once.

mod book_id;
mod books;
mod database;
mod models;
mod rules;
mod settings;
mod variables;

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use secrecy::SecretString;

use crate::api::{AuthOptions, Limits};
use crate::metrics::MetricsOptions;
use ::models::local::ModelFolder;
use ::models::prices::Price;
use answer::Rules;
use book::chunk::ChunkPolicy;
use store::index::CollectionLayout;

pub use book_id::{BookId, InvalidBookId};
pub use books::BookSettings;
pub use models::{ChatServer, EmbedderChoice, GeneratorChoice, QuestionBudget, RerankerChoice};
pub use variables::{GROUPS, Preset, Variable};

use models::{
    chat_price, embedder_choice, generator_choice, report_budgets_without_price, reranker_choice,
};
use settings::Settings;

/// Where a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// AWS Lambda, with hosted stores only.
    Lambda,
    /// The command, where stores that are not configured run in the process.
    Local,
}

/// The configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the process runs.
    pub environment: Environment,
    /// `QDRANT_URL`.
    pub qdrant_url: Option<String>,
    /// `QDRANT_API_KEY`.
    pub qdrant_api_key: Option<SecretString>,
    /// `DATABASE_URL`.
    pub database_url: Option<SecretString>,
    /// `DATABASE_URL_DIRECT`, for migrations.
    pub database_url_direct: Option<SecretString>,
    /// `BOOKRAG_DATABASE_CA`: certificate authorities for databases, in addition to Mozilla's.
    pub database_authorities: Vec<CertificateDer<'static>>,
    /// `OPENAI_API_KEY`.
    pub openai_api_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`.
    pub openai_base_url: String,
    /// `COHERE_API_KEY`.
    pub cohere_api_key: Option<SecretString>,
    /// `COHERE_BASE_URL`.
    pub cohere_base_url: String,
    /// `BOOKRAG_EMBEDDER`, `BOOKRAG_EMBEDDING_MODEL`, `BOOKRAG_EMBEDDING_DIMENSIONS`.
    pub embedder: EmbedderChoice,
    /// `BOOKRAG_RERANKER`, `BOOKRAG_RERANKER_MODEL`.
    pub reranker: RerankerChoice,
    /// `BOOKRAG_GENERATOR`, `BOOKRAG_CHAT_MODEL`.
    pub generator: GeneratorChoice,
    /// `BOOKRAG_CHAT_BASE_URL`: the address of an OpenAI-compatible chat model, if it differs from `OPENAI_BASE_URL`.
    pub chat_base_url: Option<String>,
    /// `BOOKRAG_CHAT_API_KEY`: the key for `BOOKRAG_CHAT_BASE_URL`. `OPENAI_API_KEY` is never sent to another server.
    pub chat_api_key: Option<SecretString>,
    /// `BOOKRAG_CHAT_PRICE`: the chat model's price, if `prices.rs` does not list it.
    pub chat_price: Option<Price>,
    /// `BOOKRAG_FIRST_TEXT_SECONDS`, `BOOKRAG_ANSWER_SECONDS`, `BOOKRAG_PASSAGE_TOKENS`, `BOOKRAG_LOOKUPS`, `BOOKRAG_ANSWER_CACHE`,
    /// `BOOKRAG_ANSWER_TOKENS`, `BOOKRAG_DAILY_BUDGET_USD`, `BOOKRAG_STORE_CONVERSATIONS` (hours), `BOOKRAG_STORE_QUESTIONS`,
    /// `BOOKRAG_NOT_COVERED`, `BOOKRAG_UNCERTAIN`, `BOOKRAG_NOT_IN_SELECTION`.
    pub rules: Rules,
    /// `BOOKRAG_QUESTIONS_BUDGET`, in millionths of a dollar a day: see [`Config::question_budget`].
    pub questions_budget: Option<u64>,
    /// `BOOKRAG_RETENTION_DAYS`: how long questions, feedback and messages are kept; `None` for ever.
    pub retention: Option<Duration>,
    /// `BOOKRAG_CHAT_PER_MINUTE`, `BOOKRAG_SEARCH_PER_MINUTE`, `BOOKRAG_FEEDBACK_PER_MINUTE`, `BOOKRAG_MCP_PER_MINUTE`, `BOOKRAG_MAX_CONCURRENT`; 0
    /// means no limit.
    pub limits: Limits,
    /// `BOOKRAG_TRUSTED_PROXIES`.
    pub trusted_proxies: usize,
    /// `BOOKRAG_AUTH_SECRET` or `BOOKRAG_AUTH_PUBLIC_KEY`, `BOOKRAG_AUTH_ISSUER`, `BOOKRAG_AUTH_AUDIENCE`.
    pub auth: AuthOptions,
    /// `BOOKRAG_COLLECTION_LAYOUT`: how new collections are distributed and compressed.
    pub collection_layout: CollectionLayout,
    /// `BOOKRAG_COLLECTION`: the prefix of collection names.
    pub collection: String,
    /// `BOOKRAG_CHUNK_POLICY`.
    pub chunk_policy: ChunkPolicy,
    /// `BOOKRAG_ORIGINS`: the book's own origins, separated by commas.
    pub origins: Vec<String>,
    /// `BOOKRAG_SALT`: the secret for hashing addresses and questions.
    pub salt: Option<SecretString>,
    /// `BOOKRAG_SITE`: the site's name, part of every document's id.
    pub site: Option<String>,
    /// `BOOKRAG_SOURCE`: `s3://bucket/prefix`.
    pub source: Option<String>,
    /// `BOOKRAG_QUEUE_URL`: the queue that triggers the ingest function; long work is put into it.
    pub queue_url: Option<String>,
    /// `BOOKRAG_MODELS`: a folder with the local models' files, or the address of one.
    pub models: Option<ModelFolder>,
    /// `BOOKRAG_METRICS_NAMESPACE`, `BOOKRAG_METRICS`.
    pub metrics: MetricsOptions,
    /// `BOOKRAG_BOOKS`: the books of a deployment that has several.
    pub books: Vec<BookSettings>,
    /// The book that this configuration is for, if it is one of several.
    pub book: Option<BookId>,
    /// `BOOKRAG_DATA`: one folder for all books' local stores, instead of one in each site.
    pub data: Option<PathBuf>,
}

/// All problems of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration is not valid:\n  {}", .0.join("\n  "))]
pub struct ConfigError(pub Vec<String>);

/// The prefix of all names but those of the stores and of the providers of models.
const PREFIX: &str = "BOOKRAG_";
/// The least similarity (Jaro-Winkler, at most 1) at which a known name is suggested for a misspelt one.
const LIKENESS: f64 = 0.9;

impl Config {
    /// Returns the chunk limits for the configured embedder.
    #[must_use]
    pub fn policy(&self) -> ChunkPolicy {
        let policy = self.chunk_policy.clone();
        policy.for_input(self.embedder.max_tokens())
    }

    /// Reads the process's environment.
    ///
    /// # Errors
    /// All problems at once.
    pub fn from_env(environment: Environment) -> Result<Self, ConfigError> {
        Self::read(environment, &std::env::vars().collect())
    }

    /// Reads variables.
    ///
    /// # Errors
    /// All problems at once.
    pub fn read(
        environment: Environment,
        variables: &HashMap<String, String>,
    ) -> Result<Self, ConfigError> {
        let mut settings = Settings::new(variables);
        report_unknown_variables(variables, &mut settings);
        let embedder = embedder_choice(&mut settings);
        let generator = generator_choice(&mut settings);
        let openai_base_url = settings.text_or("OPENAI_BASE_URL", "https://api.openai.com/v1");
        let chat_base_url = settings.text("BOOKRAG_CHAT_BASE_URL");
        let chat_server = matches!(generator, GeneratorChoice::OpenAi { .. })
            .then(|| chat_base_url.as_ref().unwrap_or(&openai_base_url).as_str());
        let rules = rules::rules(chat_server, &mut settings);
        if environment == Environment::Lambda {
            report_missing_on_lambda(&embedder, &mut settings);
        }
        let books = books::books(&mut settings);
        let chosen = books::chosen_book(&books, &mut settings);
        let config = Self {
            environment,
            qdrant_url: settings.text("QDRANT_URL"),
            qdrant_api_key: settings.secret("QDRANT_API_KEY"),
            database_url: settings.secret("DATABASE_URL"),
            database_url_direct: settings.secret("DATABASE_URL_DIRECT"),
            database_authorities: database::authorities(&mut settings),
            openai_api_key: settings.secret("OPENAI_API_KEY"),
            openai_base_url,
            cohere_api_key: settings.secret("COHERE_API_KEY"),
            cohere_base_url: settings.text_or("COHERE_BASE_URL", "https://api.cohere.com"),
            embedder,
            reranker: reranker_choice(&mut settings),
            generator,
            chat_base_url,
            chat_api_key: settings.secret("BOOKRAG_CHAT_API_KEY"),
            chat_price: chat_price(&mut settings),
            rules,
            questions_budget: rules::budget("BOOKRAG_QUESTIONS_BUDGET", &mut settings),
            retention: rules::retention(&mut settings),
            limits: rules::limits(environment, &mut settings),
            trusted_proxies: rules::trusted_proxies(&mut settings),
            auth: rules::auth(&mut settings),
            collection_layout: collection_layout(&mut settings),
            collection: settings.text_or("BOOKRAG_COLLECTION", "textbook_chunks"),
            chunk_policy: chunk_policy(&mut settings),
            origins: origins(&settings),
            salt: settings.secret("BOOKRAG_SALT"),
            site: settings.text("BOOKRAG_SITE"),
            source: settings.text("BOOKRAG_SOURCE"),
            queue_url: settings.text("BOOKRAG_QUEUE_URL"),
            models: settings.text("BOOKRAG_MODELS").map(ModelFolder::from),
            metrics: rules::metrics(&mut settings),
            books,
            book: None,
            data: settings.text("BOOKRAG_DATA").map(PathBuf::from),
        };
        let config = match &chosen {
            Some(book) => config.of_book(book),
            None => config,
        };
        report_budgets_without_price(&config, &mut settings);
        match settings.into_problems() {
            problems if problems.is_empty() => Ok(config),
            problems => Err(ConfigError(problems)),
        }
    }
}

/// Reports each variable that begins like a setting but is not one.
fn report_unknown_variables(variables: &HashMap<String, String>, settings: &mut Settings<'_>) {
    variables
        .keys()
        .filter(|name| name.starts_with(PREFIX) && !name.starts_with("BOOKRAG_TEST_"))
        .filter(|name| Variable::named(name).is_none())
        .for_each(|name| settings.report(unknown_variable(name)));
}

/// Returns the message for an unknown `BOOKRAG_` variable.
fn unknown_variable(name: &str) -> String {
    let proposal = Variable::all()
        .map(|known| (likeness(name, known.name), known.name))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .map_or(String::new(), |(_, known)| {
            format!("; did you mean {known}?")
        });
    format!("{name} is not a known setting{proposal} (docs/configuration.md lists all)")
}

/// Compares two names without the prefix, which would make all names similar.
fn likeness(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(
        one.trim_start_matches(PREFIX),
        other.trim_start_matches(PREFIX),
    )
}

fn collection_layout(settings: &mut Settings<'_>) -> CollectionLayout {
    let text = settings.text_or("BOOKRAG_COLLECTION_LAYOUT", "");
    text.parse().unwrap_or_else(|problem| {
        settings.report(format!("BOOKRAG_COLLECTION_LAYOUT: {problem}"));
        CollectionLayout::default()
    })
}

fn chunk_policy(settings: &mut Settings<'_>) -> ChunkPolicy {
    let Some(name) = settings.text("BOOKRAG_CHUNK_POLICY") else {
        return ChunkPolicy::ADAPTIVE;
    };
    ChunkPolicy::from_str(&name).unwrap_or_else(|problem| {
        settings.report(format!("BOOKRAG_CHUNK_POLICY: {problem}"));
        ChunkPolicy::ADAPTIVE
    })
}

fn origins(settings: &Settings<'_>) -> Vec<String> {
    settings
        .text("BOOKRAG_ORIGINS")
        .unwrap_or_default()
        .split(',')
        .map(|origin| origin.trim().to_owned())
        .filter(|origin| !origin.is_empty())
        .collect()
}

/// Reports the settings that a function needs and does not have.
fn report_missing_on_lambda(embedder: &EmbedderChoice, settings: &mut Settings<'_>) {
    for name in ["QDRANT_URL", "DATABASE_URL", "BOOKRAG_SALT"] {
        if settings.text(name).is_none() {
            settings.report(format!("{name} is not set"));
        }
    }
    if cfg!(not(feature = "local-models")) && embedder.local().is_some() {
        settings.report(
            "local models (bge-small is the default) are not in this build; set BOOKRAG_EMBEDDER to openai or cohere",
        );
    }
}

#[cfg(test)]
mod tests;
