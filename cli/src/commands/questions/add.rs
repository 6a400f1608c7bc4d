//! `bookrag questions add`: adds a question to a section.

use bookrag::book::Document;
use bookrag::book::questions::question_file;
use clap::Args;
use serde_json::json;

use super::super::{CommandError, Exit, Output, output};
use super::files::QuestionFolder;
use super::sections::{AskedSite, PageSection, SiteArguments, State, place, sections_of};

/// The most anchors that an error lists.
const MAX_LISTED: usize = 20;

#[derive(Debug, Args)]
pub(super) struct AddArguments {
    #[command(flatten)]
    site: SiteArguments,
    /// The page, by its file's path in the site or its URL, and the anchor of the heading: `docs/a.md#charging`.
    #[arg(value_name = "PAGE#ANCHOR")]
    section: String,
    /// The question that the section answers.
    #[arg(allow_hyphen_values = true)]
    question: String,
}

pub(super) async fn run(arguments: &AddArguments, output: Output) -> Result<Exit, CommandError> {
    let site = arguments.site.read().await?;
    let folder = QuestionFolder::open(&site.site)?;
    let PageSection {
        document,
        section,
        state,
    } = section(&site, &arguments.section)?;
    let source = &document.file.source;
    let mut file = folder.read(source)?;
    let written = file.section_mut(&section.anchor);
    let is_new = written.questions.is_empty();
    let before = written.questions.len();
    let added = written.add(&arguments.question);
    added.map_err(CommandError::Usage)?;
    let is_added = written.questions.len() > before;
    if is_new {
        written.text_hash = Some(section.text_hash);
    }
    if is_added {
        folder.write(source, &file)?;
    }
    if state == State::Stale {
        output::status(
            "note: the section's other questions were written for an earlier text of it",
        );
    }
    let (path, at) = (question_file(source), place(source, &section.anchor));
    if output == Output::Json {
        output::json(&json!({"file": path, "section": at, "added": is_added}));
    } else if is_added {
        output::line(&format!("added to {at} in {path}"));
    } else {
        output::line(&format!("{at} has this question already"));
    }
    Ok(Exit::Done)
}

/// Finds the section that `PAGE#ANCHOR` names.
fn section<'a>(site: &'a AskedSite, named: &str) -> Result<PageSection<'a>, CommandError> {
    let (page, anchor) = named.rsplit_once('#').unwrap_or((named, ""));
    let document = page_named(site, page).ok_or_else(|| {
        CommandError::Usage(format!(
            "the site has no page `{page}`; name the path of its file in the site, such as docs/a.md, or its URL"
        ))
    })?;
    let known = sections_of(document).find(|section| section.section.anchor == anchor);
    known.ok_or_else(|| {
        let anchors = sections_of(document).map(|section| section.section.anchor);
        let anchors: Vec<String> = anchors
            .filter(|anchor| !anchor.is_empty())
            .take(MAX_LISTED)
            .map(|anchor| format!("#{anchor}"))
            .collect();
        let source = &document.file.source;
        CommandError::Usage(if anchor.is_empty() {
            format!(
                "{source} has no text above its first heading; name one of {}",
                anchors.join(", ")
            )
        } else {
            format!(
                "{source} has no section `#{anchor}`; it has {}",
                anchors.join(", ")
            )
        })
    })
}

fn page_named<'a>(site: &'a AskedSite, page: &str) -> Option<&'a Document> {
    let pages = site.by_source();
    let source = page.strip_prefix("./").unwrap_or(page);
    if let Some(document) = pages.get(source) {
        return Some(document);
    }
    let path = path_of_url(page);
    let mut documents = pages.into_values();
    documents.find(|document| {
        let urls = document.fallback_urls.values().chain([&document.url]);
        urls.map(|url| path_of_url(url)).any(|url| url == path)
    })
}

/// Returns the path of a URL, decoded and without its last slash.
fn path_of_url(url: &str) -> String {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => url,
    };
    let path = path.split('?').next().unwrap_or_default();
    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    path.trim_matches('/').to_owned()
}
