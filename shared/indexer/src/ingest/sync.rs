//! Ingests every page of a source.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::{Stream, StreamExt, TryFutureExt, stream};
use serde::Serialize;

use super::{
    DocumentOutcome, Ingest, IngestError, MAX_ATTEMPTS, MassDeletion, PendingChange,
    PendingDocument, Report, SkippedFile, SourceError, Status, Switched, forget_readers,
    sweep::sweep_points,
};
use book::SiteSettings;
use store::catalog::IndexState;

/// More stray points than this may belong to another catalog.
const FEW_POINTS: usize = 100;
/// After this many consecutive failures of stores and models, the other pages would fail as well.
const MAX_FAILURES_IN_A_ROW: usize = 3;

/// How long the questions that a model wrote for a page outlive it.
const KEEP_QUESTIONS: Duration = Duration::from_hours(24);

/// Pages ingested concurrently, so that short ones share calls of the embedder.
const PAGES_AT_ONCE: usize = 16;

/// Options of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct SyncOptions {
    /// Whether more than half of the book may be deleted.
    pub mass_deletion: MassDeletion,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Pages done, including this one.
    pub done: usize,
    /// Total pages.
    pub total: usize,
    /// The page done last.
    pub source: &'a str,
}

/// The reason that a run stopped early. Earlier commits stay.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The files could not be listed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A store or a model fails for every page.
    #[error("{0}")]
    Ingest(#[from] IngestError),
    /// There is nothing to index, or the docs that readers see first are missing.
    #[error("{0}")]
    NoPages(String),
    /// The settings changed during the run, so pages may have been committed under the former ones.
    #[error("the site's settings changed meanwhile; run it again")]
    SettingsChanged,
    /// The run would delete more pages than it keeps.
    #[error(
        "{deleted} of {total} pages would be deleted; nothing was changed. If that is right, allow mass deletion: \
         `--allow-mass-deletion` (of the ingest function: `\"allow_mass_deletion\": true`)"
    )]
    MassDeletion {
        /// Pages that would be deleted.
        deleted: usize,
        /// Pages in the index.
        total: usize,
    },
}

/// Makes the index hold exactly the pages of the source, and makes it the live one. Calls `progress` after each page that was
/// not up to date.
pub async fn sync(
    ingest: &Ingest,
    options: SyncOptions,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<Report, SyncError> {
    let started = Instant::now();
    let commit = ingest.source.commit().await?;
    let status = ingest.outstanding("", options).await?;
    ingest.note_expected_pages(&status).await?;
    let mut report = Report::from_status(&status);
    report
        .warnings
        .extend(ingest.settings.warnings.iter().cloned());
    let mut pending = status.pending;
    let mut live = ingest.index_row.state == IndexState::Live;
    for _ in 0..MAX_ATTEMPTS {
        report.outages += converge(ingest, &pending, &mut report, &mut progress).await?;
        if live || report.outages > 0 {
            break;
        }
        pending = match ingest.switch(options).await? {
            Switched::Live(status) => {
                live = true;
                status.pending
            }
            Switched::Behind(status) => status.pending,
        };
        let failed: BTreeSet<&str> = report.failed.iter().map(|file| &*file.source).collect();
        pending.retain(|pending| !failed.contains(pending.source.as_str()));
    }
    ingest.end_first_indexing().await?;
    if !live {
        report.warnings.push(
            "readers still get the previous index, because the new one is not complete yet"
                .to_owned(),
        );
    }
    let failures = complete(ingest, options, &mut report).await?;
    let is_equal = failures == 0 && report.failed.is_empty() && report.stale.is_empty();
    if live && is_equal {
        // Not when it began: pages that the run itself changed were committed since.
        ingest.record_comparison(commit, Duration::ZERO).await;
    }
    report.finish(live, started.elapsed());
    Ok(report)
}

/// Repairs what the run left behind, and completes the report with the state of the index. Returns how many pages are recorded as failed, among them
/// those that stay although their files are gone.
async fn complete(
    ingest: &Ingest,
    options: SyncOptions,
    report: &mut Report,
) -> Result<usize, SyncError> {
    let settled = ingest.settle(options).await?;
    report.stray_points = settled.stray_points;
    report.restored = settled.restored;
    report.embedded_tokens += settled.embedded_tokens;
    report.warnings.extend(settled.warnings);
    let committed = report.files_changed + report.files_deleted + report.restored.len() > 0;
    let index_id = ingest.index_row.index_id;
    let (settings_changed, shared_urls, stats) = tokio::try_join!(
        async { Ok::<_, IngestError>(committed && ingest.settings_changed().await?) },
        ingest
            .catalog
            .shared_urls(index_id)
            .map_err(IngestError::from),
        ingest.catalog.stats(index_id).map_err(IngestError::from)
    )?;
    if settings_changed {
        return Err(SyncError::SettingsChanged);
    }
    report
        .warnings
        .extend(shared_urls.into_iter().map(shared_url));
    let dead_links = dead_links(ingest, report).await?;
    report.warnings.extend(dead_links);
    report.total_chunks = stats.chunks;
    report.total_tokens = stats.tokens;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a run embeds fewer than 2^52 tokens"
    )]
    let tokens = report.embedded_tokens as f64;
    let price = ingest.embedder.dollars_per_million_tokens();
    report.cost_usd = price.map(|price| price * tokens / 1e6);
    Ok(stats.failed.len())
}

/// Returns the folders in which links of the pages indexed in this run lead to no page.
async fn dead_links(ingest: &Ingest, report: &Report) -> Result<Vec<String>, IngestError> {
    let (index_id, settings) = (ingest.index_row.index_id, &ingest.settings);
    let places = report.links.places().cloned();
    let (urls, sources): (Vec<_>, Vec<_>) = places.partition(|place| place.starts_with('/'));
    let with_slash = urls.iter().map(|url| format!("{url}/"));
    let urls: Vec<String> = with_slash.chain(urls.iter().cloned()).collect();
    let (sources, urls) = tokio::try_join!(
        ingest.catalog.urls(index_id, &sources),
        ingest.catalog.known_urls(index_id, &urls)
    )?;
    let urls = urls.iter().map(|url| url.trim_end_matches('/').to_owned());
    let pages: BTreeSet<String> = sources.into_keys().chain(urls).collect();
    let dead = report.links.dead(settings, &pages, &report.script_pages);
    if dead.is_empty() {
        return Ok(dead);
    }
    let generated = ingest.source.generated_urls(settings).await?;
    let pages = pages.into_iter().chain(generated);
    Ok(report
        .links
        .dead(settings, &pages.collect(), &report.script_pages))
}

/// Ingests pages concurrently and then processes deletions, so that a renamed page can reuse the vectors of the deleted one.
/// Returns how many pages failed for a reason other than their own file.
///
/// # Errors
/// The last failure, once a store or a model has failed for [`MAX_FAILURES_IN_A_ROW`] pages in the order of `pending`.
async fn converge(
    ingest: &Ingest,
    pending: &[PendingDocument],
    report: &mut Report,
    progress: &mut impl FnMut(Progress<'_>),
) -> Result<usize, SyncError> {
    let pages = pending.partition_point(|pending| pending.change != PendingChange::Deleted);
    let (pages, deleted) = pending.split_at(pages);
    let (mut done, mut outages, mut failures_in_a_row) = (0, 0, 0);
    for documents in [pages, deleted] {
        let mut outcomes = pin!(ingest_all(ingest, documents));
        for PendingDocument { source, .. } in documents {
            let Some(outcome) = outcomes.next().await else {
                break;
            };
            match outcome {
                Ok(outcome) => {
                    failures_in_a_row = 0;
                    report.add(source, &outcome);
                }
                Err(error) => {
                    if error.is_outage() {
                        outages += 1;
                        failures_in_a_row += 1;
                    }
                    if failures_in_a_row == MAX_FAILURES_IN_A_ROW {
                        return Err(error.into());
                    }
                    report.add_failure(source, &error);
                }
            }
            done += 1;
            progress(Progress {
                done,
                total: pending.len(),
                source,
            });
        }
    }
    Ok(outages)
}

/// Ingests documents concurrently and records failures. Outcomes are in the order of `documents`.
fn ingest_all<'a>(
    ingest: &'a Ingest,
    documents: &'a [PendingDocument],
) -> impl Stream<Item = Result<DocumentOutcome, IngestError>> + Send + 'a {
    let outcomes = documents.iter().map(async |document| {
        let outcome = ingest.ingest_document(&document.source).await;
        if let Err(error) = &outcome {
            ingest.record_failure(&document.source, error).await;
        }
        outcome
    });
    stream::iter(outcomes).buffered(PAGES_AT_ONCE)
}

fn shared_url((url, sources): (String, BTreeSet<String>)) -> String {
    let sources = Vec::from_iter(sources).join(", ");
    format!("{sources}: all have the URL {url}, and Docusaurus shows only one of them")
}

/// Returns the message for a source without a page whose path begins with `prefix`.
#[must_use]
pub fn no_pages(settings: &SiteSettings, prefix: &str) -> String {
    let folders = settings
        .instances
        .iter()
        .filter(|docs| docs.is_built == settings.is_build)
        .map(|docs| match docs.path.as_str() {
            "" => "the folder itself".to_owned(),
            path => format!("`{path}/`"),
        })
        .collect::<Vec<_>>()
        .join(" or ");
    let below = match prefix {
        "" => String::new(),
        prefix => format!(" whose path begins with `{prefix}`"),
    };
    let files = if settings.is_build {
        ".html"
    } else {
        ".md or .mdx"
    };
    format!("no page found: there is no {files} file in {folders}{below}")
}

/// The work done after all pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Settled {
    /// Leftover points of writers, counted once their deletion is final.
    pub swept: usize,
    /// Points that the store held and the catalog did not know.
    pub stray_points: usize,
    /// Pages with points that the store had lost and that were restored.
    pub restored: Vec<String>,
    /// cl100k tokens that were embedded to calibrate the index.
    pub embedded_tokens: u64,
    /// Work that was not done, and why.
    pub warnings: Vec<String>,
}

impl SyncError {
    /// True if the same run may succeed later, with unchanged book and settings.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Ingest(error) if error.may_pass())
    }
}

impl Ingest {
    /// Returns what must be done for the pages whose path begins with `prefix`; deletions come last.
    ///
    /// # Errors
    /// If the source has no page, lacks the docs that readers see first, or would lose most of its pages: then it is probably the wrong one.
    pub async fn outstanding(
        &self,
        prefix: &str,
        options: SyncOptions,
    ) -> Result<Status, SyncError> {
        let mut status = self.status(prefix).await?;
        if !status.former_failures.is_empty() {
            let index_id = self.index_row.index_id;
            let forgotten = self
                .catalog
                .forget_failures(index_id, &status.former_failures);
            forgotten.await.map_err(IngestError::from)?;
        }
        if status.pages == 0 && status.documents == 0 && status.missing.is_none() {
            if let Some(SkippedFile { source, reason }) = status.unreadable_folders.pop() {
                return Err(SourceError::Forbidden {
                    path: source,
                    reason,
                }
                .into());
            }
            return Err(SyncError::NoPages(no_pages(&self.settings, prefix)));
        }
        // The folder of an index that exists may have been deleted on purpose.
        match status.missing.take() {
            Some(missing) if status.documents == 0 => return Err(SyncError::NoPages(missing)),
            missing => status.warnings.extend(missing),
        }
        self.guard_deletions(&mut status, options).await?;
        status
            .pending
            .sort_by_key(|pending| pending.change == PendingChange::Deleted);
        Ok(status)
    }

    /// Records that the index was equal to the book's files `age` ago. Their commit counts if it is still the same. A failure is only logged, because
    /// the index itself is complete.
    pub async fn record_comparison(&self, commit: Option<String>, age: Duration) {
        if let Err(error) = self.write_comparison(commit, age).await {
            tracing::warn!(stage = "ingest", error = %error, "cannot record the comparison with the book's files");
        }
    }

    async fn write_comparison(
        &self,
        commit: Option<String>,
        age: Duration,
    ) -> Result<(), IngestError> {
        let now = self.source.commit().await?;
        let commit = commit.filter(|commit| now.as_ref() == Some(commit));
        let index_id = self.index_row.index_id;
        let recorded = self
            .catalog
            .record_comparison(index_id, commit.as_deref(), age);
        Ok(recorded.await?)
    }

    /// Sweeps, compares the store with the catalog and repairs differences, updates the alias, and calibrates the live index.
    /// Also deletes expired data of readers. If that or the calibration fails, adds a warning and continues.
    pub async fn settle(&self, options: SyncOptions) -> Result<Settled, IngestError> {
        let (swept, forgotten) = tokio::join!(
            sweep_points(&self.catalog, &self.index),
            forget_readers(&self.catalog, self.options.retention)
        );
        let swept = swept?;
        let mut warnings = Vec::new();
        if let Err(error) = forgotten {
            warnings.push(format!(
                "cannot delete expired conversations and questions: {error}"
            ));
        }
        // A page that was renamed meanwhile takes them over by its text.
        let site = &self.options.site;
        let unused = self.catalog.forget_written_questions(site, KEEP_QUESTIONS);
        if let Err(error) = unused.await {
            warnings.push(format!(
                "cannot delete the written questions of former pages: {error}"
            ));
        }
        let mut differences = self.compare().await?;
        let stray = differences.stray.len();
        if stray > FEW_POINTS && options.mass_deletion != MassDeletion::Allow {
            differences.stray.clear();
            warnings.push(format!(
                "the vector store holds {stray} points that this catalog does not know; nothing was deleted. If no \
                 other catalog uses the collection {}, allow mass deletion: `--allow-mass-deletion` (of the ingest \
                 function: `\"allow_mass_deletion\": true`)",
                self.index_row.collection
            ));
        }
        let restored = self.repair(&differences).await?;
        for source in differences.lost.keys() {
            if !restored.contains(source) {
                warnings.push(format!(
                    "{source}: the vector store lost some of its points, and its file cannot be read now"
                ));
            }
        }
        self.follow_alias().await?;
        let calibrated = self.calibrate().await;
        if let Err(error) = &calibrated {
            warnings.push(format!(
                "the index is not calibrated, so words alone decide whether the book answers a question: {error}"
            ));
        }
        Ok(Settled {
            swept,
            stray_points: differences.stray.len(),
            restored,
            embedded_tokens: calibrated.unwrap_or_default(),
            warnings,
        })
    }
}
