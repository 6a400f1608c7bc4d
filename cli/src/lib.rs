//! The `bookrag` command: serves a book on a laptop, syncs it, asks and searches it.

pub mod engine;

pub mod local;
mod running;
mod server;
mod commands;

pub use commands::{Arguments, Exit, run};
