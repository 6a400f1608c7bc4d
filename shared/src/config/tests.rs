use super::*;
use answer::ModelLimits;

fn read(environment: Environment, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::read(environment, &variables.collect())
}

#[test]
fn a_laptop_needs_nothing_and_keys_never_choose() {
    let config = read(Environment::Local, &[("OPENAI_API_KEY", "k")]).expect("valid");
    assert_eq!(config.embedder, EmbedderChoice::ByLanguage);
    assert_eq!(config.reranker, RerankerChoice::None);
}

#[test]
fn a_hosted_embedder_needs_its_key_and_takes_model_and_dimensions() {
    for (name, key, default_model) in [
        ("openai", "OPENAI_API_KEY", "text-embedding-3-small"),
        ("cohere", "COHERE_API_KEY", "embed-multilingual-v3.0"),
    ] {
        let chosen = ("BOOKRAG_EMBEDDER", name);
        let error = read(Environment::Local, &[chosen]).expect_err("no key");
        assert!(error.to_string().contains(key), "{error}");

        let choice = |variables: &[(&str, &str)]| {
            let variables = [&[chosen, (key, "k")][..], variables].concat();
            let config = read(Environment::Local, &variables).expect("valid");
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
        let error = read(Environment::Local, &[chosen, (key, "k"), dimensions]);
        let error = error.expect_err("no dimensions").to_string();
        assert!(error.contains("from 1, got `0`"), "{error}");
    }
}

#[test]
fn an_embedder_that_is_none_is_told_which_there_are() {
    let error = read(Environment::Local, &[("BOOKRAG_EMBEDDER", "word2vec")]).expect_err("invalid");
    assert!(
        error
            .to_string()
            .contains("bge-small, minilm, multilingual, openai, cohere"),
        "{error}"
    );
}

#[test]
fn coheres_address_is_its_own_unless_it_is_set() {
    let base_url = |variables: &[(&str, &str)]| {
        read(Environment::Local, variables)
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
        Environment::Lambda,
        &[
            ("BOOKRAG_EMBEDER", "x"),
            ("BOOKRAG_CHUNK_POLICY", "tiny"),
            ("BOOKRAG_COLLECTION_LAYOUT", "shards=2 copies=2"),
        ],
    )
    .expect_err("invalid");
    for part in [
        "BOOKRAG_EMBEDER",
        "tiny",
        "BOOKRAG_COLLECTION_LAYOUT: `copies=2`",
        "QDRANT_URL",
        "DATABASE_URL",
        "BOOKRAG_SALT",
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_generator_is_chosen_and_reached_by_its_own_variables() {
    let config = |variables: &[(&str, &str)]| read(Environment::Local, variables);
    let generator = |variables: &[(&str, &str)]| config(variables).expect("valid").generator;
    assert_eq!(
        generator(&[("OPENAI_API_KEY", "k")]),
        GeneratorChoice::Extractive
    );
    let chosen = ("BOOKRAG_GENERATOR", "openai");
    let local = ("BOOKRAG_CHAT_BASE_URL", "http://localhost:11434/v1");
    let model = Some("qwen3".to_owned());
    assert_eq!(
        generator(&[chosen, local, ("BOOKRAG_CHAT_MODEL", "qwen3")]),
        GeneratorChoice::OpenAi { model }
    );
    for (variables, problem) in [
        (&[chosen][..], "needs OPENAI_API_KEY"),
        (&[("BOOKRAG_GENERATOR", "cohere")], "needs COHERE_API_KEY"),
        (
            &[("BOOKRAG_GENERATOR", "gpt")],
            "extractive, openai, cohere",
        ),
        (&[("BOOKRAG_CHAT_PRICE", "cheap")], "got `cheap`"),
        (&[("BOOKRAG_DAILY_BUDGET_USD", "-1")], "0 or more, got `-1`"),
        (
            &[("BOOKRAG_STORE_QUESTIONS", "yes")],
            "must be true or false, got `yes`",
        ),
        (&[("BOOKRAG_AUTH_ISSUER", "me")], "BOOKRAG_AUTH"),
    ] {
        let error = config(variables).expect_err(problem).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_model_of_ones_own_has_more_time_and_a_small_one_reads_less_unless_it_is_set() {
    let limits = |variables: &[(&str, &str)]| {
        let chosen = [("BOOKRAG_GENERATOR", "openai"), ("OPENAI_API_KEY", "k")];
        let config = read(Environment::Local, &[&chosen[..], variables].concat());
        config.map(|config| config.rules.model)
    };
    let own = ("BOOKRAG_CHAT_BASE_URL", "http://localhost:11434/v1");
    assert_eq!(limits(&[]), Ok(ModelLimits::HOSTED));
    assert_eq!(limits(&[own]), Ok(ModelLimits::LOCAL));
    assert_eq!(
        limits(&[("OPENAI_BASE_URL", own.1)]),
        Ok(ModelLimits::LOCAL)
    );
    let cohere = [
        ("BOOKRAG_GENERATOR", "cohere"),
        ("COHERE_API_KEY", "k"),
        own,
    ];
    assert_eq!(limits(&cohere), Ok(ModelLimits::HOSTED));
    let small = ("BOOKRAG_SMALL_MODEL", "true");
    assert_eq!(limits(&[small]), Ok(ModelLimits::HOSTED.small()));
    assert_eq!(limits(&[own, small]), Ok(ModelLimits::LOCAL.small()));
    let set = [
        own,
        ("BOOKRAG_FIRST_TEXT_SECONDS", "7"),
        ("BOOKRAG_ANSWER_SECONDS", "9"),
        ("BOOKRAG_PASSAGE_TOKENS", "800"),
        ("BOOKRAG_LOOKUPS", "1"),
    ];
    let expected = ModelLimits {
        first_text: Duration::from_secs(7),
        answer: Duration::from_secs(9),
        passage_tokens: 800,
        lookups: 1,
        ..ModelLimits::LOCAL
    };
    assert_eq!(limits(&set), Ok(expected));
    for name in [set[1].0, set[2].0, set[3].0] {
        for value in ["0", "-1", "1.5", "soon", "9999999"] {
            let error = limits(&[(name, value)]).expect_err(value).to_string();
            assert!(
                error.contains(&format!("{name} must be a whole number")),
                "{error}"
            );
            assert!(error.contains(&format!("`{value}`")), "{error}");
        }
    }
    let error = limits(&[("BOOKRAG_LOOKUPS", "6")]).expect_err("too many");
    let expected = "BOOKRAG_LOOKUPS must be a whole number from 0 to 5, got `6`";
    assert!(error.to_string().contains(expected), "{error}");
    let caches = |value: &str| {
        let config = read(Environment::Local, &[("BOOKRAG_ANSWER_CACHE", value)]);
        config.map(|config| config.rules.cache_answers)
    };
    assert_eq!(
        (caches(""), caches("on"), caches("off")),
        (Ok(true), Ok(true), Ok(false))
    );
    let error = caches("never").expect_err("no choice").to_string();
    assert!(
        error.contains("BOOKRAG_ANSWER_CACHE must be off or on, got `never`"),
        "{error}"
    );
}

#[test]
fn limits_are_those_of_the_environment_unless_they_are_set() {
    let limits = |environment: Environment, variables: &[(&str, &str)]| {
        let hosted = [
            ("QDRANT_URL", "http://q"),
            ("DATABASE_URL", "postgresql://u@h/d"),
            ("BOOKRAG_SALT", "s"),
            ("BOOKRAG_EMBEDDER", "openai"),
            ("OPENAI_API_KEY", "k"),
        ];
        let variables = [&hosted[..], variables].concat();
        read(environment, &variables).expect("valid").limits
    };
    let laptop = limits(Environment::Local, &[]);
    assert!(laptop.concurrent >= Some(8), "{laptop:?}");
    let permits = (laptop.chat, laptop.search, laptop.feedback);
    assert_eq!(permits, (None, None, None));
    let unbounded = limits(Environment::Local, &[("BOOKRAG_MAX_CONCURRENT", "0")]);
    assert_eq!(unbounded, Limits::NONE);
    assert_eq!(limits(Environment::Lambda, &[]).chat, Some(10));
    let none = ("BOOKRAG_CHAT_PER_MINUTE", "0");
    assert_eq!(limits(Environment::Lambda, &[none]).chat, None);
    let three = ("BOOKRAG_CHAT_PER_MINUTE", "3");
    assert_eq!(limits(Environment::Local, &[three]).chat, Some(3));
}

#[test]
fn what_readers_left_is_kept_for_ninety_days_unless_it_is_set() {
    let retention = |value: &str| read(Environment::Local, &[("BOOKRAG_RETENTION_DAYS", value)]);
    let days = |value: &str| {
        let retention = retention(value).expect("valid").retention;
        retention.map(|time| time.as_secs() / 86_400)
    };
    assert_eq!(days(""), Some(90));
    assert_eq!(days("7"), Some(7));
    assert_eq!(days("off"), None);
    assert_eq!(days("0"), None);
    for value in ["-1", "1.5", "a week", "99999999999999999999"] {
        let error = retention(value).expect_err(value).to_string();
        assert!(
            error.contains("BOOKRAG_RETENTION_DAYS must be a whole number"),
            "{error}"
        );
        assert!(error.contains(&format!("`{value}`")), "{error}");
    }
}

#[test]
fn a_budget_needs_a_price_to_count_with() {
    let with = |variables: &[(&str, &str)]| {
        let budget = [("BOOKRAG_DAILY_BUDGET_USD", "2"), ("OPENAI_API_KEY", "k")];
        read(Environment::Local, &[&budget[..], variables].concat())
    };
    let openai = ("BOOKRAG_GENERATOR", "openai");
    let unknown = ("BOOKRAG_CHAT_MODEL", "gpt-99");
    let server = ("BOOKRAG_CHAT_BASE_URL", "http://localhost:11434/v1");
    for variables in [
        &[openai, unknown][..],
        &[openai, server],
        &[openai, unknown, server],
    ] {
        let error = with(variables).expect_err("no price").to_string();
        for part in ["BOOKRAG_DAILY_BUDGET_USD", "BOOKRAG_CHAT_PRICE", "0/0"] {
            assert!(error.contains(part), "{error}");
        }
        let price = ("BOOKRAG_CHAT_PRICE", "0/0");
        with(&[variables, &[price]].concat()).expect("a price is given");
    }
    with(&[openai]).expect("the default model's price is listed");
    with(&[]).expect("the book's own sentences cost nothing");
}

#[test]
fn questions_are_written_for_a_dollar_a_day_or_free_of_charge() {
    use QuestionBudget::{Daily, Off, Unlimited};

    let openai = [("BOOKRAG_GENERATOR", "openai"), ("OPENAI_API_KEY", "k")];
    let server = ("BOOKRAG_CHAT_BASE_URL", "http://localhost:11434/v1");
    let hosted = ("BOOKRAG_CHAT_BASE_URL", "https://models.example/v1");
    let price = ("BOOKRAG_CHAT_PRICE", "1/2");
    let budget = |amount| ("BOOKRAG_QUESTIONS_BUDGET", amount);
    for (variables, expected) in [
        (&[][..], Daily(1_000_000)),
        (&[budget("0.5")], Daily(500_000)),
        (&[budget("0")], Off),
        (&[server], Unlimited),
        (&[server, budget("0")], Off),
        (&[server, price], Daily(1_000_000)),
        (&[hosted], Off),
        (&[hosted, price, budget("2")], Daily(2_000_000)),
    ] {
        let read = read(Environment::Local, &[&openai[..], variables].concat());
        assert_eq!(read.unwrap().question_budget(), expected, "{variables:?}");
    }
    let error = read(
        Environment::Local,
        &[&openai[..], &[hosted, budget("2")]].concat(),
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("BOOKRAG_QUESTIONS_BUDGET needs the price"),
        "{error}"
    );
    let quotes = read(Environment::Local, &[budget("2")]).unwrap();
    assert_eq!(quotes.question_budget(), Off);
}

#[test]
fn a_variable_that_is_set_to_its_described_default_changes_nothing() {
    let shown = |variables: &[(&str, &str)]| {
        format!("{:?}", read(Environment::Local, variables).expect("valid"))
    };
    for variable in Variable::all() {
        let Preset::Value(value) = variable.default else {
            continue;
        };
        assert_eq!(
            shown(&[(variable.name, value)]),
            shown(&[]),
            "{}",
            variable.name
        );
    }
}

#[test]
fn a_variable_is_described_once_in_one_line() {
    let names: Vec<&str> = Variable::all().map(|variable| variable.name).collect();
    let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), distinct.len());
    for variable in Variable::all() {
        let (summary, details) = (variable.summary, variable.details);
        assert!(!summary.is_empty() && !summary.contains('\n'), "{summary}");
        assert!(
            !summary.ends_with('.') && !details.ends_with('.'),
            "{summary}"
        );
    }
}

#[test]
fn a_misspelt_variable_is_told_which_was_meant() {
    let problem = |name: &str| {
        let error = read(Environment::Local, &[(name, "x")]).expect_err("unknown");
        error.to_string()
    };
    assert!(problem("BOOKRAG_EMBEDER").contains("did you mean BOOKRAG_EMBEDDER?"));
    assert!(!problem("BOOKRAG_ZZZ").contains("did you mean"));
}
