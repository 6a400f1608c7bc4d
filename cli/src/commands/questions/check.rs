//! `bookrag questions check`: searches each question of the book, and reports those that do not lead to their section.

use std::collections::{BTreeMap, BTreeSet};

use bookrag::answer::{self, Answerer};
use bookrag::book::Document;
use bookrag::book::questions::asked_sections;
use bookrag::config::Config;
use bookrag::error::Error;
use bookrag::generate::Generator;
use bookrag::index::Filters;
use bookrag::ingest::{OpenMode, SyncOptions};
use bookrag::words::{Language, Words};
use clap::Args;
use serde::Serialize;

use super::super::progress::with_progress;
use super::super::{CommandError, Exit, Output, output};
use super::report::QuestionReport;
use super::sections::{AskedSite, SiteArguments, counted, place};
use crate::local::{BookFolder, LocalBook, config_for};

/// A question leads to its section if the section is among this many that a search finds.
const FIRST: usize = 5;
/// The number of questions between two lines of progress.
const PROGRESS_QUESTIONS: usize = 200;

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    site: SiteArguments,
    /// Exit with 1 if a smaller share of the questions finds its section among the first five: 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min: Option<f64>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok();
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("must be a number from 0 to 1, got `{text}`"))
}

/// A question with its section.
struct Asked<'a> {
    document: &'a Document,
    anchor: String,
    question: &'a str,
    /// True if the question's words are all in the breadcrumb.
    says_heading: bool,
}

/// The report.
#[derive(Debug, Default, Serialize)]
struct Report {
    questions: usize,
    /// The share of questions whose section is among the first five; `null` without questions.
    found_share: Option<f64>,
    /// The share of questions whose words are all in the page's title and the headings above.
    heading_share: Option<f64>,
    /// Questions whose section is not among the first five.
    not_found: Vec<NotFound>,
    /// Questions that several sections have.
    duplicates: Vec<Duplicate>,
    says_heading: Vec<Place>,
    #[serde(flatten)]
    files: QuestionReport,
}

#[derive(Debug, Serialize)]
struct Place {
    section: String,
    question: String,
}

#[derive(Debug, Serialize)]
struct NotFound {
    #[serde(flatten)]
    place: Place,
    /// The sections that are found first.
    first: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Duplicate {
    question: String,
    sections: Vec<String>,
}

pub(super) async fn run(
    config: &Config,
    arguments: &CheckArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let site = arguments.site.read().await?;
    let asked = asked(&site);
    let mut report = Report {
        questions: asked.len(),
        files: QuestionReport::read(&site.source, &site.settings, &site.read).await?,
        duplicates: duplicates(&asked),
        ..Report::default()
    };
    let same_as_heading = asked.iter().filter(|asked| asked.says_heading);
    report.says_heading = same_as_heading.map(Asked::place).collect();
    if !asked.is_empty() {
        report.not_found = search(config, &site, &asked).await?;
        report.found_share = Some(part(asked.len() - report.not_found.len(), asked.len()));
        report.heading_share = Some(part(report.says_heading.len(), asked.len()));
    }
    if output == Output::Json {
        output::json(&report);
    } else {
        report.print();
    }
    let Some(min) = arguments.min else {
        return Ok(Exit::Done);
    };
    match report.found_share {
        Some(found) if found >= min => Ok(Exit::Done),
        Some(found) => Err(CommandError::Message(format!(
            "{found:.3} of the questions find their section among the first five, and --min asks for {min}"
        ))),
        None => Err(CommandError::Message(
            "the site has no questions, and --min asks for a share of them".to_owned(),
        )),
    }
}

/// Returns the questions of the pages that readers search.
fn asked(site: &AskedSite) -> Vec<Asked<'_>> {
    let mut asked = Vec::new();
    for document in site.searched() {
        let words = Words::new(Language::of_locale(&document.file.locale));
        for section in asked_sections(document) {
            let Some(written) = document.questions.get(&section.anchor) else {
                continue;
            };
            let heading: BTreeSet<String> = words
                .terms(&section.breadcrumb.join(" "))
                .into_iter()
                .collect();
            for question in &written.questions {
                let mut terms = words.of_question(question);
                asked.push(Asked {
                    document,
                    anchor: section.anchor.clone(),
                    question,
                    says_heading: terms.all(|(_, term)| heading.contains(&term)),
                });
            }
        }
    }
    asked
}

impl Asked<'_> {
    fn section(&self) -> String {
        place(&self.document.file.source, &self.anchor)
    }

    fn place(&self) -> Place {
        Place {
            section: self.section(),
            question: self.question.to_owned(),
        }
    }
}

fn duplicates(asked: &[Asked<'_>]) -> Vec<Duplicate> {
    let mut sections: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for asked in asked {
        let words: Vec<String> = asked
            .question
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let key = (asked.document.file.locale.as_str(), words.join(" "));
        sections.entry(key).or_default().push(asked.section());
    }
    sections
        .into_iter()
        .filter(|(_, sections)| sections.len() > 1)
        .map(|((_, question), sections)| Duplicate { question, sections })
        .collect()
}

/// Syncs the book, searches each question as a reader does, and returns those whose section is not found.
async fn search(
    config: &Config,
    site: &AskedSite,
    asked: &[Asked<'_>],
) -> Result<Vec<NotFound>, CommandError> {
    let folder = BookFolder::create(config, &site.site, output::status)?;
    let config = &config_for(config, &site.site).await?;
    let book = LocalBook::open(config, &folder, output::status).await?;
    let ingest = book.ingest(config, &site.site, OpenMode::TakeOver).await?;
    with_progress(&ingest, SyncOptions::default()).await?;
    let index = book.context.live_index().await?;
    let answerer = Answerer {
        generator: Generator::Extractive,
        ..book.context.answerer(&index)?
    };
    let mut not_found = Vec::new();
    for (asked, number) in asked.iter().zip(1..) {
        let filters = Filters {
            locale: Some(asked.document.file.locale.clone()),
            ..Filters::default()
        };
        let question = answer::Question {
            filters,
            ..answer::Question::new(asked.question)
        };
        let prepared = answerer
            .prepare(question, None)
            .await
            .map_err(Error::from)?;
        let candidates = prepared.retrieved.candidates.iter().take(FIRST);
        let first: Vec<String> = candidates
            .map(|found| {
                let anchor = found.chunk.section_id.as_deref().unwrap_or_default();
                place(&found.chunk.source, anchor)
            })
            .collect();
        if !first.contains(&asked.section()) {
            not_found.push(NotFound {
                place: asked.place(),
                first,
            });
        }
        if number % PROGRESS_QUESTIONS == 0 {
            output::status(&format!("{number} questions searched"));
        }
    }
    Ok(not_found)
}

#[expect(clippy::cast_precision_loss, reason = "a book has few questions")]
fn part(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl Report {
    fn print(&self) {
        for (heading, lines) in [
            (
                "text changed since the questions were written:",
                &self.files.stale,
            ),
            (
                "the page has no such section:",
                &self.files.unknown_sections,
            ),
            ("the site has no such page:", &self.files.unknown_pages),
            ("not used:", &self.files.problems),
        ] {
            list(heading, lines.iter().cloned());
        }
        list(
            "more than one section has the question:",
            self.duplicates
                .iter()
                .map(|it| format!("{}: {}", it.question, it.sections.join(", "))),
        );
        list(
            "says no more than its heading:",
            self.says_heading
                .iter()
                .map(|it| format!("{}: {}", it.section, it.question)),
        );
        list(
            "other sections are found first:",
            self.not_found.iter().map(|it| {
                let first = it.first.first().map_or("nothing", String::as_str);
                format!(
                    "{}: {}\n    first: {first}",
                    it.place.section, it.place.question
                )
            }),
        );
        output::line(&format!(
            "{} of {} have questions, {} in all",
            self.files.with_questions,
            counted(self.files.sections, "section"),
            self.questions
        ));
        if let (Some(found), Some(heading)) = (self.found_share, self.heading_share) {
            output::line(&format!(
                "{found:.3} find their section among the first five; {heading:.3} say no more than their heading"
            ));
        }
    }
}

fn list(heading: &str, lines: impl Iterator<Item = String>) {
    for (position, line) in lines.enumerate() {
        if position == 0 {
            output::line(heading);
        }
        output::line(&format!("  {line}"));
    }
}
