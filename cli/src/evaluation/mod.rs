//! How well questions are retrieved for, answered and refused: the numbers of `bookrag eval`.
//!
//! Hits are what `score_retrieval.py`, the script the labels came with, calls hits. Results are counted once by source
//! and URL, pages once by source. Nothing is fitted here: the questions only measure.

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
pub use question::{Heading, Label, Question, UNNAMED_CORPUS};
pub use spans::{Quoted, Span, quoted};
pub use table::table;

use measured::mean_of;

/// The stage that is the whole of a question.
pub const TOTAL_STAGE: &str = "total";

/// A place in a book that was retrieved or cited.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Found {
    /// The page's file; empty if it is not known.
    pub source: String,
    /// The URL path, with `#` and an anchor where it is a section's.
    pub url: String,
}

impl Found {
    /// What names the page: its source, or else its URL's path.
    fn page(&self) -> String {
        if self.source.is_empty() {
            url_path(&self.url)
        } else {
            self.source.clone()
        }
    }

    /// The anchor, decoded; empty if there is none.
    fn anchor(&self) -> String {
        let anchor = self.url.split_once('#').map_or("", |(_, anchor)| anchor);
        percent_decode_str(anchor).decode_utf8_lossy().into_owned()
    }
}

/// A URL's path, decoded, without anchor and slashes at its end.
fn url_path(url: &str) -> String {
    let path = url.split_once('#').map_or(url, |(path, _)| path);
    let path = percent_decode_str(path).decode_utf8_lossy();
    path.trim_end_matches('/').to_owned()
}

/// What was replied to a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reply {
    /// An answer.
    #[default]
    Answered,
    /// The closest sections, without the claim that they answer it.
    Uncertain,
    /// That the book does not cover it.
    Refused,
}

/// What came of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// What was retrieved, best first.
    pub results: Vec<Found>,
    /// True if the first result is an exercise section that the question does not ask for.
    pub exercise_first: bool,
    /// What was replied.
    pub reply: Reply,
    /// What the answer cites, in its order.
    pub citations: Vec<Found>,
    /// The answer's text.
    pub answer: String,
    /// What the answer has of the labelled lines, if any are.
    pub quoted: Option<Quoted>,
    /// The same for an answer from the section that holds the lines.
    pub quoted_given: Option<Quoted>,
    /// How long each stage took, in milliseconds, with [`TOTAL_STAGE`] for the whole.
    pub stages: BTreeMap<&'static str, f64>,
}

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Questions.
    pub questions: usize,
    /// Questions the book answers.
    pub answerable: usize,
    /// Of these, those with a labelled section: over them metrics of sections are taken.
    pub with_section: usize,
    /// Of the answerable, those that were refused.
    pub answerable_refused: usize,
    /// Of the answerable, those that were answered as uncertain.
    pub answerable_uncertain: usize,
    /// Questions the book does not answer.
    pub unanswerable: usize,
    /// Of these, those that were refused.
    pub unanswerable_refused: usize,
    /// Of the unanswerable, those that were answered as uncertain.
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

/// How well the questions of one corpus went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Scores {
    /// What was counted.
    pub counts: Counts,
    /// Each metric that has a value.
    pub metrics: Metrics,
    /// Where the refusal recall of all such questions lies.
    pub refusal_recall_interval: Option<Interval>,
    /// Where the share of false refusals of all such questions lies.
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

/// What was replied to the questions of one kind that the book does not answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Refusals {
    /// Questions.
    pub questions: usize,
    /// Of these, those that were refused.
    pub refused: usize,
    /// Of these, those that were answered as uncertain.
    pub uncertain: usize,
    /// Where the share of all such questions that are refused or answered as uncertain lies.
    pub refused_or_uncertain_interval: Option<Interval>,
}

/// How well the questions went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// By corpus.
    pub corpora: BTreeMap<String, Scores>,
    /// The plain mean of the corpora's metrics, each over the corpora that have it: a large corpus does not drown a
    /// small one.
    pub mean: Metrics,
    /// Where each of these means lies, by bootstrap over the questions of each corpus.
    pub mean_intervals: BTreeMap<Metric, Interval>,
    /// The questions of all corpora as if they were one.
    pub all: Scores,
    /// Questions of all corpora that the book does not answer, by kind.
    pub unanswerable_kinds: BTreeMap<String, Refusals>,
    /// How long each stage took, over all outcomes.
    pub stages: BTreeMap<String, Percentiles>,
    /// Each question, for a comparison with another result.
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
