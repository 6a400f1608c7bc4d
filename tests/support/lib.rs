//! Test support for `bookrag`: real servers that tests start themselves, and events of AWS.
//!
//! Nothing is skipped: if a test lacks something it needs, it fails and says what it looked for.

pub mod backends;
pub mod chat_model;
pub mod collector;
pub mod emulator;
pub mod events;
pub mod functions;
pub mod llama;
pub mod moto;
pub mod openai;
pub mod pgbouncer;
pub mod postgres;
pub mod proxy;
pub mod runtime_api;
