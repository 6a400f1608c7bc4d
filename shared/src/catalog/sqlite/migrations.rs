//! The tables' versions.

use rusqlite::{Connection, OptionalExtension};

use super::{begin_write, values::now};
use crate::catalog::{CatalogError, SCHEMA_VERSION};

/// The first makes version 1, each other one more.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../migrations/sqlite/0001_catalog.sql"),
    include_str!("../../../migrations/sqlite/0002_reindex.sql"),
    include_str!("../../../migrations/sqlite/0003_readers.sql"),
    include_str!("../../../migrations/sqlite/0004_sources.sql"),
    include_str!("../../../migrations/sqlite/0005_indexing.sql"),
];

/// Applies what is missing, each migration in a transaction. Returns the version after it.
pub(super) fn apply(connection: &mut Connection) -> Result<i32, CatalogError> {
    for (version, migration) in (1..).zip(MIGRATIONS) {
        let transaction = begin_write(connection)?;
        if current(&transaction)? < version {
            transaction.execute_batch(migration)?;
            transaction.execute(
                "INSERT INTO schema_version (version, applied_at) VALUES (?1, ?2)",
                (version, now()),
            )?;
        }
        transaction.commit()?;
    }
    Ok(current(connection)?)
}

/// `Schema` unless the tables are of this program's version, or newer: migrations only add.
pub(super) fn check(connection: &Connection) -> Result<(), CatalogError> {
    match current(connection)? {
        SCHEMA_VERSION.. => Ok(()),
        found => Err(CatalogError::Schema {
            found,
            needed: SCHEMA_VERSION,
        }),
    }
}

/// 0 without tables.
fn current(connection: &Connection) -> rusqlite::Result<i32> {
    let table = connection
        .query_row(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'",
            (),
            |_| Ok(()),
        )
        .optional()?;
    match table {
        None => Ok(0),
        Some(()) => connection.query_row(
            "SELECT coalesce(max(version), 0) FROM schema_version",
            (),
            |row| row.get(0),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_migration_makes_the_version_needed() {
        assert_eq!(MIGRATIONS.len(), usize::try_from(SCHEMA_VERSION).unwrap());
    }
}
