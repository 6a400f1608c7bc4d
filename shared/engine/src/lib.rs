//! Searches a book, and answers questions with citations.
//!
//! Modules are listed in the order of the data flow. A module imports only modules above it.

pub mod error;
pub mod degradation;
// What the tests of `book` render Markdown with.
#[cfg(test)]
#[path = "../../book/src/rendering.rs"]
pub(crate) mod rendering;

pub mod retrieve;
pub mod generate;
pub mod cite;
pub mod answer;
