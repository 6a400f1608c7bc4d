//! `bookrag insights`: reports what readers' questions reveal about the book.

mod html;
mod open;

use std::path::PathBuf;
use std::time::Duration;

use bookrag::catalog::{Insights, LessonInsight, OpenQuestion};
use bookrag::config::Config;
use bookrag::context::Context;
use bookrag::error::Error;
use bookrag::prices::dollars;
use clap::Args;
use serde::Serialize;

use super::{CommandError, Exit, output};
use crate::local::{BookFolder, LocalBook, LocalError, open_catalog};
use open::Subject;

const DAY: u64 = 86_400;
/// The days that the page of `serve` looks back.
const SHOWN_DAYS: u64 = 30;
/// The most questions listed as asked most.
const MOST_ASKED: u32 = 30;
/// Digits shown of a question's hash.
const HASH_DIGITS: usize = 12;

#[derive(Debug, Args)]
pub(super) struct InsightsArguments {
    /// How many days to look back.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_650))]
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
    json: bool,
) -> Result<Exit, CommandError> {
    let find = || BookFolder::find(config, arguments.site.as_deref());
    let catalog = open_catalog(config, find).await?;
    let since = Duration::from_secs(arguments.days * DAY);
    let insights = catalog.insights(since).await.map_err(LocalError::from)?;
    let subjects = subjects(config, arguments, &insights).await;
    if let Some(file) = &arguments.html {
        let asked = catalog.asked_questions(since, MOST_ASKED).await;
        let asked = asked.map_err(LocalError::from)?;
        let live = catalog.live_index().await.map_err(LocalError::from)?;
        let page = html::Page {
            title: live.as_ref().map_or("the book", |index| &index.site.title),
            days: arguments.days,
            insights: &insights,
            asked: &asked,
            subjects: &subjects,
            origin: config.origins.first().map(String::as_str),
        };
        let message = |error| format!("cannot write {}: {error}", file.display());
        std::fs::write(file, page.written())
            .map_err(|error| CommandError::Message(message(error)))?;
        output::status(&format!("wrote {}", file.display()));
    }
    if json {
        let insights = &insights;
        output::json(&Printed { insights, subjects });
    } else if arguments.html.is_none() {
        print(&insights, arguments.days);
        for line in open::lines(&subjects, &insights) {
            output::line(&line);
        }
    }
    Ok(Exit::Done)
}

/// Returns the report on the last [`SHOWN_DAYS`] days as a page.
///
/// # Errors
/// If the catalog cannot be read, or the book cannot be searched.
pub(crate) async fn page(context: &Context) -> Result<String, Error> {
    let since = Duration::from_secs(SHOWN_DAYS * DAY);
    let catalog = context.catalog();
    let insights = catalog.insights(since).await;
    let insights = insights.map_err(Error::unavailable)?;
    let asked = catalog.asked_questions(since, MOST_ASKED).await;
    let asked = asked.map_err(Error::unavailable)?;
    let index = context.live_index().await?;
    let subjects = open::subjects(&insights, context, &index.spec.site).await?;
    let page = html::Page {
        title: &index.site.title,
        days: SHOWN_DAYS,
        insights: &insights,
        asked: &asked,
        subjects: &subjects,
        origin: None,
    };
    Ok(page.written())
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
    lessons("most cited:", &insights.most_cited);
    lessons("in answers that did not help:", &insights.most_disliked);
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
        // Without `BOOKRAG_STORE_QUESTIONS` only the hash is stored.
        let hash = || open.question_hash.chars().take(HASH_DIGITS).collect();
        let question: String = open.question.clone().unwrap_or_else(hash);
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
