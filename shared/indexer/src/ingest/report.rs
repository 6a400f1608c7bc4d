//! The report of a run, for people, scripts and metrics.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Change, DocumentOutcome, IngestError, PageWarnings, Status};
use book::{PageLinks, UNKNOWN};

/// A file that was not indexed, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    /// The path.
    pub source: String,
    /// The reason, with the line if known.
    pub reason: String,
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The index equals the book, and readers use it.
    Success,
    /// Files failed that may succeed later, or readers still use a former index.
    #[default]
    Partial,
}

/// The report of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// `partial` until the run has ended.
    pub status: RunStatus,
    /// The time when the run ended, ISO 8601.
    pub timestamp: String,
    /// Pages checked.
    pub files_seen: usize,
    /// Pages newly indexed.
    pub files_changed: usize,
    /// Pages already up to date.
    pub files_unchanged: usize,
    /// Pages deleted.
    pub files_deleted: usize,
    /// Pages that cannot be read.
    pub skipped: Vec<SkippedFile>,
    /// Skipped pages whose last good revision still answers.
    pub stale: Vec<String>,
    /// Pages, and folders (paths ending in `/`), that could not be read or stored but may succeed later.
    pub failed: Vec<SkippedFile>,
    /// Failed pages whose cause is a store or a model; they may succeed without a change of the book.
    #[serde(skip)]
    pub outages: usize,
    /// Pages with points that the store had lost and that were restored.
    #[serde(default)]
    pub restored: Vec<String>,
    /// Points deleted because the catalog does not know them.
    #[serde(default)]
    pub stray_points: usize,
    /// Pages written in JavaScript or TypeScript, which are not read.
    #[serde(default)]
    pub script_pages: Vec<String>,
    /// Problems that did not prevent indexing, as `path: warning`.
    pub warnings: Vec<String>,
    /// Warnings of the pages indexed in this run, until it is finished.
    #[serde(skip)]
    pub page_warnings: PageWarnings,
    /// Links of the pages indexed in this run.
    #[serde(skip)]
    pub links: PageLinks,
    /// Chunks of the whole index after the run.
    pub total_chunks: u64,
    /// cl100k tokens of the whole index after the run.
    pub total_tokens: u64,
    /// Chunks of the pages indexed in this run, by section type.
    pub chunks_per_section_type: BTreeMap<String, usize>,
    /// Chunks of the pages indexed in this run, by chapter.
    pub chunks_per_chapter: BTreeMap<String, usize>,
    /// Short chunks of this run, embedded with module and chapter.
    pub enriched: usize,
    /// Chunks of this run that are parts of a longer section.
    pub split: usize,
    /// Chunks of this run that are longer than the policy's `flag_above_tokens`.
    pub oversized: usize,
    /// Chunks newly embedded.
    pub embedded: usize,
    /// Chunks that reuse stored vectors.
    pub vectors_reused: usize,
    /// Chunks whose point is unchanged.
    pub points_kept: usize,
    /// Repeated attempts.
    pub retries: usize,
    /// Duration of the run in seconds.
    pub duration_seconds: f64,
    /// Seconds spent in the embedder.
    pub embedding_seconds: f64,
    /// cl100k tokens of the newly embedded texts.
    #[serde(default)]
    pub embedded_tokens: u64,
    /// The provider's price for these tokens in US dollars: 0 for local models, `None` for models without a public price.
    pub cost_usd: Option<f64>,
    /// Size of the book's embedded stores after the run, in bytes; `None` for hosted ones.
    #[serde(default)]
    pub storage_bytes: Option<u64>,
}

impl Report {
    /// Creates a report that counts the pages that are already up to date.
    pub(super) fn from_status(status: &Status) -> Self {
        Self {
            files_seen: status.indexed + status.skipped.len(),
            files_unchanged: status.indexed,
            skipped: status.skipped.clone(),
            stale: status.stale.clone(),
            failed: status.unreadable_folders.clone(),
            script_pages: status.script_pages.clone(),
            warnings: status.warnings.clone(),
            ..Self::default()
        }
    }

    /// Adds one file's outcome.
    pub fn add(&mut self, source: &str, outcome: &DocumentOutcome) {
        match &outcome.change {
            Change::NotAPage => return,
            Change::Unchanged => self.files_unchanged += 1,
            Change::Indexed => self.files_changed += 1,
            Change::Deleted => self.files_deleted += 1,
            Change::Skipped { reason, stale } => {
                self.skipped.push(SkippedFile {
                    source: source.to_owned(),
                    reason: reason.clone(),
                });
                if *stale {
                    self.stale.push(source.to_owned());
                }
            }
        }
        self.files_seen += 1;
        for warning in &outcome.warnings {
            self.page_warnings.add(source, warning);
        }
        self.links.add(outcome.links.clone());
        for chunk in &outcome.chunks {
            let kind = chunk.section_type.name().to_owned();
            *self.chunks_per_section_type.entry(kind).or_default() += 1;
            let chapter = outcome
                .chapter
                .clone()
                .unwrap_or_else(|| UNKNOWN.to_owned());
            *self.chunks_per_chapter.entry(chapter).or_default() += 1;
            self.enriched += usize::from(chunk.enriched);
            self.split += usize::from(chunk.chunk_count > 1);
            self.oversized += usize::from(chunk.oversized);
        }
        self.embedded += outcome.embedded;
        self.vectors_reused += outcome.reused;
        self.points_kept += outcome.kept;
        self.retries += outcome.retries;
        self.embedding_seconds += outcome.embedding.as_secs_f64();
        self.embedded_tokens += outcome.embedded_tokens;
    }

    /// Adds a file that failed but may succeed later.
    pub fn add_failure(&mut self, source: &str, error: &IngestError) {
        self.files_seen += 1;
        self.failed.push(SkippedFile {
            source: source.to_owned(),
            reason: error.to_string(),
        });
    }

    /// Returns the problems of pages and settings, each with the word for its kind.
    #[must_use]
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        for SkippedFile { source, reason } in &self.skipped {
            let stale = if self.stale.contains(source) {
                " (its last good text still answers)"
            } else {
                ""
            };
            problems.push(("skipped", format!("{source}: {reason}{stale}")));
        }
        for SkippedFile { source, reason } in &self.failed {
            problems.push(("failed", format!("{source}: {reason}")));
        }
        if !self.script_pages.is_empty() {
            let pages = self.script_pages.join(", ");
            let problem =
                format!("{pages}: scripts, which are read only from the built site: --build DIR");
            problems.push(("not read", problem));
        }
        for warning in &self.warnings {
            problems.push(("warning", warning.clone()));
        }
        problems
    }

    pub(super) fn finish(&mut self, live: bool, duration: Duration) {
        self.status = if live && self.failed.is_empty() {
            RunStatus::Success
        } else {
            RunStatus::Partial
        };
        let lines = self.page_warnings.lines();
        let lines: Vec<String> = lines.map(|(at, what)| format!("{at}: {what}")).collect();
        self.warnings.splice(0..0, lines);
        self.timestamp = jiff::Timestamp::now().to_string();
        self.duration_seconds = duration.as_secs_f64();
    }
}

/// Formats the report as a table.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.rows() {
            writeln!(f, "  {name:<18}{value}")?;
        }
        Ok(())
    }
}

impl Report {
    /// Returns the rows of the table, each with its name.
    fn rows(&self) -> Vec<(&'static str, String)> {
        let pages = format!(
            "{} seen: {} indexed, {} unchanged, {} deleted, {} skipped, {} failed",
            self.files_seen,
            self.files_changed,
            self.files_unchanged,
            self.files_deleted,
            self.skipped.len(),
            self.failed.len()
        );
        let (chunks, tokens) = (self.total_chunks, self.total_tokens);
        let mut rows = vec![
            ("pages", pages),
            ("chunks", format!("{chunks} in the index, {tokens} tokens")),
        ];
        if self.files_changed > 0 {
            let kinds: Vec<String> = self
                .chunks_per_section_type
                .iter()
                .map(|(kind, count)| format!("{count} {kind}"))
                .collect();
            let special = format!(
                "{} enriched, {} split, {} oversized",
                self.enriched, self.split, self.oversized
            );
            rows.extend([("this run", kinds.join(", ")), ("", special)]);
        }
        let embedded = format!(
            "{} ({} took over stored vectors, {} stayed)",
            self.embedded, self.vectors_reused, self.points_kept
        );
        rows.push(("embedded", embedded));
        if let Some(cost) = self.cost_usd.filter(|cost| *cost > 0.0) {
            let tokens = self.embedded_tokens;
            rows.push(("cost", format!("${cost:.4} for {tokens} tokens")));
        }
        if let Some(bytes) = self.storage_bytes {
            rows.push(("storage", format!("{} MiB", bytes.div_ceil(1 << 20))));
        }
        let time = format!(
            "{:.1} s, {:.1} s of it embedding",
            self.duration_seconds, self.embedding_seconds
        );
        rows.push(("time", time));
        if self.stray_points > 0 {
            let points = format!("{} points that are not the book's", self.stray_points);
            rows.push(("deleted", points));
        }
        for source in &self.restored {
            let page = format!("{source}: the store had lost some of its points");
            rows.push(("restored", page));
        }
        rows.extend(self.problems());
        rows
    }
}
