//! Models that run in this process: their files, their tokenizer, and inference by `rten`.
//!
//! All are BERT encoders from int8 ONNX files; one text is run at a time, since batches are slower and need far more memory.

mod files;
mod tokenizer;
mod transformer;

pub use files::{LocalModel, ModelFiles, ModelFilesError, locate};

pub(crate) use tokenizer::SPECIAL_TOKENS;
pub(crate) use transformer::{ModelError, Threads, Transformer};
