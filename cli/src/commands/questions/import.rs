//! `bookrag questions import`: writes questions from lines of JSON into the site's files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use bookrag::book::Document;
use bookrag::book::questions::{AskedSection, QuestionFile, Written, asked_sections};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::super::{CommandError, Exit, Output, output};
use super::files::QuestionFolder;
use super::sections::{SiteArguments, counted};

/// Names standard input.
const STANDARD_INPUT: &str = "-";

#[derive(Debug, Args)]
pub(super) struct ImportArguments {
    #[command(flatten)]
    site: SiteArguments,
    /// Lines `{"source": "docs/a.md", "anchor": "charging", "questions": ["…"]}`; `-` for standard input. Other fields are ignored.
    file: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Line {
    /// The path of the page's file in the site.
    source: String,
    /// The anchor of the heading; empty for the page's beginning.
    anchor: String,
    questions: Vec<String>,
}

/// What is written for a section.
struct Entry {
    line: usize,
    anchor: String,
    text_hash: String,
    questions: Vec<String>,
}

/// A line that is not imported.
#[derive(Debug, serde::Serialize)]
struct Problem {
    line: usize,
    reason: String,
}

pub(super) async fn run(arguments: &ImportArguments, output: Output) -> Result<Exit, CommandError> {
    let text = text_of(&arguments.file)?;
    let site = arguments.site.read().await?;
    let folder = QuestionFolder::open(&site.site)?;
    let (entries, mut problems) = parse(&text, &site.by_source());
    let (mut files, mut questions, mut sections) = (0, 0, BTreeSet::new());
    for (source, entries) in &entries {
        match merge(&folder, source, entries, &mut problems) {
            Ok(added) => {
                files += 1;
                questions += added;
                sections.extend(entries.iter().map(|entry| (source, &entry.anchor)));
            }
            Err(error) => problems.extend(entries.iter().map(|entry| Problem {
                line: entry.line,
                reason: error.to_string(),
            })),
        }
    }
    problems.sort_by_key(|problem| problem.line);
    for problem in &problems {
        output::status(&format!(
            "{}, line {}: {}",
            arguments.file.display(),
            problem.line,
            problem.reason
        ));
    }
    if output == Output::Json {
        output::json(&json!({
            "files": files,
            "sections": sections.len(),
            "questions": questions,
            "problems": problems,
        }));
    } else {
        output::line(&format!(
            "{} for {} in {}",
            counted(questions, "new question"),
            counted(sections.len(), "section"),
            counted(files, "file")
        ));
    }
    Ok(if problems.is_empty() {
        Exit::Done
    } else {
        Exit::Partial
    })
}

fn text_of(file: &Path) -> Result<String, CommandError> {
    let read = if file.as_os_str() == STANDARD_INPUT {
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .read_to_string(&mut text)
            .map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    read.map_err(|error| CommandError::Message(format!("{}: {error}", file.display())))
}

/// Returns what is to be written, by page.
fn parse<'t>(
    text: &str,
    pages: &BTreeMap<&'t str, &'t Document>,
) -> (BTreeMap<&'t str, Vec<Entry>>, Vec<Problem>) {
    let mut sections: BTreeMap<&str, Vec<AskedSection>> = BTreeMap::new();
    let mut entries: BTreeMap<&str, Vec<Entry>> = BTreeMap::new();
    let mut problems = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        match entry_of(line, number, pages, &mut sections) {
            Ok((source, entry)) => entries.entry(source).or_default().push(entry),
            Err(reason) => problems.push(Problem {
                line: number,
                reason,
            }),
        }
    }
    (entries, problems)
}

/// Parses a line. `sections` keeps the sections of the pages of earlier lines.
fn entry_of<'t>(
    line: &str,
    number: usize,
    pages: &BTreeMap<&'t str, &'t Document>,
    sections: &mut BTreeMap<&'t str, Vec<AskedSection>>,
) -> Result<(&'t str, Entry), String> {
    let line: Line = serde_json::from_str(line).map_err(|error| {
        format!("expected {{\"source\": …, \"anchor\": …, \"questions\": […]}}: {error}")
    })?;
    let (&source, document) = pages
        .get_key_value(line.source.as_str())
        .ok_or_else(|| format!("the site has no page `{}`", line.source))?;
    let section = sections
        .entry(source)
        .or_insert_with(|| asked_sections(document))
        .iter()
        .find(|section| section.anchor == line.anchor)
        .ok_or_else(|| {
            format!(
                "{source} has no section `#{}`; `bookrag questions todo --all` lists its sections",
                line.anchor
            )
        })?;
    let entry = Entry {
        line: number,
        anchor: line.anchor,
        text_hash: section.text_hash.clone(),
        questions: line.questions,
    };
    Ok((source, entry))
}

/// Adds questions to a page's file, and returns how many are new.
fn merge(
    folder: &QuestionFolder,
    source: &str,
    entries: &[Entry],
    problems: &mut Vec<Problem>,
) -> Result<usize, CommandError> {
    let before = folder.read(source)?;
    let mut file = before.clone();
    let mut refused = Vec::new();
    for entry in entries {
        // Checked in a section of its own first, so that a section is not created for questions that cannot be used.
        let mut usable = Written::default();
        for question in &entry.questions {
            if let Err(reason) = usable.add(question) {
                refused.push((entry.line, reason));
            }
        }
        if usable.questions.is_empty() {
            continue;
        }
        let section = file.section_mut(&entry.anchor);
        section.text_hash = Some(entry.text_hash.clone());
        for question in &usable.questions {
            if let Err(reason) = section.add(question) {
                refused.push((entry.line, reason));
            }
        }
    }
    if file != before {
        folder.write(source, &file)?;
    }
    problems.extend(
        refused
            .into_iter()
            .map(|(line, reason)| Problem { line, reason }),
    );
    Ok(questions_in(&file) - questions_in(&before))
}

fn questions_in(file: &QuestionFile) -> usize {
    let sections = file.sections.iter();
    sections.map(|section| section.questions.len()).sum()
}
