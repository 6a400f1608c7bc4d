//! `bookrag sync`: updates the index to match the book.

use std::path::PathBuf;

use bookrag::config::Config;
use bookrag::ingest::{Ingest, MassDeletion, OpenMode, Report, RunStatus, SyncOptions};
use bookrag::local::LocalModel;
use clap::Args;
use reqwest::Method;

use super::progress::{STOPPED, with_progress};
use super::serve::interrupted;
use super::{BuildArgument, CommandError, Exit, Output, answer, output};
use crate::local::{BookFolder, LocalBook, LocalError, config_for};
use crate::running::Running;
use crate::site::Site;

#[derive(Debug, Args)]
pub(super) struct SyncArguments {
    /// The site's folder, or `s3://bucket/prefix`.
    site: PathBuf,
    #[command(flatten)]
    build: BuildArgument,
    #[command(flatten)]
    pub(super) options: ReportArguments,
}

#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct ReportArguments {
    /// End with an error if a page is skipped.
    #[arg(long)]
    pub(super) strict: bool,
    /// Allow more than half of the book to be deleted.
    #[arg(long)]
    pub(super) allow_mass_deletion: bool,
}

impl ReportArguments {
    pub(super) fn sync_options(self) -> SyncOptions {
        SyncOptions {
            mass_deletion: if self.allow_mass_deletion {
                MassDeletion::Allow
            } else {
                MassDeletion::Stop
            },
        }
    }

    pub(super) fn exit(self, report: &Report) -> Exit {
        let skipped = self.strict && !report.skipped.is_empty();
        if skipped || report.status == RunStatus::Partial {
            Exit::Partial
        } else {
            Exit::Done
        }
    }
}

pub(super) async fn run(
    config: &Config,
    arguments: SyncArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let site = arguments.build.site(&arguments.site)?;
    if let Some(note) = site.note().await? {
        output::status(&note);
    }
    let folder = BookFolder::create(config, &site, output::status)?;
    let mut report = sync_site(config, &folder, &site, arguments.options).await?;
    folder.make_current(config);
    if config.database_url.is_none() {
        report.storage_bytes = Some(folder.bytes());
    }
    print(&report, output);
    Ok(arguments.options.exit(&report))
}

/// Syncs a book, through the server that serves it if there is one.
pub(super) async fn sync_site(
    config: &Config,
    folder: &BookFolder,
    site: &Site,
    options: ReportArguments,
) -> Result<Report, CommandError> {
    if let Some(server) = Running::find(folder) {
        output::status(&format!("syncing through the server at {}", server.url));
        if site.named_build().is_some() {
            output::status(
                "note: --build is not used: the server reads the build that it was started with",
            );
        }
        let allow = options.allow_mass_deletion;
        let path = format!("/local/sync?allow_mass_deletion={allow}");
        return answer(server.request(Method::POST, &path)).await;
    }
    let config = &config_for(config, site).await?;
    let book = LocalBook::open(config, folder, output::status).await?;
    let ingest = book.ingest(config, site, OpenMode::TakeOver).await?;
    propose_embedder(&ingest).await?;
    tokio::select! {
        // First, so that a signal is noticed from the moment that the run starts.
        biased;
        _ = interrupted() => Err(CommandError::Message(STOPPED.to_owned())),
        report = with_progress(&ingest, options.sync_options()) => Ok(report?),
    }
}

/// Warns about locales that the embedder does not support, and suggests one that does.
pub(super) async fn propose_embedder(ingest: &Ingest) -> Result<(), LocalError> {
    let unread = ingest.unread_locales().await?;
    if let Some(note) = by_words_alone(&ingest.embedder.identity().name, &unread) {
        output::status(&format!("note: {note}"));
    }
    Ok(())
}

/// Returns a warning about locales that the embedder does not support, and how to change that.
pub(super) fn by_words_alone(embedder: &str, unread_locales: &[String]) -> Option<String> {
    let locales = match unread_locales {
        [] => return None,
        [locale] => format!("the locale {locale}"),
        locales => format!("the locales {}", locales.join(", ")),
    };
    let multilingual = LocalModel::Multilingual;
    let proposal = if embedder == multilingual.name() {
        String::new()
    } else {
        format!(
            "; to compare their meaning as well, set BOOKRAG_EMBEDDER={}",
            multilingual.id()
        )
    };
    Some(format!(
        "{embedder} does not read {locales}: questions there are answered by words alone{proposal}"
    ))
}

pub(super) fn print(report: &Report, output: Output) {
    if output == Output::Json {
        output::json(report);
    } else {
        output::text(&report.to_string());
    }
}
