//! `bookrag export`: writes the book as Markdown beside its built pages. Needs no model and no store.

use std::path::{Path, PathBuf};

use bookrag::book::{Document, SiteSettings, is_outside, may_hold_pages, page_file, page_markdown};
use bookrag::catalog::{Freshness, short_commit};
use bookrag::chunk::ledger_of_markdown;
use bookrag::source::Source;
use clap::Args;
use jiff::Timestamp;

use super::serve::site_url;
use super::{CommandError, Exit, Output, output};
use crate::export::{Export, Exported, Folder, FolderError, Outcome, computed};
use crate::pages::{ReadPages, Unread};
use crate::site::Site;

#[derive(Debug, Args)]
pub(super) struct ExportArguments {
    /// The site's folder, or `s3://bucket/prefix`.
    site: PathBuf,
    /// The folder that the site was built into. Pages that only the build has are read from it.
    #[arg(long)]
    out: PathBuf,
    /// Where the built site is served, for the addresses of links. By default, the `url` of its config.
    #[arg(long, value_parser = site_url)]
    site_url: Option<String>,
    /// Where the API is served. Agents are told to ask there.
    #[arg(long, value_parser = site_url, value_name = "URL")]
    api: Option<String>,
    /// Export only this locale; `--out` is the folder that this locale was built into.
    #[arg(long)]
    locale: Option<String>,
}

pub(super) async fn run(arguments: &ExportArguments, output: Output) -> Result<Exit, CommandError> {
    let site = Site::read(&arguments.site)?;
    let folder = Folder::open(&arguments.out)?;
    let settings = site.source().await?.settings().await?;
    let source = match build_of(arguments, &settings) {
        Some(build) => site.clone().with_build(build).source().await?,
        None => site.source().await?,
    };
    let settings = source.settings().await?;
    check(arguments, &site, &source, &settings)?;
    let site_url = arguments.site_url.as_ref().or(settings.url.as_ref());
    if site_url.is_none() {
        output::status(
            "note: the config does not say where the site is served; addresses are paths, unless --site-url names it",
        );
    }
    let read = ReadPages::read(&source, &settings).await?;
    for warning in settings.warnings.iter().chain(&read.warnings) {
        output::status(&format!("warning: {warning}"));
    }
    read.check(&settings)?;
    let export = Export {
        settings: &settings,
        site_url: site_url
            .map_or("", |url| url.trim_end_matches('/'))
            .to_owned(),
        api: arguments
            .api
            .as_ref()
            .map(|api| api.trim_end_matches('/').to_owned()),
        freshness: Some(Freshness {
            updated_at: Timestamp::from_second(Timestamp::now().as_second())
                .unwrap_or_default()
                .to_string(),
            commit: source.commit().await?.as_deref().map(short_commit),
        }),
        locale: arguments.locale.as_deref(),
    };
    let documents: Vec<&Document> = read.documents().map(|(_, document)| document).collect();
    let exported = export.files(&documents);
    let report = Report {
        outcome: folder.write(&exported.files)?,
        lost: lost(&read),
        read: &read,
        exported,
    };
    if output == Output::Json {
        output::json(&report.as_json());
    } else {
        report.print();
    }
    Ok(report.exit())
}

/// Returns the folder of the whole built site. A locale's folder is inside it, unless the locale was built alone.
fn build_of<'a>(arguments: &'a ExportArguments, settings: &SiteSettings) -> Option<&'a Path> {
    let locale = arguments.locale.as_ref();
    let locale = locale.filter(|locale| **locale != settings.default_locale);
    let Some(locale) = locale else {
        return Some(&arguments.out);
    };
    let is_of_locale = arguments.out.ends_with(locale);
    arguments.out.parent().filter(|_| is_of_locale)
}

/// Rejects a locale that the site lacks, and an output folder that contains the site's own pages.
fn check(
    arguments: &ExportArguments,
    site: &Site,
    source: &Source,
    settings: &SiteSettings,
) -> Result<(), CommandError> {
    if let Some(locale) = &arguments.locale
        && !settings.locales.contains(locale)
    {
        return Err(CommandError::Usage(format!(
            "the site has no locale `{locale}`; it has {}",
            settings.locales.join(", ")
        )));
    }
    let out = arguments.out.canonicalize().unwrap_or_default();
    // In a build, only HTML files are pages.
    let sources = site.folder().filter(|_| !settings.is_build);
    let is_source = sources.is_some_and(|folder| {
        let within = out.strip_prefix(folder);
        folder.starts_with(&out) || within.is_ok_and(|within| holds_pages(settings, within))
    });
    let beside = match source {
        Source::Folder(folder) => folder.path_of(&out).filter(|path| is_outside(path)),
        _ => None,
    };
    if is_source || beside.is_some_and(|path| may_hold_pages(settings, &format!("{path}/"))) {
        return Err(CommandError::Usage(format!(
            "{} holds the site's own pages, among which an export would be read as pages; name the folder that the site was built into",
            arguments.out.display()
        )));
    }
    Ok(())
}

/// True if a Markdown file in a folder of the site is one of its pages.
fn holds_pages(settings: &SiteSettings, folder: &Path) -> bool {
    page_file(settings, &folder.join("page.md").to_string_lossy()).is_some()
}

/// Lists words of pages that are missing in their Markdown.
fn lost(read: &ReadPages) -> Vec<Lost> {
    let mut lost = Vec::new();
    for (page, document) in read.documents() {
        let markdown = page_markdown(&document.blocks);
        for entry in ledger_of_markdown(&page.text, document, &markdown) {
            if !entry.unaccounted.is_empty() {
                lost.push(Lost {
                    source: page.file.source.clone(),
                    line: entry.start_line,
                    words: entry.unaccounted.join(" "),
                });
            }
        }
    }
    lost
}

struct Lost {
    source: String,
    line: u32,
    words: String,
}

struct Report<'a> {
    read: &'a ReadPages,
    exported: Exported,
    outcome: Outcome,
    lost: Vec<Lost>,
}

impl Report<'_> {
    fn exit(&self) -> Exit {
        let is_whole = self.lost.is_empty()
            && self.outcome.kept.is_empty()
            && self.exported.without_file.is_empty()
            && !self.read.are_incomplete();
        if is_whole { Exit::Done } else { Exit::Partial }
    }

    fn unread(&self) -> impl Iterator<Item = (&str, &Unread)> {
        let pages = self.read.pages.iter();
        pages.filter_map(|page| Some((&*page.file.source, page.document.as_ref().err()?)))
    }

    fn as_json(&self) -> serde_json::Value {
        let unread = self.unread().map(|(source, reason)| {
            let what = match reason {
                Unread::Skipped(_) => "skipped",
                Unread::Unreadable(_) => "not_read",
            };
            serde_json::json!({"source": source, what: reason.to_string()})
        });
        let folders = self.read.unknown.iter();
        let folders =
            folders.map(|file| serde_json::json!({"source": file.source, "not_read": file.reason}));
        let lost = self.lost.iter().map(|lost| {
            serde_json::json!({"source": lost.source, "line": lost.line, "words": lost.words})
        });
        let computed = self.read.documents().flat_map(|(page, document)| {
            computed(document).into_iter().map(|piece| {
                serde_json::json!({"source": page.file.source, "line": piece.line, "code": piece.code})
            })
        });
        serde_json::json!({
            "pages": self.exported.pages,
            "written": self.outcome.written,
            "unchanged": self.outcome.unchanged,
            "removed": self.outcome.removed,
            "not_overwritten": self.outcome.kept,
            "without_file": self.exported.without_file,
            "lost": lost.collect::<Vec<_>>(),
            "computed": computed.collect::<Vec<_>>(),
            "without_text": unread.chain(folders).collect::<Vec<_>>(),
        })
    }

    fn print(&self) {
        for (source, reason) in self.unread() {
            output::status(&match reason {
                Unread::Skipped(_) => format!("skipped {source}: {reason}"),
                Unread::Unreadable(_) => format!("not read: {reason}"),
            });
        }
        for folder in &self.read.unknown {
            output::status(&format!("not read {}: {}", folder.source, folder.reason));
        }
        for reason in &self.exported.without_file {
            output::status(&format!("no file for {reason}"));
        }
        for path in &self.outcome.kept {
            output::status(&format!(
                "not overwritten: {path} was not written by an export, or was edited since; delete it to have it replaced"
            ));
        }
        for Lost {
            source,
            line,
            words,
        } in &self.lost
        {
            output::line(&format!("{source}, line {line}: lost: {words}"));
        }
        let computed: usize = self
            .read
            .documents()
            .map(|(_, document)| computed(document).len())
            .sum();
        if computed > 0 {
            output::line(&format!(
                "{computed} pieces of pages are computed when the site is built; the pages' Markdown names them at its end"
            ));
        }
        let Outcome {
            written,
            unchanged,
            removed,
            ..
        } = self.outcome;
        output::line(&format!(
            "{} pages, {} lost: {written} files written, {unchanged} unchanged, {removed} removed",
            self.exported.pages,
            self.lost.len()
        ));
    }
}

impl From<FolderError> for CommandError {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::NotAFolder(_) => Self::Usage(error.to_string()),
            FolderError::Unwritable(..) => Self::Message(error.to_string()),
        }
    }
}
