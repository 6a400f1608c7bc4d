//! The `bookrag` command: serves, syncs, asks and searches a book on this machine.

pub mod site;
pub mod local;
mod html;
mod look;
mod running;
mod pages;
mod examination;
pub mod evaluation;
mod export;
mod server;
#[cfg(feature = "openapi")]
pub mod openapi;
#[cfg(test)]
mod reference;
mod commands;

pub use commands::{Arguments, Exit, command, run};
