//! Reads the rules of answering, rate limits and authorization.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use secrecy::SecretString;

use super::Environment;
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
pub(super) fn rules(
    chat_server: Option<&str>,
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> Rules {
    let model = chat_server.map_or(ModelLimits::HOSTED, ModelLimits::at);
    let is_small = [("false", false), ("true", true)];
    let is_small = choice(&text, "BOOKRAG_SMALL_MODEL", is_small, problems);
    let default = Rules {
        model: if is_small { model.small() } else { model },
        ..Rules::default()
    };
    let micro_usd = budget("BOOKRAG_DAILY_BUDGET_USD", &text, problems);
    let kept = format!("a whole number of hours from 0 to {MAX_HOURS}");
    let hours = number::<u64>(
        &text,
        "BOOKRAG_STORE_CONVERSATIONS",
        &kept,
        problems,
        |hours| *hours <= MAX_HOURS,
    );
    let written = format!("a whole number from 1 to {MAX_ANSWER_TOKENS}");
    let tokens = number::<u32>(
        &text,
        "BOOKRAG_ANSWER_TOKENS",
        &written,
        problems,
        |tokens| (1..=MAX_ANSWER_TOKENS).contains(tokens),
    );
    Rules {
        not_covered: text("BOOKRAG_NOT_COVERED"),
        uncertain: text("BOOKRAG_UNCERTAIN"),
        not_in_selection: text("BOOKRAG_NOT_IN_SELECTION"),
        model: model_limits(default.model, &text, problems),
        max_answer_tokens: tokens.unwrap_or(default.max_answer_tokens),
        daily_budget_micro_usd: micro_usd,
        keep_conversations: hours
            .filter(|hours| *hours > 0)
            .map(|hours| Duration::from_secs(hours * HOUR)),
        keep_questions: choice(
            &text,
            "BOOKRAG_STORE_QUESTIONS",
            [("false", false), ("true", true)],
            problems,
        ),
        cache_answers: choice(
            &text,
            "BOOKRAG_ANSWER_CACHE",
            [("on", true), ("off", false)],
            problems,
        ),
    }
}

/// Reads a budget in US dollars, and returns it in millionths.
pub(super) fn budget(
    name: &str,
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> Option<u64> {
    let dollars = "a number of US dollars, 0 or more";
    let budget = number::<f64>(text, name, dollars, problems, |usd| {
        usd.is_finite() && *usd >= 0.0
    });
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a budget is no negative number, and far below 2^52 millionths"
    )]
    budget.map(|usd| (usd * MICRO).round() as u64)
}

/// Reads the limits on a model's time and input.
fn model_limits(
    default: ModelLimits,
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> ModelLimits {
    let mut number = |name: &str, unit: &str, range: RangeInclusive<u64>, default: u64| {
        let Some(value) = text(name) else {
            return default;
        };
        match value.parse() {
            Ok(number) if range.contains(&number) => number,
            _ => {
                let (least, most) = (range.start(), range.end());
                problems.push(format!(
                    "{name} must be a whole number{unit} from {least} to {most}, got `{value}`"
                ));
                default
            }
        }
    };
    let mut seconds = |name: &str, default: Duration| {
        let range = 1..=MAX_MODEL_SECONDS;
        Duration::from_secs(number(name, " of seconds", range, default.as_secs()))
    };
    let first_text = seconds("BOOKRAG_FIRST_TEXT_SECONDS", default.first_text);
    let answer = seconds("BOOKRAG_ANSWER_SECONDS", default.answer);
    let mut count = |name: &str, range: RangeInclusive<usize>, default: usize| {
        let range = *range.start() as u64..=*range.end() as u64;
        usize::try_from(number(name, "", range, default as u64)).unwrap_or(usize::MAX)
    };
    let passage_tokens = 1..=MAX_PASSAGE_TOKENS;
    let lookups = 0..=MAX_LOOKUPS;
    ModelLimits {
        first_text,
        answer,
        passage_tokens: count(
            "BOOKRAG_PASSAGE_TOKENS",
            passage_tokens,
            default.passage_tokens,
        ),
        lookups: count("BOOKRAG_LOOKUPS", lookups, default.lookups),
        ..default
    }
}

/// Reads how long questions, feedback and messages are kept; `None` for ever.
pub(super) fn retention(
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> Option<Duration> {
    const NAME: &str = "BOOKRAG_RETENTION_DAYS";
    let days = match text(NAME).as_deref() {
        None => DEFAULT_RETENTION_DAYS,
        Some("off") => 0,
        Some(value) => match value.parse() {
            Ok(days) if days <= MAX_RETENTION_DAYS => days,
            _ => {
                problems.push(format!(
                    "{NAME} must be a whole number of days from 1 to {MAX_RETENTION_DAYS}, or `off` to keep everything, got `{value}`"
                ));
                0
            }
        },
    };
    (days > 0).then(|| Duration::from_hours(24 * days))
}

/// Reads the rate limits: by default those of [`Limits`] in Lambda, none on a laptop. A laptop processes [`CONCURRENT_PER_CORE`] requests for each
/// core at once, a function only one.
pub(super) fn limits(
    environment: Environment,
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> Limits {
    const ANY: &str = "a whole number, or 0 for no limit";

    let default = match environment {
        Environment::Lambda => Limits::default(),
        Environment::Local => Limits::NONE,
    };
    let mut limit = |name: &str, default: Option<u32>| match number::<u32>(
        &text,
        name,
        ANY,
        problems,
        |_| true,
    ) {
        None => default,
        Some(0) => None,
        Some(permits) => Some(permits),
    };
    let (chat, search, feedback, mcp) = (
        limit("BOOKRAG_CHAT_PER_MINUTE", default.chat),
        limit("BOOKRAG_SEARCH_PER_MINUTE", default.search),
        limit("BOOKRAG_FEEDBACK_PER_MINUTE", default.feedback),
        limit("BOOKRAG_MCP_PER_MINUTE", default.mcp),
    );
    let concurrent = number::<usize>(&text, "BOOKRAG_MAX_CONCURRENT", ANY, problems, |_| true);
    let concurrent = concurrent.or(match environment {
        Environment::Lambda => None,
        Environment::Local => {
            Some(CONCURRENT_PER_CORE * available_parallelism().map_or(1, usize::from))
        }
    });
    Limits {
        chat,
        search,
        feedback,
        mcp,
        concurrent: concurrent.filter(|requests| *requests > 0),
    }
}

/// Reads the number of proxies whose `X-Forwarded-For` entries are trusted.
pub(super) fn trusted_proxies(
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> usize {
    let accepted = "a whole number from 0 to 255";
    let proxies = number::<u8>(text, "BOOKRAG_TRUSTED_PROXIES", accepted, problems, |_| {
        true
    });
    proxies.map_or(0, usize::from)
}

/// Reads the settings for checking readers' tokens.
pub(super) fn auth(
    text: impl Fn(&str) -> Option<String>,
    problems: &mut Vec<String>,
) -> AuthOptions {
    let options = AuthOptions {
        secret: text("BOOKRAG_AUTH_SECRET").map(SecretString::from),
        public_key: text("BOOKRAG_AUTH_PUBLIC_KEY"),
        issuer: text("BOOKRAG_AUTH_ISSUER"),
        audience: text("BOOKRAG_AUTH_AUDIENCE"),
    };
    if let Err(problem) = options.check() {
        problems.push(problem);
    }
    options
}

/// Returns `BOOKRAG_METRICS_NAMESPACE` and `BOOKRAG_METRICS`.
pub(super) fn metrics(
    text: impl Fn(&str) -> Option<String> + Copy,
    problems: &mut Vec<String>,
) -> MetricsOptions {
    MetricsOptions {
        namespace: text("BOOKRAG_METRICS_NAMESPACE").unwrap_or_else(|| "bookrag".to_owned()),
        all: choice(
            text,
            "BOOKRAG_METRICS",
            [("few", false), ("all", true)],
            problems,
        ),
    }
}

/// Reads a variable with two possible values; the first one is the default.
fn choice(
    text: impl Fn(&str) -> Option<String>,
    name: &str,
    [default, other]: [(&str, bool); 2],
    problems: &mut Vec<String>,
) -> bool {
    let Some(value) = text(name) else {
        return default.1;
    };
    let known = [default, other]
        .into_iter()
        .find(|(name, _)| *name == value);
    if known.is_none() {
        problems.push(format!(
            "{name} must be {} or {}, got `{value}`",
            other.0, default.0
        ));
    }
    known.unwrap_or(default).1
}

/// The number that a variable is set to. If it does not fit, the problem names what is `accepted`.
fn number<T: FromStr>(
    text: impl Fn(&str) -> Option<String>,
    name: &str,
    accepted: &str,
    problems: &mut Vec<String>,
    fits: impl Fn(&T) -> bool,
) -> Option<T> {
    let value = text(name)?;
    let number = value.parse().ok().filter(fits);
    if number.is_none() {
        problems.push(format!("{name} must be {accepted}, got `{value}`"));
    }
    number
}
