//! The hosted stores: Postgres and Qdrant.

use std::time::Duration;

use secrecy::SecretString;

use super::{DeletedBook, INGEST_STATEMENT_TIMEOUT, StartError};
use crate::config::{Config, Environment};
use store::catalog::{Catalog, CatalogError, PostgresCatalog, PostgresOptions, TlsOptions};
use store::index::VectorIndex;

/// Time limit of a query's call to the vector store.
const INDEX_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections of an instance, which serves one request at a time.
const POOL_SIZE: usize = 2;

/// Creates the catalog at `DATABASE_URL`, or beside it that of one book of several, which connects on first use. No statement takes longer than `statement_timeout`.
///
/// # Errors
/// If the URL is invalid.
pub fn postgres_catalog(
    config: &Config,
    url: &SecretString,
    statement_timeout: Duration,
) -> Result<Catalog, StartError> {
    Ok(Catalog::Postgres(postgres(config, url, statement_timeout)?))
}

fn postgres(
    config: &Config,
    url: &SecretString,
    statement_timeout: Duration,
) -> Result<PostgresCatalog, StartError> {
    let options = PostgresOptions {
        url: url.clone(),
        direct_url: config.database_url_direct.clone(),
        tls: TlsOptions {
            required: config.environment == Environment::Lambda,
            authorities: config.database_authorities.clone(),
        },
        statement_timeout,
        connect_timeout: CONNECT_TIMEOUT,
        pool_size: POOL_SIZE,
    };
    Ok(match &config.book {
        Some(book) => PostgresCatalog::of_book(options, &book.as_str().replace('-', "_"))?,
        None => PostgresCatalog::new(options)?,
    })
}

/// Deletes the collections that the database of a book of several names, and then the database. `config` is the book's configuration. What is deleted
/// already is no error, so that an interrupted deletion can be run again.
///
/// # Errors
/// If a store is not configured, cannot be reached, or does not allow it, and if the database is no catalog of this book: another deployment, or
/// another program, may have one of the same name.
pub async fn delete_book(config: &Config) -> Result<DeletedBook, StartError> {
    let missing = StartError::MissingSetting;
    let vectors = config.qdrant_url.as_deref().ok_or(missing("QDRANT_URL"))?;
    let database = config.database_url.as_ref();
    let database = database.ok_or(missing("DATABASE_URL"))?;
    let vectors = vector_index(config, vectors)?;
    let book = postgres(config, database, INGEST_STATEMENT_TIMEOUT)?;
    let mut deleted = DeletedBook {
        database: book.existing_database().await?,
        ..DeletedBook::default()
    };
    let Some(name) = &deleted.database else {
        return Ok(deleted);
    };
    let indexes = Catalog::Postgres(book.clone()).indexes().await?;
    let collections: Vec<String> = indexes.into_iter().map(|index| index.collection).collect();
    if let Some(other) = collections.iter().find(|it| !is_of_book(it, config)) {
        let message = format!(
            "the database {name} is not that of this book: it has an index in the collection {other}"
        );
        return Err(CatalogError::Rejected(message).into());
    }
    for collection in collections {
        if vectors.has_collection(&collection).await? {
            vectors.drop_collection(&collection).await?;
            deleted.collections.push(collection);
        }
    }
    book.delete_database().await?;
    Ok(deleted)
}

/// True for the collections of a book's indexes, whose names end in eight hexadecimal digits.
fn is_of_book(collection: &str, config: &Config) -> bool {
    let index = collection
        .strip_prefix(config.collection.as_str())
        .and_then(|end| end.strip_prefix('_'));
    index.is_some_and(|index| {
        index.len() == 8 && index.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// Creates the vector store at a URL, without sending a request.
///
/// # Errors
/// If the URL is invalid.
pub fn vector_index(config: &Config, url: &str) -> Result<VectorIndex, StartError> {
    let key = config.qdrant_api_key.as_ref();
    Ok(VectorIndex::qdrant(url, key, INDEX_TIMEOUT)?.with_layout(config.collection_layout))
}
