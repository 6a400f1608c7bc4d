//! Turns text and citations into an answer, and sends and records it.

pub(crate) mod assemble;
pub(crate) mod journal;
mod quotes;
pub(crate) mod steps;
pub(crate) mod stream;
