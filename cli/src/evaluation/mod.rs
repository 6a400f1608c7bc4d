//! The metrics of `bookrag eval`: retrieval, answers and refusals.
//!
//! Results are counted once per source and URL, pages once per source. Nothing is tuned on the questions.

mod question;
mod labels;
mod metrics;
mod baseline;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde::Serialize;

pub use baseline::{Baseline, BaselineScores, Change};
pub use metrics::{Metric, Metrics, visible};
pub use question::{Heading, Label, Question, TODO, UNNAMED_CORPUS};

use metrics::{mean, measure};

/// Metrics are rounded to 4 digits.
const PARTS: f64 = 10_000.0;

/// A retrieved place in a book.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Found {
    /// The page's file; empty if unknown.
    pub source: String,
    /// The URL path, with `#` and the anchor of a section.
    pub url: String,
}

impl Found {
    /// Returns the page's identity: its source, else the path of its URL.
    fn page(&self) -> String {
        if self.source.is_empty() {
            url_path(&self.url)
        } else {
            self.source.clone()
        }
    }

    /// Returns the decoded anchor; empty if there is none.
    fn anchor(&self) -> String {
        let anchor = self.url.split_once('#').map_or("", |(_, anchor)| anchor);
        percent_decode_str(anchor).decode_utf8_lossy().into_owned()
    }
}

/// Returns the decoded path of a URL, without an anchor and trailing slashes.
fn url_path(url: &str) -> String {
    let path = url.split_once('#').map_or(url, |(path, _)| path);
    let path = percent_decode_str(path).decode_utf8_lossy();
    path.trim_end_matches('/').to_owned()
}

/// The kind of reply to a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reply {
    /// An answer.
    #[default]
    Answered,
    /// The closest sections, without the claim that they answer the question.
    Uncertain,
    /// A refusal: the book does not answer the question.
    Refused,
}

/// The result of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Retrieved places, best first.
    pub results: Vec<Found>,
    /// The kind of reply.
    pub reply: Reply,
    /// The answer's text.
    pub answer: String,
}

/// The metrics of one question.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Measured {
    /// The book.
    pub corpus: String,
    /// The question's id.
    pub id: String,
    /// The text of the question.
    pub query: String,
    /// The metrics that apply to the question.
    pub metrics: Metrics,
}

/// The means of one corpus.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Scores {
    /// The mean of each metric that applies to a question, rounded to 4 digits.
    pub metrics: Metrics,
    /// The number of questions that each mean covers.
    pub counts: BTreeMap<Metric, u32>,
}

impl Scores {
    fn from_questions(questions: &[&Measured]) -> Self {
        let mut scores = Self::default();
        for metric in Metric::ALL {
            let values = questions
                .iter()
                .filter_map(|question| question.metrics.get(&metric).copied());
            if let Some(mean) = mean(values.clone()) {
                scores.metrics.insert(metric, rounded(mean));
                scores.counts.insert(metric, values.map(|_| 1).sum());
            }
        }
        scores
    }

    /// Formats a metric with the number of its questions.
    fn cell(&self, metric: Metric) -> String {
        let count = self.counts.get(&metric).copied().unwrap_or_default();
        match self.metrics.get(&metric) {
            Some(value) => format!("{value:.4} of {count}"),
            None => NO_VALUE.to_owned(),
        }
    }
}

/// Scores of all questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Scores by corpus.
    pub corpora: BTreeMap<String, Scores>,
    /// The arithmetic mean of each metric over the corpora that have it. A large corpus weighs no more than a
    /// small one.
    pub mean: Metrics,
    /// The metrics of each question.
    pub questions: Vec<Measured>,
}

/// Scores the outcomes of questions.
#[must_use]
pub fn evaluate(asked: &[(&Question, Outcome)]) -> Evaluation {
    let questions: Vec<Measured> = asked
        .iter()
        .map(|(question, outcome)| Measured {
            corpus: question.corpus_name().to_owned(),
            id: question.id.clone(),
            query: question.query.clone(),
            metrics: measure(question, outcome),
        })
        .collect();
    let mut by_corpus: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
    for question in &questions {
        by_corpus
            .entry(&question.corpus)
            .or_default()
            .push(question);
    }
    let corpora: BTreeMap<String, Scores> = by_corpus
        .into_iter()
        .map(|(corpus, questions)| (corpus.to_owned(), Scores::from_questions(&questions)))
        .collect();
    let mean = Metric::ALL.into_iter().filter_map(|metric| {
        let corpora = corpora.values();
        let values = corpora.filter_map(|scores| scores.metrics.get(&metric).copied());
        Some((metric, rounded(mean(values)?)))
    });
    Evaluation {
        mean: mean.collect(),
        corpora,
        questions,
    }
}

/// Rounds to the 4 printed digits.
fn rounded(value: f64) -> f64 {
    (value * PARTS).round() / PARTS
}

impl Evaluation {
    /// Formats a table: a row per metric, with the value and the number of questions of each corpus, then the mean.
    #[must_use]
    pub fn table(&self) -> String {
        let corpora = self.corpora.keys().cloned();
        let names = std::iter::once(String::new()).chain(corpora);
        let mut rows = vec![names.chain(["mean".to_owned()]).collect::<Vec<_>>()];
        for metric in Metric::ALL {
            let mut row = vec![metric.to_string()];
            row.extend(self.corpora.values().map(|scores| scores.cell(metric)));
            row.push(number(self.mean.get(&metric).copied()));
            rows.push(row);
        }
        aligned(&rows)
    }
}

/// Shown where there is no value.
const NO_VALUE: &str = "–";

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| NO_VALUE.to_owned(), |value| format!("{value:.4}"))
}

/// Formats rows as columns of equal width: the first left-aligned, the others right-aligned.
fn aligned(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = width(rows, column);
            if column == 0 {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn width(rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column));
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
}
