//! `bookrag questions`: the questions that the book's sections answer, in files of the site.

mod sections;
mod files;
mod report;
mod todo;
mod import;
mod export;
mod add;
mod check;
mod write;
mod calls;

use bookrag::config::Config;
use clap::{Args, Subcommand};

use super::{CommandError, Exit, Output};

pub(super) use report::QuestionReport;
pub(super) use sections::{counted, place};

#[derive(Debug, Args)]
pub(super) struct QuestionsArguments {
    #[command(subcommand)]
    command: QuestionsCommand,
}

#[derive(Debug, Subcommand)]
enum QuestionsCommand {
    /// List the sections without questions, and those whose text has changed since they were written.
    Todo(todo::TodoArguments),
    /// Write questions from lines of JSON into the site's files.
    Import(import::ImportArguments),
    /// Write the questions that the catalog has into the site's files.
    Export(export::ExportArguments),
    /// Add a question to a section.
    Add(add::AddArguments),
    /// Search each question, and report those that do not lead to their section.
    Check(check::CheckArguments),
    /// Let a chat model write the questions that are missing.
    Write(write::WriteArguments),
}

pub(super) async fn run(
    config: &Config,
    arguments: &QuestionsArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    match &arguments.command {
        QuestionsCommand::Todo(arguments) => todo::run(arguments, output).await,
        QuestionsCommand::Import(arguments) => import::run(arguments, output).await,
        QuestionsCommand::Export(arguments) => export::run(config, arguments, output).await,
        QuestionsCommand::Add(arguments) => add::run(arguments, output).await,
        QuestionsCommand::Check(arguments) => check::run(config, arguments, output).await,
        QuestionsCommand::Write(arguments) => write::run(config, arguments, output).await,
    }
}
