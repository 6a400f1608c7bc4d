//! `bookrag completions` and `bookrag man`: generate shell completions and manual pages from the command line's definition.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::help::command;
use super::{CommandError, Exit, output};

#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell.
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// The folder to write the pages into; it is created if it is missing.
    folder: PathBuf,
}

/// Prints the completions of a shell.
pub(super) fn completions(arguments: &CompletionsArguments) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "bookrag", &mut script);
    output::text(&String::from_utf8_lossy(&script));
    Exit::Done
}

/// Writes a manual page for each command.
pub(super) fn man(arguments: &ManArguments) -> Result<Exit, CommandError> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command(), folder))
        .map_err(|error| {
            CommandError::Message(format!("cannot write into {}: {error}", folder.display()))
        })?;
    Ok(Exit::Done)
}
