//! The subcommands.

mod serve;
mod written;
mod watch;
mod sync;
mod ask;
mod search;
mod mcp;
mod eval;
mod first_questions;
mod diff;
pub(crate) mod insights;
mod questions;
mod ledger;
mod chunks;
mod files;
mod export;
mod doctor;
mod health;
mod books;
mod migrate;
mod reset;
mod models;
mod scripts;
mod help;
mod progress;
pub(crate) mod output;
mod markdown;
mod terminal;

use std::collections::{BTreeMap, HashMap};
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bookrag::book::ContentKind;
use bookrag::config::{Config, Environment};
use bookrag::context::StartError;
use bookrag::error::ErrorKind;
use bookrag::ingest::SyncError;
use bookrag::source::SourceError;
use bookrag::telemetry;
use clap::{Args, Parser, Subcommand};
use reqwest::RequestBuilder;
use serde::de::DeserializeOwned;

use crate::local::LocalError;
use crate::site::Site;

#[cfg(test)]
pub(crate) use help::Help;
pub use help::command;
use output::Output;

/// Printed after the help: where to begin, and where a book's index is.
const AFTER_HELP: &str = "\
To begin: `bookrag serve SITE` in a terminal, then open the address it prints.
`bookrag COMMAND --help` has examples and the environment variables that matter.

The index of a book is in `.bookrag` in its site's folder; for a bucket or a built site, or if that folder cannot be created, it is in
`~/.local/share/bookrag`. BOOKRAG_DATA names another folder. All settings: docs/configuration.md";

/// Answers questions from one Docusaurus site, and cites the heading and lines of each claim.
#[derive(Debug, Parser)]
#[command(name = "bookrag", version, about, after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
}

/// The address of Ollama's OpenAI-compatible API on this machine.
const OLLAMA: &str = "http://localhost:11434/v1";

#[derive(Debug, Subcommand)]
enum Command {
    /// Index a book, then answer questions on <http://127.0.0.1:8080>.
    Serve(serve::ServeArguments),
    /// Update the index to match the book.
    Sync(sync::SyncArguments),
    /// Ask the book a question.
    Ask(QuestionArguments),
    /// Find sections of the book.
    Search(QuestionArguments),
    /// Serve a book to a coding agent over the Model Context Protocol, on standard input and output.
    Mcp(mcp::McpArguments),
    /// Measure retrieval, answers and refusals on your own questions.
    Eval(eval::EvalArguments),
    /// Compare the answers of two states of the book; exits with 1 if an answer is lost.
    Diff(diff::DiffArguments),
    /// Report what readers asked: questions that are not covered, lessons that are cited and disliked, cost by day.
    Insights(insights::InsightsArguments),
    /// Write, import and check the questions that the book's sections answer.
    Questions(questions::QuestionsArguments),
    /// Print the chunks that a book is split into.
    Chunks(chunks::ChunksArguments),
    /// List the files that a book consists of, to copy them, such as to a bucket.
    Files(files::FilesArguments),
    /// Write the book as Markdown beside the pages of its built site, with `llms.txt`.
    Export(export::ExportArguments),
    /// Show where each setting comes from, problems in the site, and differences between site and index.
    Doctor(doctor::DoctorArguments),
    /// Check a running server; exits with 0 if it can answer.
    Health(health::HealthArguments),
    /// Delete a book's index, conversations and feedback on this machine.
    Reset(reset::ResetArguments),
    /// Delete a book of a deployment that has several.
    Books(books::BooksArguments),
    /// Create or update the catalog's tables.
    Migrate,
    /// Download local models, and print their folders.
    Models(models::ModelsArguments),
    /// Print the completions of a shell.
    Completions(scripts::CompletionsArguments),
    /// Write manual pages.
    #[command(hide = true)]
    Man(scripts::ManArguments),
}

/// The heading of options that only some books need.
const FILTERS: &str = "Filters, for books with translations, versions, hardware tiers or facets";

/// Where the site was built.
#[derive(Debug, Clone, Default, Args)]
struct BuildArgument {
    /// The folder that the site was built into: pages that only the build has are read from it. `build` in bookrag.toml names it for
    /// every command.
    #[arg(long, value_name = "DIR")]
    build: Option<PathBuf>,
}

impl BuildArgument {
    /// Parses the site argument.
    ///
    /// # Errors
    /// If the folder does not exist, or a build folder is given for a bucket.
    fn site(&self, typed: &Path) -> Result<Site, CommandError> {
        let site = Site::read(typed)?;
        match &self.build {
            None => Ok(site),
            Some(_) if site.folder().is_none() => Err(CommandError::Usage(
                "--build is for sites in a folder; a bucket holds the HTML of built pages in its own folder `build`".to_owned(),
            )),
            Some(build) if !build.is_dir() => Err(CommandError::Usage(format!(
                "--build names {}, which is not a folder; build the site first (npm run build), and name the folder it was built into",
                build.display()
            ))),
            Some(build) => Ok(site.with_build(build)),
        }
    }
}

#[derive(Debug, Args)]
struct QuestionArguments {
    /// The question.
    #[arg(required = true, num_args = 1..)]
    query: Vec<String>,
    /// A site's folder, or `s3://bucket/prefix`. By default, that of the current folder, else the one last served or synced.
    #[arg(long)]
    site: Option<PathBuf>,
    /// How many sections to use or show.
    #[arg(long)]
    top_k: Option<usize>,
    /// The locale to search, such as `ur`.
    #[arg(long, help_heading = FILTERS)]
    locale: Option<String>,
    /// The version to search, such as `2.0`.
    #[arg(long = "book-version", value_name = "VERSION", help_heading = FILTERS)]
    version: Option<String>,
    /// Search these kinds of pages only; may be given several times.
    #[arg(long, value_parser = ContentKind::ALL.map(ContentKind::label))]
    kind: Vec<String>,
    /// Your hardware tier, 1 to 4: sections that need more are left out.
    #[arg(long, value_name = "TIER", help_heading = FILTERS, hide_short_help = true)]
    hardware_tier: Option<i64>,
    /// A facet that the site declares, as `plan=pro`; may be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = facet, help_heading = FILTERS, hide_short_help = true)]
    facet: Vec<(String, String)>,
}

/// Parses `NAME=VALUE`.
fn facet(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("a facet has the form NAME=VALUE, got `{text}`"))?;
    Ok((name.to_owned(), value.to_owned()))
}

impl QuestionArguments {
    fn text(&self) -> String {
        self.query.join(" ")
    }

    /// Returns the request in the API's format.
    fn request(&self) -> serde_json::Value {
        serde_json::json!({
            "query": self.text(),
            "top_k": self.top_k,
            "filters": {
                "locale": self.locale,
                "version": self.version,
                "kind": (!self.kind.is_empty()).then_some(&self.kind),
                "hardware_tier": self.hardware_tier,
                "facets": self.facet.iter().cloned().collect::<BTreeMap<_, _>>(),
            },
        })
    }
}

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: the command succeeded.
    Done,
    /// 1: the command failed.
    Failed,
    /// 2: the arguments are invalid.
    Usage,
    /// 3: some pages failed, or were skipped with `--strict`; the others are indexed.
    Partial,
    /// 4: the book does not answer the question.
    NotCovered,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
            Exit::NotCovered => 4,
        })
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error(transparent)]
    Local(#[from] LocalError),
    #[error(transparent)]
    Sync(#[from] SyncError),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Config(#[from] bookrag::config::ConfigError),
    #[error("{0}")]
    Request(#[from] bookrag::error::Error),
    #[error("the running server did not answer: {0}")]
    Server(#[from] reqwest::Error),
    #[error("{0}")]
    Message(String),
    #[error("{0}")]
    Usage(String),
}

impl CommandError {
    fn exit(&self) -> Exit {
        match self {
            Self::Usage(_)
            | Self::Sync(SyncError::NoPages(_))
            | Self::Source(
                SourceError::NotFound(_)
                | SourceError::NotInThisBuild(_)
                | SourceError::SeveralSites { .. },
            )
            | Self::Local(
                LocalError::Source(SourceError::NotFound(_) | SourceError::NotInThisBuild(_))
                | LocalError::Start(StartError::MissingSetting(_) | StartError::NotInThisBuild(_)),
            ) => Exit::Usage,
            Self::Request(error) if error.kind == ErrorKind::Invalid => Exit::Usage,
            _ => Exit::Failed,
        }
    }
}

/// Runs a command and returns its exit code.
pub async fn run(arguments: Arguments) -> Exit {
    telemetry::init(Environment::Local);
    std::panic::set_hook(Box::new(|panic| output::status(&in_one_line(panic))));
    let output = if arguments.json {
        Output::Json
    } else {
        Output::Text
    };
    let exit = match dispatch(arguments, output).await {
        Ok(exit) => exit,
        Err(error) => {
            output::failure(&error.to_string(), output);
            error.exit()
        }
    };
    if output::is_lost() {
        Exit::Failed
    } else {
        exit
    }
}

/// Formats a panic. The code that catches it reports the consequence.
fn in_one_line(panic: &PanicHookInfo<'_>) -> String {
    let message = panic.payload_as_str().unwrap_or("no message");
    let message = message.replace('\n', " ");
    let place = panic.location().map(|place| format!(" ({place})"));
    format!("internal error: {message}{}", place.unwrap_or_default())
}

async fn dispatch(arguments: Arguments, output: Output) -> Result<Exit, CommandError> {
    let mut variables: HashMap<String, String> = std::env::vars().collect();
    if let Command::Serve(serve) = &arguments.command
        && let Some(model) = &serve.model
    {
        variables.extend(variables_of(model));
    }
    let config = Config::read(Environment::Local, &variables)?;
    match arguments.command {
        // Boxed, because nested futures otherwise exceed the compiler's layout limit.
        Command::Serve(arguments) => Box::pin(serve::run(config, arguments, output)).await,
        Command::Sync(arguments) => sync::run(&config, arguments, output).await,
        Command::Ask(arguments) => ask::run(&config, &arguments, output).await,
        Command::Search(arguments) => search::run(&config, &arguments, output).await,
        Command::Mcp(arguments) => mcp::run(&config, arguments).await,
        Command::Eval(arguments) => eval::run(&config, &arguments, output).await,
        Command::Diff(arguments) => diff::run(&config, &arguments, output).await,
        Command::Insights(arguments) => insights::run(&config, &arguments, output).await,
        Command::Questions(arguments) => questions::run(&config, &arguments, output).await,
        Command::Chunks(arguments) => chunks::run(&config, &arguments, output).await,
        Command::Files(arguments) => files::run(&arguments, output).await,
        Command::Export(arguments) => export::run(&arguments, output).await,
        Command::Doctor(arguments) => doctor::run(&config, &arguments, output).await,
        Command::Health(arguments) => health::run(arguments, output).await,
        Command::Reset(arguments) => reset::run(&config, &arguments, output),
        Command::Books(arguments) => books::run(&config, arguments, output).await,
        Command::Migrate => migrate::run(&config, output).await,
        Command::Models(arguments) => models::run(&config, arguments, output).await,
        Command::Completions(arguments) => Ok(scripts::completions(&arguments)),
        Command::Man(arguments) => scripts::man(&arguments),
    }
}

/// Returns the variables that choose a chat model: `ollama/NAME` is one of Ollama on this machine, `command…` one of Cohere, any other one of the
/// OpenAI-compatible API.
fn variables_of(model: &str) -> HashMap<String, String> {
    let chosen = match model.strip_prefix("ollama/") {
        Some(name) => vec![
            ("BOOKRAG_GENERATOR", "openai"),
            ("BOOKRAG_CHAT_MODEL", name),
            ("BOOKRAG_CHAT_BASE_URL", OLLAMA),
        ],
        None if model.starts_with("command") => {
            vec![
                ("BOOKRAG_GENERATOR", "cohere"),
                ("BOOKRAG_CHAT_MODEL", model),
            ]
        }
        None => vec![
            ("BOOKRAG_GENERATOR", "openai"),
            ("BOOKRAG_CHAT_MODEL", model),
        ],
    };
    chosen
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Reads a running server's response to a command.
///
/// # Errors
/// The server's own message if it sent one.
async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, CommandError> {
    let response = request.send().await?;
    let status = response.status();
    if status.is_success() {
        return Ok(response.json().await?);
    }
    let text = response.text().await?;
    let body: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let message = match body["error"]["message"].as_str() {
        Some(message) => message.to_owned(),
        None => format!("the running server answered {status}: {text}"),
    };
    Err(CommandError::Message(message))
}
