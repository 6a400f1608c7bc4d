//! Scores of questions that are added one by one.

use std::collections::{BTreeMap, HashSet};

use pulldown_cmark::{Event, Parser, TagEnd};

use super::formulas::{Interval, ndcg, precision, precision_ceiling, reciprocal_rank, success};
use super::labels::Labels;
use super::metrics::{Metric, Metrics};
use super::question::Question;
use super::{Counts, Found, Outcome, Scores};

/// How many results are judged, as many as an answer is written from. Source: S1's quality metrics.
const DEPTH: usize = 5;

/// Within how many pages the first right one is looked for.
const RANK_DEPTH: usize = 10;

/// What was measured of each question.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: Counts,
    values: BTreeMap<Metric, Vec<f64>>,
}

impl Tally {
    pub(super) fn add(&mut self, question: &Question, outcome: Option<&Outcome>) {
        self.counts.questions += 1;
        self.counts.without_outcome += usize::from(outcome.is_none());
        let nothing = Outcome::default();
        let outcome = outcome.unwrap_or(&nothing);
        if question.answerable {
            self.add_answerable(question, outcome);
        } else {
            self.counts.unanswerable += 1;
            self.counts.unanswerable_refused += usize::from(outcome.refused);
            self.push(Metric::RefusalRecall, f64::from(outcome.refused));
        }
    }

    fn add_answerable(&mut self, question: &Question, outcome: &Outcome) {
        self.counts.answerable += 1;
        self.counts.answerable_refused += usize::from(outcome.refused);
        self.push(Metric::FalseRefusals, f64::from(outcome.refused));
        let labels = Labels::of(question);
        self.add_results(&labels, &outcome.results);
        if outcome.refused {
            return;
        }
        self.add_citations(&labels, &outcome.citations);
        if let Some(expected) = &question.answer_contains {
            let holds = plain(&shown(&outcome.answer)).contains(&plain(expected));
            self.push(Metric::AnswerContains, f64::from(holds));
        }
    }

    fn add_results(&mut self, labels: &Labels, results: &[Found]) {
        let mut seen = HashSet::new();
        let results: Vec<&Found> = results.iter().filter(|found| seen.insert(*found)).collect();
        let page = labels.page_rank(&results);
        self.push(Metric::PageAt1, success(page, 1));
        self.push(Metric::PageAt5, success(page, DEPTH));
        self.push(Metric::MrrAt10, reciprocal_rank(page, RANK_DEPTH));
        let sections = labels.sections();
        if sections == 0 {
            return;
        }
        self.counts.with_section += 1;
        let relevant = labels.new_sections(&results);
        let first = relevant.iter().position(|relevant| *relevant);
        let section = first.map(|place| place + 1);
        self.push(Metric::SectionAt1, success(section, 1));
        self.push(Metric::SectionAt5, success(section, DEPTH));
        self.push(Metric::NdcgAt5, ndcg(&relevant, sections, DEPTH));
        self.push(Metric::PrecisionAt5, precision(&relevant, DEPTH));
        let ceiling = precision_ceiling(sections, DEPTH);
        self.push(Metric::PrecisionAt5Ceiling, ceiling);
    }

    fn add_citations(&mut self, labels: &Labels, citations: &[Found]) {
        self.counts.citations += citations.len();
        let has_sections = labels.sections() > 0;
        for citation in citations {
            let on_page = f64::from(labels.has_page(citation));
            self.push(Metric::CitationAccuracy, on_page);
            if has_sections {
                let in_section = f64::from(labels.has_section(citation));
                self.push(Metric::CitationSectionAccuracy, in_section);
            }
        }
    }

    fn push(&mut self, metric: Metric, value: f64) {
        self.values.entry(metric).or_default().push(value);
    }

    pub(super) fn scores(self) -> Scores {
        let counts = self.counts;
        Scores {
            metrics: Metrics::of_values(&self.values),
            refusal_recall_interval: Interval::wilson(
                counts.unanswerable_refused,
                counts.unanswerable,
            ),
            false_refusals_interval: Interval::wilson(counts.answerable_refused, counts.answerable),
            counts,
        }
    }
}

/// The text that an answer's Markdown shows.
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

/// Words in lower case with one space between them.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
