//! What the local vector index promises: what is committed is found, by words and by vectors, in every process at once.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

mod book;
mod committing;
mod concurrency;
mod killed;
mod searching;
