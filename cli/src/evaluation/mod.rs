//! Metrics of retrieval, answers and refusals: the numbers of `bookrag eval`.
//!
//! Hits are defined as in `score_retrieval.py`, the script that accompanies the labels. Results are counted once per source
//! and URL, pages once per source. Nothing is tuned on the questions.

mod question;
mod spans;
mod labels;
mod formulas;
mod bootstrap;
mod metrics;
mod measured;
mod table;
mod baseline;
mod comparison;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde::Serialize;

pub use baseline::{Baseline, BaselineScores, Regression, compare, diff};
pub use comparison::{ChangedQuestion, ComparedMetric, Comparison, Saved};
pub use formulas::{Interval, Percentiles};
pub use measured::Measured;
pub use metrics::{Better, Metric, Metrics};
pub use question::{Heading, Label, Question, TODO, UNNAMED_CORPUS};
pub use spans::{Quoted, Span, quoted};
pub use table::table;

use measured::mean_of;

/// The stage that covers a whole question.
pub const TOTAL_STAGE: &str = "total";

/// A retrieved or cited place in a book.
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
    /// True if the first result is an exercise section that the question does not ask for.
    pub exercise_first: bool,
    /// The kind of reply.
    pub reply: Reply,
    /// The answer's citations, in its order.
    pub citations: Vec<Found>,
    /// The answer's text.
    pub answer: String,
    /// Scores against the labelled lines, if there are any.
    pub quoted: Option<Quoted>,
    /// The same scores for an answer from the section that holds the lines.
    pub quoted_given: Option<Quoted>,
    /// Durations of the stages in milliseconds; [`TOTAL_STAGE`] covers the whole question.
    pub stages: BTreeMap<&'static str, f64>,
}

/// Numbers of questions and citations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Questions.
    pub questions: usize,
    /// Questions that the book answers.
    pub answerable: usize,
    /// Answerable questions with a labelled section; section metrics cover these.
    pub with_section: usize,
    /// Answerable questions that were refused.
    pub answerable_refused: usize,
    /// Answerable questions that were answered as uncertain.
    pub answerable_uncertain: usize,
    /// Questions that the book does not answer.
    pub unanswerable: usize,
    /// Unanswerable questions that were refused.
    pub unanswerable_refused: usize,
    /// Unanswerable questions that were answered as uncertain.
    pub unanswerable_uncertain: usize,
    /// Citations in answers to answerable questions.
    pub citations: usize,
}

impl Counts {
    fn of(questions: &[&Measured]) -> Self {
        let count = |is_counted: fn(&Metrics) -> bool| {
            let metrics = questions.iter().map(|question| &question.metrics);
            metrics.filter(|metrics| is_counted(metrics)).count()
        };
        let unanswerable_refused = count(|metrics| metrics.is_one(Metric::RefusalRecall));
        Self {
            questions: questions.len(),
            answerable: count(|metrics| metrics.get(Metric::FalseRefusals).is_some()),
            with_section: count(|metrics| metrics.get(Metric::SectionAt1).is_some()),
            answerable_refused: count(|metrics| metrics.is_one(Metric::FalseRefusals)),
            answerable_uncertain: count(|metrics| metrics.is_one(Metric::FalseUncertain)),
            unanswerable: count(|metrics| metrics.get(Metric::RefusalRecall).is_some()),
            unanswerable_refused,
            unanswerable_uncertain: count(|metrics| metrics.is_one(Metric::RefusedOrUncertain))
                - unanswerable_refused,
            citations: questions.iter().map(|question| question.citations).sum(),
        }
    }
}

/// Scores of one corpus.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Scores {
    /// Numbers of questions and citations.
    pub counts: Counts,
    /// The metrics that have a value.
    pub metrics: Metrics,
    /// The confidence interval of the refusal recall.
    pub refusal_recall_interval: Option<Interval>,
    /// The confidence interval of the share of false refusals.
    pub false_refusals_interval: Option<Interval>,
}

impl Scores {
    fn of(questions: &[&Measured]) -> Self {
        let counts = Counts::of(questions);
        Self {
            metrics: Metrics::each(|metric| mean_of(questions.iter().copied(), metric)),
            refusal_recall_interval: Interval::wilson(
                counts.unanswerable_refused,
                counts.unanswerable,
            ),
            false_refusals_interval: Interval::wilson(counts.answerable_refused, counts.answerable),
            counts,
        }
    }
}

/// Replies to the unanswerable questions of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Refusals {
    /// Questions.
    pub questions: usize,
    /// Questions that were refused.
    pub refused: usize,
    /// Questions that were answered as uncertain.
    pub uncertain: usize,
    /// The confidence interval of the share that was refused or answered as uncertain.
    pub refused_or_uncertain_interval: Option<Interval>,
}

/// Scores of all questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Scores by corpus.
    pub corpora: BTreeMap<String, Scores>,
    /// The arithmetic mean of each metric over the corpora that have it. A large corpus weighs no more than a
    /// small one.
    pub mean: Metrics,
    /// Confidence intervals of these means, by bootstrap over the questions of each corpus.
    pub mean_intervals: BTreeMap<Metric, Interval>,
    /// Scores of all questions, as if they were one corpus.
    pub all: Scores,
    /// Replies to unanswerable questions of all corpora, by kind.
    pub unanswerable_kinds: BTreeMap<String, Refusals>,
    /// Durations of each stage over all questions.
    pub stages: BTreeMap<String, Percentiles>,
    /// The metrics of each question, for a comparison with another result.
    pub questions: Vec<Measured>,
}

/// Scores the outcomes of questions.
#[must_use]
pub fn evaluate(asked: &[(&Question, Outcome)]) -> Evaluation {
    let questions: Vec<Measured> = asked
        .iter()
        .map(|(question, outcome)| Measured::of(question, outcome))
        .collect();
    let mut by_corpus: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
    for question in &questions {
        let corpus = question.corpus.as_str();
        by_corpus.entry(corpus).or_default().push(question);
    }
    let all: Vec<&Measured> = questions.iter().collect();
    let corpora: BTreeMap<String, Scores> = by_corpus
        .iter()
        .map(|(corpus, questions)| ((*corpus).to_owned(), Scores::of(questions)))
        .collect();
    let mean_of_corpora = |metric| {
        let values = corpora.values();
        let values: Vec<f64> = values
            .filter_map(|scores| scores.metrics.get(metric))
            .collect();
        formulas::mean(&values)
    };
    Evaluation {
        mean: Metrics::each(mean_of_corpora),
        mean_intervals: mean_intervals(by_corpus.values()),
        all: Scores::of(&all),
        unanswerable_kinds: unanswerable_kinds(asked),
        stages: stages_of(asked.iter().map(|(_, outcome)| outcome)),
        corpora,
        questions,
    }
}

fn mean_intervals<'m>(
    corpora: impl Iterator<Item = &'m Vec<&'m Measured>> + Clone,
) -> BTreeMap<Metric, Interval> {
    let interval = |metric| {
        let counted = |question: &&&Measured| question.metrics.get(metric).is_some();
        let books: Vec<Vec<&Measured>> = corpora
            .clone()
            .map(|questions| questions.iter().filter(counted).copied().collect())
            .collect();
        bootstrap::interval(&books, |questions| {
            mean_of(questions.iter().map(|question| **question), metric)
        })
    };
    let metrics = Metric::ALL.into_iter();
    metrics
        .filter_map(|metric| Some((metric, interval(metric)?)))
        .collect()
}

fn unanswerable_kinds(asked: &[(&Question, Outcome)]) -> BTreeMap<String, Refusals> {
    let mut kinds: BTreeMap<String, Refusals> = BTreeMap::new();
    for (question, outcome) in asked.iter().filter(|(question, _)| !question.answerable) {
        for kind in question.kinds() {
            let refusals = kinds.entry(kind).or_default();
            refusals.questions += 1;
            refusals.refused += usize::from(outcome.reply == Reply::Refused);
            refusals.uncertain += usize::from(outcome.reply == Reply::Uncertain);
        }
    }
    for refusals in kinds.values_mut() {
        refusals.refused_or_uncertain_interval =
            Interval::wilson(refusals.refused + refusals.uncertain, refusals.questions);
    }
    kinds
}

fn stages_of<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> BTreeMap<String, Percentiles> {
    let mut durations: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (stage, duration_ms) in outcomes.flat_map(|outcome| &outcome.stages) {
        durations.entry(stage).or_default().push(*duration_ms);
    }
    durations
        .into_iter()
        .filter_map(|(stage, values)| Some((stage.to_owned(), Percentiles::of(values)?)))
        .collect()
}
