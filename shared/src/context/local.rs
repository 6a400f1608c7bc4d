//! Loads the models that run in this process.

use std::path::PathBuf;
use std::sync::Arc;

use super::StartError;
use crate::config::Config;
use models::embed::{Embedder, LocalEmbedder};
use models::local::{LocalModel, ModelFiles, locate};
use models::rerank::{CrossEncoder, Reranker};

/// Returns a local model's files, from the configured folder or by downloading them once. `say` gets a line for the user before each wait.
///
/// # Errors
/// If files are missing or differ from the expected ones.
pub async fn model_files(
    config: &Config,
    model: LocalModel,
    say: impl Fn(&str),
) -> Result<ModelFiles, StartError> {
    let configured = config.models.as_ref();
    Ok(locate(model, configured, &cache_folder().join("models"), say).await?)
}

/// Creates the embedder that runs `model` in this process.
pub(super) async fn embedder(
    config: &Config,
    model: LocalModel,
    say: impl Fn(&str),
) -> Result<Embedder, StartError> {
    let files = model_files(config, model, say).await?;
    let embedder = LocalEmbedder::load(&files, None).await;
    let embedder = embedder.map_err(StartError::Embed)?;
    Ok(Embedder::Local(Arc::new(embedder)))
}

pub(super) async fn reranker(config: &Config, say: impl Fn(&str)) -> Result<Reranker, StartError> {
    let files = model_files(config, LocalModel::MsMarco, say).await?;
    let encoder = CrossEncoder::load(&files, None).await;
    let encoder = encoder.map_err(StartError::Rerank)?;
    Ok(Reranker::CrossEncoder(Arc::new(encoder)))
}

/// Returns the user's cache folder, `$XDG_CACHE_HOME/bookrag` or else `~/.cache/bookrag`. Models are in its folder `models`.
#[must_use]
pub fn cache_folder() -> PathBuf {
    let cache = match std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()) {
        Some(cache) => PathBuf::from(cache),
        None => std::env::var_os("HOME")
            .map_or_else(std::env::temp_dir, PathBuf::from)
            .join(".cache"),
    };
    cache.join("bookrag")
}
