//! `bookrag reset`: deletes a book's local stores.

use std::io::{IsTerminal, stdin};
use std::path::PathBuf;

use bookrag::config::Config;
use clap::Args;

use super::{CommandError, Exit, Output, output};
use crate::local::BookFolder;
use crate::running::Hold;
use crate::site::Site;

#[derive(Debug, Args)]
pub(super) struct ResetArguments {
    /// The site's folder, or `s3://bucket/prefix`.
    #[arg(default_value = ".")]
    site: PathBuf,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(
    config: &Config,
    arguments: &ResetArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let site = Site::read(&arguments.site)?;
    let folder = BookFolder::of_site(config, &site);
    let path = folder.path.display().to_string();
    if !folder.path.is_dir() {
        tell(
            &format!("there is no index of {}", site.address()),
            None,
            output,
        );
        return Ok(Exit::Done);
    }
    if !arguments.yes && !confirmed(&path)? {
        return Ok(Exit::Failed);
    }
    // Keeps any `serve` from starting until everything is deleted.
    let _hold = Hold::take(&folder)?;
    folder.delete()?;
    tell(&format!("deleted {path}"), Some(&path), output);
    if config.qdrant_url.is_some() || config.database_url.is_some() {
        output::status(
            "note: QDRANT_URL and DATABASE_URL name stores elsewhere, which still hold the book",
        );
    }
    Ok(Exit::Done)
}

fn confirmed(path: &str) -> Result<bool, CommandError> {
    if !stdin().is_terminal() {
        return Err(CommandError::Usage(format!(
            "this deletes the index, the conversations and the feedback in {path}; add --yes to do so"
        )));
    }
    output::status(&format!(
        "delete the index, the conversations and the feedback in {path}? [y/N]"
    ));
    let mut answer = String::new();
    let read = stdin().read_line(&mut answer);
    read.map_err(|error| CommandError::Message(format!("no answer could be read: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn tell(text: &str, deleted: Option<&str>, output: Output) {
    if output == Output::Json {
        output::json(&serde_json::json!({"deleted": deleted}));
    } else {
        output::line(text);
    }
}
