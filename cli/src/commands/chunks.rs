//! `bookrag chunks`: prints the chunks of a book, for people and scripts. Needs no model and no store.

use std::path::PathBuf;

use bookrag::book::{Document, SiteSettings};
use bookrag::chunk::{Chunk, ChunkPolicy, chunk_document};
use bookrag::config::Config;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{BuildArgument, CommandError, Exit, Output, ledger, output};
use crate::pages::{ReadPages, Unread};

#[derive(Debug, Args)]
pub(super) struct ChunksArguments {
    /// The site's folder, or `s3://bucket/prefix`.
    site: PathBuf,
    #[command(flatten)]
    build: BuildArgument,
    /// Print one JSON object per chunk.
    #[arg(long)]
    jsonl: bool,
    /// Check that every piece of every page is in a chunk, or is listed with the reason why it is not.
    #[arg(long, conflicts_with = "locale")]
    ledger: bool,
    /// Read the book as this locale shows it: its own pages, and the default locale's where a translation is missing.
    #[arg(long)]
    locale: Option<String>,
    /// How pages are split.
    #[arg(long, value_parser = policies())]
    policy: Option<ChunkPolicy>,
    /// End with an error if a page is skipped.
    #[arg(long)]
    strict: bool,
}

/// Parses a policy's name; `--help` lists them.
fn policies() -> impl TypedValueParser<Value = ChunkPolicy> {
    PossibleValuesParser::new(ChunkPolicy::ALL.map(|policy| policy.name))
        .try_map(|name| name.parse::<ChunkPolicy>())
}

pub(super) async fn run(
    config: &Config,
    arguments: &ChunksArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let output = if arguments.jsonl {
        Output::Json
    } else {
        output
    };
    let site = arguments.build.site(&arguments.site)?;
    if let Some(note) = site.note().await? {
        output::status(&note);
    }
    let source = site.source().await?;
    let settings = source.settings().await?;
    let policy = match &arguments.policy {
        Some(policy) => policy.clone().for_input(config.embedder.max_tokens()),
        None => config.policy(),
    };
    let read = ReadPages::read(&source, &settings).await?;
    for warning in settings.warnings.iter().chain(&read.warnings) {
        output::status(&format!("warning: {warning}"));
    }
    read.check(&settings)?;
    for folder in &read.unknown {
        output::status(&format!("not read {}: {}", folder.source, folder.reason));
    }
    if arguments.ledger {
        return Ok(ledger::run(&read, &policy, output));
    }
    let note = other_locales(&settings).filter(|_| arguments.locale.is_none());
    if let Some(note) = note {
        output::status(&note);
    }
    let mut skipped = 0;
    let mut count = 0;
    for page in &read.pages {
        let document = match &page.document {
            Ok(document) => document,
            Err(reason @ Unread::Unreadable(_)) => {
                output::status(&format!("not read: {reason}"));
                continue;
            }
            Err(reason) => {
                skipped += 1;
                output::status(&format!("skipped {}: {reason}", page.file.source));
                continue;
            }
        };
        let locale = arguments
            .locale
            .as_ref()
            .unwrap_or(&settings.default_locale);
        let Some(url) = document.url_in(locale) else {
            continue;
        };
        for chunk in chunk_document(document, &policy) {
            count += 1;
            if output == Output::Json {
                output::json(&line(document, &chunk, url));
            } else {
                print(document, &chunk, url);
            }
        }
    }
    if output == Output::Text {
        output::line(&format!("{count} chunks, {skipped} pages skipped"));
    }
    let partial = read.are_incomplete() || (arguments.strict && skipped > 0);
    Ok(if partial { Exit::Partial } else { Exit::Done })
}

/// Returns the note that other locales than the default one are left out; `None` if there are none.
fn other_locales(settings: &SiteSettings) -> Option<String> {
    let default = &settings.default_locale;
    let others = settings.locales.iter().filter(|locale| *locale != default);
    let others: Vec<&str> = others.map(String::as_str).collect();
    (!others.is_empty()).then(|| {
        format!(
            "these are the chunks of the locale {default}; --locale LOCALE prints those of another one: {}",
            others.join(", ")
        )
    })
}

fn with_anchor(url: &str, chunk: &Chunk) -> String {
    match &chunk.section_id {
        Some(anchor) => format!("{url}#{anchor}"),
        None => url.to_owned(),
    }
}

fn line(document: &Document, chunk: &Chunk, url: &str) -> serde_json::Value {
    let mut value = serde_json::json!(chunk);
    value["text"] = chunk.shown_text().into();
    value["source"] = document.file.source.clone().into();
    value["url"] = with_anchor(url, chunk).into();
    value["title"] = document.title.clone().into();
    value["document_id"] = document.id.to_string().into();
    value["locale"] = document.file.locale.clone().into();
    value["version"] = document.file.version_in_site().into();
    value
}

fn print(document: &Document, chunk: &Chunk, url: &str) {
    let section = chunk.section.as_deref().unwrap_or(&document.title);
    output::line(&format!(
        "{}  {section}  [{}, {} tokens]\n  {}",
        output::lines_in_file(&document.file.source, chunk.start_line, chunk.end_line),
        chunk.section_type.name(),
        chunk.token_count,
        with_anchor(url, chunk)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locales_that_are_not_printed_are_named() {
        for (toml, expected) in [
            ("", None),
            ("locales = ['en']", None),
            (
                "default_locale = 'de'\nlocales = ['en', 'de', 'fr']",
                Some("locale de; --locale LOCALE prints those of another one: en, fr"),
            ),
        ] {
            let files = [("bookrag.toml".to_owned(), toml.to_owned())];
            let settings = SiteSettings::read(&files.into(), true).expect("valid settings");
            let note = other_locales(&settings);
            let is_expected = match expected {
                Some(end) => note.as_ref().is_some_and(|note| note.ends_with(end)),
                None => note.is_none(),
            };
            assert!(is_expected, "{toml}: {note:?}");
        }
    }
}
