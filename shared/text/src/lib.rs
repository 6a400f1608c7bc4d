//! Words of texts: how they are split, reduced to stems, and weighed by their frequency.

mod words;

pub use words::*;
