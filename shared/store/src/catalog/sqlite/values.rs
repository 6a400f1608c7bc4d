//! Conversions between Rust and SQLite values.

use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

pub(super) fn now() -> i64 {
    Timestamp::now().as_microsecond()
}

/// The time `age` ago, in microseconds since 1970.
pub(super) fn ago(age: Duration) -> i64 {
    now().saturating_sub_unsigned(u64::try_from(age.as_micros()).unwrap_or(u64::MAX))
}

/// Serialises a value as JSON, for a column or for `json_each`.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain records and lists have a JSON form")
}

pub(super) fn from_json<T: DeserializeOwned>(row: &Row, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| damaged(column, error))
}

pub(super) fn uuid(row: &Row, column: &str) -> rusqlite::Result<Uuid> {
    let text: String = row.get(column)?;
    Uuid::parse_str(&text).map_err(|error| damaged(column, error))
}

pub(super) fn timestamp(row: &Row, column: &str) -> rusqlite::Result<Timestamp> {
    let microseconds: i64 = row.get(column)?;
    Timestamp::from_microsecond(microseconds).map_err(|error| damaged(column, error))
}

/// Reads a count or a sum, which is never negative.
pub(super) fn count(row: &Row, column: &str) -> rusqlite::Result<u64> {
    let count: i64 = row.get(column)?;
    u64::try_from(count).map_err(|error| damaged(column, error))
}

pub(super) fn damaged(
    column: &str,
    reason: impl Into<Box<dyn Error + Send + Sync>>,
) -> rusqlite::Error {
    let reason = format!("column {column}: {}", reason.into());
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, reason.into())
}
