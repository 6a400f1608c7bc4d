//! Converging every page of a source.

use std::collections::BTreeSet;
use std::time::Instant;

use super::{Ingest, IngestError, Report, SourceError};
use crate::book::list_pages;

/// More deletions than this are looked at before they are believed.
const FEW_PAGES: usize = 10;
/// More stray points than this may be another catalog's.
const FEW_POINTS: usize = 100;
/// After so many failures in a row the cause is no single page.
const MAX_FAILURES_IN_A_ROW: usize = 3;

/// What a run may do.
#[derive(Debug, Clone, Copy, Default)]
pub struct SyncOptions {
    /// Whether more than half of the book may be deleted.
    pub mass_deletion: MassDeletion,
}

/// Whether more than half of the book may be deleted in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MassDeletion {
    /// The run stops instead: a wrong folder or prefix looks just like that.
    #[default]
    Stop,
    /// It was asked for.
    Allow,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Pages done.
    pub done: usize,
    /// Pages in all.
    pub total: usize,
    /// The page at work.
    pub source: &'a str,
}

/// Why a run stopped before its end. What was committed before stays.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The files could not be listed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Every page fails.
    #[error("{0}")]
    Ingest(#[from] IngestError),
    /// There is nothing to index.
    #[error("no page found: {0}")]
    NoPages(String),
    /// The files that are left are fewer than those that would go.
    #[error(
        "{deleted} of {total} pages would be deleted; nothing was changed. If that is right, allow mass deletion"
    )]
    MassDeletion {
        /// Pages that would go.
        deleted: usize,
        /// Pages the index has.
        total: usize,
    },
}

/// Makes the index hold exactly the pages of the source. `progress` is called before each page.
pub async fn sync(
    ingest: &Ingest,
    options: SyncOptions,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<Report, SyncError> {
    let started = Instant::now();
    let paths = ingest.source.list().await?;
    let pages: BTreeSet<String> = list_pages(&ingest.settings, &paths)
        .into_iter()
        .map(|page| page.source)
        .collect();
    let index_id = ingest.index_row.index_id;
    let known = ingest
        .catalog
        .documents(index_id)
        .await
        .map_err(IngestError::from)?;
    let gone: Vec<String> = known
        .iter()
        .map(|document| document.row.source.clone())
        .filter(|source| !pages.contains(source))
        .collect();
    if pages.is_empty() && known.is_empty() {
        let folder = match ingest.settings.docs_path.as_str() {
            "" => "the folder itself".to_owned(),
            path => format!("`{path}/`"),
        };
        return Err(SyncError::NoPages(format!(
            "there is no .md or .mdx file in {folder}"
        )));
    }
    if gone.len() > FEW_PAGES
        && gone.len() * 2 > known.len()
        && options.mass_deletion == MassDeletion::Stop
    {
        return Err(SyncError::MassDeletion {
            deleted: gone.len(),
            total: known.len(),
        });
    }
    let mut report = Report::default();
    report
        .warnings
        .extend(ingest.settings.warnings.iter().cloned());
    let total = pages.len() + gone.len();
    let mut failures_in_a_row = 0;
    // Pages come first: a renamed one takes its vectors over from the one that goes.
    for (done, source) in pages.iter().chain(&gone).enumerate() {
        progress(Progress {
            done,
            total,
            source,
        });
        match ingest.ingest_document(source).await {
            Ok(outcome) => {
                failures_in_a_row = 0;
                report.add(source, &outcome);
            }
            Err(error) => {
                failures_in_a_row += 1;
                if failures_in_a_row == MAX_FAILURES_IN_A_ROW {
                    return Err(error.into());
                }
                report.add_failure(source, &error);
            }
        }
    }
    ingest.sweep().await?;
    let mut differences = ingest.compare().await?;
    let stray = differences.stray.len();
    if stray > FEW_POINTS && options.mass_deletion == MassDeletion::Stop {
        differences.stray.clear();
        report.warnings.push(format!(
            "the vector store holds {stray} points that this catalog does not know; nothing was deleted. If no other \
             catalog uses the collection {}, allow mass deletion",
            ingest.index_row.collection
        ));
    }
    report.stray_points = differences.stray.len();
    report.restored = ingest.repair(&differences).await?;
    let stats = ingest
        .catalog
        .stats(index_id)
        .await
        .map_err(IngestError::from)?;
    report.total_chunks = stats.chunks;
    report.total_tokens = stats.tokens;
    report.finish(started.elapsed());
    Ok(report)
}
