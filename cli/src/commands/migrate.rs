//! `bookrag migrate`: creates or updates the catalog's tables.

use bookrag::config::Config;

use super::{CommandError, Exit, Output, output};
use crate::local::{BookFolder, LocalError, open_catalog};

pub(super) async fn run(config: &Config, output: Output) -> Result<Exit, CommandError> {
    let catalog = open_catalog(config, || BookFolder::find(config, None)).await?;
    let version = catalog.migrate().await.map_err(LocalError::from)?;
    if output == Output::Json {
        output::json(&serde_json::json!({"schema_version": version}));
    } else {
        output::line(&format!("the catalog has schema version {version}"));
    }
    Ok(Exit::Done)
}
