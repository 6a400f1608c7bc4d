//! The schema migrations.

use rusqlite::{Connection, OptionalExtension};

use super::{DatabaseError, begin_write};

/// In order: the first creates version 1, each later one adds 1.
const MIGRATIONS: [&str; 10] = [
    include_str!("../../migrations/sqlite/0001_catalog.sql"),
    include_str!("../../migrations/sqlite/0002_reindex.sql"),
    include_str!("../../migrations/sqlite/0003_readers.sql"),
    include_str!("../../migrations/sqlite/0004_sources.sql"),
    include_str!("../../migrations/sqlite/0005_indexing.sql"),
    include_str!("../../migrations/sqlite/0006_chunks.sql"),
    include_str!("../../migrations/sqlite/0007_ranking.sql"),
    include_str!("../../migrations/sqlite/0008_answers.sql"),
    include_str!("../../migrations/sqlite/0009_searched.sql"),
    include_str!("../../migrations/sqlite/0010_off_topic.sql"),
];

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a handful"
)]
pub(crate) const NEEDED: i32 = MIGRATIONS.len() as i32;

/// Applies the missing migrations, each in its own transaction. Returns the version reached.
pub(super) fn apply(connection: &mut Connection) -> Result<i32, DatabaseError> {
    for (version, migration) in (1..).zip(MIGRATIONS) {
        let transaction = begin_write(connection)?;
        if current(&transaction)? < version {
            transaction.execute_batch(migration)?;
            transaction.execute(
                "INSERT INTO schema_version (version, applied_at)
                 VALUES (?1, CAST(unixepoch('subsec') * 1000000 AS INTEGER))",
                [version],
            )?;
        }
        transaction.commit()?;
    }
    Ok(current(connection)?)
}

/// Fails with `Schema` if the tables are older than this program. Newer ones are fine, since migrations only add.
pub(super) fn check(connection: &Connection) -> Result<(), DatabaseError> {
    match current(connection)? {
        NEEDED.. => Ok(()),
        found => Err(DatabaseError::Schema {
            found,
            needed: NEEDED,
        }),
    }
}

/// The schema version; 0 without tables.
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
