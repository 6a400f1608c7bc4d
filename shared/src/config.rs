//! The configuration: environment variables only, read here, all problems reported at once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;

use secrecy::SecretString;

use crate::chunk::ChunkPolicy;

/// Where a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In AWS Lambda: hosted stores only.
    Lambda,
    /// On a laptop: what is not configured is embedded.
    Laptop,
}

/// Which model embeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedderChoice {
    /// bge-small-en-v1.5 in this process.
    BgeSmall,
    /// all-MiniLM-L6-v2 in this process.
    MiniLm,
    /// An OpenAI-compatible API.
    OpenAi {
        /// The model's name.
        model: String,
        /// Its dimensions, when they are not those of its name.
        dimensions: Option<usize>,
    },
    /// Cohere's API.
    Cohere {
        /// The model's name.
        model: String,
        /// Its dimensions, when they are not those of its name.
        dimensions: Option<usize>,
    },
}

/// What looks at the best candidates once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RerankerChoice {
    /// Nothing.
    None,
    /// S0's weighted sum.
    Weighted,
    /// ms-marco-MiniLM-L-12-v2 in this process.
    CrossEncoder,
    /// Cohere's API.
    Cohere {
        /// The model's name; `None` for the default.
        model: Option<String>,
    },
}

/// The configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where this runs.
    pub place: Place,
    /// `QDRANT_URL`.
    pub qdrant_url: Option<String>,
    /// `QDRANT_API_KEY`.
    pub qdrant_api_key: Option<SecretString>,
    /// `DATABASE_URL`.
    pub database_url: Option<SecretString>,
    /// `DATABASE_URL_DIRECT`, for migrations.
    pub database_url_direct: Option<SecretString>,
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
    /// `BOOKRAG_COLLECTION`: what collections' names begin with.
    pub collection: String,
    /// `BOOKRAG_CHUNK_POLICY`.
    pub chunk_policy: ChunkPolicy,
    /// `BOOKRAG_ORIGINS`: the book's own origins, separated by commas.
    pub origins: Vec<String>,
    /// `BOOKRAG_SALT`: the secret that addresses and questions are hashed with.
    pub salt: Option<SecretString>,
    /// `BOOKRAG_SITE`: the site's name, part of every document's id.
    pub site: Option<String>,
    /// `BOOKRAG_SOURCE`: `s3://bucket/prefix`.
    pub source: Option<String>,
    /// `BOOKRAG_QUEUE_URL`: the queue that the ingest function is fed from; long work is put into it.
    pub queue_url: Option<String>,
    /// `BOOKRAG_MODELS`: a folder with the local models' files.
    pub models: Option<PathBuf>,
    /// `BOOKRAG_DATA`: where the embedded stores are.
    pub data: PathBuf,
}

/// What is wrong with the configuration, all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration is not valid:\n  {}", .0.join("\n  "))]
pub struct ConfigError(pub Vec<String>);

/// Every variable that is read. `BOOKRAG_` ones besides these are mistakes.
const KNOWN: [&str; 16] = [
    "BOOKRAG_EMBEDDER",
    "BOOKRAG_EMBEDDING_MODEL",
    "BOOKRAG_EMBEDDING_DIMENSIONS",
    "BOOKRAG_RERANKER",
    "BOOKRAG_RERANKER_MODEL",
    "BOOKRAG_GENERATOR",
    "BOOKRAG_COLLECTION",
    "BOOKRAG_CHUNK_POLICY",
    "BOOKRAG_ORIGINS",
    "BOOKRAG_SALT",
    "BOOKRAG_SITE",
    "BOOKRAG_SOURCE",
    "BOOKRAG_QUEUE_URL",
    "BOOKRAG_MODELS",
    "BOOKRAG_DATA",
    "BOOKRAG_LOG",
];

impl Config {
    /// Reads the process's environment.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn from_env(place: Place) -> Result<Self, ConfigError> {
        Self::read(place, &std::env::vars().collect())
    }

    /// Reads variables.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn read(place: Place, variables: &HashMap<String, String>) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let text = |name: &str| {
            variables
                .get(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let secret = |name: &str| text(name).map(SecretString::from);
        for name in variables.keys() {
            let ours = name.starts_with("BOOKRAG_") && !name.starts_with("BOOKRAG_TEST_");
            if ours && !KNOWN.contains(&name.as_str()) {
                problems.push(format!(
                    "{name} is not known; there are {}",
                    KNOWN.join(", ")
                ));
            }
        }
        let embedder = embedder_choice(text, &mut problems);
        let reranker = reranker_choice(place, text, &mut problems);
        if let Some(other) = text("BOOKRAG_GENERATOR").filter(|name| name != "extractive") {
            problems.push(format!(
                "BOOKRAG_GENERATOR is `{other}`; there is extractive"
            ));
        }
        let chunk_policy = match text("BOOKRAG_CHUNK_POLICY") {
            None => ChunkPolicy::ADAPTIVE,
            Some(name) => ChunkPolicy::from_str(&name).unwrap_or_else(|problem| {
                problems.push(format!("BOOKRAG_CHUNK_POLICY: {problem}"));
                ChunkPolicy::ADAPTIVE
            }),
        };
        if place == Place::Lambda {
            for name in ["QDRANT_URL", "DATABASE_URL", "BOOKRAG_SALT"] {
                if text(name).is_none() {
                    problems.push(format!("{name} is not set"));
                }
            }
            if cfg!(not(feature = "local-models"))
                && matches!(embedder, EmbedderChoice::BgeSmall | EmbedderChoice::MiniLm)
            {
                problems.push(
                    "local models (bge-small is the default) are not in this build; set BOOKRAG_EMBEDDER to openai or cohere".to_owned(),
                );
            }
        }
        if !problems.is_empty() {
            problems.sort();
            return Err(ConfigError(problems));
        }
        let origins = text("BOOKRAG_ORIGINS").unwrap_or_default();
        Ok(Self {
            place,
            qdrant_url: text("QDRANT_URL"),
            qdrant_api_key: secret("QDRANT_API_KEY"),
            database_url: secret("DATABASE_URL"),
            database_url_direct: secret("DATABASE_URL_DIRECT"),
            openai_api_key: secret("OPENAI_API_KEY"),
            openai_base_url: text("OPENAI_BASE_URL")
                .unwrap_or_else(|| "https://api.openai.com/v1".to_owned()),
            cohere_api_key: secret("COHERE_API_KEY"),
            cohere_base_url: text("COHERE_BASE_URL")
                .unwrap_or_else(|| "https://api.cohere.com".to_owned()),
            embedder,
            reranker,
            collection: text("BOOKRAG_COLLECTION").unwrap_or_else(|| "textbook_chunks".to_owned()),
            chunk_policy,
            origins: origins
                .split(',')
                .map(|origin| origin.trim().to_owned())
                .filter(|origin| !origin.is_empty())
                .collect(),
            salt: secret("BOOKRAG_SALT"),
            site: text("BOOKRAG_SITE"),
            source: text("BOOKRAG_SOURCE"),
            queue_url: text("BOOKRAG_QUEUE_URL"),
            models: text("BOOKRAG_MODELS").map(PathBuf::from),
            data: text("BOOKRAG_DATA").map_or_else(|| PathBuf::from(".bookrag"), PathBuf::from),
        })
    }
}

/// The model that `BOOKRAG_EMBEDDER` and the variables about it choose; what is wrong with them joins `problems`.
fn embedder_choice(
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> EmbedderChoice {
    let model =
        |default: &str| text("BOOKRAG_EMBEDDING_MODEL").unwrap_or_else(|| default.to_owned());
    match text("BOOKRAG_EMBEDDER").as_deref() {
        None | Some("bge-small") => EmbedderChoice::BgeSmall,
        Some("minilm") => EmbedderChoice::MiniLm,
        Some("openai") => {
            if text("OPENAI_API_KEY").is_none() && text("OPENAI_BASE_URL").is_none() {
                problems.push("BOOKRAG_EMBEDDER=openai needs OPENAI_API_KEY".to_owned());
            }
            EmbedderChoice::OpenAi {
                model: model("text-embedding-3-small"),
                dimensions: embedding_dimensions(text, problems),
            }
        }
        Some("cohere") => {
            if text("COHERE_API_KEY").is_none() {
                problems.push("BOOKRAG_EMBEDDER=cohere needs COHERE_API_KEY".to_owned());
            }
            EmbedderChoice::Cohere {
                model: model("embed-multilingual-v3.0"),
                dimensions: embedding_dimensions(text, problems),
            }
        }
        Some(other) => {
            problems.push(format!(
                "BOOKRAG_EMBEDDER is `{other}`; there are bge-small, minilm, openai, cohere"
            ));
            EmbedderChoice::BgeSmall
        }
    }
}

/// Which reranker. A laptop has the cross-encoder; a Lambda has what it is told to have.
fn reranker_choice(
    place: Place,
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> RerankerChoice {
    let local = cfg!(feature = "local-models");
    match text("BOOKRAG_RERANKER").as_deref() {
        None if local && place == Place::Laptop => RerankerChoice::CrossEncoder,
        None | Some("none") => RerankerChoice::None,
        Some("weighted") => RerankerChoice::Weighted,
        Some("cross-encoder") => {
            if !local {
                problems.push("BOOKRAG_RERANKER=cross-encoder is not in this build".to_owned());
            }
            RerankerChoice::CrossEncoder
        }
        Some("cohere") => {
            if text("COHERE_API_KEY").is_none() {
                problems.push("BOOKRAG_RERANKER=cohere needs COHERE_API_KEY".to_owned());
            }
            RerankerChoice::Cohere {
                model: text("BOOKRAG_RERANKER_MODEL"),
            }
        }
        Some(other) => {
            problems.push(format!(
                "BOOKRAG_RERANKER is `{other}`; there are none, weighted, cross-encoder, cohere"
            ));
            RerankerChoice::None
        }
    }
}

fn embedding_dimensions(
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> Option<usize> {
    let value = text("BOOKRAG_EMBEDDING_DIMENSIONS")?;
    let number: Option<usize> = value.parse().ok().filter(|number| *number > 0);
    if number.is_none() {
        problems.push(format!(
            "BOOKRAG_EMBEDDING_DIMENSIONS is `{value}`, not a positive number"
        ));
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(place: Place, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::read(place, &variables.collect())
    }

    #[test]
    fn a_laptop_needs_nothing_and_keys_never_choose() {
        let config = read(Place::Laptop, &[("OPENAI_API_KEY", "k")]).expect("valid");
        assert_eq!(config.embedder, EmbedderChoice::BgeSmall);
        assert_eq!(config.reranker, RerankerChoice::CrossEncoder);
    }

    #[test]
    fn a_hosted_embedder_needs_its_key_and_takes_model_and_dimensions() {
        for (name, key, default_model) in [
            ("openai", "OPENAI_API_KEY", "text-embedding-3-small"),
            ("cohere", "COHERE_API_KEY", "embed-multilingual-v3.0"),
        ] {
            let chosen = ("BOOKRAG_EMBEDDER", name);
            let error = read(Place::Laptop, &[chosen]).expect_err("no key");
            assert!(error.to_string().contains(key), "{error}");

            let choice = |variables: &[(&str, &str)]| {
                let variables = [&[chosen, (key, "k")][..], variables].concat();
                let config = read(Place::Laptop, &variables).expect("valid");
                match config.embedder {
                    EmbedderChoice::OpenAi { model, dimensions } => ("openai", model, dimensions),
                    EmbedderChoice::Cohere { model, dimensions } => ("cohere", model, dimensions),
                    local => panic!("{local:?}, not {name}"),
                }
            };
            assert_eq!(choice(&[]), (name, default_model.to_owned(), None));
            let model = ("BOOKRAG_EMBEDDING_MODEL", "m");
            let dimensions = ("BOOKRAG_EMBEDDING_DIMENSIONS", "256");
            assert_eq!(
                choice(&[model, dimensions]),
                (name, "m".to_owned(), Some(256))
            );

            let dimensions = ("BOOKRAG_EMBEDDING_DIMENSIONS", "0");
            let error = read(Place::Laptop, &[chosen, (key, "k"), dimensions]);
            let error = error.expect_err("no dimensions").to_string();
            assert!(
                error.contains("BOOKRAG_EMBEDDING_DIMENSIONS is `0`"),
                "{error}"
            );
        }
    }

    #[test]
    fn an_embedder_that_is_none_is_told_which_there_are() {
        let error = read(Place::Laptop, &[("BOOKRAG_EMBEDDER", "word2vec")]).expect_err("invalid");
        assert!(
            error
                .to_string()
                .contains("bge-small, minilm, openai, cohere"),
            "{error}"
        );
    }

    #[test]
    fn coheres_address_is_its_own_unless_it_is_set() {
        let base_url = |variables: &[(&str, &str)]| {
            read(Place::Laptop, variables)
                .expect("valid")
                .cohere_base_url
        };
        assert_eq!(base_url(&[]), "https://api.cohere.com");
        let set = base_url(&[("COHERE_BASE_URL", "http://localhost:1234")]);
        assert_eq!(set, "http://localhost:1234");
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let error = read(
            Place::Lambda,
            &[("BOOKRAG_EMBEDER", "x"), ("BOOKRAG_CHUNK_POLICY", "tiny")],
        )
        .expect_err("invalid");
        for part in [
            "BOOKRAG_EMBEDER",
            "tiny",
            "QDRANT_URL",
            "DATABASE_URL",
            "BOOKRAG_SALT",
        ] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
