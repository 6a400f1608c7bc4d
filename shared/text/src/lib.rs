//! Words and sentences of texts: how they are split, and how words are reduced to stems and weighed by their frequency; invisible characters, and those that
//! stand for something inside a text.

mod words;
mod bm25;
mod sentences;

pub mod invisible;
pub mod marks;

pub use bm25::*;
pub use sentences::{CLAUSE_ENDS, SENTENCE_ENDS, introduces, sentences};
pub use words::*;
