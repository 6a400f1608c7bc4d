//! `bookrag models`: fetches local models, for packages and for machines without network access.

use bookrag::config::Config;
use bookrag::context::model_files;
use bookrag::local::LocalModel;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::{CommandError, Exit, Output, output};
use crate::local::LocalError;

#[derive(Debug, Args)]
pub(super) struct ModelsArguments {
    /// The models to fetch; by default the ones that a laptop needs.
    #[arg(default_values = ["bge-small"])]
    models: Vec<Name>,
}

#[derive(Debug, Clone, Copy)]
struct Name(LocalModel);

impl ValueEnum for Name {
    fn value_variants<'a>() -> &'a [Self] {
        const NAMES: [Name; LocalModel::ALL.len()] = {
            let [a, b, c, d] = LocalModel::ALL;
            [Name(a), Name(b), Name(c), Name(d)]
        };
        &NAMES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let Self(model) = self;
        Some(PossibleValue::new(model.id()).help(model.name()))
    }
}

/// Prints the folder of each model.
pub(super) async fn run(
    config: &Config,
    arguments: ModelsArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let mut folders = Vec::new();
    for name in arguments.models {
        let files = model_files(config, name.0, output::status).await;
        let files = files.map_err(LocalError::from)?;
        folders.push(files.folder.display().to_string());
    }
    if output == Output::Json {
        output::json(&serde_json::json!({ "folders": folders }));
    } else {
        output::line(&folders.join("\n"));
    }
    Ok(Exit::Done)
}
