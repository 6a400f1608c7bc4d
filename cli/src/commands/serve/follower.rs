//! Keeps the index of a served book up to date.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use bookrag::ingest::{MassDeletion, Report, SyncError, SyncOptions};
use jiff::Timestamp;
use tokio::sync::MutexGuard;

use super::super::progress::{change, with_progress};
use super::super::sync::{ReportArguments, print, propose_embedder};
use super::super::watch::{Watch, watched_folders};
use super::super::{CommandError, Exit, Output, output};
use crate::local::LocalError;
use crate::server::Server;

/// The delay before retrying a run that a store, a model or a full disk stopped.
const RETRY_AFTER: Duration = Duration::from_secs(15);

/// Keeps the index of a served book up to date.
pub(super) struct Follower<'a> {
    server: &'a Server,
    /// Reports changes in the site's folder; `None` if it is not watched.
    pub(super) watch: Option<Watch>,
    build: Option<&'a Path>,
    options: ReportArguments,
    output: Output,
    /// The temporary failure of the last run, which is reported once and retried.
    failure: Option<String>,
    /// The problems that the last run reported, so that each is printed once.
    problems: BTreeSet<String>,
    /// When the index last equalled a book that nobody was changing.
    settled_at: Timestamp,
    /// True if the book may be closed once nothing has to be done for it.
    pub(super) may_rest: bool,
}

impl<'a> Follower<'a> {
    /// Creates a follower that watches no folder. `build` is the folder that `--build` names.
    pub(super) fn new(
        server: &'a Server,
        build: Option<&'a Path>,
        options: ReportArguments,
        output: Output,
    ) -> Self {
        Self {
            server,
            watch: None,
            build,
            options,
            output,
            failure: None,
            problems: BTreeSet::new(),
            settled_at: Timestamp::now(),
            may_rest: false,
        }
    }

    /// Indexes the book, for which it is the turn, then syncs after each change of a watched folder and after temporary failures. Returns if the
    /// first run fails permanently; `None` if nothing has to be done any more and the book may be closed.
    pub(super) async fn run(
        mut self,
        address: &str,
        turn: MutexGuard<'static, ()>,
    ) -> Result<Option<Exit>, CommandError> {
        let first = self.index(address, turn).await?;
        if first != Exit::Done && self.options.strict {
            return Ok(Some(first));
        }
        loop {
            if self.may_rest && self.failure.is_none() {
                return Ok(None);
            }
            self.watch_what_is_read().await;
            let changed = async {
                match &mut self.watch {
                    Some(watch) => watch.changed().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep(RETRY_AFTER), if self.failure.is_some() => {}
            }
            let mut is_settled = true;
            if let Some(watch) = &mut self.watch {
                is_settled = watch.settle().await;
            }
            let mut pages = Vec::new();
            let synced = self.server.sync(self.sync_options(), |progress| {
                pages.push(progress.source.to_owned());
            });
            match synced.await {
                Ok(report) => {
                    let is_quiet = self.watch.as_ref().is_none_or(Watch::is_quiet);
                    if is_settled && is_quiet {
                        self.settled_at = Timestamp::now();
                    }
                    self.tell_changes(&pages, &report);
                }
                Err(error) => self.tell(&error),
            }
        }
    }

    /// Returns the options of all runs but the first: the deletion of most of the book does not hold back changes of other pages.
    fn sync_options(&self) -> SyncOptions {
        if self.options.allow_mass_deletion {
            return self.options.sync_options();
        }
        SyncOptions {
            mass_deletion: MassDeletion::Keep {
                since: self.settled_at,
            },
        }
    }

    /// Watches the folders that the last run read. On failure, those of the runs before are still watched, and the next run tries again.
    async fn watch_what_is_read(&mut self) {
        let Some(watch) = &mut self.watch else { return };
        let ingest = self.server.ingest.lock().await;
        let followed = match watched_folders(&ingest, self.build).await {
            Ok(folders) => watch.follow(folders),
            Err(error) => Err(LocalError::from(error).into()),
        };
        if let Err(error) = followed {
            output::status(&format!("some folders are not watched: {error}"));
        }
    }

    /// Prints a line that names the pages of a run, and the problems that are new since the run before.
    fn tell_changes(&mut self, pages: &[String], report: &Report) {
        let former = self.note(report);
        let changed = report.files_changed + report.files_deleted > 0;
        let problems: Vec<&String> = self.problems.difference(&former).collect();
        if self.output == Output::Json {
            if changed || !problems.is_empty() {
                print(report, Output::Json);
            }
            return;
        }
        if changed {
            output::line(&change(pages, report));
        }
        for problem in problems {
            output::line(&format!("  {problem}"));
        }
    }

    /// Runs the first sync. If a store, a model or a full disk stops it, it is retried later.
    async fn index(
        &mut self,
        address: &str,
        turn: MutexGuard<'static, ()>,
    ) -> Result<Exit, CommandError> {
        if self.output == Output::Text {
            let title = self.server.title();
            output::status(&format!("{title} is at {address} (Ctrl-C stops)"));
            output::status(&format!(
                "indexing {title}; answers are incomplete until it is done"
            ));
        }
        let synced = {
            let _turn = turn;
            let ingest = self.server.ingest.lock().await;
            propose_embedder(&ingest).await?;
            with_progress(&ingest, self.options.sync_options()).await
        };
        self.settled_at = Timestamp::now();
        let exit = match synced {
            Ok(report) => {
                self.server.indexed.notify_one();
                self.note(&report);
                print(&report, self.output);
                self.options.exit(&report)
            }
            Err(error) if error.may_pass() && !self.options.strict => {
                self.tell(&error);
                Exit::Partial
            }
            Err(error) => return Err(error.into()),
        };
        if self.output == Output::Text {
            output::line(&format!("\nask at {address}   (Ctrl-C stops)"));
        }
        Ok(exit)
    }

    /// Records the outages of a run, so that it is retried, and its problems. Returns the problems of the previous run.
    fn note(&mut self, report: &Report) -> BTreeSet<String> {
        self.failure = (report.outages > 0).then(|| format!("{:?}", report.failed));
        let problems = report.problems().into_iter();
        let problems = problems.map(|(name, value)| format!("{name} {value}"));
        std::mem::replace(&mut self.problems, problems.collect())
    }

    /// Reports why a run stopped, once per reason, and remembers temporary failures.
    fn tell(&mut self, error: &SyncError) {
        let message = error.to_string();
        if self.failure.as_ref() != Some(&message) {
            output::failure(&message, self.output);
        }
        self.failure = error.may_pass().then_some(message);
    }
}
