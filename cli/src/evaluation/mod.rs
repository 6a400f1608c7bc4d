//! How well questions are retrieved for, answered and refused: the numbers of `bookrag eval`.
//!
//! Hits are what `score_retrieval.py`, the script the labels came with, calls hits. Results are counted once by source
//! and URL, pages once by source. A question without an outcome has found nothing and was not refused.

mod question;
mod labels;
mod formulas;
mod metrics;
mod tally;
mod table;
mod baseline;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use percent_encoding::percent_decode_str;
use serde::Serialize;

pub use baseline::{Baseline, BaselineScores, Regression, compare, diff};
pub use formulas::{Interval, Percentiles};
pub use metrics::{Better, Metric, Metrics};
pub use question::{Heading, Label, Question, UNNAMED_CORPUS};
pub use table::table;

use tally::Tally;

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

/// What came of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The question's id.
    pub id: String,
    /// What was retrieved, best first.
    pub results: Vec<Found>,
    /// Whether the book was said not to cover the question.
    pub refused: bool,
    /// What the answer cites, in its order.
    pub citations: Vec<Found>,
    /// The answer's text.
    pub answer: String,
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
    /// Questions the book does not answer.
    pub unanswerable: usize,
    /// Of these, those that were refused.
    pub unanswerable_refused: usize,
    /// Citations in answers to answerable questions.
    pub citations: usize,
    /// Questions nothing is known of.
    pub without_outcome: usize,
}

/// How well the questions of one corpus went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Scores {
    /// What was counted.
    pub counts: Counts,
    /// Each metric that has a value.
    pub metrics: Metrics,
    /// Where the refusal recall of all such questions lies, with 95 % confidence.
    pub refusal_recall_interval: Option<Interval>,
    /// Where the share of false refusals of all such questions lies, with 95 % confidence.
    pub false_refusals_interval: Option<Interval>,
}

/// How well the questions went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// By corpus.
    pub corpora: BTreeMap<String, Scores>,
    /// The plain mean of the corpora's metrics, each over the corpora that have it: a large corpus does not drown a
    /// small one.
    pub mean: Metrics,
    /// The questions of all corpora as if they were one.
    pub all: Scores,
    /// How long each stage took, over all outcomes.
    pub stages: BTreeMap<String, Percentiles>,
}

/// Scores the outcomes of questions.
///
/// Of several outcomes with a question's id the last counts; one whose id no question has counts in the stages only.
#[must_use]
pub fn evaluate(questions: &[Question], outcomes: &[Outcome]) -> Evaluation {
    let by_id: HashMap<&str, &Outcome> = outcomes
        .iter()
        .map(|outcome| (outcome.id.as_str(), outcome))
        .collect();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    for question in questions {
        let outcome = by_id.get(question.id.as_str()).copied();
        let tally = tallies.entry(question.corpus_name()).or_default();
        tally.add(question, outcome);
        all.add(question, outcome);
    }
    let corpora: BTreeMap<String, Scores> = tallies
        .into_iter()
        .map(|(corpus, tally)| (corpus.to_owned(), tally.scores()))
        .collect();
    let metrics: Vec<&Metrics> = corpora.values().map(|scores| &scores.metrics).collect();
    Evaluation {
        mean: Metrics::mean_of(&metrics),
        all: all.scores(),
        stages: stages_of(outcomes),
        corpora,
    }
}

fn stages_of(outcomes: &[Outcome]) -> BTreeMap<String, Percentiles> {
    let mut durations: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for outcome in outcomes {
        for (stage, duration_ms) in &outcome.stages {
            durations.entry(stage).or_default().push(*duration_ms);
        }
    }
    durations
        .into_iter()
        .filter_map(|(stage, values)| Some((stage.to_owned(), Percentiles::of(values)?)))
        .collect()
}
