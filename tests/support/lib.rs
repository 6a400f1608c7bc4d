//! What the tests of `bookrag` stand on: real servers they start themselves, and the events AWS would send.
//!
//! Nothing here skips: where something a test needs is missing, the test fails and says what was looked for.

pub mod backends;
pub mod chat_model;
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
