//! The metrics.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use super::Counts;
use super::formulas::rounded;

/// A metric: a mean over questions or citations, between 0 and 1.
///
/// Section metrics cover the answerable questions with a labelled heading that has an anchor. A result hits such a section if it is
/// under that heading or under one nested in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// The share of answerable questions whose first page is right. Source: success@n of Craswell and Hawking, Overview
    /// of the TREC 2004 Web Track.
    PageAt1,
    /// The share of answerable questions with a right page among the first 5. Source: as [`Metric::PageAt1`].
    PageAt5,
    /// The share of questions whose first result is in a right section. Source: as [`Metric::PageAt1`].
    SectionAt1,
    /// The share of questions with one of the first 5 results in a right section. Source: as [`Metric::PageAt1`].
    SectionAt5,
    /// The share of answerable questions whose first result answers in full: a section, or a page labelled without sections, that is
    /// labelled as the answer, as also relevant, or as an alternative.
    UsefulAt1,
    /// The share of answerable questions with such a result among the first 5.
    UsefulAt5,
    /// The share of answerable questions whose first result is an exercise section that the question does not ask for.
    ExerciseFirst,
    /// The mean over answerable questions of 1 / rank of the first right page, 0 if it is not among the first 10 pages.
    /// Source: Voorhees, The TREC-8 Question Answering Track Report, 1999.
    MrrAt10,
    /// How close the first 5 results come to the best order of the right sections; each section gains once. Source:
    /// Järvelin and Kekäläinen, TOIS 20(4), 2002, with binary gains.
    NdcgAt5,
    /// The share of the first 5 results that are in a right section; each section counts once. Source: Manning, Raghavan
    /// and Schütze, Introduction to Information Retrieval, 2008, section 8.4.
    PrecisionAt5,
    /// The highest possible [`Metric::PrecisionAt5`]: min(5, right sections) / 5. It depends on the labels only.
    PrecisionAt5Ceiling,
    /// The share of unanswerable questions that are refused. Source: the unanswerable questions of Rajpurkar et al.,
    /// Know What You Don't Know, ACL 2018.
    RefusalRecall,
    /// The share of unanswerable questions that are refused or answered as uncertain.
    RefusedOrUncertain,
    /// The share of answerable questions that are refused. Source: as [`Metric::RefusalRecall`].
    FalseRefusals,
    /// The share of answerable questions that are answered as uncertain.
    FalseUncertain,
    /// The share of citations on right pages, over all answers to answerable questions. Source: citation precision of
    /// Gao et al., EMNLP 2023, with labels instead of an entailment model.
    CitationAccuracy,
    /// The share of citations in right sections, over all answers to questions with labelled sections. Source: as
    /// [`Metric::CitationAccuracy`].
    CitationSectionAccuracy,
    /// The share of answers that contain the expected words, ignoring spaces and case. Source: string exact match of
    /// Stelmakh et al., EMNLP 2022.
    AnswerContains,
    /// The mean F1 of the answer's words and those of the labelled lines, over the questions with labelled lines; 0 without an answer. Source:
    /// Rajpurkar et al., `SQuAD`, EMNLP 2016, with matches in order.
    SpanF1,
    /// The share of the labelled facts that the answer states, 0 without an answer.
    SpanNeeds,
    /// The share of answers with nearly all of the labelled lines, where these make up at least half of the answer.
    SpanWhole,
    /// [`Metric::SpanF1`] of answers from the section that holds the lines: extraction without retrieval.
    GivenSpanF1,
    /// [`Metric::SpanNeeds`] of answers from that section.
    GivenSpanNeeds,
    /// [`Metric::SpanWhole`] of answers from that section.
    GivenSpanWhole,
}

/// The direction in which a metric improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// The metric judges nothing.
    Neither,
}

impl Metric {
    /// Every metric in display order.
    pub const ALL: [Self; 24] = [
        Self::PageAt1,
        Self::PageAt5,
        Self::SectionAt1,
        Self::SectionAt5,
        Self::UsefulAt1,
        Self::UsefulAt5,
        Self::ExerciseFirst,
        Self::MrrAt10,
        Self::NdcgAt5,
        Self::PrecisionAt5,
        Self::PrecisionAt5Ceiling,
        Self::RefusalRecall,
        Self::RefusedOrUncertain,
        Self::FalseRefusals,
        Self::FalseUncertain,
        Self::CitationAccuracy,
        Self::CitationSectionAccuracy,
        Self::AnswerContains,
        Self::SpanF1,
        Self::SpanNeeds,
        Self::SpanWhole,
        Self::GivenSpanF1,
        Self::GivenSpanNeeds,
        Self::GivenSpanWhole,
    ];

    /// Returns the name in JSON and in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PageAt1 => "page@1",
            Self::PageAt5 => "page@5",
            Self::SectionAt1 => "section@1",
            Self::SectionAt5 => "section@5",
            Self::UsefulAt1 => "useful@1",
            Self::UsefulAt5 => "useful@5",
            Self::ExerciseFirst => "exercise_first",
            Self::MrrAt10 => "MRR@10",
            Self::NdcgAt5 => "nDCG@5",
            Self::PrecisionAt5 => "P@5",
            Self::PrecisionAt5Ceiling => "P@5_ceiling",
            Self::RefusalRecall => "refusal_recall",
            Self::RefusedOrUncertain => "refused_or_uncertain",
            Self::FalseRefusals => "false_refusals",
            Self::FalseUncertain => "false_uncertain",
            Self::CitationAccuracy => "citation_accuracy",
            Self::CitationSectionAccuracy => "citation_section_accuracy",
            Self::AnswerContains => "answer_contains",
            Self::SpanF1 => "span_F1",
            Self::SpanNeeds => "span_needs",
            Self::SpanWhole => "span_whole",
            Self::GivenSpanF1 => "given_span_F1",
            Self::GivenSpanNeeds => "given_span_needs",
            Self::GivenSpanWhole => "given_span_whole",
        }
    }

    /// Returns the direction of improvement.
    #[must_use]
    pub fn better(self) -> Better {
        match self {
            Self::FalseRefusals | Self::FalseUncertain | Self::ExerciseFirst => Better::Lower,
            Self::PrecisionAt5Ceiling => Better::Neither,
            _ => Better::Higher,
        }
    }

    /// Returns the number of questions that the mean covers.
    pub(super) fn questions(self, counts: &Counts) -> usize {
        match self {
            Self::SectionAt1
            | Self::SectionAt5
            | Self::NdcgAt5
            | Self::PrecisionAt5
            | Self::PrecisionAt5Ceiling => counts.with_section,
            Self::RefusalRecall | Self::RefusedOrUncertain => counts.unanswerable,
            _ => counts.answerable,
        }
    }

    /// True if the mean is over citations.
    pub(super) fn is_of_citations(self) -> bool {
        matches!(self, Self::CitationAccuracy | Self::CitationSectionAccuracy)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The metrics that have a value, because at least one question or citation applies. In JSON with 4 digits.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>")]
pub struct Metrics(BTreeMap<Metric, f64>);

impl Metrics {
    /// Returns the value of a metric, if it has one.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.0.get(&metric).copied()
    }

    pub(super) fn is_one(&self, metric: Metric) -> bool {
        self.get(metric).is_some_and(|value| value >= 1.0)
    }

    /// Builds metrics from a function of each metric.
    pub(super) fn each(value: impl Fn(Metric) -> Option<f64>) -> Self {
        let metrics = Metric::ALL.into_iter();
        Self(
            metrics
                .filter_map(|metric| Some((metric, value(metric)?)))
                .collect(),
        )
    }
}

impl From<BTreeMap<Metric, f64>> for Metrics {
    fn from(values: BTreeMap<Metric, f64>) -> Self {
        Self(values)
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.0.iter();
        serializer.collect_map(entries.map(|(metric, value)| (metric, rounded(*value))))
    }
}

impl TryFrom<BTreeMap<String, f64>> for Metrics {
    type Error = String;

    fn try_from(named: BTreeMap<String, f64>) -> Result<Self, Self::Error> {
        let mut metrics = BTreeMap::new();
        for (name, value) in named {
            let mut all = Metric::ALL.into_iter();
            let known = all.find(|metric| metric.name() == name);
            let metric = known.ok_or_else(|| format!("`{name}` is not a metric"))?;
            metrics.insert(metric, value);
        }
        Ok(Self(metrics))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_name_of_its_own_and_is_read_back() {
        let values = Metric::ALL.into_iter().map(|metric| (metric, 0.5));
        let metrics = Metrics(values.collect());
        let text = serde_json::to_string(&metrics).unwrap();
        assert_eq!(metrics.0.len(), Metric::ALL.len());
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), metrics);
    }

    #[test]
    fn an_unknown_metric_is_refused() {
        let error = serde_json::from_str::<Metrics>(r#"{"page@2": 1.0}"#).unwrap_err();
        assert!(error.to_string().contains("`page@2` is not a metric"));
    }

    #[test]
    fn values_are_written_with_four_digits() {
        let metrics = Metrics(BTreeMap::from([(Metric::PageAt1, 2.0 / 3.0)]));
        let text = serde_json::to_string(&metrics).unwrap();
        assert_eq!(text, r#"{"page@1":0.6667}"#);
    }
}
