//! `bookrag books`: deletes a book of a deployment.

use bookrag::books::BookId;
use bookrag::config::{BookSettings, Config};
use bookrag::context::{DeletedBook, delete_book};
use clap::{Args, Subcommand};

use super::{CommandError, Exit, Output, output};
use crate::local::LocalError;

#[derive(Debug, Args)]
pub(super) struct BooksArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Delete a book's database and vectors: its index, conversations, feedback and counts. Run it again if it was interrupted. The book's files
    /// stay in the bucket.
    Delete(DeleteArguments),
}

#[derive(Debug, Args)]
struct DeleteArguments {
    /// The id of the book.
    id: BookId,
    /// Delete it. Without this, nothing is deleted.
    #[arg(long)]
    yes: bool,
    /// Delete it even if `BOOKRAG_BOOKS` still lists it, or is not set.
    #[arg(long)]
    force: bool,
}

pub(super) async fn run(
    config: &Config,
    BooksArguments { action }: BooksArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let Action::Delete(arguments) = action;
    let id = &arguments.id;
    if let Some(problem) = problem(config, &arguments) {
        return Err(CommandError::Usage(problem));
    }
    let own = config.of_book(&BookSettings {
        id: id.clone(),
        origins: Vec::new(),
        is_private: false,
    });
    let deleted = delete_book(&own).await.map_err(LocalError::from)?;
    if output == Output::Json {
        output::json(&serde_json::json!({"deleted": deleted}));
    } else {
        output::line(&sentence(id, &deleted));
    }
    if let Some(files) = own.source {
        output::status(&format!(
            "note: the files of the book stay in {files}; to delete them: aws s3 rm --recursive {files}/"
        ));
    }
    Ok(Exit::Done)
}

/// Returns why a book may not be deleted.
fn problem(config: &Config, arguments: &DeleteArguments) -> Option<String> {
    let DeleteArguments { id, yes, force } = arguments;
    let mut listed = config.books.iter();
    if config.book.is_some() {
        return Some("remove BOOKRAG_BOOK: the argument alone names the book".to_owned());
    }
    if !force && config.books.is_empty() {
        return Some("set BOOKRAG_BOOKS to the books of the deployment, so that none of them is deleted by mistake, or add --force".to_owned());
    }
    if !force && listed.any(|book| book.id == *id) {
        return Some(format!(
            "BOOKRAG_BOOKS still lists the book `{id}`; remove its entry and deploy first, or add --force"
        ));
    }
    let unconfirmed = format!(
        "this deletes the index, the conversations and the feedback of the book `{id}`; add --yes to do so"
    );
    (!yes).then_some(unconfirmed)
}

fn sentence(
    id: &BookId,
    DeletedBook {
        collections,
        database,
    }: &DeletedBook,
) -> String {
    let database = database.as_ref().map(|name| format!("the database {name}"));
    let collections = collections
        .iter()
        .map(|name| format!("the collection {name}"));
    let parts: Vec<String> = database.into_iter().chain(collections).collect();
    if parts.is_empty() {
        return format!("there is nothing of a book `{id}`");
    }
    format!("deleted {}", parts.join(", "))
}
