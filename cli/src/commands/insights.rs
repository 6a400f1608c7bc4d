//! `bookrag insights`: reports what readers' questions reveal about the book.

mod chart;
mod html;
mod open;
mod library;

use std::path::PathBuf;
use std::time::Duration;

use bookrag::catalog::{
    AskedQuestion, Catalog, CatalogError, CommentInsight, Insights, LessonInsight, OpenQuestion,
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
    let subjects = subjects(config, arguments, insights).await;
    if let Some(file) = &arguments.html {
        let look = site_look(&catalog, arguments).await;
        let page = html::Page {
            report: &report,
            subjects: &subjects,
            origin: config.origins.first().map(String::as_str),
            look: &look.unwrap_or_else(Look::neutral),
            is_served: false,
        };
        std::fs::write(file, page.written()).map_err(|error| {
            CommandError::Message(format!("cannot write {}: {error}", file.display()))
        })?;
        output::status(&format!("wrote {}", file.display()));
    }
    if output == Output::Json {
        output::json(&Printed { insights, subjects });
    } else if arguments.html.is_none() {
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
    let subjects = open::subjects(&report.insights, context, &index.spec.site).await?;
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

/// Groups the open questions by subject. Without the index's model they are only listed.
async fn subjects(
    config: &Config,
    arguments: &InsightsArguments,
    insights: &Insights,
) -> Vec<Subject> {
    if !open::has_texts(insights) {
        return Vec::new();
    }
    let found = async {
        let folder = BookFolder::find(config, arguments.site.as_deref())?;
        let book = LocalBook::open(config, &folder, output::status).await?;
        let site = match &arguments.site {
            Some(site) => site.display().to_string(),
            None => book.context.live_index().await?.spec.site,
        };
        Ok(open::subjects(insights, &book.context, &site).await?)
    };
    found.await.unwrap_or_else(|error: CommandError| {
        output::status(&format!("note: the nearest pages are not shown: {error}"));
        Vec::new()
    })
}

fn print(insights: &Insights, days: u64) {
    if insights.days.is_empty() {
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
