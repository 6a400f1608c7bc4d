//! `bookrag insights`: reports what readers' questions reveal about the book.

mod chart;
mod open;
mod html;
mod gaps;
mod library;

use std::path::{Path, PathBuf};
use std::time::Duration;

use bookrag::catalog::{
    AskedQuestion, Catalog, CatalogError, CommentInsight, GapQuestion, HelpfulAnswer, Insights,
    LessonInsight, OpenQuestion, ReportInsight,
};
use bookrag::config::Config;
use bookrag::context::Context;
use bookrag::error::Error;
use bookrag::prices::dollars;
use clap::Args;
use serde::Serialize;

use super::{CommandError, Exit, Output, output};
use crate::local::{BookFolder, LocalBook, LocalError, open_catalog};
use crate::look::Look;
use crate::site::Site;
use open::Subject;

pub(crate) use library::{CountedBook, page_of_books};

const DAY: u64 = 86_400;
/// The default number of days that a report looks back, and the maximum.
const DEFAULT_DAYS: u64 = 30;
const MAX_DAYS: u64 = 3_650;
/// The most questions that are listed as asked most often.
const MOST_ASKED: u32 = 30;
/// The most questions that are grouped into subjects, and the most helpful answers that are compared with them. Each is searched for.
const MOST_GAPS: u32 = 100;
const MOST_HELPFUL: u32 = 50;
/// Digits shown of a question's hash.
const HASH_DIGITS: usize = 12;

#[derive(Debug, Args)]
pub(super) struct InsightsArguments {
    /// How many days to look back.
    #[arg(long, default_value_t = DEFAULT_DAYS, value_parser = clap::value_parser!(u64).range(1..=MAX_DAYS))]
    days: u64,
    /// Write a page with the report, which opens in a browser without a server, instead of printing it.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a Markdown file with what to do about questions that were refused, in doubt or not helpful, for an author or a coding agent, instead of
    /// printing the report.
    #[arg(long, value_name = "FILE")]
    gaps: Option<PathBuf>,
    /// A site's folder, or `s3://bucket/prefix`. By default, that of the current folder, else the one last served or synced.
    #[arg(long)]
    site: Option<PathBuf>,
}

pub(super) async fn run(
    config: &Config,
    arguments: &InsightsArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let catalog = open_catalog(config, || {
        BookFolder::find(config, arguments.site.as_deref())
    })
    .await?;
    let report = Report::read(&catalog, arguments.days).await;
    let report = report.map_err(LocalError::from)?;
    let insights = &report.insights;
    let grouped = grouped(config, arguments, &report).await;
    if let Some(file) = &arguments.gaps {
        let grouped = grouped.as_ref().map_err(|error| {
            CommandError::Message(format!("the questions cannot be grouped: {error}"))
        })?;
        let gaps = gaps::Gaps {
            title: &report.title,
            days: arguments.days,
            subjects: &grouped.subjects,
            site: &grouped.site,
            lacks_texts: open::lacks_texts(insights),
        };
        write(file, &gaps.markdown())?;
    }
    let subjects = match grouped {
        Ok(grouped) => grouped.subjects,
        Err(error) => {
            output::status(&format!("note: the nearest pages are not shown: {error}"));
            Vec::new()
        }
    };
    if let Some(file) = &arguments.html {
        let look = site_look(&catalog, arguments).await;
        let page = html::Page {
            report: &report,
            subjects: &subjects,
            origin: config.origins.first().map(String::as_str),
            look: &look.unwrap_or_else(Look::neutral),
            is_served: false,
        };
        write(file, &page.written())?;
    }
    if output == Output::Json {
        output::json(&Printed { insights, subjects });
    } else if arguments.html.is_none() && arguments.gaps.is_none() {
        print(insights, arguments.days);
        for line in open::lines(&subjects, insights) {
            output::line(&line);
        }
    }
    Ok(Exit::Done)
}

/// Returns the report on the last `days` days as a page, by default on the last [`DEFAULT_DAYS`]. The server has the book below the path `place`.
///
/// # Errors
/// If the catalog cannot be read, or the book cannot be searched.
pub(crate) async fn page(
    context: &Context,
    days: Option<u64>,
    look: &Look,
    place: &str,
) -> Result<String, Error> {
    let days = days.unwrap_or(DEFAULT_DAYS).clamp(1, MAX_DAYS);
    let report = Report::read(context.catalog(), days).await;
    let report = report.map_err(Error::unavailable)?;
    let index = context.live_index().await?;
    let site = &index.spec.site;
    let subjects = open::subjects(&report.gaps, &report.helpful, context, site).await?;
    let page = html::Page {
        report: &report,
        subjects: &subjects,
        origin: Some(place),
        look,
        is_served: true,
    };
    Ok(page.written())
}

/// What the catalog knows of readers' questions.
struct Report {
    /// The title of the book.
    title: String,
    days: u64,
    insights: Insights,
    /// The questions whose text is stored, most frequent first.
    asked: Vec<AskedQuestion>,
    /// Those that were refused, in doubt or not helpful.
    gaps: Vec<GapQuestion>,
    /// Those whose answer a reader found helpful.
    helpful: Vec<HelpfulAnswer>,
}

impl Report {
    async fn read(catalog: &Catalog, days: u64) -> Result<Self, CatalogError> {
        let since = Duration::from_secs(days * DAY);
        let live = catalog.live_index().await?;
        Ok(Self {
            title: live.map_or("the book".to_owned(), |index| index.site.title),
            days,
            insights: catalog.insights(since).await?,
            asked: catalog.asked_questions(since, MOST_ASKED).await?,
            gaps: catalog.gap_questions(since, MOST_GAPS).await?,
            helpful: catalog.helpful_answers(since, MOST_HELPFUL).await?,
        })
    }
}

/// Returns the colours of the book's site, if it is in a folder of this machine and can be read.
async fn site_look(catalog: &Catalog, arguments: &InsightsArguments) -> Option<Look> {
    let live = catalog.live_index().await.ok()?;
    let indexed = live.map(|index| PathBuf::from(index.spec.site));
    let site = Site::read(&arguments.site.clone().or(indexed)?).ok()?;
    site.folder()?;
    let source = site.source().await.ok()?;
    let settings = source.settings().await.ok()?;
    Some(Look::read(&source, &settings).await)
}

/// The insights printed with `--json`.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    insights: &'a Insights,
    subjects: Vec<Subject>,
}

/// The subjects of a report, and the site that their commands name.
#[derive(Default)]
struct Grouped {
    subjects: Vec<Subject>,
    site: String,
}

/// Groups the questions that readers were not helped with, which takes the index and its model.
async fn grouped(
    config: &Config,
    arguments: &InsightsArguments,
    report: &Report,
) -> Result<Grouped, CommandError> {
    if report.gaps.is_empty() {
        return Ok(Grouped::default());
    }
    let folder = BookFolder::find(config, arguments.site.as_deref())?;
    let book = LocalBook::open(config, &folder, output::status).await?;
    let site = match &arguments.site {
        Some(site) => site.display().to_string(),
        None => book.context.live_index().await?.spec.site,
    };
    let subjects = open::subjects(&report.gaps, &report.helpful, &book.context, &site).await?;
    Ok(Grouped { subjects, site })
}

fn write(file: &Path, text: &str) -> Result<(), CommandError> {
    std::fs::write(file, text).map_err(|error| {
        CommandError::Message(format!("cannot write {}: {error}", file.display()))
    })?;
    output::status(&format!("wrote {}", file.display()));
    Ok(())
}

fn print(insights: &Insights, days: u64) {
    if insights.days.is_empty() {
        reports(&insights.reports);
        output::line(&format!(
            "no questions in the last {days} days. Readers' questions are counted while `bookrag serve` or the deployed API answers them"
        ));
        return;
    }
    output::line(
        "day         questions  not covered  uncertain  degraded  incomplete    tokens        USD  cached      saved",
    );
    for day in &insights.days {
        output::line(&format!(
            "{}  {:>9}  {:>11}  {:>9}  {:>8}  {:>10}  {:>8}  {:>9.4}  {:>5.0}%  {:>9.4}",
            day.day,
            day.questions,
            day.not_covered,
            day.uncertain,
            day.degraded,
            day.incomplete,
            day.tokens,
            dollars(day.cost_micro_usd),
            percent(day.cached, day.questions),
            dollars(day.saved_micro_usd)
        ));
    }
    questions("not covered by the book:", &insights.not_covered);
    questions("perhaps not answered by the book:", &insights.uncertain);
    questions("answered, but not helpful:", &insights.unhelpful);
    lessons("most cited:", &insights.most_cited);
    lessons("in answers that did not help:", &insights.most_disliked);
    comments(&insights.comments);
    reports(&insights.reports);
}

fn percent(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of questions are small")]
    let share = part as f64 / whole.max(1) as f64;
    share * 100.0
}

fn questions(heading: &str, questions: &[OpenQuestion]) {
    if !questions.is_empty() {
        output::line(&format!("\n{heading}"));
    }
    for open in questions {
        let question = match &open.question {
            Some(question) => question.clone(),
            // Without `BOOKRAG_STORE_QUESTIONS` only the hash is stored.
            None => open.question_hash.chars().take(HASH_DIGITS).collect(),
        };
        output::line(&format!("{:>6}  {question}", open.count));
    }
}

fn lessons(heading: &str, lessons: &[LessonInsight]) {
    if !lessons.is_empty() {
        output::line(&format!("\n{heading}"));
    }
    for lesson in lessons {
        output::line(&format!(
            "{:>6}  {}  {}",
            lesson.count, lesson.title, lesson.url
        ));
    }
}

fn reports(reports: &[ReportInsight]) {
    if !reports.is_empty() {
        output::line("\nreported by agents:");
    }
    for report in reports {
        let question = report.question.as_deref().unwrap_or_default();
        let page = report.page.as_deref().unwrap_or_default();
        output::line(&format!("        {}  {question}  {page}", report.problem));
    }
}

fn comments(comments: &[CommentInsight]) {
    if !comments.is_empty() {
        output::line("\nwhat readers wrote:");
    }
    for comment in comments {
        let rating = if comment.helpful { "+" } else { "-" };
        let question = comment.question.as_deref().unwrap_or_default();
        output::line(&format!("     {rating}  {}  {question}", comment.comment));
    }
}
