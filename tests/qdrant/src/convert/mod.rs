//! Converts between the messages of Qdrant's gRPC and the types of its engine.
//!
//! Options that the engine or this project does not support are refused by name. Only options that place or tune data on a
//! server are ignored (`on_disk`, `memory`, `wal_config`, shard and replica counts, timeouts, consistency).

pub(super) mod collection;
pub(super) mod filter;
pub(super) mod info;
pub(super) mod point;
pub(super) mod query;
pub(super) mod vector;

use super::error::CallError;

/// The protocol counts in `u64`, the engine in `usize`.
pub(super) fn to_usize(name: &str, value: u64) -> Result<usize, CallError> {
    usize::try_from(value)
        .map_err(|_| CallError::Invalid(format!("`{name}` is {value}, which is too large")))
}

/// The reverse; no count in this engine reaches 2^64.
pub(super) fn to_u64(value: usize) -> u64 {
    value as u64
}
