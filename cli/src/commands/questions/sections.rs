//! The sections of a book that questions are written for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bookrag::book::questions::{AskedSection, asked_sections, is_asked};
use bookrag::book::{Document, SiteSettings};
use bookrag::source::Source;
use clap::Args;
use globset::{Glob, GlobMatcher};

use super::super::{BuildArgument, CommandError, output};
use crate::pages::ReadPages;
use crate::site::Site;

/// The site of a command that reads sections.
#[derive(Debug, Args)]
pub(super) struct SiteArguments {
    /// The site's folder, or `s3://bucket/prefix`.
    pub(super) site: PathBuf,
    #[command(flatten)]
    pub(super) build: BuildArgument,
}

/// The sections that a command is about.
#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Only pages whose path in the site matches, such as `docs/guide/*`; `*` stands for any characters.
    #[arg(long, value_name = "GLOB")]
    pages: Option<String>,
    /// At most this many sections.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// A site with all of its pages.
pub(super) struct AskedSite {
    pub(super) site: Site,
    pub(super) source: Source,
    pub(super) settings: SiteSettings,
    pub(super) read: ReadPages,
}

/// What is known of a section's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It has none.
    Missing,
    /// They were written for another text.
    Stale,
    /// They were written for its text, as far as is known.
    Current,
}

/// A section with its page.
pub(super) struct PageSection<'a> {
    pub(super) document: &'a Document,
    pub(super) section: AskedSection,
    pub(super) state: State,
}

impl SiteArguments {
    /// Reads all pages.
    pub(super) async fn read(&self) -> Result<AskedSite, CommandError> {
        let site = self.build.site(&self.site)?;
        if let Some(note) = site.note().await? {
            output::status(&note);
        }
        let source = site.source().await?;
        let settings = source.settings().await?;
        let read = ReadPages::read(&source, &settings).await?;
        read.check(&settings)?;
        Ok(AskedSite {
            site,
            source,
            settings,
            read,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.site
    }
}

impl AskedSite {
    /// Returns the pages that a reader's search finds.
    pub(super) fn searched(&self) -> impl Iterator<Item = &Document> {
        searched(&self.settings, &self.read)
    }

    /// Returns the sections with text of the pages that a search finds, in reading order.
    pub(super) fn sections(
        &self,
        selection: &Selection,
        is_wanted: impl Fn(State) -> bool,
    ) -> Result<Vec<PageSection<'_>>, CommandError> {
        let pages = selection.matcher()?;
        let mut sections: Vec<PageSection<'_>> = self
            .searched()
            .filter(|document| {
                pages
                    .as_ref()
                    .is_none_or(|pages| pages.is_match(&document.file.source))
            })
            .flat_map(sections_of)
            .filter(|section| !section.section.is_empty && is_wanted(section.state))
            .collect();
        sections.truncate(selection.limit.unwrap_or(usize::MAX));
        Ok(sections)
    }

    /// Returns all pages by their path.
    pub(super) fn by_source(&self) -> BTreeMap<&str, &Document> {
        let documents = self.read.documents();
        documents
            .map(|(_, document)| (document.file.source.as_str(), document))
            .collect()
    }
}

impl Selection {
    fn matcher(&self) -> Result<Option<GlobMatcher>, CommandError> {
        let Some(pattern) = &self.pages else {
            return Ok(None);
        };
        let glob = Glob::new(pattern).map_err(|error| {
            CommandError::Usage(format!("--pages `{pattern}`: {}", error.kind()))
        })?;
        Ok(Some(glob.compile_matcher()))
    }
}

/// Returns the pages that a reader's search finds: of each instance the default version, in all locales.
pub(super) fn searched<'a>(
    settings: &'a SiteSettings,
    read: &'a ReadPages,
) -> impl Iterator<Item = &'a Document> {
    let documents = read.documents().map(|(_, document)| document);
    documents.filter(|document| is_asked(settings, document))
}

/// Returns the sections of a page, with the state of their questions.
pub(super) fn sections_of(document: &Document) -> impl Iterator<Item = PageSection<'_>> {
    asked_sections(document).into_iter().map(|section| {
        let state = match document.questions.get(&section.anchor) {
            None => State::Missing,
            Some(questions) if questions.is_stale => State::Stale,
            Some(_) => State::Current,
        };
        PageSection {
            document,
            section,
            state,
        }
    })
}

/// Names a section as `add` takes it: `docs/a.md#anchor`.
pub(crate) fn place(source: &str, anchor: &str) -> String {
    if anchor.is_empty() {
        source.to_owned()
    } else {
        format!("{source}#{anchor}")
    }
}

/// Counts things in words: `1 section`, `2 sections`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}
