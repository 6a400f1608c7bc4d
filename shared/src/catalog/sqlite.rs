//! One SQLite file: laptops and tests.
//!
//! Its clock is this machine's, read in microseconds.

mod answers;
mod commit;
mod conversations;
mod documents;
mod former;
mod indexes;
mod insights;
mod limits;
mod log;
mod pages;
mod pending;
mod search;
mod values;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use super::CatalogError;
use crate::index::LocalIndex;
use crate::sqlite::{Database, DatabaseError, begin_write};

/// A catalog in one file; clones share its connections.
#[derive(Debug, Clone)]
pub struct SqliteCatalog {
    database: Arc<Database>,
    /// The vectors in the same file.
    index: LocalIndex,
}

impl SqliteCatalog {
    /// Opens the file, and creates it and its folder where they are missing. Tables come with the first `migrate`.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the file cannot be opened or written, `StorageFull` if there is no space for it, `Damaged` if it is no
    /// database.
    pub async fn open(path: &Path) -> Result<Self, CatalogError> {
        Ok(Self::of(Database::open(path).await?))
    }

    /// Creates a catalog in memory, with its tables. Its calls do their work at once, on the caller's thread.
    ///
    /// # Errors
    ///
    /// `Rejected` if the tables cannot be made, which is a bug.
    pub fn in_memory() -> Result<Self, CatalogError> {
        Ok(Self::of(Database::in_memory()?))
    }

    fn of(database: Database) -> Self {
        let database = Arc::new(database);
        Self {
            index: LocalIndex::new(Arc::clone(&database)),
            database,
        }
    }

    pub(in crate::catalog) async fn migrate(&self) -> Result<i32, CatalogError> {
        Ok(self.database.migrate().await?)
    }

    pub(in crate::catalog) async fn ping(&self) -> Result<(), CatalogError> {
        Ok(self.database.ping().await?)
    }

    pub(in crate::catalog) async fn check(&self) -> Result<(), CatalogError> {
        self.run(|connection| {
            let report: String =
                connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
            if report == "ok" {
                return Ok(());
            }
            Err(DatabaseError::Damaged {
                path: PathBuf::new(),
                reason: report.replace('\n', " "),
            })
        })
        .await
    }

    /// Runs `work` on the connection that writes.
    pub(in crate::catalog) async fn run<T, Work>(&self, work: Work) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    {
        Ok(self.database.write(work).await?)
    }

    /// Runs `work` on a connection that waits for no writer: what readers' questions ask.
    async fn read<T, Work>(&self, work: Work) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    {
        Ok(self.database.read(work).await?)
    }
}

impl LocalIndex {
    /// The vector index in the file of a catalog. All that are taken of one catalog share what they hold in memory.
    #[must_use]
    pub fn of(catalog: &SqliteCatalog) -> Self {
        catalog.index.clone()
    }
}

impl From<DatabaseError> for CatalogError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Unavailable(reason) => Self::Unavailable(reason),
            DatabaseError::Schema { found, needed } => Self::Schema { found, needed },
            DatabaseError::Damaged { path, reason } => Self::Damaged { path, reason },
            DatabaseError::StorageFull { path } => Self::StorageFull { path },
            DatabaseError::Rejected(reason) => Self::Rejected(reason),
        }
    }
}

#[cfg(test)]
mod tests;
