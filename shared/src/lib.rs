//! bookrag: answers questions from one Docusaurus book, and cites each claim by heading and lines.
//!
//! The crate `book` reads a site, the crate `engine` indexes it and answers questions. This crate is the service around them: HTTP, the Model
//! Context Protocol, and what a process reads from its environment. It exports the modules of all three, in the order of the data flow.

pub use book;
pub use book::chunk;
pub use engine::{answer, cite, degradation, error, generate, retrieve};
pub use indexer::{ingest, question_writer, source};
pub use models::{chat, embed, http, local, prices, provider, rerank};
pub use store::{budget, catalog, index};
pub use text as words;

pub mod metrics;
pub mod api;
pub mod mcp;

pub mod config;
pub mod context;
pub mod telemetry;
#[cfg(feature = "lambda")]
pub mod lambda;
