//! The `bookrag` command: serves a book on a laptop, syncs it, asks and searches it.

pub mod engine;
