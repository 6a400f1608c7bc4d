//! Reads the choice of models.

use secrecy::SecretString;

use super::settings::Settings;
use super::{Config, Environment};
use models::chat::{CohereChat, OpenAiChat};
use models::embed::{CohereEmbedder, OpenAiEmbedder};
use models::http::is_private;
use models::local::{LocalModel, MAX_TOKENS};
use models::prices::Price;

/// The embedder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedderChoice {
    /// Nothing was chosen: the English model, or the multilingual one if a laptop's site is in another language.
    ByLanguage,
    /// A model in this process.
    Local(LocalModel),
    /// An OpenAI-compatible API.
    OpenAi {
        /// The model's name.
        model: String,
        /// The dimensions, if they differ from the model's default.
        dimensions: Option<usize>,
    },
    /// Cohere's API.
    Cohere {
        /// The model's name.
        model: String,
        /// The dimensions, if they differ from the model's default.
        dimensions: Option<usize>,
    },
}

impl EmbedderChoice {
    /// Returns the model in this process; `None` for a hosted one.
    #[must_use]
    pub fn local(&self) -> Option<LocalModel> {
        match self {
            Self::ByLanguage => Some(LocalModel::BgeSmall),
            Self::Local(model) => Some(*model),
            Self::OpenAi { .. } | Self::Cohere { .. } => None,
        }
    }

    /// Returns the model's input limit, in tokens.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        match self {
            Self::ByLanguage | Self::Local(_) => MAX_TOKENS,
            Self::OpenAi { .. } => OpenAiEmbedder::MAX_TOKENS,
            Self::Cohere { model, .. } => CohereEmbedder::max_tokens(model),
        }
    }
}

/// The reranker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RerankerChoice {
    /// No reranking.
    None,
    /// A weighted sum of cosine, BM25 and recency, without a model.
    Weighted,
    /// ms-marco-MiniLM-L-12-v2 in this process.
    CrossEncoder,
    /// Cohere's API.
    Cohere {
        /// The model's name; `None` for the default.
        model: Option<String>,
    },
}

/// The writer of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GeneratorChoice {
    /// Quotes the book.
    Extractive,
    /// An OpenAI-compatible API.
    OpenAi {
        /// The model's name; `None` for the default.
        model: Option<String>,
    },
    /// Cohere's API.
    Cohere {
        /// The model's name; `None` for the default.
        model: Option<String>,
    },
}

/// Reads the embedder chosen by `BOOKRAG_EMBEDDER` and its related variables. Problems are reported to `settings`.
pub(super) fn embedder_choice(settings: &mut Settings<'_>) -> EmbedderChoice {
    let default = EmbedderChoice::ByLanguage;
    match settings.text("BOOKRAG_EMBEDDER").as_deref() {
        None => default,
        Some("openai") => {
            if settings.text("OPENAI_API_KEY").is_none()
                && settings.text("OPENAI_BASE_URL").is_none()
            {
                settings.report("BOOKRAG_EMBEDDER=openai needs OPENAI_API_KEY");
            }
            EmbedderChoice::OpenAi {
                model: settings.text_or("BOOKRAG_EMBEDDING_MODEL", "text-embedding-3-small"),
                dimensions: embedding_dimensions(settings),
            }
        }
        Some("cohere") => {
            if settings.text("COHERE_API_KEY").is_none() {
                settings.report("BOOKRAG_EMBEDDER=cohere needs COHERE_API_KEY");
            }
            EmbedderChoice::Cohere {
                model: settings.text_or("BOOKRAG_EMBEDDING_MODEL", "embed-multilingual-v3.0"),
                dimensions: embedding_dimensions(settings),
            }
        }
        Some(name) => {
            let models = LocalModel::EMBEDDERS;
            if let Some(model) = models.into_iter().find(|model| model.id() == name) {
                return EmbedderChoice::Local(model);
            }
            settings.report(format!(
                "BOOKRAG_EMBEDDER must be one of {}, openai, cohere, got `{name}`",
                models.map(LocalModel::id).join(", ")
            ));
            default
        }
    }
}

/// Reads the reranker chosen by `BOOKRAG_RERANKER` and its related variables. Problems are reported to `settings`.
pub(super) fn reranker_choice(settings: &mut Settings<'_>) -> RerankerChoice {
    let local = cfg!(feature = "local-models");
    match settings.text("BOOKRAG_RERANKER").as_deref() {
        None | Some("none") => RerankerChoice::None,
        Some("weighted") => RerankerChoice::Weighted,
        Some("cross-encoder") => {
            if !local {
                settings.report("BOOKRAG_RERANKER=cross-encoder is not in this build");
            }
            RerankerChoice::CrossEncoder
        }
        Some("cohere") => {
            if settings.text("COHERE_API_KEY").is_none() {
                settings.report("BOOKRAG_RERANKER=cohere needs COHERE_API_KEY");
            }
            RerankerChoice::Cohere {
                model: settings.text("BOOKRAG_RERANKER_MODEL"),
            }
        }
        Some(other) => {
            settings.report(format!(
                "BOOKRAG_RERANKER must be one of none, weighted, cross-encoder, cohere, got `{other}`"
            ));
            RerankerChoice::None
        }
    }
}

fn embedding_dimensions(settings: &mut Settings<'_>) -> Option<usize> {
    settings.number("BOOKRAG_EMBEDDING_DIMENSIONS", "a whole number from 1", 1..)
}

/// Reads the writer of answers. Without a model's name answers are quotes, even if a key is set.
pub(super) fn generator_choice(settings: &mut Settings<'_>) -> GeneratorChoice {
    let model = settings.text("BOOKRAG_CHAT_MODEL");
    match settings.text("BOOKRAG_GENERATOR").as_deref() {
        None | Some("extractive") => GeneratorChoice::Extractive,
        Some("openai") => {
            let reached = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "BOOKRAG_CHAT_BASE_URL"];
            if reached.iter().all(|name| settings.text(name).is_none()) {
                settings.report("BOOKRAG_GENERATOR=openai needs OPENAI_API_KEY");
            }
            GeneratorChoice::OpenAi { model }
        }
        Some("cohere") => {
            if settings.text("COHERE_API_KEY").is_none() {
                settings.report("BOOKRAG_GENERATOR=cohere needs COHERE_API_KEY");
            }
            GeneratorChoice::Cohere { model }
        }
        Some(other) => {
            settings.report(format!(
                "BOOKRAG_GENERATOR must be one of extractive, openai, cohere, got `{other}`"
            ));
            GeneratorChoice::Extractive
        }
    }
}

/// The chat model and its server.
#[derive(Debug)]
pub struct ChatServer<'a> {
    /// The URL before the API's path.
    pub base_url: &'a str,
    /// The API key.
    pub api_key: Option<&'a SecretString>,
    /// The model's name.
    pub model: &'a str,
}

impl Config {
    /// Returns the chat model that writes answers; `None` if they are quotes.
    #[must_use]
    pub fn chat_server(&self) -> Option<ChatServer<'_>> {
        let (base_url, api_key, model, default) = match &self.generator {
            GeneratorChoice::Extractive => return None,
            GeneratorChoice::OpenAi { model } => {
                let (base_url, api_key) = match &self.chat_base_url {
                    Some(base_url) => (base_url, &self.chat_api_key),
                    None => (&self.openai_base_url, &self.openai_api_key),
                };
                (base_url, api_key, model, OpenAiChat::DEFAULT_MODEL)
            }
            GeneratorChoice::Cohere { model } => {
                let (base_url, api_key) = (&self.cohere_base_url, &self.cohere_api_key);
                (base_url, api_key, model, CohereChat::DEFAULT_MODEL)
            }
        };
        Some(ChatServer {
            base_url,
            api_key: api_key.as_ref(),
            model: model.as_deref().unwrap_or(default),
        })
    }
}

/// Whether a chat model writes the questions that sections lack, without a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionBudget {
    /// No chat model writes questions without a command.
    Off,
    /// A chat model writes them without a budget, since it runs on a private server and costs nothing that can be counted.
    Unlimited,
    /// A chat model writes them for at most this many millionths of a dollar a day.
    Daily(u64),
}

/// The daily budget for questions of a model with a known price: a dollar.
const DEFAULT_QUESTIONS_BUDGET: u64 = 1_000_000;

impl Config {
    /// Returns the budget for questions. Without the setting, `serve` has questions written by a model whose price is known, or which is on this
    /// machine or in its network; a function has none written.
    #[must_use]
    pub fn question_budget(&self) -> QuestionBudget {
        let Some(server) = self.chat_server() else {
            return QuestionBudget::Off;
        };
        match self.questions_budget {
            Some(0) => QuestionBudget::Off,
            Some(budget) => QuestionBudget::Daily(budget),
            None if self.environment == Environment::Lambda => QuestionBudget::Off,
            None if self.has_price(&server) => QuestionBudget::Daily(DEFAULT_QUESTIONS_BUDGET),
            None if is_private(server.base_url) => QuestionBudget::Unlimited,
            None => QuestionBudget::Off,
        }
    }

    fn has_price(&self, server: &ChatServer<'_>) -> bool {
        self.chat_price.is_some() || Price::at(server.base_url, server.model).is_some()
    }
}

/// Reports budgets for a model with an unknown price, whose cost could not be counted.
pub(super) fn report_budgets_without_price(config: &Config, settings: &mut Settings<'_>) {
    let Some(server) = config.chat_server().filter(|it| !config.has_price(it)) else {
        return;
    };
    let questions = config.questions_budget.filter(|budget| *budget > 0);
    let budgets = [
        (
            "BOOKRAG_DAILY_BUDGET_USD",
            config.rules.daily_budget_micro_usd,
        ),
        ("BOOKRAG_QUESTIONS_BUDGET", questions),
    ];
    for (name, _) in budgets.iter().filter(|(_, budget)| budget.is_some()) {
        settings.report(format!(
            "{name} needs the price of the chat model `{}`, which is not listed for this server; set \
             BOOKRAG_CHAT_PRICE to INPUT/OUTPUT in dollars for a million tokens (0/0 if it is free), or remove the budget",
            server.model
        ));
    }
}

/// Reads the chat model's price, as `INPUT/OUTPUT` in US dollars for a million tokens.
pub(super) fn chat_price(settings: &mut Settings<'_>) -> Option<Price> {
    let value = settings.text("BOOKRAG_CHAT_PRICE")?;
    let price = value.split_once('/').and_then(|(input, output)| {
        Some(Price {
            input: dollars(input)?,
            output: dollars(output)?,
        })
    });
    if price.is_none() {
        settings.report(format!(
            "BOOKRAG_CHAT_PRICE must be INPUT/OUTPUT in US dollars per million tokens, such as 0.4/1.6, got `{value}`"
        ));
    }
    price
}

fn dollars(text: &str) -> Option<f64> {
    let dollars = text.trim().parse().ok();
    dollars.filter(|dollars| (0.0..f64::INFINITY).contains(dollars))
}
