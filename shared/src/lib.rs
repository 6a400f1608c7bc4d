//! bookrag: answers questions from one Docusaurus book, and cites each claim by heading and lines.
//!
//! Modules are listed in the order of the data flow. A module imports only modules above it, except `config`, `context`, `telemetry` and `lambda`,
//! which serve the functions and the command.

pub mod error;
pub mod degradation;
pub mod metrics;
#[cfg(test)]
pub(crate) mod faults;

pub mod book;
pub mod chunk;
pub mod words;
pub mod provider;
pub mod http;
pub mod prices;
pub mod models;
pub mod embed;
#[cfg(feature = "embedded")]
mod sqlite;
pub mod index;
pub mod catalog;
pub mod source;
pub mod ingest;
pub mod rerank;
pub mod retrieve;
pub mod generate;
pub mod cite;
pub mod answer;
pub mod api;
pub mod mcp;

pub mod config;
pub mod context;
pub mod telemetry;
#[cfg(feature = "lambda")]
pub mod lambda;
