//! Conversions between Rust and SQLite values.

use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::types::{self, FromSql, Type, ValueRef};
use rusqlite::{Connection, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::DatabaseError;
use crate::catalog::row::{self, FromRow, Value};
use crate::catalog::statement::Parameter;
use crate::catalog::{IndexState, microseconds};

impl row::Row for Row<'_> {
    type Error = rusqlite::Error;

    fn get<T: Value>(&self, column: &str) -> rusqlite::Result<T> {
        T::from_sqlite(self, column)
    }

    fn name(&self, index: usize) -> &str {
        self.as_ref()
            .column_name(index)
            .expect("the statement has this column")
    }
}

/// Runs a statement and reads its rows.
pub(in crate::catalog) fn rows<T: FromRow>(
    connection: &Connection,
    statement: &str,
    parameters: impl Params,
) -> Result<Vec<T>, DatabaseError> {
    let rows = connection
        .prepare_cached(statement)?
        .query_map(parameters, |row| T::from_row(row))?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

pub(super) fn now() -> i64 {
    Timestamp::now().as_microsecond()
}

/// Returns the time `age` ago, in microseconds since 1970.
pub(super) fn ago(age: Duration) -> i64 {
    now() - microseconds(age)
}

/// Serialises a value as JSON, for a column or for `json_each`.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain records and lists have a JSON form")
}

pub(in crate::catalog) fn get<T: FromSql>(row: &Row, column: &str) -> rusqlite::Result<T> {
    row.get(column)
}

pub(in crate::catalog) fn json_column<T: DeserializeOwned>(
    row: &Row,
    column: &str,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| damaged(column, error))
}

pub(in crate::catalog) fn uuid(row: &Row, column: &str) -> rusqlite::Result<Uuid> {
    let text: String = row.get(column)?;
    Uuid::parse_str(&text).map_err(|error| damaged(column, error))
}

pub(in crate::catalog) fn timestamp(row: &Row, column: &str) -> rusqlite::Result<Timestamp> {
    let microseconds: i64 = row.get(column)?;
    Timestamp::from_microsecond(microseconds).map_err(|error| damaged(column, error))
}

/// Reads a count or a sum, which is never negative.
pub(in crate::catalog) fn count(row: &Row, column: &str) -> rusqlite::Result<u64> {
    let count: i64 = row.get(column)?;
    u64::try_from(count).map_err(|error| damaged(column, error))
}

pub(in crate::catalog) fn index_state(row: &Row, column: &str) -> rusqlite::Result<IndexState> {
    let state: String = row.get(column)?;
    IndexState::named(&state).ok_or_else(|| damaged(column, state))
}

pub(in crate::catalog) fn is_null(row: &Row, column: &str) -> rusqlite::Result<bool> {
    Ok(matches!(row.get_ref(column)?, ValueRef::Null))
}

fn damaged(column: &str, reason: impl Into<Box<dyn Error + Send + Sync>>) -> rusqlite::Error {
    let reason = format!("column {column}: {}", reason.into());
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, reason.into())
}

impl From<&Parameter<'_>> for types::Value {
    fn from(parameter: &Parameter<'_>) -> Self {
        match *parameter {
            Parameter::Flag(flag) => flag.into(),
            Parameter::Number(number) => number.into(),
            Parameter::OptionalNumber(number) => number.into(),
            Parameter::Text(text) => text.to_owned().into(),
            Parameter::OptionalText(text) => text.map(str::to_owned).into(),
            Parameter::Texts(texts) => texts.map(|texts| json(&texts)).into(),
            Parameter::Id(id) => id.to_string().into(),
            Parameter::Ids(ids) => json(&ids).into(),
            Parameter::Ago(microseconds) => (now() - microseconds).into(),
            Parameter::Now => now().into(),
        }
    }
}
