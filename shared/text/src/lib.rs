//! Words of texts: how they are split, reduced to stems, and weighed by their frequency; and the characters that stand for something inside a text.

mod words;

pub mod marks;

pub use words::*;
