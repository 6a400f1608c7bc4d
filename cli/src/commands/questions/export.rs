//! `bookrag questions export`: writes the questions that a model wrote into the catalog into the site's files.

use bookrag::book::Document;
use bookrag::book::questions::{QuestionFile, asked_sections};
use bookrag::config::Config;
use clap::Args;
use serde_json::json;

use super::super::{CommandError, Exit, Output, output};
use super::files::QuestionFolder;
use super::sections::{SiteArguments, counted};
use crate::local::written_questions;

#[derive(Debug, Args)]
pub(super) struct ExportArguments {
    #[command(flatten)]
    site: SiteArguments,
}

pub(super) async fn run(
    config: &Config,
    arguments: &ExportArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let site = arguments.site.read().await?;
    let folder = QuestionFolder::open(&site.site)?;
    let written = written_questions(config, &site.site).await?;
    let pages = site.by_source();
    let (mut files, mut sections, mut problems) = (0, 0, Vec::new());
    for (source, text) in &written {
        let Some(document) = pages.get(source.as_str()) else {
            continue;
        };
        match merge(&folder, document, text) {
            Ok(0) => {}
            Ok(added) => {
                files += 1;
                sections += added;
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    for problem in &problems {
        output::status(problem);
    }
    if output == Output::Json {
        output::json(&json!({"files": files, "sections": sections, "problems": problems}));
    } else {
        output::line(&format!(
            "questions for {} in {}",
            counted(sections, "section"),
            counted(files, "file")
        ));
    }
    Ok(if problems.is_empty() {
        Exit::Done
    } else {
        Exit::Partial
    })
}

/// Adds questions to a page's file, for sections that still have the text and have no questions there. Returns how many sections are added.
fn merge(folder: &QuestionFolder, document: &Document, text: &str) -> Result<usize, CommandError> {
    let source = &document.file.source;
    let mut file = folder.read(source)?;
    let now = asked_sections(document);
    let mut added = 0;
    for written in QuestionFile::parse(text).sections {
        let is_current = now.iter().any(|section| {
            section.anchor == written.anchor
                && Some(&section.text_hash) == written.text_hash.as_ref()
        });
        let of_file = file.sections.iter();
        let mut of_file = of_file.filter(|section| section.anchor == written.anchor);
        let is_free = of_file.all(|section| section.questions.is_empty());
        if !is_current || !is_free || written.questions.is_empty() {
            continue;
        }
        let section = file.section_mut(&written.anchor);
        section.text_hash = written.text_hash;
        section.comments.extend(written.comments);
        section.questions = written.questions;
        added += 1;
    }
    if added > 0 {
        folder.write(source, &file)?;
    }
    Ok(added)
}
