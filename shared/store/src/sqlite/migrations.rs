//! The schema migrations.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension};

use super::{DatabaseError, begin_write};

/// In order: the first creates version 1, each later one adds 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_catalog.sql"),
    include_str!("../../migrations/sqlite/0002_questions.sql"),
    include_str!("../../migrations/sqlite/0003_terms.sql"),
    include_str!("../../migrations/sqlite/0004_counts.sql"),
    include_str!("../../migrations/sqlite/0005_freshness.sql"),
    include_str!("../../migrations/sqlite/0006_agent_reports.sql"),
];

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a handful"
)]
pub(crate) const NEEDED: i32 = MIGRATIONS.len() as i32;

/// Applies the missing migrations, each in its own transaction. Returns the version reached.
pub(super) fn apply(connection: &mut Connection) -> Result<i32, DatabaseError> {
    apply_missing(connection, MIGRATIONS)
}

fn apply_missing(connection: &mut Connection, migrations: &[&str]) -> Result<i32, DatabaseError> {
    for (version, migration) in (1..).zip(migrations) {
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

/// Returns what is wrong with a file's schema: a table, an index or a trigger that it lacks, or a version that no migration wrote.
pub(super) fn problem(connection: &Connection) -> Result<Option<String>, DatabaseError> {
    let mut whole = Connection::open_in_memory()?;
    apply(&mut whole)?;
    let found = objects(connection)?;
    if let Some(missing) = objects(&whole)?.difference(&found).next() {
        return Ok(Some(format!("the {missing} is missing")));
    }
    let (applied, last): (i32, i32) = connection.query_row(
        "SELECT count(*), coalesce(max(version), 0) FROM schema_version",
        (),
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let problem = format!("its schema version is {last} after {applied} migrations");
    Ok((applied != last).then_some(problem))
}

/// Returns the types and names of everything in a schema.
fn objects(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    connection
        .prepare("SELECT type || ' ' || name FROM sqlite_schema")?
        .query_map((), |row| row.get(0))?
        .collect()
}

/// Returns the schema version; 0 without tables.
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
    fn only_missing_migrations_are_applied_and_data_is_kept() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert_eq!(apply(&mut connection).unwrap(), NEEDED);
        let day = "INSERT INTO spend (day, micro_usd) VALUES ('2026-01-01', 5)";
        connection.execute(day, ()).unwrap();
        let next = "ALTER TABLE spend ADD COLUMN note TEXT NOT NULL DEFAULT 'none'";
        let migrations = [MIGRATIONS, &[next]].concat();
        for _ in 0..2 {
            let reached = apply_missing(&mut connection, &migrations).unwrap();
            assert_eq!(reached, NEEDED + 1);
        }
        let kept = "SELECT micro_usd || note FROM spend";
        let kept: String = connection.query_row(kept, (), |row| row.get(0)).unwrap();
        assert_eq!(kept, "5none");
        // An older program accepts newer tables.
        check(&connection).unwrap();
    }

    #[test]
    fn older_tables_are_refused_with_both_versions() {
        let connection = Connection::open_in_memory().unwrap();
        let refused = check(&connection).unwrap_err();
        assert!(matches!(
            refused,
            DatabaseError::Schema {
                found: 0,
                needed: NEEDED
            }
        ));
    }
}
