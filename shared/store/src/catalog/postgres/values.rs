//! Conversions between Rust and Postgres values.

use tokio_postgres::Row;

use crate::catalog::CatalogError;

/// Reads an unsigned number, a type that Postgres lacks.
pub(super) fn unsigned<T: TryFrom<i64>>(row: &Row, column: &str) -> Result<T, CatalogError> {
    let number: i64 = row.try_get(column)?;
    T::try_from(number)
        .map_err(|_| CatalogError::Rejected(format!("column {column}: {number} is out of range")))
}
