//! One SQLite file: laptops and tests.
//!
//! Its clock is this machine's, read in microseconds.

mod commit;
mod conversations;
mod documents;
mod indexes;
mod insights;
mod limits;
mod log;
mod migrations;
mod pending;
mod search;
mod values;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, ffi};

use super::CatalogError;

/// How long a statement waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A catalog in one file; clones share its connection.
#[derive(Debug, Clone)]
pub struct SqliteCatalog {
    database: Arc<Database>,
}

#[derive(Debug)]
struct Database {
    connection: Mutex<Connection>,
    path: PathBuf,
    /// Whether calls are steps of a simulation.
    #[cfg(test)]
    simulated: bool,
    /// Whether the tables were seen to be of this program's version.
    schema_checked: AtomicBool,
}

impl SqliteCatalog {
    /// Opens the file, and creates it and its folder where they are missing. Tables come with the first `migrate`.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the file cannot be opened or written, `StorageFull` if there is no space for it, `Damaged` if it is no
    /// database.
    pub async fn open(path: &Path) -> Result<Self, CatalogError> {
        let path = path.to_owned();
        let opening = path.clone();
        let connection = blocking(move || connect(&opening).map_err(|error| at(&opening, error)));
        Ok(Self {
            database: Arc::new(Database {
                connection: Mutex::new(connection.await?),
                path,
                #[cfg(test)]
                simulated: false,
                schema_checked: AtomicBool::new(false),
            }),
        })
    }

    /// A catalog in memory whose calls are steps of a simulation.
    #[cfg(test)]
    pub(crate) fn simulated() -> Result<Self, CatalogError> {
        let mut connection = Connection::open_in_memory()?;
        connection.pragma_update(None, "foreign_keys", true)?;
        migrations::apply(&mut connection)?;
        Ok(Self {
            database: Arc::new(Database {
                connection: Mutex::new(connection),
                path: PathBuf::from(":memory:"),
                simulated: true,
                schema_checked: AtomicBool::new(true),
            }),
        })
    }

    /// How many rows were ever changed: the same number, the same rows.
    #[cfg(test)]
    pub(crate) fn changes(&self) -> u64 {
        let connection = self.database.connection.lock();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        connection.total_changes()
    }

    pub(in crate::catalog) async fn migrate(&self) -> Result<i32, CatalogError> {
        self.with_connection(migrations::apply).await
    }

    pub(in crate::catalog) async fn ping(&self) -> Result<(), CatalogError> {
        self.with_connection(|connection| migrations::check(connection))
            .await
    }

    pub(in crate::catalog) async fn check(&self) -> Result<(), CatalogError> {
        self.run(|connection| {
            let report: String =
                connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
            if report == "ok" {
                return Ok(());
            }
            Err(CatalogError::Damaged {
                path: PathBuf::new(),
                reason: report.replace('\n', " "),
            })
        })
        .await
    }

    /// Runs `work` on the connection, once the schema version was checked.
    async fn run<T, Work>(&self, work: Work) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, CatalogError> + Send + 'static,
    {
        let database = Arc::clone(&self.database);
        self.with_connection(move |connection| {
            if !database.schema_checked.load(Ordering::Relaxed) {
                migrations::check(connection)?;
                database.schema_checked.store(true, Ordering::Relaxed);
            }
            work(connection)
        })
        .await
    }

    async fn with_connection<T, Work>(&self, work: Work) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, CatalogError> + Send + 'static,
    {
        let database = Arc::clone(&self.database);
        #[cfg(test)]
        if database.simulated {
            let work = || {
                let connection = database.connection.lock();
                work(&mut connection.unwrap_or_else(PoisonError::into_inner))
            };
            let lost = || CatalogError::Unavailable("the answer was lost".to_owned());
            return crate::faults::call(work, lost).await;
        }
        blocking(move || {
            // A panic left nothing half done: its transaction was rolled back when it was dropped.
            let mut connection = database
                .connection
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            work(&mut connection).map_err(|error| at(&database.path, error))
        })
        .await
    }
}

/// Names the file in errors that are about it.
fn at(file: &Path, error: CatalogError) -> CatalogError {
    let path = file.to_owned();
    match error {
        CatalogError::Damaged { reason, .. } => CatalogError::Damaged { path, reason },
        CatalogError::StorageFull { .. } => CatalogError::StorageFull { path },
        CatalogError::Unavailable(reason) => {
            CatalogError::Unavailable(format!("{}: {reason}", file.display()))
        }
        other => other,
    }
}

fn connect(path: &Path) -> Result<Connection, CatalogError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|cause| match cause.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => CatalogError::StorageFull {
                path: path.to_owned(),
            },
            _ => CatalogError::Unavailable(cause.to_string()),
        })?;
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // The vector store flushes what it acknowledges; so the two agree after a power cut too.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What a reader has deleted is overwritten.
    connection.query_row("PRAGMA secure_delete = ON", (), |_| Ok(()))?;
    Ok(connection)
}

/// A transaction that writes: it takes the file's write lock at once, so nothing it read can change under it.
fn begin_write(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

async fn blocking<T, Work>(work: Work) -> Result<T, CatalogError>
where
    T: Send + 'static,
    Work: FnOnce() -> Result<T, CatalogError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(CatalogError::Unavailable("shutting down".to_owned())),
        },
    }
}

/// The file's path is added where the connection is, by [`at`].
impl From<rusqlite::Error> for CatalogError {
    fn from(error: rusqlite::Error) -> Self {
        let path = PathBuf::new();
        let reason = error.to_string();
        let Some(failure) = error.sqlite_error() else {
            return Self::Rejected(reason);
        };
        if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE {
            // The file of the write-ahead log's index could not grow.
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

#[cfg(test)]
mod tests;
