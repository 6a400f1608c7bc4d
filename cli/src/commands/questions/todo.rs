//! `bookrag questions todo`: lists the sections that need questions, with their text, for a person or a coding agent that writes them.

use clap::Args;
use serde_json::json;

use super::super::{CommandError, Exit, Output, output};
use super::sections::{PageSection, Selection, SiteArguments, State, counted, place};

/// The most characters of a section's text.
const MAX_TEXT_CHARACTERS: usize = 4_000;

#[derive(Debug, Args)]
pub(super) struct TodoArguments {
    #[command(flatten)]
    site: SiteArguments,
    #[command(flatten)]
    selection: Selection,
    /// Print one JSON object per section, as `--json` does.
    #[arg(long)]
    jsonl: bool,
    /// Also list sections that have questions.
    #[arg(long)]
    all: bool,
}

pub(super) async fn run(arguments: &TodoArguments, output: Output) -> Result<Exit, CommandError> {
    let output = if arguments.jsonl {
        Output::Json
    } else {
        output
    };
    let site = arguments.site.read().await?;
    let sections = site.sections(&arguments.selection, |state| {
        arguments.all || state != State::Current
    })?;
    for section in &sections {
        if output == Output::Json {
            output::json(&line(section));
        } else {
            print(section);
        }
    }
    if output == Output::Text {
        output::line(&counted(sections.len(), "section"));
    }
    Ok(if site.read.are_incomplete() {
        Exit::Partial
    } else {
        Exit::Done
    })
}

fn line(of: &PageSection<'_>) -> serde_json::Value {
    let (document, section) = (of.document, &of.section);
    let text: String = section.text.chars().take(MAX_TEXT_CHARACTERS).collect();
    let written = document.questions.get(&section.anchor);
    json!({
        "source": document.file.source,
        "anchor": section.anchor,
        "state": of.state,
        "locale": document.file.locale,
        "url": place(&document.url, &section.anchor),
        "breadcrumb": section.breadcrumb,
        "start_line": section.start_line,
        "end_line": section.end_line,
        "is_cut": text.len() < section.text.len(),
        "text": text,
        "text_hash": section.text_hash,
        "questions": written.map_or(&[][..], |written| &written.questions),
    })
}

fn print(of: &PageSection<'_>) {
    let state = match of.state {
        State::Missing => "",
        State::Stale => "  (its text has changed)",
        State::Current => "  (has questions)",
    };
    output::line(&format!(
        "{}  {}{state}",
        place(&of.document.file.source, &of.section.anchor),
        of.section.breadcrumb.join(" › ")
    ));
}
