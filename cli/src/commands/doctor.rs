//! `bookrag doctor`: shows where each setting of a site comes from, and its problems. Needs no model and no store. If the book is
//! indexed, compares the index with it, and repairs the index on request.

mod components;
mod links;

use std::collections::BTreeMap;
use std::iter;
use std::path::PathBuf;

use bookrag::book::{Document, SiteSettings, SkipReason};
use bookrag::chunk::{ChunkPolicy, chunk_document, ledger};
use bookrag::config::Config;
use bookrag::ingest::{OpenMode, PageWarnings, PendingChange, Report, RunStatus};
use bookrag::source::FileCache;
use clap::Args;
use components::{Component, Components};
use links::dead_links;
use serde::Serialize;

use super::questions::QuestionReport;
use super::sync::{ReportArguments, by_words_alone, sync_site};
use super::{BuildArgument, CommandError, Exit, Output, output};
use crate::examination::Examination;
use crate::local::{BookFolder, LocalBook, LocalError, config_for, written_questions};
use crate::pages::{ReadPage, ReadPages, Unread};
use crate::running::Hold;
use crate::site::Site;

#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    /// The site's folder, or `s3://bucket/prefix`.
    site: PathBuf,
    #[command(flatten)]
    build: BuildArgument,
    /// Repair differences between the book, its catalog and its vector store.
    #[arg(long)]
    repair: bool,
    /// Allow the repair to delete more than half of the book.
    #[arg(long, requires = "repair")]
    allow_mass_deletion: bool,
}

/// Facts about a site that need no index.
#[derive(Debug, Default, Serialize)]
struct Diagnosis {
    settings: Vec<SettingLine>,
    /// Parts of the settings files that could not be read.
    not_read: Vec<String>,
    pages: usize,
    chunks: usize,
    /// Pages per locale and version.
    editions: BTreeMap<String, usize>,
    skipped: Vec<Finding>,
    /// Pages and folders that the system denies access to.
    unreadable: Vec<Finding>,
    /// Pages that a production build leaves out.
    drafts: Vec<String>,
    /// Pages of a built site that are no pages of the book: redirects, copies, and those that ask not to be found.
    left_out: Vec<Finding>,
    /// Pages in JavaScript or TypeScript, which are not read.
    script_pages: Vec<String>,
    /// Folders in which links lead to no page.
    dead_links: Vec<String>,
    /// Components whose text only running the page would tell, the most frequent first.
    components: Vec<Component>,
    warnings: Vec<Finding>,
    /// Files of any kind whose text pages show.
    text_files: Vec<Finding>,
    /// Text that is in no chunk and was not left out for a reason.
    lost: Vec<Finding>,
    /// Chunks longer than the policy recommends.
    oversized: Vec<Finding>,
    /// URLs that several pages claim.
    shared_urls: Vec<Finding>,
    questions: QuestionReport,
    /// Differences between the index and the book; `None` if the book was never indexed.
    index: Option<Examination>,
    repair: Option<Report>,
}

#[derive(Debug, Serialize)]
struct SettingLine {
    name: String,
    value: String,
    from: String,
}

/// A finding about a page or a URL.
#[derive(Debug, Serialize)]
struct Finding {
    at: String,
    what: String,
}

impl Finding {
    fn new(source: &str, line: u32, what: String) -> Self {
        let at = format!("{source}, line {line}");
        Self { at, what }
    }
}

pub(super) async fn run(
    config: &Config,
    arguments: &DoctorArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let site = arguments.build.site(&arguments.site)?;
    if let Some(note) = site.note().await? {
        output::status(&note);
    }
    let source = site.source().await?;
    let settings = source.settings().await?;
    // A damaged catalog has no questions; its damage is reported below.
    let written = written_questions(config, &site).await.unwrap_or_default();
    let files = FileCache::with_written(written);
    let read = ReadPages::with(&source, &settings, &files).await?;
    let missing = read.check(&settings).err();
    let questions = QuestionReport::read(&source, &settings, &read).await?;
    let dead_links = dead_links(&source, &settings, &read).await?;
    let mut diagnosis = diagnose(settings, &read, &config.policy());
    diagnosis.questions = questions;
    let missing = missing.map(|missing| missing.to_string());
    diagnosis.not_read.extend(missing);
    diagnosis.not_read.extend(read.warnings.iter().cloned());
    diagnosis.dead_links = dead_links;
    let folder = BookFolder::of_site(config, &site);
    if config.database_url.is_some() || folder.has_store() {
        let options = ReportArguments {
            allow_mass_deletion: arguments.allow_mass_deletion,
            ..ReportArguments::default()
        };
        let repair = arguments.repair.then_some(options);
        let config = &config_for(config, &site).await?;
        (diagnosis.index, diagnosis.repair) = examine(config, &folder, &site, repair).await?;
    }
    if output == Output::Json {
        output::json(&serde_json::json!(diagnosis));
    } else {
        print(&diagnosis);
    }
    let repaired = diagnosis.repair.as_ref();
    let index_is_well = match (&diagnosis.index, repaired) {
        (_, Some(report)) => report.status == RunStatus::Success && report.warnings.is_empty(),
        (Some(index), None) => index.is_clean(),
        (None, None) => true,
    };
    let well = diagnosis.skipped.is_empty()
        && diagnosis.unreadable.is_empty()
        && diagnosis.lost.is_empty()
        && diagnosis.pages > 0;
    Ok(if well && index_is_well {
        Exit::Done
    } else {
        Exit::Partial
    })
}

type Examined = (Option<Examination>, Option<Report>);

/// Compares the stores with the book, and repairs differences if `repair` is given.
async fn examine(
    config: &Config,
    folder: &BookFolder,
    site: &Site,
    repair: Option<ReportArguments>,
) -> Result<Examined, CommandError> {
    let (examination, is_catalog_damaged) = match compare(config, folder, site).await {
        Ok(examination) => (examination, false),
        Err(error) if error.is_damage() => {
            (Examination::damaged(&error), !error.is_damage_of_vectors())
        }
        Err(error) => return Err(error.into()),
    };
    let Some(options) = repair.filter(|_| !examination.is_clean()) else {
        return Ok((Some(examination), None));
    };
    // Damaged stores are replaced, so no server may have them open.
    let hold = (!examination.damage.is_empty()).then(|| Hold::take(folder));
    let _hold = hold.transpose()?;
    if examination.damage.is_empty() || config.qdrant_url.is_some() {
        let report = sync_site(config, folder, site, options).await?;
        return Ok((Some(examination), Some(report)));
    }
    // The vectors alone first, because that keeps conversations.
    if !is_catalog_damaged {
        let restored = async {
            drop_vectors(config, folder, site).await?;
            let report = sync_site(config, folder, site, options).await?;
            let is_clean = compare(config, folder, site).await?.is_clean();
            Ok::<_, CommandError>(is_clean.then_some(report))
        };
        match restored.await {
            Ok(Some(report)) => return Ok((Some(examination), Some(report))),
            Ok(None) => {}
            Err(error) => output::status(&error.to_string()),
        }
    }
    let aside = folder.set_store_aside()?;
    output::status(&format!(
        "the damaged store is kept as {}: conversations and feedback may be read from it",
        aside.display()
    ));
    let report = sync_site(config, folder, site, options).await?;
    Ok((Some(examination), Some(report)))
}

async fn compare(
    config: &Config,
    folder: &BookFolder,
    site: &Site,
) -> Result<Examination, LocalError> {
    let book = LocalBook::open(config, folder, output::status).await?;
    book.context.catalog().check().await?;
    let ingest = book.ingest(config, site, OpenMode::ReadOnly).await?;
    Ok(Examination::read(&ingest).await?)
}

/// Drops the index's vectors, so that the next run recreates them.
async fn drop_vectors(config: &Config, folder: &BookFolder, site: &Site) -> Result<(), LocalError> {
    let book = LocalBook::open(config, folder, output::status).await?;
    let ingest = book.ingest(config, site, OpenMode::ReadOnly).await?;
    let collection = &ingest.index_row.collection;
    Ok(ingest.index.drop_collection(collection).await?)
}

fn diagnose(settings: SiteSettings, read: &ReadPages, policy: &ChunkPolicy) -> Diagnosis {
    let origins = settings.origins.into_iter().map(|setting| SettingLine {
        name: setting.name,
        value: setting.value,
        from: setting.origin.to_string(),
    });
    let unknown = read.unknown.iter().map(|unknown| Finding {
        at: unknown.source.clone(),
        what: unknown.reason.clone(),
    });
    let mut diagnosis = Diagnosis {
        settings: origins.collect(),
        not_read: settings.warnings,
        unreadable: unknown.collect(),
        script_pages: read.scripts.clone(),
        ..Diagnosis::default()
    };
    let mut components = Components::default();
    let mut warnings = PageWarnings::default();
    for page in &read.pages {
        match &page.document {
            Ok(document) => {
                components.add(&page.file.source, document);
                for warning in &document.warnings {
                    warnings.add(&page.file.source, warning);
                }
                diagnosis.add_document(page, document, policy);
            }
            Err(reason) => diagnosis.add_unread(page.file.source.clone(), reason),
        }
    }
    diagnosis.components = components.into_sorted();
    let warnings = warnings.lines();
    diagnosis.warnings = warnings
        .map(|(at, what)| Finding {
            at,
            what: what.to_owned(),
        })
        .collect();
    diagnosis.shared_urls = shared_urls(read);
    diagnosis
}

impl Diagnosis {
    fn add_unread(&mut self, at: String, reason: &Unread) {
        let findings = match reason {
            Unread::Skipped(SkipReason::Draft) => return self.drafts.push(at),
            Unread::Skipped(reason) if reason.is_by_site() => &mut self.left_out,
            Unread::Skipped(_) => &mut self.skipped,
            Unread::Unreadable(_) => &mut self.unreadable,
        };
        let what = reason.to_string();
        findings.push(Finding { at, what });
    }

    fn add_document(&mut self, page: &ReadPage, document: &Document, policy: &ChunkPolicy) {
        let source = &page.file.source;
        let version = page.file.version_in_site();
        let edition = format!("{}, version {version}", page.file.locale);
        *self.editions.entry(edition).or_default() += 1;
        self.pages += 1;
        let shown = document.text_files.iter();
        self.text_files
            .extend(shown.map(|file| Finding::new(source, file.line, file.path.clone())));
        let chunks = chunk_document(document, policy);
        self.chunks += chunks.len();
        self.oversized.extend(
            chunks
                .iter()
                .filter(|chunk| chunk.oversized)
                .map(|chunk| Finding {
                    at: output::lines_in_file(source, chunk.start_line, chunk.end_line),
                    what: format!("{} tokens", chunk.token_count),
                }),
        );
        self.lost.extend(
            ledger(&page.text, document, &chunks)
                .iter()
                .filter(|entry| !entry.unaccounted.is_empty())
                .map(|entry| Finding::new(source, entry.start_line, entry.unaccounted.join(" "))),
        );
    }
}

/// Returns the URLs that several pages claim, each with the pages' files.
fn shared_urls(read: &ReadPages) -> Vec<Finding> {
    let mut urls: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for page in &read.pages {
        let Ok(document) = &page.document else {
            continue;
        };
        for url in iter::once(&document.url).chain(document.fallback_urls.values()) {
            urls.entry(url).or_default().push(&page.file.source);
        }
    }
    urls.into_iter()
        .filter(|(_, sources)| sources.len() > 1)
        .map(|(url, sources)| Finding {
            at: url.to_owned(),
            what: sources.join(", "),
        })
        .collect()
}

fn print(diagnosis: &Diagnosis) {
    output::line("settings");
    for setting in &diagnosis.settings {
        output::line(&format!(
            "  {:<20} {:<24} {}",
            setting.name, setting.from, setting.value
        ));
    }
    for warning in &diagnosis.not_read {
        output::line(&format!("  not read: {warning}"));
    }
    output::line(&format!(
        "{} pages, {} chunks",
        diagnosis.pages, diagnosis.chunks
    ));
    for (edition, pages) in &diagnosis.editions {
        output::line(&format!("  {edition}: {pages} pages"));
    }
    print_questions(&diagnosis.questions);
    for draft in &diagnosis.drafts {
        output::line(&format!("  {draft}: a draft, not indexed"));
    }
    for page in &diagnosis.left_out {
        output::line(&format!("  {}: {}, not indexed", page.at, page.what));
    }
    for line in &diagnosis.dead_links {
        output::line(&format!("  {line}"));
    }
    for script in &diagnosis.script_pages {
        output::line(&format!(
            "  {script}: a page that is a script, read only from the built site: --build DIR"
        ));
    }
    for (title, findings) in [
        ("pages skipped", &diagnosis.skipped),
        (
            "pages and folders that cannot be read",
            &diagnosis.unreadable,
        ),
        ("text lost", &diagnosis.lost),
        ("URLs that several pages claim", &diagnosis.shared_urls),
        (
            "long chunks, of code or tables that are not cut",
            &diagnosis.oversized,
        ),
        ("files shown as text", &diagnosis.text_files),
        ("warnings", &diagnosis.warnings),
    ] {
        if !findings.is_empty() {
            output::line(&format!("{title}: {}", findings.len()));
        }
        for finding in findings {
            output::line(&format!("  {}: {}", finding.at, finding.what));
        }
    }
    print_components(&diagnosis.components);
    if let Some(index) = &diagnosis.index {
        print_index(index);
        if diagnosis.repair.is_none() && !index.is_clean() {
            output::line("  `bookrag doctor SITE --repair` repairs that");
        }
    }
    if let Some(report) = &diagnosis.repair {
        output::line("repaired");
        output::text(&report.to_string());
    }
}

fn print_components(components: &[Component]) {
    if !components.is_empty() {
        let count = components.len();
        output::line(&format!(
            "components whose text is not read (a built site has it): {count}"
        ));
    }
    for component in components {
        output::line(&format!("  {}", component.describe()));
    }
}

/// Prints what the files of questions hold. What is stale, or has no section, is among the warnings of its page.
fn print_questions(questions: &QuestionReport) {
    if questions.from_catalog > 0 {
        output::line(&format!(
            "{} of {} sections have questions that a model wrote into the catalog",
            questions.from_catalog, questions.sections
        ));
    }
    if questions.files == 0 {
        return;
    }
    output::line(&format!(
        "{} files of questions: {} of {} sections have questions, {} of them stale",
        questions.files,
        questions.with_questions - questions.from_catalog,
        questions.sections,
        questions.stale.len()
    ));
    for path in &questions.unknown_pages {
        output::line(&format!("  {path}: the site has no such page"));
    }
}

fn print_index(index: &Examination) {
    for damage in &index.damage {
        output::line(&format!("the index is damaged: {damage}"));
    }
    let status = &index.status;
    output::line(&format!(
        "the index: {} documents, {} as their files are",
        status.documents, status.indexed
    ));
    if index.is_clean() {
        output::line("  book, catalog and vector store agree");
    }
    if let Some(note) = by_words_alone(&index.embedder, &index.unread_locales) {
        output::line(&format!("  {note}"));
    }
    for pending in &status.pending {
        let what = match pending.change {
            PendingChange::New => "not indexed",
            PendingChange::Changed => "changed since it was indexed",
            PendingChange::Deleted => "gone, and still indexed",
            PendingChange::Unreadable => "cannot be read now",
        };
        output::line(&format!("  {}: {what}", pending.source));
    }
    for failed in &status.failed {
        output::line(&format!("  {}: failed, {}", failed.source, failed.reason));
    }
    for (source, points) in &index.lost_points {
        output::line(&format!(
            "  {source}: the vector store has lost {points} of its points"
        ));
    }
    if index.stray_points > 0 {
        output::line(&format!(
            "  the vector store holds {} points that no document has",
            index.stray_points
        ));
    }
}
