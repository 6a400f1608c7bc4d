//! `bookrag eval --init`: writes a first file of questions, made from the book's headings.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use bookrag::book::{BlockKind, Document, SiteSettings};
use serde_json::json;

use super::{CommandError, Exit, Output, output};
use crate::evaluation::TODO;
use crate::pages::ReadPages;
use crate::site::Site;

/// The number of questions that the book answers, each about a different page.
const ANSWERABLE: usize = 20;
/// The number of questions that the book does not answer: a fifth of all, enough to measure refusals as well.
const UNANSWERABLE: usize = 5;

/// A heading that a question may be about.
struct Topic<'a> {
    document: &'a Document,
    heading: &'a str,
    anchor: &'a str,
    /// The anchors of the headings below it.
    under: Vec<&'a str>,
}

/// Writes the file, which must not exist yet.
pub(super) async fn write(file: &Path, site: &Path, output: Output) -> Result<Exit, CommandError> {
    let source = Site::read(site)?.source().await?;
    let settings = source.settings().await?;
    let read = ReadPages::read(&source, &settings).await?;
    let documents = read
        .pages
        .iter()
        .filter_map(|page| page.document.as_ref().ok());
    let topics = topics(documents.filter(|document| is_main(document, &settings)));
    if topics.is_empty() {
        return Err(CommandError::Message(
            "no page of the site has a heading to ask about".to_owned(),
        ));
    }
    let lines = lines(&topics);
    create(file, &lines.concat())?;
    let (path, count) = (file.display().to_string(), lines.len());
    if output == Output::Json {
        output::json(&json!({"file": path, "questions": count}));
    } else {
        output::line(&format!(
            "wrote {count} questions to {path}; replace each {TODO} in it, then run: bookrag eval {path} --site {}",
            site.display()
        ));
    }
    Ok(Exit::Done)
}

/// True for pages that a search without filters finds.
fn is_main(document: &Document, settings: &SiteSettings) -> bool {
    let file = &document.file;
    file.locale == settings.default_locale
        && !document.front_matter.unlisted
        && settings.instance(&file.instance).default_version() == file.version
}

/// Returns up to [`ANSWERABLE`] headings from the whole book, each of a different page.
fn topics<'a>(documents: impl Iterator<Item = &'a Document>) -> Vec<Topic<'a>> {
    // Pages take turns to give their first heading, second heading and so on, because first headings are often introductions.
    let mut topics: Vec<Topic<'a>> = documents
        .map(headings)
        .filter(|of_page| !of_page.is_empty())
        .enumerate()
        .map(|(position, mut of_page)| of_page.swap_remove(position % of_page.len()))
        .collect();
    let step = topics.len().div_ceil(ANSWERABLE).max(1);
    let mut position = 0;
    topics.retain(|_| {
        position += 1;
        (position - 1) % step == 0
    });
    topics
}

/// Returns the headings of a page that have an anchor.
fn headings(document: &Document) -> Vec<Topic<'_>> {
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut topics: Vec<Topic<'_>> = Vec::new();
    for block in &document.blocks {
        let BlockKind::Heading { level, anchor, .. } = &block.kind else {
            continue;
        };
        open.retain(|(outer, _)| outer < level);
        let Some(anchor) = anchor.as_deref() else {
            continue;
        };
        for (_, topic) in &open {
            topics[*topic].under.push(anchor);
        }
        open.push((*level, topics.len()));
        topics.push(Topic {
            document,
            heading: &block.text,
            anchor,
            under: Vec::new(),
        });
    }
    topics
}

/// Returns the file's lines, in the format of [`crate::evaluation::Question`].
fn lines(topics: &[Topic<'_>]) -> Vec<String> {
    let answerable = (1..).zip(topics).map(|(number, topic)| {
        let Topic { document, heading, .. } = topic;
        json!({
            "id": format!("q{number}"),
            "query": format!("{TODO}: what a reader would ask whom “{heading}” on the page “{}” answers", document.title),
            "locale": document.file.locale,
            "answerable": true,
            "source": document.file.source,
            "url": document.url,
            "headings": [{"id": topic.anchor, "under": topic.under}],
        })
    });
    let unanswerable = (1..=UNANSWERABLE).map(|number| {
        json!({
            "id": format!("n{number}"),
            "query": format!("{TODO}: a question near the book's subject that the book does not answer"),
            "locale": topics[0].document.file.locale,
            "answerable": false,
            "kind": "near-miss",
        })
    });
    answerable
        .chain(unanswerable)
        .map(|question| format!("{question}\n"))
        .collect()
}

fn create(file: &Path, text: &str) -> Result<(), CommandError> {
    let created = OpenOptions::new().write(true).create_new(true).open(file);
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CommandError::Usage(format!(
            "{} exists already; name another file, or delete it first",
            file.display()
        )),
        _ => CommandError::Message(format!("cannot write {}: {error}", file.display())),
    })
}
