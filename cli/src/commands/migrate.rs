//! `bookrag migrate`: creates or updates the catalog's tables.

use bookrag::config::Config;
use bookrag::context::postgres_catalog;

use super::{CommandError, Exit, output};
use crate::local::{BookFolder, LocalError, catalog_of};

pub(super) async fn run(config: &Config, json: bool) -> Result<Exit, CommandError> {
    let catalog = match &config.database_url {
        Some(url) => postgres_catalog(config, url).map_err(LocalError::from)?,
        None => catalog_of(&BookFolder::current(config)?)
            .await
            .map_err(LocalError::from)?,
    };
    let version = catalog.migrate().await.map_err(LocalError::from)?;
    if json {
        output::json(&serde_json::json!({"schema_version": version}));
    } else {
        output::line(&format!("the catalog has schema version {version}"));
    }
    Ok(Exit::Done)
}
