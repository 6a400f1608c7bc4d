//! What a run of the pipeline did, for people, scripts and metrics.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Change, DocumentOutcome, IngestError, Status};
use crate::book::UNKNOWN;

/// A file that was not indexed, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    /// The path.
    pub source: String,
    /// The reason, with the line where there is one.
    pub reason: String,
}

/// The report of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// `success`; `partial` when files failed that may succeed later, or readers still have a former index.
    pub status: String,
    /// When the run ended, ISO 8601.
    pub timestamp: String,
    /// Pages looked at.
    pub files_seen: usize,
    /// Pages indexed anew.
    pub files_changed: usize,
    /// Pages that were as indexed.
    pub files_unchanged: usize,
    /// Pages that are gone.
    pub files_deleted: usize,
    /// Pages that cannot be read.
    pub skipped: Vec<SkippedFile>,
    /// Of these, those whose last good revision still answers.
    pub stale: Vec<String>,
    /// Pages, and folders (their paths end in `/`), that could not be read or stored and may be later.
    pub failed: Vec<SkippedFile>,
    /// Of these, those whose cause is a store or a model: they may succeed without a change of the book.
    #[serde(skip)]
    pub outages: usize,
    /// Pages some of whose points the store had lost, and has again.
    #[serde(default)]
    pub restored: Vec<String>,
    /// Points that the store had and the book had not: deleted.
    #[serde(default)]
    pub stray_points: usize,
    /// Pages written in JavaScript or TypeScript, which are not read.
    #[serde(default)]
    pub script_pages: Vec<String>,
    /// What was odd and did not matter enough, `path: warning`.
    pub warnings: Vec<String>,
    /// Chunks of the whole index after the run.
    pub total_chunks: u64,
    /// Their cl100k tokens.
    pub total_tokens: u64,
    /// Chunks of the pages indexed in this run, by section type.
    pub chunks_per_section_type: BTreeMap<String, usize>,
    /// Chunks of the pages indexed in this run, by chapter.
    pub chunks_per_chapter: BTreeMap<String, usize>,
    /// Of them, short ones embedded with module and chapter.
    pub enriched: usize,
    /// Of them, parts of a longer section.
    pub split: usize,
    /// Of them, longer than the policy's flag.
    pub oversized: usize,
    /// Chunks embedded anew.
    pub embedded: usize,
    /// Chunks that took over stored vectors.
    pub vectors_reused: usize,
    /// Chunks whose point stayed.
    pub points_kept: usize,
    /// Attempts that were started over.
    pub retries: usize,
    /// Seconds of the run.
    pub duration_seconds: f64,
    /// Of these, seconds in the embedder.
    pub embedding_seconds: f64,
    /// cl100k tokens of the texts embedded anew.
    #[serde(default)]
    pub embedded_tokens: u64,
    /// What the provider charges for them, in US dollars: 0 for local models; unknown for models without a public price.
    pub cost_usd: Option<f64>,
    /// Bytes that the book's embedded stores take after the run; unknown for hosted ones.
    #[serde(default)]
    pub storage_bytes: Option<u64>,
}

impl Report {
    /// A report that begins with what need not be done.
    pub(super) fn of(status: &Status) -> Self {
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

    /// Counts what became of one file.
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
        let warnings = outcome
            .warnings
            .iter()
            .map(|warning| format!("{source}: {warning}"));
        self.warnings.extend(warnings);
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

    /// Counts a file that failed and may succeed later.
    pub fn add_failure(&mut self, source: &str, error: &IngestError) {
        self.files_seen += 1;
        self.failed.push(SkippedFile {
            source: source.to_owned(),
            reason: error.to_string(),
        });
    }

    pub(super) fn finish(&mut self, live: bool, duration: Duration) {
        let failed = !live || !self.failed.is_empty();
        self.status = String::from(if failed { "partial" } else { "success" });
        self.timestamp = jiff::Timestamp::now().to_string();
        self.duration_seconds = duration.as_secs_f64();
    }
}

/// The report as a table.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "  {name:<18}{value}");
        row(
            "pages",
            format!(
                "{} seen: {} indexed, {} unchanged, {} deleted, {} skipped, {} failed",
                self.files_seen,
                self.files_changed,
                self.files_unchanged,
                self.files_deleted,
                self.skipped.len(),
                self.failed.len()
            ),
        )?;
        row(
            "chunks",
            format!(
                "{} in the index, {} tokens",
                self.total_chunks, self.total_tokens
            ),
        )?;
        if self.files_changed > 0 {
            let kinds: Vec<String> = self
                .chunks_per_section_type
                .iter()
                .map(|(kind, count)| format!("{count} {kind}"))
                .collect();
            row("this run", kinds.join(", "))?;
            row(
                "",
                format!(
                    "{} enriched, {} split, {} oversized",
                    self.enriched, self.split, self.oversized
                ),
            )?;
        }
        row(
            "embedded",
            format!(
                "{} ({} took over stored vectors, {} stayed)",
                self.embedded, self.vectors_reused, self.points_kept
            ),
        )?;
        if let Some(cost) = self.cost_usd.filter(|cost| *cost > 0.0) {
            let tokens = self.embedded_tokens;
            row("cost", format!("${cost:.4} for {tokens} tokens"))?;
        }
        if let Some(bytes) = self.storage_bytes {
            row("storage", format!("{} MiB", bytes.div_ceil(1 << 20)))?;
        }
        row(
            "time",
            format!(
                "{:.1} s, {:.1} s of it embedding",
                self.duration_seconds, self.embedding_seconds
            ),
        )?;
        if self.stray_points > 0 {
            let points = format!("{} points that are not the book's", self.stray_points);
            row("deleted", points)?;
        }
        for source in &self.restored {
            row(
                "restored",
                format!("{source}: the store had lost points of it"),
            )?;
        }
        for file in &self.skipped {
            let stale = if self.stale.contains(&file.source) {
                " (its last good text still answers)"
            } else {
                ""
            };
            row(
                "skipped",
                format!("{}: {}{stale}", file.source, file.reason),
            )?;
        }
        for file in &self.failed {
            row("failed", format!("{}: {}", file.source, file.reason))?;
        }
        if !self.script_pages.is_empty() {
            let pages = self.script_pages.join(", ");
            row(
                "not read",
                format!("{pages}: only a build tells what a script shows"),
            )?;
        }
        for warning in &self.warnings {
            row("warning", warning.clone())?;
        }
        Ok(())
    }
}
