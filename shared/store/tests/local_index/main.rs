//! The local vector index finds everything that is committed, by words and by vectors, in every process at once.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

mod book;
mod committing;
mod concurrency;
mod killed;
mod searching;
