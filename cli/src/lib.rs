//! The `bookrag` command: serves a book on a laptop, syncs it, asks and searches it.

pub mod site;
pub mod local;
mod running;
mod examination;
pub mod evaluation;
mod export;
mod server;
pub mod openapi;
mod commands;

pub use commands::{Arguments, Exit, run};
