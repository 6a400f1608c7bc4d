//! The schema migrations.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::catalog::CatalogError;

/// In order: the first creates version 1, each later one adds 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../migrations/0001_catalog.sql"),
    include_str!("../../../migrations/0002_questions.sql"),
    include_str!("../../../migrations/0003_terms.sql"),
    include_str!("../../../migrations/0004_counts.sql"),
    include_str!("../../../migrations/0005_freshness.sql"),
    include_str!("../../../migrations/0006_agent_reports.sql"),
];

/// The rights of the user for readers, if there is one.
const READER: &str = include_str!("../../../migrations/reader.sql");

/// The first statements of a migration. The advisory lock serialises concurrent migrations; it works before any table exists
/// and ends with the transaction. Its key is this program's name in ASCII.
const BEGIN: &str =
    "BEGIN; SET LOCAL statement_timeout = '5min'; SELECT pg_advisory_xact_lock(27707072052355431)";

/// Applies the missing migrations, each in its own transaction, then grants readers' rights. `shared` is the name of the database that a book of several
/// has in common with the others. Returns the version reached.
pub(super) async fn apply(client: Client, shared: Option<&str>) -> Result<i32, CatalogError> {
    for (version, migration) in (1..).zip(MIGRATIONS) {
        client.batch_execute(BEGIN).await?;
        if current(&client).await? < version {
            client.batch_execute(migration).await?;
            client
                .execute_typed(
                    "INSERT INTO schema_version (version) VALUES ($1)",
                    &[(&version, Type::INT4)],
                )
                .await?;
        }
        client.batch_execute("COMMIT").await?;
    }
    client.batch_execute(BEGIN).await?;
    let shared = shared.unwrap_or_default();
    let set = "SELECT set_config('bookrag.shared_database', $1, true)";
    client.query_typed(set, &[(&shared, Type::TEXT)]).await?;
    for statement in [READER, "COMMIT"] {
        client.batch_execute(statement).await?;
    }
    current(&client).await
}

/// Creates a book's database unless it exists.
pub(super) async fn create_database(client: &Client, name: &str) -> Result<(), CatalogError> {
    if has_database(client, name).await? {
        return Ok(());
    }
    let created = client
        .batch_execute(&format!("CREATE DATABASE {}", quoted(name)))
        .await;
    match created {
        // Another process was faster.
        Err(error) if error.code() == Some(&SqlState::DUPLICATE_DATABASE) => Ok(()),
        created => Ok(created?),
    }
}

/// Deletes a book's database, and ends its connections.
pub(super) async fn delete_database(client: &Client, name: &str) -> Result<(), CatalogError> {
    let delete = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quoted(name));
    Ok(client.batch_execute(&delete).await?)
}

pub(super) async fn has_database(client: &Client, name: &str) -> Result<bool, CatalogError> {
    let exists = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)";
    let exists = client
        .query_typed_one(exists, &[(&name, Type::TEXT)])
        .await?;
    Ok(exists.try_get(0)?)
}

/// Returns a name as an identifier of SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the schema version; 0 without tables.
async fn current(client: &Client) -> Result<i32, CatalogError> {
    let exists = client
        .query_typed_one("SELECT to_regclass('schema_version') IS NOT NULL", &[])
        .await?;
    if !exists.try_get(0)? {
        return Ok(0);
    }
    let version = client
        .query_typed_one("SELECT coalesce(max(version), 0) FROM schema_version", &[])
        .await?;
    Ok(version.try_get(0)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::SCHEMA_VERSION;

    #[test]
    fn the_last_migration_makes_the_version_needed() {
        assert_eq!(MIGRATIONS.len(), usize::try_from(SCHEMA_VERSION).unwrap());
    }
}
