//! The hosted stores: Postgres and Qdrant.

use std::time::Duration;

use secrecy::SecretString;

use super::StartError;
use crate::config::{Config, Environment};
use store::catalog::{Catalog, PostgresCatalog, PostgresOptions, TlsOptions};
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
    let catalog = match &config.book {
        Some(book) => PostgresCatalog::of_book(options, &book.as_str().replace('-', "_"))?,
        None => PostgresCatalog::new(options)?,
    };
    Ok(Catalog::Postgres(catalog))
}

/// Creates the vector store at a URL, without sending a request.
///
/// # Errors
/// If the URL is invalid.
pub fn vector_index(config: &Config, url: &str) -> Result<VectorIndex, StartError> {
    let key = config.qdrant_api_key.as_ref();
    Ok(VectorIndex::qdrant(url, key, INDEX_TIMEOUT)?.with_layout(config.collection_layout))
}
