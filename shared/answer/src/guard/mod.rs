//! Checks what a model writes before a reader sees it.

pub(crate) mod chat_template;
pub(crate) mod model_refusal;
pub(crate) mod code;
pub(crate) mod attribution;
pub(crate) mod writer;
pub(crate) mod output_filter;
pub(crate) mod generation;
