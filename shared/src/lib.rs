//! bookrag: answers questions from one Docusaurus book, and cites each claim by heading and lines.
//!
//! The crates `text`, `book`, `models`, `store`, `indexer` and `answer` do the work. This crate is the service around them: HTTP, the Model Context
//! Protocol, and what a process reads from its environment. It exports their modules, in the order of the data flow.

pub use ::answer::{self, cite, degradation, error, generate, quote, retrieve};
pub use book::{self, chunk};
pub use indexer::{ingest, question_writer, source};
pub use models::{chat, embed, http, local, prices, provider, rerank};
pub use store::{budget, catalog, index};
pub use text::{self as words, invisible};

pub mod metrics;
pub mod api;
pub mod mcp;

pub mod config;
pub mod context;
pub mod books;
pub mod telemetry;
#[cfg(feature = "lambda")]
pub mod lambda;
