//! The metrics, and their values for one question.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use pulldown_cmark::{Event, Options, Parser, TagEnd};
use serde::{Deserialize, Serialize};

use super::labels::Labels;
use super::question::Question;
use super::{Found, Outcome, Reply};

/// A metric: a mean over questions, between 0 and 1.
///
/// Section metrics cover the answerable questions with a labelled heading that has an anchor. A result hits such a section if it is
/// under that heading or under one nested in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Metric {
    /// The share of answerable questions whose first page is right. Source: success@n of Craswell and Hawking, Overview
    /// of the TREC 2004 Web Track.
    #[serde(rename = "page@1")]
    PageAt1,
    /// The share of answerable questions with a right page among the first 5.
    #[serde(rename = "page@5")]
    PageAt5,
    /// The share of questions whose first result is in a right section.
    #[serde(rename = "section@1")]
    SectionAt1,
    /// The share of questions with one of the first 5 results in a right section.
    #[serde(rename = "section@5")]
    SectionAt5,
    /// The mean share of the needed texts in the answer; 0 for a refusal. It covers the questions with `needs`.
    #[serde(rename = "needs")]
    Needs,
    /// The share of answerable questions that are refused.
    #[serde(rename = "withheld")]
    Withheld,
    /// The share of answerable questions that are answered as uncertain.
    #[serde(rename = "uncertain")]
    Uncertain,
    /// The share of unanswerable questions that are refused. Source: the unanswerable questions of Rajpurkar et al.,
    /// Know What You Don't Know, ACL 2018.
    #[serde(rename = "refused")]
    Refused,
    /// The share of unanswerable questions that are refused or answered as uncertain.
    #[serde(rename = "refused_or_uncertain")]
    RefusedOrUncertain,
}

impl Metric {
    /// Every metric in display order.
    pub(super) const ALL: [Self; 9] = [
        Self::PageAt1,
        Self::PageAt5,
        Self::SectionAt1,
        Self::SectionAt5,
        Self::Needs,
        Self::Withheld,
        Self::Uncertain,
        Self::Refused,
        Self::RefusedOrUncertain,
    ];

    /// True if less is better.
    pub(super) fn is_loss(self) -> bool {
        matches!(self, Self::Withheld | Self::Uncertain)
    }
}

/// Writes the name in JSON.
impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// The metrics that have a value, because they apply to at least one question.
pub type Metrics = BTreeMap<Metric, f64>;

/// Returns the metrics that apply to a question.
pub(super) fn measure(question: &Question, outcome: &Outcome) -> Metrics {
    let refused = f64::from(outcome.reply == Reply::Refused);
    let uncertain = f64::from(outcome.reply == Reply::Uncertain);
    if !question.answerable {
        return Metrics::from([
            (Metric::Refused, refused),
            (Metric::RefusedOrUncertain, refused + uncertain),
        ]);
    }
    let mut seen = HashSet::new();
    let results = outcome.results.iter();
    let results: Vec<&Found> = results.filter(|found| seen.insert(*found)).collect();
    let labels = Labels::from_question(question);
    let page = labels.page_rank(&results);
    let mut metrics = Metrics::from([
        (Metric::PageAt1, within(page, 1)),
        (Metric::PageAt5, within(page, 5)),
        (Metric::Withheld, refused),
        (Metric::Uncertain, uncertain),
    ]);
    if labels.has_sections() {
        let section = labels.section_rank(&results);
        metrics.insert(Metric::SectionAt1, within(section, 1));
        metrics.insert(Metric::SectionAt5, within(section, 5));
    }
    if !question.needs.is_empty() {
        metrics.insert(Metric::Needs, needs(question, outcome));
    }
    metrics
}

fn within(rank: Option<usize>, depth: usize) -> f64 {
    f64::from(rank.is_some_and(|rank| rank <= depth))
}

/// Returns the share of the needed texts in an answer, ignoring case, white space and Markdown.
fn needs(question: &Question, outcome: &Outcome) -> f64 {
    if outcome.reply == Reply::Refused {
        return 0.0;
    }
    let answer = plain(&visible(&outcome.answer));
    let met = question.needs.iter().map(|need| {
        let mut texts = need.split("||");
        f64::from(texts.any(|text| answer.contains(&plain(text))))
    });
    mean(met).unwrap_or_default()
}

/// Returns the visible text of an answer's Markdown, with a space between blocks and cells.
#[must_use]
pub fn visible(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut visible = String::new();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(text) | Event::Code(text) => visible.push_str(&text),
            Event::End(
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link,
            ) => {}
            Event::SoftBreak | Event::HardBreak | Event::End(_) => visible.push(' '),
            _ => {}
        }
    }
    visible
}

/// Lowercases a text, removes backticks and asterisks, and collapses its spaces.
fn plain(text: &str) -> String {
    let text = text.replace(['`', '*'], "").to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the arithmetic mean; `None` without values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
