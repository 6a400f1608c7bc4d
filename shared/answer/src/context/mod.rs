//! Reads the text that an answer is written from.

pub(crate) mod explanation;
pub(crate) mod answer_context;
pub(crate) mod passages;
pub(crate) mod model_input;
pub(crate) mod links;
pub(crate) mod similarity;
pub(crate) mod truncated_code;
