//! Decides whether the book answers, and what else readers are offered.

pub(crate) mod answerable;
pub(crate) mod suggestions;
pub(crate) mod proposals;
