//! The book's SQLite file: its connections, its tables and its errors.
//!
//! The catalog and the local vector index share the file, so one transaction changes both. One connection writes. Reads use other connections: thanks
//! to the write-ahead log they see the last commit and neither wait for nor fail because of a writer, in this process or another.

mod migrations;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, ffi};
use tokio::sync::Semaphore;

/// How long a statement waits for a writer in another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The page size of new files, in bytes. A chunk's row and a vector of 384 numbers have 1.5 to 3 kB each; the usual 4,096 bytes would hold one or two
/// and waste a third of the space.
const PAGE_BYTES: u32 = 8_192;

/// The writer's cache, in KiB as SQLite's negative number: room for the inner pages of all indexes of a large book, so that a commit reads nothing
/// from disk.
const WRITER_CACHE: i32 = -32_768;

/// Cached prepared statements for each connection: all that ingest and questions use.
const STATEMENTS: usize = 64;

/// The most concurrent readers. They compute on few cores, so more of them would only wait for each other.
const READERS: usize = 8;

/// A SQLite file, or a private in-memory database.
#[derive(Debug)]
pub(crate) struct Database {
    /// `None` in memory.
    path: Option<PathBuf>,
    writer: Mutex<Connection>,
    /// Idle connections for reading.
    readers: Mutex<Vec<Connection>>,
    /// Permits to read.
    reading: Semaphore,
    /// True once the tables are known to have this program's version.
    schema_checked: AtomicBool,
}

/// Errors of the database, by what a caller can do about them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseError {
    /// The file is unreachable or locked for too long; a retry may succeed.
    #[error("{0}")]
    Unavailable(String),
    /// The tables are older than this program.
    #[error(
        "the tables have schema version {found}, this program needs {needed}; run `bookrag migrate`"
    )]
    Schema { found: i32, needed: i32 },
    /// The file is damaged.
    #[error("{} is damaged ({reason})", path.display())]
    Damaged { path: PathBuf, reason: String },
    /// No space is left on the file's disk.
    #[error("no space is left to write {}", path.display())]
    StorageFull { path: PathBuf },
    /// A statement failed because of a bug.
    #[error("{0}")]
    Rejected(String),
}

impl Database {
    /// Opens the file. Creates it and its folder if they do not exist; [`Self::migrate`] creates the tables.
    pub(crate) async fn open(path: &Path) -> Result<Self, DatabaseError> {
        let path = path.to_owned();
        blocking(move || {
            let writer = connect(&path).map_err(|error| error.at(&path))?;
            Ok(Self::new(Some(path), writer))
        })
        .await
    }

    /// Creates an in-memory database with its tables. Calls run on the caller's thread, so no runtime is needed.
    pub(crate) fn in_memory() -> Result<Self, DatabaseError> {
        let mut writer = Connection::open_in_memory()?;
        writer.pragma_update(None, "foreign_keys", true)?;
        writer.set_prepared_statement_cache_capacity(STATEMENTS);
        migrations::apply(&mut writer)?;
        Ok(Self::new(None, writer))
    }

    fn new(path: Option<PathBuf>, writer: Connection) -> Self {
        Self {
            path,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            reading: Semaphore::new(READERS),
            schema_checked: AtomicBool::new(false),
        }
    }

    /// Applies the missing migrations. Returns the resulting version.
    pub(crate) async fn migrate(self: &Arc<Self>) -> Result<i32, DatabaseError> {
        self.with_writer(migrations::apply).await
    }

    /// Returns what is wrong with the tables; `None` if all are there.
    pub(crate) fn schema_problem(connection: &Connection) -> Result<Option<String>, DatabaseError> {
        migrations::problem(connection)
    }

    /// Checks that the file can be read and has this program's tables.
    pub(crate) async fn ping(self: &Arc<Self>) -> Result<(), DatabaseError> {
        self.with_writer(|connection| migrations::check(connection))
            .await
    }

    /// Runs `work` on the writing connection. Checks the schema version first, until it was right once.
    pub(crate) async fn write<T, Work>(self: &Arc<Self>, work: Work) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    {
        let database = Arc::clone(self);
        self.with_writer(move |connection| {
            database.check_schema(connection)?;
            work(connection)
        })
        .await
    }

    /// Runs `work` on a reading connection, which waits for no writer and sees everything committed before it began.
    pub(crate) async fn read<T, Work>(self: &Arc<Self>, work: Work) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    {
        let Some(path) = self.path.clone() else {
            return work(&mut self.writer());
        };
        let permit = self.reading.acquire().await;
        let database = Arc::clone(self);
        let outcome = blocking(move || {
            database
                .work_on_reader(&path, work)
                .map_err(|error| error.at(&path))
        })
        .await;
        drop(permit);
        outcome
    }

    fn work_on_reader<T>(
        &self,
        path: &Path,
        work: impl FnOnce(&mut Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut connection = match lock(&self.readers).pop() {
            Some(connection) => connection,
            None => connect_reader(path)?,
        };
        self.check_schema(&connection)?;
        // A connection whose work failed is closed, because it may be the cause.
        let done = work(&mut connection)?;
        lock(&self.readers).push(connection);
        Ok(done)
    }

    /// Waits for the writing connection. A panic leaves no partial changes, because its transaction is rolled back when it is dropped.
    pub(crate) fn writer(&self) -> MutexGuard<'_, Connection> {
        lock(&self.writer)
    }

    async fn with_writer<T, Work>(self: &Arc<Self>, work: Work) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    {
        let Some(path) = self.path.clone() else {
            return work(&mut self.writer());
        };
        let database = Arc::clone(self);
        blocking(move || work(&mut database.writer()).map_err(|error| error.at(&path))).await
    }

    fn check_schema(&self, connection: &Connection) -> Result<(), DatabaseError> {
        if !self.schema_checked.load(Ordering::Relaxed) {
            migrations::check(connection)?;
            self.schema_checked.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Locks a mutex even if another holder panicked, because its data is consistent at every step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(path: &Path) -> Result<Connection, DatabaseError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|cause| match cause.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => DatabaseError::StorageFull {
                path: path.to_owned(),
            },
            _ => DatabaseError::Unavailable(cause.to_string()),
        })?;
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Has no effect on a file that already has pages.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // With a single file, a power cut can lose the last commits but not make data inconsistent. The next run indexes lost pages again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", WRITER_CACHE)?;
    // Data deleted by a reader must be overwritten.
    connection.query_row("PRAGMA secure_delete = ON", (), |_| Ok(()))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

fn connect_reader(path: &Path) -> Result<Connection, DatabaseError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Begins a write transaction. It takes the file's write lock immediately, so that data it reads cannot change meanwhile.
pub(crate) fn begin_write(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

async fn blocking<T, Work>(work: Work) -> Result<T, DatabaseError>
where
    T: Send + 'static,
    Work: FnOnce() -> Result<T, DatabaseError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(DatabaseError::Unavailable("shutting down".to_owned())),
        },
    }
}

impl DatabaseError {
    /// Adds the file's path to errors about the file.
    fn at(self, file: &Path) -> Self {
        let path = file.to_owned();
        match self {
            Self::Damaged { reason, .. } => Self::Damaged { path, reason },
            Self::StorageFull { .. } => Self::StorageFull { path },
            Self::Unavailable(reason) => Self::Unavailable(format!("{}: {reason}", file.display())),
            other => other,
        }
    }
}

/// True if a value, a column or a table is not as this program writes it: its statements are constants, so the file was changed by another.
fn is_of_the_data(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => true,
        rusqlite::Error::SqlInputError { msg, .. }
        | rusqlite::Error::SqliteFailure(_, Some(msg)) => {
            msg.starts_with("no such ") || msg.ends_with(" already exists")
        }
        _ => false,
    }
}

/// [`DatabaseError::at`] adds the file's path later.
impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        let path = PathBuf::new();
        let reason = error.to_string();
        if is_of_the_data(&error) {
            return Self::Damaged { path, reason };
        }
        let Some(failure) = error.sqlite_error() else {
            return Self::Rejected(reason);
        };
        if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE {
            // The write-ahead log's index file could not grow.
            return Self::StorageFull { path };
        }
        match failure.code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Damaged { path, reason },
            ErrorCode::DiskFull => Self::StorageFull { path },
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::OperationInterrupted
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure => Self::Unavailable(reason),
            _ => Self::Rejected(reason),
        }
    }
}
