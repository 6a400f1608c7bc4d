//! Every metric there is.

/// What a metric counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Thousandths of a second.
    Milliseconds,
    /// What `CloudWatch` has no unit for: US dollars.
    None,
}

impl Unit {
    /// The name that `CloudWatch` gives it.
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

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $metric:ident = $name:literal, $unit:ident, $functions:ident;)+) => {
        /// A metric.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Metric {
            $($(#[doc = $doc])+ $metric,)+
        }

        impl Metric {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$metric),+];

            /// Its name in `CloudWatch`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$metric => $name,)+ }
            }

            /// What it counts in.
            #[must_use]
            pub fn unit(self) -> Unit {
                match self { $(Self::$metric => Unit::$unit,)+ }
            }

            /// The functions that have it.
            #[must_use]
            pub fn functions(self) -> &'static [&'static str] {
                match self { $(Self::$metric => $functions,)+ }
            }
        }
    };
}

metrics! {
    /// Requests, preflights aside.
    Requests = "requests", Count, READERS;
    /// Whether a request failed on our side: a 5xx, or a stream that broke off.
    Errors = "errors", Count, READERS;
    /// Whether a request was refused since its client came too often.
    Limited = "limited", Count, READERS;
    /// Whether an answer went without something.
    Degraded = "degraded", Count, READERS;
    /// From a question or search that was served to the end of its answer.
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
    /// Whether the book answered a question.
    Answered = "answered", Count, QUERY;
    /// Whether it may not have answered one, and the answer says so.
    Uncertain = "answers_uncertain", Count, QUERY;
    /// Whether it has nothing near one.
    NotCovered = "not_covered", Count, QUERY;
    /// Tokens that chat models read and wrote.
    Tokens = "tokens", Count, QUERY;
    /// What they cost, in US dollars.
    Cost = "cost_usd", None, QUERY;
    /// From an upload to the commit that makes it visible.
    IngestLag = "ingest_lag_ms", Milliseconds, INGEST;
    /// Pages whose text is in the index anew.
    DocumentsIndexed = "documents_indexed", Count, INGEST;
    /// Pages that are gone from it.
    DocumentsDeleted = "documents_deleted", Count, INGEST;
    /// Pages that were looked at and agree.
    DocumentsUnchanged = "documents_unchanged", Count, INGEST;
    /// Pages that cannot be read, and events that met settings that cannot be read: the last good text stays.
    DocumentsSkipped = "documents_skipped", Count, INGEST;
    /// Pages that could not be brought in, and are tried again.
    DocumentsFailed = "documents_failed", Count, INGEST;
    /// Pages whose last good text is served, as a reconcile finds them.
    DocumentsStale = "documents_stale", Count, INGEST;
    /// Pages put into the queue one by one.
    DocumentsEnqueued = "documents_enqueued", Count, INGEST;
    /// Chunks whose vectors were made.
    ChunksEmbedded = "chunks_embedded", Count, INGEST;
    /// Chunks that took a stored vector over.
    VectorsReused = "vectors_reused", Count, INGEST;
    /// Messages that failed and come again.
    MessagesFailed = "messages_failed", Count, INGEST;
    /// Messages put back for want of time.
    MessagesHandedBack = "messages_handed_back", Count, INGEST;
    /// Runs that were refused since most of the book would be deleted.
    MassDeletionsStopped = "mass_deletions_stopped", Count, INGEST;
    /// Points that are written and not committed, or to be deleted, as a reconcile or sweep leaves them.
    PendingPoints = "pending_points", Count, INGEST;
}
