//! The list of all metrics.

/// The unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// Milliseconds.
    Milliseconds,
    /// US dollars, for which `CloudWatch` has no unit.
    None,
}

impl Unit {
    /// Returns the unit's name in `CloudWatch`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
            Self::None => "None",
        }
    }
}

const READERS: &[&str] = &["query", "search"];
const QUERY: &[&str] = &["query"];
const INGEST: &[&str] = &["ingest"];
const HEALTH: &[&str] = &["health"];

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $metric:ident = $name:literal, $unit:ident, $functions:ident;)+) => {
        /// A metric.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Metric {
            $($(#[doc = $doc])+ $metric,)+
        }

        impl Metric {
            /// All metrics.
            pub const ALL: &[Self] = &[$(Self::$metric),+];

            /// Returns the metric's name in `CloudWatch`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$metric => $name,)+ }
            }

            /// Returns the metric's unit.
            #[must_use]
            pub fn unit(self) -> Unit {
                match self { $(Self::$metric => Unit::$unit,)+ }
            }

            /// Returns the names of the Lambda functions that write the metric.
            #[must_use]
            pub fn functions(self) -> &'static [&'static str] {
                match self { $(Self::$metric => $functions,)+ }
            }
        }
    };
}

impl Metric {
    /// True if an alarm of every deployment looks at what the function writes, so that `CloudWatch` keeps it as a metric. The others are fields of
    /// the same log line, which its queries and the dashboard read.
    #[must_use]
    pub fn is_watched(self, function: &str) -> bool {
        matches!(
            (self, function),
            (
                Self::Errors | Self::Degraded | Self::FirstToken | Self::Cost,
                "query"
            ) | (Self::Latency, "search")
                | (Self::ComponentsDown, "health")
                | (
                    Self::DocumentsStale | Self::DocumentsSkipped | Self::MassDeletionsStopped,
                    "ingest"
                )
        )
    }
}

metrics! {
    /// Requests, except preflights.
    Requests = "requests", Count, READERS;
    /// 1 if a request failed with a 5xx status or an interrupted stream, else 0.
    Errors = "errors", Count, READERS;
    /// 1 if a request was refused by a rate limit, else 0.
    Limited = "limited", Count, READERS;
    /// 1 if a dependency of an answer was bypassed, else 0.
    Degraded = "degraded", Count, READERS;
    /// From the request to the end of the answer, for questions and searches that succeeded.
    Latency = "latency_ms", Milliseconds, READERS;
    /// Embedding the question.
    Embed = "embed_ms", Milliseconds, READERS;
    /// The search in the vector store.
    Search = "search_ms", Milliseconds, READERS;
    /// The join with the catalog.
    Join = "join_ms", Milliseconds, READERS;
    /// The reranker.
    Rerank = "rerank_ms", Milliseconds, READERS;
    /// From a streamed question to the first text of its answer.
    FirstToken = "first_token_ms", Milliseconds, QUERY;
    /// 1 if the book answered a question, else 0.
    Answered = "answered", Count, QUERY;
    /// 1 if an answer is marked as uncertain, else 0.
    Uncertain = "answers_uncertain", Count, QUERY;
    /// 1 if the book has nothing close to a question, else 0.
    NotCovered = "not_covered", Count, QUERY;
    /// Tokens read and written by chat models.
    Tokens = "tokens", Count, QUERY;
    /// The cost of these tokens, in US dollars.
    Cost = "cost_usd", None, QUERY;
    /// From an upload to the commit that makes it visible.
    IngestLag = "ingest_lag_ms", Milliseconds, INGEST;
    /// Pages whose text was indexed again.
    DocumentsIndexed = "documents_indexed", Count, INGEST;
    /// Pages deleted from the index.
    DocumentsDeleted = "documents_deleted", Count, INGEST;
    /// Pages checked and up to date.
    DocumentsUnchanged = "documents_unchanged", Count, INGEST;
    /// Unreadable pages, and events that failed on unreadable settings; the last good text stays.
    DocumentsSkipped = "documents_skipped", Count, INGEST;
    /// Pages that could not be indexed and will be retried.
    DocumentsFailed = "documents_failed", Count, INGEST;
    /// Pages served with an older text, counted by a reconcile.
    DocumentsStale = "documents_stale", Count, INGEST;
    /// Pages put into the queue one by one.
    DocumentsEnqueued = "documents_enqueued", Count, INGEST;
    /// Chunks that were embedded.
    ChunksEmbedded = "chunks_embedded", Count, INGEST;
    /// Chunks that reuse a stored vector.
    VectorsReused = "vectors_reused", Count, INGEST;
    /// Messages that failed and will be received again.
    MessagesFailed = "messages_failed", Count, INGEST;
    /// Messages put back because the time was used up.
    MessagesHandedBack = "messages_handed_back", Count, INGEST;
    /// Runs refused because they would delete most of the book.
    MassDeletionsStopped = "mass_deletions_stopped", Count, INGEST;
    /// Points not yet committed or not yet deleted after a reconcile or sweep.
    PendingPoints = "pending_points", Count, INGEST;
    /// Those of the next five that are 1, in a scheduled check.
    ComponentsDown = "components_down", Count, HEALTH;
    /// 1 if the vector store does not answer, refuses the key or lacks the live index's collection, else 0.
    VectorStoreDown = "vector_store_down", Count, HEALTH;
    /// 1 if the catalog does not answer, else 0.
    CatalogDown = "catalog_down", Count, HEALTH;
    /// 1 if the embedder does not answer or refuses the key, else 0.
    EmbedderDown = "embedder_down", Count, HEALTH;
    /// 1 if the chat model's provider does not answer or refuses the key, else 0.
    GeneratorDown = "generator_down", Count, HEALTH;
    /// 1 if the catalog has no live index, else 0.
    IndexMissing = "index_missing", Count, HEALTH;
}
