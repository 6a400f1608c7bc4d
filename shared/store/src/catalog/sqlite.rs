//! The catalog in one SQLite file, for laptops and tests.
//!
//! Times come from this machine's clock, in microseconds.

mod commit;
mod conversations;
mod documents;
mod indexes;
mod insights;
mod limits;
mod log;
mod pages;
mod proposals;
mod pending;
mod search;
pub(super) mod values;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::CatalogError;
use super::row::FromRow;
use super::statement::{Parameter, Statement};
use crate::index::LocalIndex;
use crate::sqlite::{Database, DatabaseError, begin_write};
use values::rows;

/// A catalog in one file; clones share its connections.
#[derive(Debug, Clone)]
pub struct SqliteCatalog {
    database: Arc<Database>,
    index: LocalIndex,
}

impl SqliteCatalog {
    /// Opens the file; creates it and its folder if missing. The first `migrate` creates the tables.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the file cannot be opened or written, `StorageFull` if the disk is full, `Damaged` if the file is not a
    /// database.
    pub async fn open(path: &Path) -> Result<Self, CatalogError> {
        Ok(Self::new(Database::open(path).await?))
    }

    /// Creates an in-memory catalog with its tables. Its calls run synchronously on the caller's thread.
    ///
    /// # Errors
    ///
    /// `Rejected` if the tables cannot be created, which is a bug.
    pub fn in_memory() -> Result<Self, CatalogError> {
        Ok(Self::new(Database::in_memory()?))
    }

    fn new(database: Database) -> Self {
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
            let problem = match report.as_str() {
                "ok" => Database::schema_problem(connection)?,
                _ => Some(report.replace('\n', " ")),
            };
            problem.map_or(Ok(()), |reason| {
                Err(DatabaseError::Damaged {
                    path: PathBuf::new(),
                    reason,
                })
            })
        })
        .await
    }

    /// Runs a statement and reads its rows.
    pub(in crate::catalog) async fn rows<T: FromRow + Send + 'static>(
        &self,
        statement: Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<T>, CatalogError> {
        let Statement { sqlite, .. } = statement;
        let parameters: Vec<Value> = parameters.iter().map(Value::from).collect();
        if statement.for_readers {
            self.read(move |connection| rows(connection, sqlite, params_from_iter(parameters)))
                .await
        } else {
            self.run(move |connection| rows(connection, sqlite, params_from_iter(parameters)))
                .await
        }
    }

    /// Runs a statement that changes rows.
    pub(in crate::catalog) async fn change(
        &self,
        statement: Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<(), CatalogError> {
        let parameters: Vec<Value> = parameters.iter().map(Value::from).collect();
        self.run(move |connection| {
            connection.execute(statement.sqlite, params_from_iter(parameters))?;
            Ok(())
        })
        .await
    }

    /// Runs `work` on the writing connection.
    pub(in crate::catalog) async fn run<T, Work>(&self, work: Work) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    {
        Ok(self.database.write(work).await?)
    }

    /// Runs `work` for readers, on a connection that does not wait for writers.
    async fn read<T, Work>(&self, work: Work) -> Result<T, CatalogError>
    where
        T: Send + 'static,
        Work: FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    {
        Ok(self.database.read(work).await?)
    }
}

impl LocalIndex {
    /// Returns the vector index in the catalog's file. All indexes from one catalog share their in-memory data.
    #[must_use]
    pub fn from_catalog(catalog: &SqliteCatalog) -> Self {
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
