//! Refuses the settings of hosted stores, which this build does not have.

use std::time::Duration;

use secrecy::SecretString;

use super::{DeletedBook, StartError};
use crate::config::Config;
use store::catalog::Catalog;
use store::index::VectorIndex;

/// Refuses `DATABASE_URL`.
///
/// # Errors
/// Always: this build has no Postgres.
pub fn postgres_catalog(_: &Config, _: &SecretString, _: Duration) -> Result<Catalog, StartError> {
    Err(not_in_this_build("DATABASE_URL"))
}

/// Refuses `QDRANT_URL`.
///
/// # Errors
/// Always: this build has no Qdrant.
pub fn vector_index(_: &Config, _: &str) -> Result<VectorIndex, StartError> {
    Err(not_in_this_build("QDRANT_URL"))
}

/// Refuses to delete a book of a deployment.
///
/// # Errors
/// Always: this build has no hosted stores.
pub fn delete_book(_: &Config) -> impl Future<Output = Result<DeletedBook, StartError>> {
    std::future::ready(Err(not_in_this_build("DATABASE_URL")))
}

fn not_in_this_build(name: &str) -> StartError {
    StartError::NotInThisBuild(format!(
        "{name} is set, and this build has only the local stores; build bookrag with `--features cloud`, or remove {name}"
    ))
}
