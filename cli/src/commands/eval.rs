//! `bookrag eval`: measures retrieval, answers and refusals on labelled questions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bookrag::answer::{self, Answer, Answerer};
use bookrag::config::Config;
use bookrag::generate::{Exchange, Generator};
use bookrag::index::Filters;
use bookrag::ingest::{OpenMode, SyncOptions};
use bookrag::retrieve::{ScoredChunk, Signals};
use clap::Args;
use serde_json::{Value, json};

use super::progress::with_progress;
use super::{BuildArgument, CommandError, Exit, Output, first_questions, output};
use crate::evaluation::{Baseline, Change, Evaluation, Found, Outcome, Question, Reply, evaluate};
use crate::local::{BookFolder, LocalBook, config_for};
use crate::site::Site;

#[derive(Debug, Args)]
pub(super) struct EvalArguments {
    /// The questions: JSON, one per line, with the pages and headings that answer them.
    questions: PathBuf,
    /// Write a first file of questions from the site's headings, with TODOs for a person. Asks nothing.
    #[arg(long, requires = "site", conflicts_with_all = ["books", "baseline", "details"])]
    init: bool,
    /// The folder that holds a site for each `corpus` that the questions name.
    #[arg(long)]
    books: Option<PathBuf>,
    /// The site of questions that name no corpus.
    #[arg(long)]
    site: Option<PathBuf>,
    #[command(flatten)]
    build: BuildArgument,
    /// The output of an earlier run with `--json`. Exits with 1 if this run is worse.
    #[arg(long)]
    baseline: Option<PathBuf>,
    /// How many questions of a book may do worse than in the baseline, because processors round differently.
    #[arg(long, default_value_t = 0)]
    slack: u32,
    /// Write one line of JSON per question to this file: the sections found, and why it was answered or refused.
    #[arg(long)]
    details: Option<PathBuf>,
}

pub(super) async fn run(
    config: &Config,
    arguments: &EvalArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let path = &arguments.questions;
    if let (true, Some(site)) = (arguments.init, &arguments.site) {
        return first_questions::write(path, site, output).await;
    }
    let questions = Question::parse_all(&read(path)?).map_err(|problem| failed(path, &problem))?;
    let baseline: Option<Baseline> = match &arguments.baseline {
        Some(path) => {
            let parsed = serde_json::from_str(&read(path)?);
            Some(parsed.map_err(|error| failed(path, &error))?)
        }
        None => None,
    };
    let mut by_corpus: BTreeMap<Option<&str>, Vec<&Question>> = BTreeMap::new();
    for question in &questions {
        let corpus = question.corpus.as_deref();
        by_corpus.entry(corpus).or_default().push(question);
    }
    let mut asked = Vec::new();
    for (corpus, questions) in by_corpus {
        asked.extend(ask(config, &site_of(corpus, arguments)?, &questions).await?);
    }
    if let Some(path) = &arguments.details {
        let lines = asked.iter().map(|(_, _, details)| format!("{details}\n"));
        std::fs::write(path, lines.collect::<String>()).map_err(|error| failed(path, &error))?;
    }
    let asked = asked.into_iter();
    let asked: Vec<_> = asked
        .map(|(question, outcome, _)| (question, outcome))
        .collect();
    let evaluation = evaluate(&asked);
    let changes = baseline.map(|baseline| Change::all(&evaluation, &baseline, arguments.slack));
    Ok(report(&evaluation, changes.as_deref(), output))
}

fn site_of(corpus: Option<&str>, arguments: &EvalArguments) -> Result<Site, CommandError> {
    match (corpus, &arguments.books, &arguments.site) {
        (Some(corpus), Some(books), _) => Ok(Site::read(&books.join(corpus))?),
        (Some(corpus), None, _) => Err(CommandError::Message(format!(
            "the questions are about `{corpus}`; name the folder with that site: --books DIR"
        ))),
        (None, _, Some(site)) => arguments.build.site(site),
        (None, _, None) => Err(CommandError::Message(
            "some questions name no corpus; name their site: --site SITE".to_owned(),
        )),
    }
}

/// Syncs a book and asks the questions, like a reader who has no page of the book open. Returns each with its outcome and details.
async fn ask<'q>(
    config: &Config,
    site: &Site,
    questions: &[&'q Question],
) -> Result<Vec<(&'q Question, Outcome, Value)>, CommandError> {
    let folder = BookFolder::create(config, site, output::status)?;
    let config = &config_for(config, site).await?;
    let book = LocalBook::open(config, &folder, output::status).await?;
    output::status(&format!("{}: {} questions", site.name(), questions.len()));
    let ingest = book.ingest(config, site, OpenMode::TakeOver).await?;
    with_progress(&ingest, SyncOptions::default()).await?;
    let index = book.context.live_index().await?;
    // Extractive answers: a chat model would cost money, and its answers vary between runs.
    let answerer = Answerer {
        generator: Generator::Extractive,
        ..book.context.answerer(&index)?
    };
    let mut asked = Vec::with_capacity(questions.len());
    for question in questions {
        let locale = &question.locale;
        let filters = Filters {
            locale: Some(locale.clone()),
            ..Filters::default()
        };
        let history = question.history.iter().map(|earlier| Exchange {
            question: earlier.clone(),
            answer: None,
        });
        let prepared = answer::Question {
            filters,
            history: history.collect(),
            ..answer::Question::new(&question.query)
        };
        let prepared = answerer.prepare(prepared, None).await;
        let prepared = prepared.map_err(bookrag::error::Error::from)?;
        let candidates = prepared.retrieved.candidates.clone();
        let signals = prepared.retrieved.signals;
        let answer = prepared.whole().await?;
        let details = details(question, &candidates, &signals, &answer);
        let outcome = outcome(&candidates, locale, answer);
        asked.push((*question, outcome, details));
    }
    Ok(asked)
}

fn outcome(candidates: &[ScoredChunk], locale: &str, answer: Answer) -> Outcome {
    let results = candidates.iter().map(|candidate| Found {
        source: candidate.chunk.source.clone(),
        url: candidate.url(Some(locale)),
    });
    Outcome {
        results: results.collect(),
        reply: match answer.outcome {
            answer::Outcome::Answered => Reply::Answered,
            answer::Outcome::Uncertain => Reply::Uncertain,
            answer::Outcome::NotCovered | answer::Outcome::SmallTalk => Reply::Refused,
        },
        answer: answer.text,
    }
}

fn details(
    question: &Question,
    candidates: &[ScoredChunk],
    signals: &Signals,
    answer: &Answer,
) -> Value {
    let citations = answer.citations.iter();
    let citations = citations.map(|cited| json!({"source": cited.source, "url": cited.url}));
    let results = candidates.iter().map(|candidate| {
        json!({
            "source": candidate.chunk.source,
            "url": candidate.url(Some(&question.locale)),
            "title": candidate.chunk.title,
            "section": candidate.section(),
            "start_line": candidate.chunk.start_line,
            "end_line": candidate.chunk.end_line,
            "scores": candidate.scores,
        })
    });
    json!({
        "id": question.id,
        "query": question.query,
        "answerable": question.answerable,
        "outcome": answer.outcome,
        "signals": signals,
        "results": results.collect::<Vec<_>>(),
        "answer": answer.text,
        "citations": citations.collect::<Vec<_>>(),
    })
}

/// Prints the evaluation and its changes from the baseline.
fn report(evaluation: &Evaluation, changes: Option<&[Change]>, output: Output) -> Exit {
    let all = changes.unwrap_or_default().iter();
    let regressions: Vec<&Change> = all.filter(|change| change.is_regression()).collect();
    if output == Output::Json {
        let mut printed = json!(evaluation);
        if changes.is_some() {
            printed["regressions"] = json!(regressions);
        }
        output::json(&printed);
    } else {
        output::line(&evaluation.table());
    }
    if let Some(changes) = changes {
        output::status(&Change::table(changes));
    }
    match regressions.len() {
        0 => return Exit::Done,
        1 => output::status("error: 1 figure is worse than the baseline's"),
        count => output::status(&format!(
            "error: {count} figures are worse than the baseline's"
        )),
    }
    Exit::Failed
}

fn read(path: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, problem: &dyn std::fmt::Display) -> CommandError {
    CommandError::Message(format!("{}: {problem}", path.display()))
}
