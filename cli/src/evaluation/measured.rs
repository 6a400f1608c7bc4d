//! Values of each metric for one question.

use std::collections::{BTreeMap, HashSet};

use pulldown_cmark::{Event, Parser, TagEnd};
use serde::{Deserialize, Serialize};

use super::formulas::{mean, ndcg, precision, precision_ceiling, real, reciprocal_rank, success};
use super::labels::Labels;
use super::metrics::{Metric, Metrics};
use super::question::Question;
use super::{Found, Outcome, Reply};

/// The number of results that are judged (`docs/requirements.md`, Precision@5).
const DEPTH: usize = 5;

/// Pages among which the first right one is searched.
const RANK_DEPTH: usize = 10;

/// The metrics of one question, also read back from the JSON of a saved result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The book.
    pub corpus: String,
    /// The question's id.
    pub id: String,
    /// The text of the question.
    pub query: String,
    /// The metrics that apply to the question.
    pub metrics: Metrics,
    /// Citations in its answer, the weight of citation metrics.
    pub citations: usize,
}

impl Measured {
    pub(super) fn of(question: &Question, outcome: &Outcome) -> Self {
        let mut values = BTreeMap::new();
        let mut citations = 0;
        let is = |reply| f64::from(outcome.reply == reply);
        if question.answerable {
            values.insert(Metric::FalseRefusals, is(Reply::Refused));
            values.insert(Metric::FalseUncertain, is(Reply::Uncertain));
            add_results(&mut values, question, outcome);
            add_quoted(&mut values, question, outcome);
            if outcome.reply == Reply::Answered {
                citations = outcome.citations.len();
                add_answer(&mut values, question, outcome);
            }
        } else {
            values.insert(Metric::RefusalRecall, is(Reply::Refused));
            values.insert(Metric::RefusedOrUncertain, 1.0 - is(Reply::Answered));
        }
        Self {
            corpus: question.corpus_name().to_owned(),
            id: question.id.clone(),
            query: question.query.clone(),
            metrics: Metrics::from(values),
            citations,
        }
    }

    /// Returns the value of a metric and its weight in a mean.
    pub(super) fn weighted(&self, metric: Metric) -> Option<(f64, f64)> {
        let weight = if metric.is_of_citations() {
            real(self.citations)
        } else {
            1.0
        };
        Some((self.metrics.get(metric)?, weight))
    }
}

/// Returns the weighted mean of a metric over questions; `None` if none of them has it.
pub(super) fn mean_of<'m>(
    questions: impl IntoIterator<Item = &'m Measured>,
    metric: Metric,
) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, weight) in questions
        .into_iter()
        .filter_map(|question| question.weighted(metric))
    {
        sum += value * weight;
        weights += weight;
    }
    (weights > 0.0).then(|| sum / weights)
}

fn add_results(values: &mut BTreeMap<Metric, f64>, question: &Question, outcome: &Outcome) {
    let mut seen = HashSet::new();
    let results = outcome.results.iter();
    let results: Vec<&Found> = results.filter(|found| seen.insert(*found)).collect();
    let labels = Labels::of(question);
    let page = labels.page_rank(&results);
    let useful = Labels::with_alternatives(question).answer_rank(&results);
    values.extend([
        (Metric::PageAt1, success(page, 1)),
        (Metric::PageAt5, success(page, DEPTH)),
        (Metric::MrrAt10, reciprocal_rank(page, RANK_DEPTH)),
        (Metric::UsefulAt1, success(useful, 1)),
        (Metric::UsefulAt5, success(useful, DEPTH)),
        (Metric::ExerciseFirst, f64::from(outcome.exercise_first)),
    ]);
    let sections = labels.sections();
    if sections == 0 {
        return;
    }
    let relevant = labels.new_sections(&results);
    let first = relevant.iter().position(|relevant| *relevant);
    let section = first.map(|place| place + 1);
    values.extend([
        (Metric::SectionAt1, success(section, 1)),
        (Metric::SectionAt5, success(section, DEPTH)),
        (Metric::NdcgAt5, ndcg(&relevant, sections, DEPTH)),
        (Metric::PrecisionAt5, precision(&relevant, DEPTH)),
        (
            Metric::PrecisionAt5Ceiling,
            precision_ceiling(sections, DEPTH),
        ),
    ]);
}

fn add_answer(values: &mut BTreeMap<Metric, f64>, question: &Question, outcome: &Outcome) {
    let labels = Labels::of(question);
    let share = |is_right: fn(&Labels, &Found) -> bool| {
        let citations = outcome.citations.iter();
        let right = citations.map(|citation| f64::from(is_right(&labels, citation)));
        mean(&right.collect::<Vec<f64>>())
    };
    let has_sections = labels.sections() > 0;
    let in_sections = share(Labels::has_section).filter(|_| has_sections);
    let contains = question.answer_contains.as_ref().map(|expected| {
        let shown = plain(&shown(&outcome.answer));
        f64::from(shown.contains(&plain(expected)))
    });
    let measured = [
        (Metric::CitationAccuracy, share(Labels::has_page)),
        (Metric::CitationSectionAccuracy, in_sections),
        (Metric::AnswerContains, contains),
    ];
    let measured = measured.into_iter();
    values.extend(measured.filter_map(|(metric, value)| Some((metric, value?))));
}

/// Adds the metrics of quoted lines and facts.
fn add_quoted(values: &mut BTreeMap<Metric, f64>, question: &Question, outcome: &Outcome) {
    let found = [Metric::SpanF1, Metric::SpanNeeds, Metric::SpanWhole];
    let given = [
        Metric::GivenSpanF1,
        Metric::GivenSpanNeeds,
        Metric::GivenSpanWhole,
    ];
    for (quoted, [f1, needs, whole]) in [(outcome.quoted, found), (outcome.quoted_given, given)] {
        if let Some(quoted) = quoted {
            values.extend([(f1, quoted.f1), (whole, quoted.whole)]);
            if !question.needs.is_empty() {
                values.insert(needs, quoted.needs);
            }
        }
    }
}

/// Returns the visible text of an answer's Markdown.
fn shown(markdown: &str) -> String {
    let mut text = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::Html(part) | Event::InlineHtml(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::CodeBlock) => text.push(' '),
            _ => {}
        }
    }
    text
}

/// Lowercases a text and collapses its spaces.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
