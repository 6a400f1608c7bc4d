//! `bookrag files`: lists the files that a book consists of, for whoever copies it. Needs no model and no store.

use std::path::PathBuf;

use bookrag::book::is_outside;
use bookrag::ingest::{SyncError, no_pages};
use bookrag::source::{BookFiles, FileKind, FolderSource, Source};
use clap::Args;

use super::{BuildArgument, CommandError, Exit, Output, output};

#[derive(Debug, Args)]
pub(super) struct FilesArguments {
    /// The site's folder.
    site: PathBuf,
    #[command(flatten)]
    build: BuildArgument,
    /// End each path with a null character instead of a line end.
    #[arg(long, conflicts_with = "json")]
    null: bool,
}

pub(super) async fn run(arguments: &FilesArguments, output: Output) -> Result<Exit, CommandError> {
    let site = arguments.build.site(&arguments.site)?;
    if let Some(note) = site.note().await? {
        output::status(&note);
    }
    let source = site.source().await?;
    let Source::Folder(folder) = &source else {
        let message = "`bookrag files` needs a folder; all files of a bucket may be of its book";
        return Err(CommandError::Usage(message.to_owned()));
    };
    let settings = source.settings().await?;
    let book = source.book_files(&settings).await?;
    let missing = match &book.missing {
        None if book.pages == 0 && book.unreadable.is_empty() => Some(no_pages(&settings, "")),
        missing => missing.clone(),
    };
    if let Some(missing) = missing {
        return Err(SyncError::NoPages(missing).into());
    }
    let mut files: Vec<(FileKind, &str)> = book
        .files
        .iter()
        .map(|(path, kind)| (*kind, path.as_str()))
        .collect();
    files.sort_unstable();
    for (path, reason) in &book.left_out {
        output::status(&format!("not in the book: {path}: {reason}"));
    }
    for (path, reason) in &book.unreadable {
        output::status(&format!("not read: {path}: {reason}"));
    }
    match output {
        Output::Json => print_json(folder, &book, &files),
        Output::Text => {
            for (_, path) in files {
                if arguments.null {
                    output::raw(&format!("{path}\0"));
                } else {
                    output::line(path);
                }
            }
        }
    }
    Ok(if book.unreadable.is_empty() {
        Exit::Done
    } else {
        Exit::Partial
    })
}

/// Prints each file as JSON on a line, with where it is on this machine and where it must be in a copy; at last those that cannot be read.
fn print_json(folder: &FolderSource, book: &BookFiles, files: &[(FileKind, &str)]) {
    // With files beside the site's folder, a copy has the folders of the repository.
    let mut paths = book.files.keys().chain(book.unreadable.keys());
    let repository = paths.any(|path| is_outside(path)).then_some(folder);
    for (kind, path) in files {
        output::json(&serde_json::json!({
            "path": path,
            "kind": kind.name(),
            "key": key(repository, path),
            "file": folder.file(path),
        }));
    }
    for path in book.unreadable.keys() {
        output::json(&serde_json::json!({
            "path": path,
            "kind": "unreadable",
            "key": key(repository, path),
        }));
    }
}

/// Returns the path that a file has in a copy of the book, or of the repository.
fn key(repository: Option<&FolderSource>, path: &str) -> Option<String> {
    match repository {
        Some(folder) => folder.path_in_root(path),
        None => Some(path.to_owned()),
    }
}
