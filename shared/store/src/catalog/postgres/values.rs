//! Conversions between Rust and Postgres values.

use std::error::Error;

use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Json, ToSql, Type};

use crate::catalog::row::{self, FromRow, Value};
use crate::catalog::statement::Parameter;
use crate::catalog::{CatalogError, IndexState};

impl row::Row for Row {
    type Error = CatalogError;

    fn get<T: Value>(&self, column: &str) -> Result<T, CatalogError> {
        T::from_postgres(self, column)
    }

    fn name(&self, index: usize) -> &str {
        self.columns()[index].name()
    }
}

/// Reads rows. Each is freed once it is read.
pub(super) fn read<T: FromRow>(rows: Vec<Row>) -> Result<Vec<T>, CatalogError> {
    rows.into_iter().map(|row| T::from_row(&row)).collect()
}

pub(in crate::catalog) fn get<'a, T: FromSql<'a>>(
    row: &'a Row,
    column: &str,
) -> Result<T, CatalogError> {
    Ok(row.try_get(column)?)
}

/// Reads an unsigned number, a type that Postgres lacks.
pub(in crate::catalog) fn unsigned<T: TryFrom<i64>>(
    row: &Row,
    column: &str,
) -> Result<T, CatalogError> {
    let number: i64 = row.try_get(column)?;
    T::try_from(number)
        .map_err(|_| CatalogError::Rejected(format!("column {column}: {number} is out of range")))
}

pub(in crate::catalog) fn json<T: DeserializeOwned>(
    row: &Row,
    column: &str,
) -> Result<T, CatalogError> {
    let Json(value) = row.try_get(column)?;
    Ok(value)
}

pub(in crate::catalog) fn index_state(row: &Row, column: &str) -> Result<IndexState, CatalogError> {
    let state: &str = row.try_get(column)?;
    IndexState::named(state)
        .ok_or_else(|| CatalogError::Rejected(format!("column {column}: {state}")))
}

pub(in crate::catalog) fn is_null(row: &Row, column: &str) -> Result<bool, CatalogError> {
    let IsNull(is_null) = row.try_get(column)?;
    Ok(is_null)
}

/// Whether a value of any type is NULL.
struct IsNull(bool);

impl FromSql<'_> for IsNull {
    fn from_sql(_: &Type, _: &[u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(false))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(true))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Returns a parameter with its type; `None` for the present, which is `now()` in Postgres.
pub(super) fn typed<'a>(parameter: &'a Parameter<'_>) -> Option<(&'a (dyn ToSql + Sync), Type)> {
    Some(match parameter {
        Parameter::Flag(flag) => (flag, Type::BOOL),
        Parameter::Number(number) | Parameter::Ago(number) => (number, Type::INT8),
        Parameter::OptionalNumber(number) => (number, Type::INT8),
        Parameter::Text(text) => (text, Type::TEXT),
        Parameter::OptionalText(text) => (text, Type::TEXT),
        Parameter::Texts(texts) => (texts, Type::TEXT_ARRAY),
        Parameter::Id(id) => (id, Type::UUID),
        Parameter::Ids(ids) => (ids, Type::UUID_ARRAY),
        Parameter::Now => return None,
    })
}
