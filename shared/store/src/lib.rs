//! Stores a book's chunks: their vectors in an index, everything else in a catalog, which is authoritative.

mod spans;
#[cfg(feature = "embedded")]
mod sqlite;
pub mod index;
pub mod catalog;
pub mod budget;
