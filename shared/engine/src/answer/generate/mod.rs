//! Has a chat model write an answer, within its limits and its budget.

pub(crate) mod limits;
pub(crate) mod first_token;
pub(crate) mod generation;
pub(crate) mod lookup;
pub(crate) mod cache;
