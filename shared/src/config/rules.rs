//! Reads the rules of answering, rate limits and authorization.

use std::thread::available_parallelism;
use std::time::Duration;

use super::Environment;
use super::settings::Settings;
use crate::api::{AuthOptions, Limits};
use crate::metrics::MetricsOptions;
use answer::{ModelLimits, Rules};

const HOUR: u64 = 3_600;
const MICRO: f64 = 1e6;
/// The longest retention of conversations, in hours: a year.
const MAX_HOURS: u64 = 24 * 366;
/// The default retention of readers' data. The next constant is the longest: ten years.
const DEFAULT_RETENTION_DAYS: u64 = 90;
const MAX_RETENTION_DAYS: u64 = 3_660;
/// Default number of requests that `serve` processes at once for each core: enough to keep the core busy while some wait for a store or for a chat
/// model's first word. More only slow each other down. With 200 questions at once, on two busy cores and without optimisation, a search waited 3 s
/// behind 8 requests, 11 s behind 32 and 15 s without a limit.
const CONCURRENT_PER_CORE: usize = 8;
/// The upper limit of `BOOKRAG_ANSWER_TOKENS`.
const MAX_ANSWER_TOKENS: u32 = 16_000;

/// The longest time limit for a model, in seconds: an hour.
const MAX_MODEL_SECONDS: u64 = HOUR;
/// The upper limit of `BOOKRAG_PASSAGE_TOKENS`.
const MAX_PASSAGE_TOKENS: usize = 100_000;
/// The upper limit of `BOOKRAG_LOOKUPS`: each look-up sends the passages again.
const MAX_LOOKUPS: usize = 5;

/// Reads the rules of answering, with defaults. `chat_server` is the chat model's address.
pub(super) fn rules(chat_server: Option<&str>, settings: &mut Settings<'_>) -> Rules {
    let model = chat_server.map_or(ModelLimits::HOSTED, ModelLimits::at);
    let is_small = settings.choice("BOOKRAG_SMALL_MODEL", [("false", false), ("true", true)]);
    let default = Rules {
        model: if is_small { model.small() } else { model },
        ..Rules::default()
    };
    let hours = settings.number_within(
        "BOOKRAG_STORE_CONVERSATIONS",
        "a whole number of hours",
        0..=MAX_HOURS,
    );
    let tokens = settings.number_within(
        "BOOKRAG_ANSWER_TOKENS",
        "a whole number",
        1..=MAX_ANSWER_TOKENS,
    );
    Rules {
        not_covered: settings.text("BOOKRAG_NOT_COVERED"),
        uncertain: settings.text("BOOKRAG_UNCERTAIN"),
        not_in_selection: settings.text("BOOKRAG_NOT_IN_SELECTION"),
        model: model_limits(default.model, settings),
        max_answer_tokens: tokens.unwrap_or(default.max_answer_tokens),
        daily_budget_micro_usd: budget("BOOKRAG_DAILY_BUDGET_USD", settings),
        keep_conversations: hours
            .filter(|hours| *hours > 0)
            .map(|hours| Duration::from_secs(hours * HOUR)),
        keep_questions: settings.choice(
            "BOOKRAG_STORE_QUESTIONS",
            [("false", false), ("true", true)],
        ),
        cache_answers: settings.choice("BOOKRAG_ANSWER_CACHE", [("on", true), ("off", false)]),
    }
}

/// Reads a budget in US dollars, and returns it in millionths.
pub(super) fn budget(name: &str, settings: &mut Settings<'_>) -> Option<u64> {
    let dollars = "a number of US dollars, 0 or more";
    let budget = settings.number(name, dollars, 0.0..f64::INFINITY);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a budget is not negative, and far below 2^52 millionths"
    )]
    budget.map(|usd| (usd * MICRO).round() as u64)
}

/// Reads the limits on a model's time and input.
fn model_limits(default: ModelLimits, settings: &mut Settings<'_>) -> ModelLimits {
    let first_text = model_seconds("BOOKRAG_FIRST_TEXT_SECONDS", settings);
    let answer = model_seconds("BOOKRAG_ANSWER_SECONDS", settings);
    let count = "a whole number";
    let passage_tokens =
        settings.number_within("BOOKRAG_PASSAGE_TOKENS", count, 1..=MAX_PASSAGE_TOKENS);
    let lookups = settings.number_within("BOOKRAG_LOOKUPS", count, 0..=MAX_LOOKUPS);
    ModelLimits {
        first_text: first_text.unwrap_or(default.first_text),
        answer: answer.unwrap_or(default.answer),
        passage_tokens: passage_tokens.unwrap_or(default.passage_tokens),
        lookups: lookups.unwrap_or(default.lookups),
        ..default
    }
}

fn model_seconds(name: &str, settings: &mut Settings<'_>) -> Option<Duration> {
    settings
        .number_within(name, "a whole number of seconds", 1..=MAX_MODEL_SECONDS)
        .map(Duration::from_secs)
}

/// Reads how long questions, feedback and messages are kept; `None` for ever.
pub(super) fn retention(settings: &mut Settings<'_>) -> Option<Duration> {
    const NAME: &str = "BOOKRAG_RETENTION_DAYS";
    let days = match settings.text(NAME).as_deref() {
        None => DEFAULT_RETENTION_DAYS,
        Some("off") => 0,
        Some(value) => match value.parse() {
            Ok(days) if days <= MAX_RETENTION_DAYS => days,
            _ => {
                settings.report(format!(
                    "{NAME} must be a whole number of days from 1 to {MAX_RETENTION_DAYS}, or `off` to keep everything, got `{value}`"
                ));
                0
            }
        },
    };
    (days > 0).then(|| Duration::from_hours(24 * days))
}

/// The values that a limit accepts, for messages.
const LIMIT: &str = "a whole number, or 0 for no limit";

/// Reads the rate limits: by default those of [`Limits`] in Lambda, none on a laptop. A laptop processes [`CONCURRENT_PER_CORE`] requests for each
/// core at once, a function only one.
pub(super) fn limits(environment: Environment, settings: &mut Settings<'_>) -> Limits {
    let (default, concurrent) = match environment {
        Environment::Lambda => (Limits::default(), None),
        Environment::Local => {
            let cores = available_parallelism().map_or(1, usize::from);
            (Limits::NONE, Some(CONCURRENT_PER_CORE * cores))
        }
    };
    Limits {
        chat: per_minute("BOOKRAG_CHAT_PER_MINUTE", default.chat, settings),
        search: per_minute("BOOKRAG_SEARCH_PER_MINUTE", default.search, settings),
        feedback: per_minute("BOOKRAG_FEEDBACK_PER_MINUTE", default.feedback, settings),
        mcp: per_minute("BOOKRAG_MCP_PER_MINUTE", default.mcp, settings),
        concurrent: settings
            .number("BOOKRAG_MAX_CONCURRENT", LIMIT, ..)
            .or(concurrent)
            .filter(|requests| *requests > 0),
    }
}

fn per_minute(name: &str, default: Option<u32>, settings: &mut Settings<'_>) -> Option<u32> {
    settings
        .number(name, LIMIT, ..)
        .or(default)
        .filter(|requests| *requests > 0)
}

/// Reads the number of proxies whose `X-Forwarded-For` entries are trusted.
pub(super) fn trusted_proxies(settings: &mut Settings<'_>) -> usize {
    settings
        .number_within("BOOKRAG_TRUSTED_PROXIES", "a whole number", 0..=u8::MAX)
        .map_or(0, usize::from)
}

/// Reads the settings for checking readers' tokens.
pub(super) fn auth(settings: &mut Settings<'_>) -> AuthOptions {
    let options = AuthOptions {
        secret: settings.secret("BOOKRAG_AUTH_SECRET"),
        public_key: settings.text("BOOKRAG_AUTH_PUBLIC_KEY"),
        key_set_url: settings.text("BOOKRAG_AUTH_JWKS_URL"),
        issuer: settings.text("BOOKRAG_AUTH_ISSUER"),
        audience: settings.text("BOOKRAG_AUTH_AUDIENCE"),
    };
    if let Err(problem) = options.check() {
        settings.report(problem);
    }
    options
}

/// Returns `BOOKRAG_METRICS_NAMESPACE` and `BOOKRAG_METRICS`.
pub(super) fn metrics(settings: &mut Settings<'_>) -> MetricsOptions {
    MetricsOptions {
        namespace: settings.text_or("BOOKRAG_METRICS_NAMESPACE", "bookrag"),
        all: settings.choice("BOOKRAG_METRICS", [("few", false), ("all", true)]),
    }
}
