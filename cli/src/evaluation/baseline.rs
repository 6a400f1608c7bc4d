//! Compares an evaluation with a saved one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::metrics::{Metric, Metrics};
use super::{Evaluation, NO_VALUE, aligned, number, rounded};

/// Tolerated loss of any metric: less than its 4 digits show.
const TOLERANCE: f64 = 1e-9;
/// The largest rounding error in the difference of two figures of four digits.
const ROUNDING: f64 = 1e-4;

/// The metrics of an earlier evaluation, read from its JSON.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Baseline {
    /// Scores by corpus.
    pub corpora: BTreeMap<String, BaselineScores>,
}

/// The metrics of one corpus.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct BaselineScores {
    /// The metrics that had a value.
    pub metrics: Metrics,
}

/// A metric that differs from the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The corpus.
    pub corpus: String,
    /// The metric.
    pub metric: Metric,
    /// Its value in the baseline; `None` if it is new.
    pub was: Option<f64>,
    /// Its value now; `None` if it is no longer measured.
    pub is: Option<f64>,
    /// How much the metric may lose.
    #[serde(skip)]
    allowed: f64,
}

impl Change {
    /// Lists every metric that differs from the baseline. `slack` is the number of questions of a corpus that may do worse.
    #[must_use]
    pub fn all(evaluation: &Evaluation, baseline: &Baseline, slack: u32) -> Vec<Self> {
        let now = evaluation.corpora.keys();
        let corpora: BTreeSet<&String> = now.chain(baseline.corpora.keys()).collect();
        corpora
            .into_iter()
            .flat_map(|corpus| Metric::ALL.map(|metric| (corpus, metric)))
            .map(|(corpus, metric)| {
                let then = baseline.corpora.get(corpus);
                let now = evaluation.corpora.get(corpus);
                let count = now.and_then(|scores| scores.counts.get(&metric)).copied();
                Self {
                    corpus: corpus.clone(),
                    metric,
                    was: then.and_then(|scores| scores.metrics.get(&metric).copied()),
                    is: now.and_then(|scores| scores.metrics.get(&metric).copied()),
                    allowed: f64::from(slack) / f64::from(count.unwrap_or(1)) + ROUNDING,
                }
            })
            .filter(Self::is_difference)
            .collect()
    }

    fn is_difference(&self) -> bool {
        match (self.was, self.is) {
            (Some(was), Some(is)) => (is - was).abs() > TOLERANCE,
            (was, is) => was != is,
        }
    }

    /// True if the metric is worse by more than the slack, or no longer measured: otherwise leaving out questions would pass.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        match (self.was, self.is) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(was), Some(is)) => self.loss(was, is) > self.allowed,
        }
    }

    fn loss(&self, was: f64, is: f64) -> f64 {
        if self.metric.is_loss() {
            is - was
        } else {
            was - is
        }
    }

    /// Formats a table of changes.
    #[must_use]
    pub fn table(changes: &[Self]) -> String {
        if changes.is_empty() {
            return "nothing changed\n".to_owned();
        }
        let heading = ["", "was", "is", "change", ""];
        let mut rows = vec![Vec::from(heading.map(str::to_owned))];
        rows.extend(changes.iter().map(|change| {
            let (growth, verdict) = match (change.was, change.is) {
                (Some(was), Some(is)) => {
                    let is_worse = change.loss(was, is) > 0.0;
                    let verdict = if is_worse { "worse" } else { "better" };
                    (format!("{:+.4}", rounded(is - was)), verdict)
                }
                (None, _) => (NO_VALUE.to_owned(), "new"),
                (_, None) => (NO_VALUE.to_owned(), "gone"),
            };
            vec![
                format!("{} {}", change.corpus, change.metric),
                number(change.was),
                number(change.is),
                growth,
                verdict.to_owned(),
            ]
        }));
        aligned(&rows)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Scores;
    use super::*;

    /// The metrics of corpora, each of 10 questions.
    type Corpora<'a> = &'a [(&'a str, &'a [(Metric, f64)])];

    fn evaluation(corpora: Corpora<'_>) -> Evaluation {
        let scores = |metrics: &[(Metric, f64)]| Scores {
            metrics: metrics.iter().copied().collect(),
            counts: metrics.iter().map(|(metric, _)| (*metric, 10)).collect(),
        };
        let corpora = corpora.iter();
        Evaluation {
            corpora: corpora
                .map(|(corpus, metrics)| ((*corpus).to_owned(), scores(metrics)))
                .collect(),
            ..Evaluation::default()
        }
    }

    /// Compares with a baseline that was written to JSON and read back.
    fn changes(was: Corpora<'_>, is: Corpora<'_>, slack: u32) -> Vec<Change> {
        let baseline = serde_json::from_value(json!(evaluation(was))).unwrap();
        Change::all(&evaluation(is), &baseline, slack)
    }

    fn regressions(was: Corpora<'_>, is: Corpora<'_>, slack: u32) -> Vec<(String, Metric)> {
        let changes = changes(was, is, slack).into_iter();
        let regressions = changes.filter(Change::is_regression);
        regressions
            .map(|change| (change.corpus, change.metric))
            .collect()
    }

    const WAS: &[(Metric, f64)] = &[
        (Metric::PageAt1, 0.9),
        (Metric::Withheld, 0.1),
        (Metric::Refused, 0.8),
    ];

    #[test]
    fn an_evaluation_does_not_differ_from_itself() {
        let changes = changes(&[("jest", WAS)], &[("jest", WAS)], 0);
        assert_eq!(changes, []);
        assert_eq!(Change::table(&changes), "nothing changed\n");
    }

    #[test]
    fn more_withheld_answers_and_fewer_right_pages_are_regressions() {
        let is = [
            (Metric::PageAt1, 0.8),
            (Metric::Withheld, 0.3),
            (Metric::Refused, 0.9),
        ];
        let found = regressions(&[("jest", WAS)], &[("jest", &is)], 0);
        let expected = [Metric::PageAt1, Metric::Withheld];
        assert_eq!(found, expected.map(|metric| ("jest".to_owned(), metric)));
    }

    #[test]
    fn slack_is_a_number_of_questions() {
        let is = [
            (Metric::PageAt1, 0.8),
            (Metric::Withheld, 0.3),
            (Metric::Refused, 0.8),
        ];
        let found = regressions(&[("jest", WAS)], &[("jest", &is)], 1);
        assert_eq!(found, [("jest".to_owned(), Metric::Withheld)]);
        assert_eq!(regressions(&[("jest", WAS)], &[("jest", &is)], 2), []);
    }

    #[test]
    fn a_missing_metric_is_a_regression_and_a_new_one_is_not() {
        let was: Corpora<'_> = &[
            ("ary", &[(Metric::PageAt1, 1.0), (Metric::PageAt5, 0.5)]),
            ("jest", &[(Metric::PageAt1, 0.5)]),
        ];
        let is: Corpora<'_> = &[("ary", &[(Metric::PageAt1, 1.0), (Metric::Needs, 0.0)])];
        let expected = [("ary", Metric::PageAt5), ("jest", Metric::PageAt1)];
        let expected = expected.map(|(corpus, metric)| (corpus.to_owned(), metric));
        assert_eq!(regressions(was, is, 9), expected);
    }

    #[test]
    fn a_table_shows_what_changed_with_signs() {
        let is = [
            (Metric::PageAt1, 0.8),
            (Metric::Needs, 0.5),
            (Metric::Withheld, 0.05),
        ];
        let text = Change::table(&changes(&[("jest", WAS)], &[("jest", &is)], 0));
        let expected = "                  was      is   change\n\
                        jest page@1    0.9000  0.8000  -0.1000   worse\n\
                        jest needs          –  0.5000        –     new\n\
                        jest withheld  0.1000  0.0500  -0.0500  better\n\
                        jest refused   0.8000       –        –    gone\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_baseline_with_an_unknown_metric_is_refused() {
        let baseline = json!({"corpora": {"jest": {"metrics": {"page@2": 1.0}}}});
        let error = serde_json::from_value::<Baseline>(baseline).unwrap_err();
        assert!(error.to_string().contains("`page@2`"), "{error}");
    }
}
