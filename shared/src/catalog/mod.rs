//! Port: documents, chunks and logs in a database. The catalog is the root: what it does not list is not in the book.
//!
//! Readers leave here what answers must not lose: how often they asked, what it cost, what was said.

mod site;
mod types;
mod turn;
mod insights;

mod pages;
mod readers;
mod answers;

mod postgres;
#[cfg(feature = "embedded")]
mod sqlite;
#[cfg(all(test, feature = "embedded"))]
mod faulty;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use uuid::Uuid;

use crate::words::{DocumentFrequencies, Language};

pub use answers::{AnswerLookup, CachedAnswer};
#[cfg(all(test, feature = "embedded"))]
pub use faulty::FaultyCatalog;
pub use insights::{AskedQuestion, DayInsight, Insights, LessonInsight, OpenQuestion};
pub use pages::PageRow;
pub use postgres::{PostgresCatalog, PostgresOptions, TlsOptions};
pub use readers::{Exchange, NewExchange};
pub use site::{DocsInfo, SiteInfo};
#[cfg(feature = "embedded")]
pub use sqlite::SqliteCatalog;
pub use turn::{Turn, TurnLimit};
pub use types::{
    Calibration, ChunkRow, Commit, CommitOutcome, DocumentRow, Feedback, IndexRow, IndexSpec,
    IndexState, IndexStats, Indexing, JoinedChunk, NewChunk, NewIndex, Pending, QueryLog,
    QueryStatus, Rating, Retired, StoredDocument, SwitchOutcome,
};

/// The version of the tables that this code reads and writes.
pub const SCHEMA_VERSION: i32 = 9;

/// The longest time that is added to the present or taken from it, a thousand years: both databases' times reach further.
const LONGEST: Duration = Duration::from_hours(24 * 365 * 1_000);

/// The catalog: Postgres in production, one SQLite file on a laptop.
#[derive(Debug, Clone)]
pub enum Catalog {
    /// Postgres.
    Postgres(PostgresCatalog),
    /// A SQLite file.
    #[cfg(feature = "embedded")]
    Sqlite(SqliteCatalog),
    /// A catalog in memory whose calls may fail.
    #[cfg(all(test, feature = "embedded"))]
    Faulty(FaultyCatalog),
}

/// What can go wrong, by what a caller can do.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Out of reach or over its time: may pass.
    #[error("the catalog is unavailable: {0}")]
    Unavailable(String),
    /// Its tables are older than this program.
    #[error(
        "the catalog has schema version {found}, this program needs {needed}; run `bookrag migrate`"
    )]
    Schema {
        /// The version found; 0 without tables.
        found: i32,
        /// [`SCHEMA_VERSION`].
        needed: i32,
    },
    /// The index's deletion has begun and is not finished: may pass.
    #[error("the index is being dropped")]
    BeingDropped,
    /// Its file is damaged. The file is a copy of what the site says, so it may be made anew.
    #[error(
        "the catalog {} is damaged ({reason}); run `bookrag doctor SITE --repair` to index the book again",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database says of it.
        reason: String,
    },
    /// There is no space left where its file is: passes once there is.
    #[error(
        "no space is left to write the catalog {}; free some disk space and try again",
        path.display()
    )]
    StorageFull {
        /// The file.
        path: PathBuf,
    },
    /// It refused a statement: a bug.
    #[error("the catalog refused: {0}")]
    Rejected(String),
}

/// The tables with rows of an index, those that others refer to last.
const OF_AN_INDEX: [&str; 6] = [
    "cached_answers",
    "document_failures",
    "pending_points",
    "document_chunks",
    "document_inputs",
    "documents",
];

/// What the next collection of an index is told by: a late deletion of the one before must not meet it.
fn fresh_suffix() -> String {
    let id = Uuid::new_v4().simple().to_string();
    format!(".{}", &id[..8])
}

/// In microseconds, [`LONGEST`] at most.
fn microseconds(time: Duration) -> i64 {
    i64::try_from(time.min(LONGEST).as_micros()).expect("a thousand years fit")
}

/// A number as the tables hold it; what is too large for them is the largest they hold.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Calls the same method on whichever store this is.
macro_rules! on_store {
    ($self:ident, $store:ident => $call:expr) => {
        match $self {
            Catalog::Postgres($store) => $call.await,
            #[cfg(feature = "embedded")]
            Catalog::Sqlite($store) => $call.await,
            #[cfg(all(test, feature = "embedded"))]
            Catalog::Faulty($store) => $store.step($call).await,
        }
    };
}
pub(crate) use on_store;

impl Catalog {
    /// Applies the migrations that are missing. Returns the version after it.
    pub async fn migrate(&self) -> Result<i32, CatalogError> {
        on_store!(self, store => store.migrate())
    }

    /// Asks for an answer and checks the schema version.
    pub async fn ping(&self) -> Result<(), CatalogError> {
        on_store!(self, store => store.ping())
    }

    /// Reads the whole file and looks for damage. A server checks its own files, so Postgres is only asked for an answer.
    ///
    /// # Errors
    /// [`CatalogError::Damaged`] with the first problem found.
    pub async fn check(&self) -> Result<(), CatalogError> {
        on_store!(self, store => store.check())
    }

    /// The index of this version, created if there is none: live when it is the first, else building. Its site is updated;
    /// `revive` makes a retired one a building one again.
    pub async fn ensure_index(&self, index: &NewIndex) -> Result<IndexRow, CatalogError> {
        on_store!(self, store => store.ensure_index(index))
    }

    /// All indexes, oldest first, but those whose deletion has begun.
    pub async fn indexes(&self) -> Result<Vec<IndexRow>, CatalogError> {
        on_store!(self, store => store.indexes())
    }

    /// The index that queries read; `None` before the first ingest.
    pub async fn live_index(&self) -> Result<Option<IndexRow>, CatalogError> {
        let mut indexes = self.indexes().await?.into_iter();
        Ok(indexes.find(|index| index.state == IndexState::Live))
    }

    /// Makes an index the live one and retires the one that was, if it holds exactly the documents of these sources with
    /// these fingerprints. Commits wait meanwhile.
    pub async fn switch(
        &self,
        index_id: i64,
        documents: &BTreeMap<String, String>,
    ) -> Result<SwitchOutcome, CatalogError> {
        on_store!(self, store => store.switch(index_id, documents))
    }

    /// The indexes whose deletion has begun, now with those that were retired `age` ago by the database's clock. Their
    /// collections are to be dropped, then their rows.
    pub async fn begin_drop(&self, age: Duration) -> Result<Vec<IndexRow>, CatalogError> {
        on_store!(self, store => store.begin_drop(age))
    }

    /// Empties an index whose collection is gone. Its row stays, retired, so that late writers of it are refused; it revives
    /// with a collection of another name.
    pub async fn finish_drop(&self, index_id: i64) -> Result<(), CatalogError> {
        on_store!(self, store => store.finish_drop(index_id))
    }

    /// Records how many pages an index will have once it is filled for the first time; `None` once it is. Does nothing
    /// after that: the first indexing does not begin again.
    pub async fn expect_pages(
        &self,
        index_id: i64,
        pages: Option<u64>,
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.expect_pages(index_id, pages))
    }

    /// Records what cosines mean in an index.
    pub async fn set_calibration(
        &self,
        index_id: i64,
        calibration: Calibration,
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.set_calibration(index_id, calibration))
    }

    /// Returns the headings of a locale and version, each once, in any order.
    pub async fn headings(
        &self,
        index_id: i64,
        locale: &str,
        version: &str,
    ) -> Result<Vec<String>, CatalogError> {
        on_store!(self, store => store.headings(index_id, locale, version))
    }

    /// Writes down why a file could not be indexed, until it is.
    pub async fn record_failure(
        &self,
        index_id: i64,
        source: &str,
        reason: &str,
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.record_failure(index_id, source, reason))
    }

    /// Removes the failures of these files: there is nothing left to index.
    pub async fn forget_failures(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.forget_failures(index_id, sources))
    }

    /// The document of a source as it was last committed; `None` when it never was. A deleted one is a tombstone.
    pub async fn document(
        &self,
        index_id: i64,
        source: &str,
    ) -> Result<Option<StoredDocument>, CatalogError> {
        on_store!(self, store => store.document(index_id, source))
    }

    /// All documents of an index that are not deleted, by source path.
    pub async fn documents(&self, index_id: i64) -> Result<Vec<StoredDocument>, CatalogError> {
        on_store!(self, store => store.documents(index_id))
    }

    /// The URLs of the pages among some source paths, by source path.
    pub async fn urls(
        &self,
        index_id: i64,
        sources: &[String],
    ) -> Result<BTreeMap<String, String>, CatalogError> {
        let pairs = on_store!(self, store => store.urls(index_id, sources))?;
        Ok(pairs.into_iter().collect())
    }

    /// The documents that used or looked for the file at `path` when they were read, by source path.
    pub async fn dependents(&self, index_id: i64, path: &str) -> Result<Vec<String>, CatalogError> {
        on_store!(self, store => store.dependents(index_id, path))
    }

    /// The files that each document of an index used or looked for when it was read, apart from its own, by its source path.
    /// Documents without any are left out.
    pub async fn inputs(
        &self,
        index_id: i64,
    ) -> Result<BTreeMap<String, BTreeSet<String>>, CatalogError> {
        let pairs = on_store!(self, store => store.inputs(index_id))?;
        let mut inputs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (source, path) in pairs {
            inputs.entry(source).or_default().insert(path);
        }
        Ok(inputs)
    }

    /// The chunks of a document, in order.
    pub async fn chunks(
        &self,
        index_id: i64,
        document_id: Uuid,
    ) -> Result<Vec<ChunkRow>, CatalogError> {
        on_store!(self, store => store.chunks(index_id, document_id))
    }

    /// For each of the hashes that any chunk of the index has: one point that holds its vectors.
    pub async fn points_with_text(
        &self,
        index_id: i64,
        text_hashes: &[String],
    ) -> Result<Vec<(String, Uuid)>, CatalogError> {
        on_store!(self, store => store.points_with_text(index_id, text_hashes))
    }

    /// Writes down the points that are about to be upserted for a document, so that a crash leaves none behind.
    pub async fn add_intents(
        &self,
        index_id: i64,
        document_id: Uuid,
        points: &[Uuid],
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.add_intents(index_id, document_id, points))
    }

    /// Replaces a document's row, chunks and inputs in one transaction, if its revision is still the one expected, all
    /// intents are there and the index is not retired. The points it no longer uses become garbage.
    pub async fn commit(&self, commit: &Commit) -> Result<CommitOutcome, CatalogError> {
        on_store!(self, store => store.commit(commit))
    }

    /// Claims what is due: garbage at once; intents older than `age` by the database's clock; and what was claimed
    /// `age` ago, whose points are deleted once more before [`Self::forget`] takes their rows away.
    pub async fn claim_pending(
        &self,
        index_id: i64,
        age: Duration,
    ) -> Result<Vec<Pending>, CatalogError> {
        on_store!(self, store => store.claim_pending(index_id, age))
    }

    /// Removes the rows of pending points whose deletion is final.
    pub async fn forget(&self, index_id: i64, points: &[Uuid]) -> Result<(), CatalogError> {
        on_store!(self, store => store.forget(index_id, points))
    }

    /// How many points are pending: intents, claimed ones and garbage.
    pub async fn pending_count(&self, index_id: i64) -> Result<u64, CatalogError> {
        on_store!(self, store => store.pending_count(index_id))
    }

    /// Returns the chunks of those points that the book holds now. A chunk whose payload this program cannot read is left out.
    pub async fn join(
        &self,
        index_id: i64,
        points: &[Uuid],
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        on_store!(self, store => store.join(index_id, points))
    }

    /// Returns the chunks of each document at these positions, in order: the context of a chunk. There is one list for each
    /// entry of `places`. Positions without a chunk, and chunks whose payload this program cannot read, are left out.
    pub async fn around(
        &self,
        index_id: i64,
        places: &[(Uuid, RangeInclusive<i32>)],
    ) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
        on_store!(self, store => store.around(index_id, places))
    }

    /// Counts in how many chunks of an index each word is, in one statement. Words have no spaces or punctuation; they are compared as
    /// [`Self::search_text`] compares them.
    pub async fn document_frequencies(
        &self,
        index_id: i64,
        words: &BTreeSet<String>,
        language: Language,
    ) -> Result<DocumentFrequencies, CatalogError> {
        on_store!(self, store => store.document_frequencies(index_id, words, language))
    }

    /// Every point the catalog knows, as one statement sees them: those of chunks, with their document's source, and
    /// those that are pending.
    pub async fn known_points(
        &self,
        index_id: i64,
    ) -> Result<Vec<(Uuid, Option<String>)>, CatalogError> {
        on_store!(self, store => store.known_points(index_id))
    }

    /// Counts of an index.
    pub async fn stats(&self, index_id: i64) -> Result<IndexStats, CatalogError> {
        on_store!(self, store => store.stats(index_id))
    }

    /// Writes down that a question is being answered, or how it ended: the same row for the same id. What has ended is not
    /// made incomplete again. Hashes only, unless the operator wants questions kept.
    pub async fn log_query(&self, log: &QueryLog) -> Result<(), CatalogError> {
        on_store!(self, store => store.log_query(log))
    }

    /// Writes down a reader's judgement. `false` when there is no such message.
    pub async fn add_feedback(&self, feedback: &Feedback) -> Result<bool, CatalogError> {
        on_store!(self, store => store.add_feedback(feedback))
    }
}
