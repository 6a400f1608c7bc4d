//! Port: a database of documents, chunks and logs. The catalog is authoritative: what it does not list is not in the book.
//!
//! It also stores readers' rate limits, spending and conversations.

mod site;
mod calibration;
mod freshness;
mod types;
mod rate_limit;
mod insights;

mod pages;
mod points;
mod proposals;
mod readers;
mod answers;
mod written;
mod row;
mod sql;
mod statement;

#[cfg(feature = "cloud")]
mod postgres;
#[cfg(feature = "embedded")]
mod sqlite;
#[cfg(all(feature = "faults", feature = "embedded"))]
mod faulty;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use uuid::Uuid;

use text::{DocumentFrequencies, Language};

use row::FromRow;
use statement::Parameter::{self, Ago, Id, Now, Number, OptionalNumber, OptionalText, Text, Texts};
use statement::Statement;

pub use answers::{AnswerLookup, CachedAnswer};
pub use calibration::{Calibration, Scale, Scales};
#[cfg(all(feature = "faults", feature = "embedded"))]
pub use faulty::FaultyCatalog;
pub use freshness::{Freshness, short_commit};
pub use insights::{
    AskedQuestion, CommentInsight, DayInsight, GapQuestion, HelpfulAnswer, Insights, LessonInsight,
    OpenQuestion, ReportInsight,
};
pub use pages::{PageRow, PageSelection};
#[cfg(feature = "cloud")]
pub use postgres::{PostgresCatalog, PostgresOptions, TlsOptions};
pub use rate_limit::{RateLimit, RatePermit};
pub use readers::{NewExchange, StoredExchange};
pub use site::{InstanceInfo, SiteInfo};
#[cfg(feature = "embedded")]
pub use sqlite::SqliteCatalog;
pub use types::{
    AgentReport, ChunkRow, Commit, CommitOutcome, DocumentRow, DocumentState, Feedback, IndexRow,
    IndexSpec, IndexState, IndexStats, Indexing, JoinedChunk, NewChunk, NewIndex, Pending,
    QueryLog, QueryStatus, Rating, Retired, StoredDocument, SwitchOutcome,
};
pub use written::Account;

/// The version of the tables that this code reads and writes.
pub const SCHEMA_VERSION: i32 = 6;

/// The longest time added to or subtracted from the present: a thousand years, within the range of both databases.
const LONGEST: Duration = Duration::from_hours(24 * 365 * 1_000);

/// The catalog: Postgres in production, or one SQLite file on a laptop.
#[derive(Debug, Clone)]
pub enum Catalog {
    /// Postgres.
    #[cfg(feature = "cloud")]
    Postgres(PostgresCatalog),
    /// A SQLite file.
    #[cfg(feature = "embedded")]
    Sqlite(SqliteCatalog),
    /// An in-memory catalog whose calls may fail.
    #[cfg(all(feature = "faults", feature = "embedded"))]
    Faulty(FaultyCatalog),
}

/// The errors of a catalog, grouped by what a caller can do.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The database is unreachable or timed out; a retry may succeed.
    #[error("the catalog is unavailable: {0}")]
    Unavailable(String),
    /// The tables are older than this program.
    #[error(
        "the catalog has schema version {found}, this program needs {needed}; run `bookrag migrate`"
    )]
    Schema {
        /// The version found; 0 without tables.
        found: i32,
        /// [`SCHEMA_VERSION`].
        needed: i32,
    },
    /// The deletion of the index has begun but not finished; a retry may succeed.
    #[error("the index is being dropped")]
    BeingDropped,
    /// The file is damaged. It can be recreated, since it only copies the site's content.
    #[error(
        "the catalog {} is damaged ({reason}); run `bookrag doctor SITE --repair` to index the book again",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The database's description of the damage.
        reason: String,
    },
    /// The disk is full; a retry succeeds once there is space.
    #[error(
        "no space is left to write the catalog {}; free some disk space and try again",
        path.display()
    )]
    StorageFull {
        /// The file.
        path: PathBuf,
    },
    /// The database rejected a statement: a bug.
    #[error("the catalog refused: {0}")]
    Rejected(String),
}

/// The tables with rows of an index, in the order in which they can be deleted.
const OF_AN_INDEX: [&str; 6] = [
    "cached_answers",
    "document_failures",
    "pending_points",
    "document_chunks",
    "document_inputs",
    "documents",
];

/// Returns a random suffix of a collection's name, so that a late deletion of the former collection does not affect the next one.
fn fresh_suffix() -> String {
    let id = Uuid::new_v4().simple().to_string();
    format!(".{}", &id[..8])
}

/// Converts to microseconds, [`LONGEST`] at most.
fn microseconds(time: Duration) -> i64 {
    i64::try_from(time.min(LONGEST).as_micros()).expect("a thousand years fit")
}

/// Converts a number for the tables, saturating at their maximum.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Groups pairs by their first part.
fn by_first(pairs: Vec<(String, String)>) -> BTreeMap<String, BTreeSet<String>> {
    let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (first, second) in pairs {
        groups.entry(first).or_default().insert(second);
    }
    groups
}

/// Returns the only row; anything else is an error.
fn single<T>(rows: Vec<T>) -> Result<T, CatalogError> {
    <[T; 1]>::try_from(rows)
        .map(|[row]| row)
        .map_err(|rows| CatalogError::Rejected(format!("{} rows instead of one", rows.len())))
}

/// Calls the same method on any store, in a span with the method's name and the given fields.
macro_rules! on_store {
    ($self:ident, $store:ident => $call:ident.$method:ident $arguments:tt $(, $($field:tt)+)?) => {
        $crate::spans::store_call(
            $crate::spans::store_span!(concat!("catalog.", stringify!($method)) $(, $($field)+)?),
            async {
                match $self {
                    #[cfg(feature = "cloud")]
                    Catalog::Postgres($store) => $call.$method $arguments.await,
                    #[cfg(feature = "embedded")]
                    Catalog::Sqlite($store) => $call.$method $arguments.await,
                    #[cfg(all(feature = "faults", feature = "embedded"))]
                    Catalog::Faulty($store) => $store.step($call.$method $arguments).await,
                }
            },
        )
        .await
    };
}
pub(crate) use on_store;

impl Catalog {
    /// Returns the name of the store: `postgres` or `local`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            #[cfg(feature = "cloud")]
            Self::Postgres(_) => "postgres",
            #[cfg(feature = "embedded")]
            _ => "local",
        }
    }

    /// Applies the missing migrations. Returns the version reached.
    pub async fn migrate(&self) -> Result<i32, CatalogError> {
        on_store!(self, store => store.migrate())
    }

    /// Checks that the database answers and has the right schema version.
    pub async fn ping(&self) -> Result<(), CatalogError> {
        on_store!(self, store => store.ping())
    }

    /// Reads the whole file to find damage. A Postgres server checks its own files and is only pinged.
    ///
    /// # Errors
    /// [`CatalogError::Damaged`] with the first problem found.
    pub async fn check(&self) -> Result<(), CatalogError> {
        on_store!(self, store => store.check())
    }

    /// Returns the index with this identity, or creates it: live if it is the first, otherwise building. Updates its site.
    /// [`Retired::Revives`] turns a retired index into a building one.
    pub async fn ensure_index(&self, index: &NewIndex) -> Result<IndexRow, CatalogError> {
        on_store!(self, store => store.ensure_index(index))
    }

    /// Returns all indexes, oldest first, except those being dropped.
    pub async fn indexes(&self) -> Result<Vec<IndexRow>, CatalogError> {
        self.rows(sql::INDEXES, &[]).await
    }

    /// Returns the index that queries read; `None` before the first ingest.
    pub async fn live_index(&self) -> Result<Option<IndexRow>, CatalogError> {
        let mut indexes = self.indexes().await?.into_iter();
        Ok(indexes.find(|index| index.state == IndexState::Live))
    }

    /// Makes an index live and retires the former one, if it holds exactly these sources with these fingerprints. Commits wait
    /// until it is done.
    pub async fn switch(
        &self,
        index_id: i64,
        documents: &BTreeMap<String, String>,
    ) -> Result<SwitchOutcome, CatalogError> {
        on_store!(self, store => store.switch(index_id, documents))
    }

    /// Begins to drop the indexes retired at least `age` ago by the database's clock. Returns all indexes being dropped: the caller
    /// deletes their collections and then calls [`Self::finish_drop`].
    pub async fn begin_drop(&self, age: Duration) -> Result<Vec<IndexRow>, CatalogError> {
        self.rows(sql::BEGIN_DROP, &[Ago(microseconds(age)), Now])
            .await
    }

    /// Deletes the rows of an index whose collection is gone. The index itself stays retired, so that late writers are rejected; it
    /// can be revived with a collection of another name.
    pub async fn finish_drop(&self, index_id: i64) -> Result<(), CatalogError> {
        on_store!(self, store => store.finish_drop(index_id))
    }

    /// Records how many pages the first indexing will have; `None` ends it. Does nothing after the first indexing, which does not restart.
    pub async fn expect_pages(
        &self,
        index_id: i64,
        pages: Option<u64>,
    ) -> Result<(), CatalogError> {
        let parameters = [OptionalNumber(pages.map(signed)), Number(index_id)];
        self.change(sql::EXPECT_PAGES, &parameters).await
    }

    /// Records that an index was equal to the book's files `age` ago by the database's clock, and the commit of their repository at that time.
    pub async fn record_comparison(
        &self,
        index_id: i64,
        commit: Option<&str>,
        age: Duration,
    ) -> Result<(), CatalogError> {
        let parameters = [
            Ago(microseconds(age)),
            OptionalText(commit),
            Number(index_id),
        ];
        self.change(sql::RECORD_COMPARISON, &parameters).await
    }

    /// Stores an index's calibration, with the vectors of the questions that it was measured with.
    pub async fn set_calibration(
        &self,
        index_id: i64,
        calibration: Calibration,
        off_topic: Vec<u8>,
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.set_calibration(index_id, calibration, off_topic))
    }

    /// Returns the vectors of the questions that an index was calibrated with; `None` before its calibration.
    pub async fn off_topic_vectors(&self, index_id: i64) -> Result<Option<Vec<u8>>, CatalogError> {
        let vectors = self
            .rows(sql::OFF_TOPIC_VECTORS, &[Number(index_id)])
            .await?;
        Ok(vectors.into_iter().next().flatten())
    }

    /// Records why files could not be indexed, until they are indexed.
    pub async fn record_failures(
        &self,
        index_id: i64,
        sources: &[String],
        reason: &str,
    ) -> Result<(), CatalogError> {
        let parameters = [Number(index_id), Texts(Some(sources)), Text(reason), Now];
        self.change(sql::RECORD_FAILURES, &parameters).await
    }

    /// Removes the recorded failures of files that need no further attempt.
    pub async fn forget_failures(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<(), CatalogError> {
        let parameters = [Number(index_id), Texts(Some(sources))];
        self.change(sql::FORGET_FAILURES, &parameters).await
    }

    /// Returns the last committed document of a source; `None` if there never was one. A deleted document is a tombstone.
    pub async fn document(
        &self,
        index_id: i64,
        source: &str,
    ) -> Result<Option<StoredDocument>, CatalogError> {
        on_store!(self, store => store.document(index_id, source))
    }

    /// Returns the documents of an index that are not deleted, ordered by source path.
    pub async fn documents(&self, index_id: i64) -> Result<Vec<StoredDocument>, CatalogError> {
        self.rows(sql::DOCUMENTS, &[Number(index_id)]).await
    }

    /// Returns the state of each document of an index that is not deleted, in no order. It takes much less memory than [`Self::documents`].
    pub async fn states(&self, index_id: i64) -> Result<Vec<DocumentState>, CatalogError> {
        self.rows(sql::STATES, &[Number(index_id)]).await
    }

    /// Returns the source paths of documents that have the same URL, by that URL, in order. Documents without a URL are left out.
    pub async fn shared_urls(
        &self,
        index_id: i64,
    ) -> Result<BTreeMap<String, BTreeSet<String>>, CatalogError> {
        let pairs = self.rows(sql::SHARED_URLS, &[Number(index_id)]).await?;
        Ok(by_first(pairs))
    }

    /// Returns the URLs of those source paths that are pages, by source path.
    pub async fn urls(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<BTreeMap<String, String>, CatalogError> {
        let parameters = [Number(index_id), Texts(Some(sources))];
        let pairs = self.rows(sql::URLS, &parameters).await?;
        Ok(pairs.into_iter().collect())
    }

    /// Returns those of the URLs that pages have.
    pub async fn known_urls(
        &self,
        index_id: i64,
        urls: &[String],
    ) -> Result<Vec<String>, CatalogError> {
        let parameters = [Number(index_id), Texts(Some(urls))];
        self.rows(sql::KNOWN_URLS, &parameters).await
    }

    /// Returns the source paths of documents that used or looked for the file at `path` when they were read, in order.
    pub async fn dependents(&self, index_id: i64, path: &str) -> Result<Vec<String>, CatalogError> {
        self.rows(sql::DEPENDENTS, &[Number(index_id), Text(path)])
            .await
    }

    /// Returns the files that each of these documents used or looked for when it was read, by the document's source path. Omits the
    /// document's own file, and documents without other files.
    pub async fn inputs(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<BTreeMap<String, BTreeSet<String>>, CatalogError> {
        let parameters = [Number(index_id), Texts(Some(sources))];
        let pairs = self.rows(sql::INPUTS, &parameters).await?;
        Ok(by_first(pairs))
    }

    /// Returns the files outside of the site's folder that documents used or looked for, in order.
    pub async fn outer_inputs(&self, index_id: i64) -> Result<Vec<String>, CatalogError> {
        self.rows(sql::OUTER_INPUTS, &[Number(index_id)]).await
    }

    /// Returns the chunks of a document, in order.
    pub async fn chunks(
        &self,
        index_id: i64,
        document_id: Uuid,
    ) -> Result<Vec<ChunkRow>, CatalogError> {
        self.rows(sql::CHUNKS, &[Number(index_id), Id(document_id)])
            .await
    }

    /// Returns, for each of the hashes found in the index, one point with the vectors of that text.
    pub async fn points_with_text(
        &self,
        index_id: i64,
        text_hashes: &[String],
    ) -> Result<Vec<(String, Uuid)>, CatalogError> {
        let parameters = [Number(index_id), Texts(Some(text_hashes))];
        self.rows(sql::POINTS_WITH_TEXT, &parameters).await
    }

    /// Replaces a document's row, chunks and inputs in one transaction, provided its revision is the expected one, all intents
    /// still exist and the index is not retired. Points that are no longer used become garbage.
    pub async fn commit(&self, commit: &Commit) -> Result<CommitOutcome, CatalogError> {
        on_store!(self, store => store.commit(commit))
    }

    /// Returns the current chunks of these points. Omits chunks whose payload this program cannot read.
    pub async fn join(
        &self,
        index_id: i64,
        points: &[Uuid],
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        on_store!(self, store => store.join(index_id, points))
    }

    /// Returns the chunks of each document at these positions, in order, as the context of a chunk. The result has one list per entry
    /// of `places`, without missing chunks and those whose payload this program cannot read.
    pub async fn around(
        &self,
        index_id: i64,
        places: &[(Uuid, RangeInclusive<i32>)],
    ) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
        on_store!(self, store => store.around(index_id, places))
    }

    /// Counts the chunks of an index that contain each word, in one statement. Words must not contain spaces or punctuation; they are
    /// compared as in [`Self::search_text`].
    pub async fn document_frequencies(
        &self,
        index_id: i64,
        words: &BTreeSet<String>,
        language: Language,
    ) -> Result<DocumentFrequencies, CatalogError> {
        on_store!(self, store => store.document_frequencies(index_id, words, language))
    }

    /// Returns the size of an index, its unindexed sources, and the time of its last commit.
    pub async fn stats(&self, index_id: i64) -> Result<IndexStats, CatalogError> {
        on_store!(self, store => store.stats(index_id))
    }

    async fn rows<T: FromRow + Send + 'static>(
        &self,
        statement: Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<T>, CatalogError> {
        on_store!(self, store => store.rows(statement, parameters), db.query.text = statement.postgres)
    }

    async fn change(
        &self,
        statement: Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.change(statement, parameters), db.query.text = statement.postgres)
    }
}
