//! Compares an evaluation with a saved one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Evaluation;
use super::formulas::{real, rounded};
use super::metrics::{Better, Metric, Metrics};
use super::table::{NO_VALUE, aligned, number};

/// Tolerated loss of any metric: less than its 4 digits show.
pub(super) const DEFAULT_TOLERANCE: f64 = 1e-9;

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

/// A metric that is worse than in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regression {
    /// The corpus.
    pub corpus: String,
    /// The metric.
    pub metric: Metric,
    /// Its value in the baseline, rounded to 4 digits.
    pub was: f64,
    /// Its value now, rounded to 4 digits; `None` if it is no longer measured.
    pub is: Option<f64>,
}

/// Returns the metrics that are worse than in the baseline, by corpus. `slack` is the number of questions of a corpus that may do worse.
///
/// Both values are rounded to 4 digits, as they are printed. If the evaluation lacks a metric or corpus of the baseline, that is a
/// regression too; otherwise leaving out questions would pass. New metrics are ignored. Durations are not compared, since they depend on the
/// machine.
#[must_use]
pub fn compare(evaluation: &Evaluation, baseline: &Baseline, slack: f64) -> Vec<Regression> {
    let changes = changes(evaluation, baseline).into_iter();
    changes
        .filter_map(|change| {
            let was = change.was?;
            let questions = evaluation
                .corpora
                .get(change.corpus)
                .map_or(1, |scores| change.metric.questions(&scores.counts).max(1));
            let allowed = DEFAULT_TOLERANCE + slack / real(questions);
            let is_worse = change.is.is_none() || change.loss() > allowed;
            let counts = change.metric.better() != Better::Neither;
            (counts && is_worse).then(|| Regression {
                corpus: change.corpus.to_owned(),
                metric: change.metric,
                was,
                is: change.is,
            })
        })
        .collect()
}

/// Lists every metric that differs from the baseline, with its change.
#[must_use]
pub fn diff(evaluation: &Evaluation, baseline: &Baseline) -> String {
    let heading = ["", "was", "is", "change", ""];
    let mut rows = vec![Vec::from(heading.map(str::to_owned))];
    for change in changes(evaluation, baseline) {
        if let Some(verdict) = change.verdict() {
            rows.push(vec![
                format!("{} {}", change.corpus, change.metric.name()),
                number(change.was),
                number(change.is),
                change.signed(),
                verdict.to_owned(),
            ]);
        }
    }
    if rows.len() == 1 {
        return "nothing changed\n".to_owned();
    }
    aligned(&rows)
}

/// A metric's values before and now; at least one is present.
struct Change<'c> {
    corpus: &'c str,
    metric: Metric,
    was: Option<f64>,
    is: Option<f64>,
}

fn changes<'c>(evaluation: &'c Evaluation, baseline: &'c Baseline) -> Vec<Change<'c>> {
    let now = evaluation.corpora.keys();
    let corpora: BTreeSet<&String> = now.chain(baseline.corpora.keys()).collect();
    let mut changes = Vec::new();
    for corpus in corpora {
        let then = baseline.corpora.get(corpus).map(|scores| &scores.metrics);
        let now = evaluation.corpora.get(corpus).map(|scores| &scores.metrics);
        for metric in Metric::ALL {
            let value = |metrics: Option<&Metrics>| metrics?.get(metric).map(rounded);
            let (was, is) = (value(then), value(now));
            if was.is_some() || is.is_some() {
                changes.push(Change {
                    corpus,
                    metric,
                    was,
                    is,
                });
            }
        }
    }
    changes
}

impl Change<'_> {
    /// Returns the increase; 0 if a value is missing. Rounded again to remove floating-point noise from the difference.
    fn growth(&self) -> f64 {
        match (self.was, self.is) {
            (Some(was), Some(is)) => rounded(is - was),
            _ => 0.0,
        }
    }

    /// Returns how much worse the metric is; negative if it is better.
    fn loss(&self) -> f64 {
        match self.metric.better() {
            Better::Higher => -self.growth(),
            Better::Lower => self.growth(),
            Better::Neither => 0.0,
        }
    }

    /// Names the change; `None` if nothing changed.
    fn verdict(&self) -> Option<&'static str> {
        if self.was.is_none() {
            return Some("new");
        }
        if self.is.is_none() {
            return Some("gone");
        }
        if self.growth().abs() < DEFAULT_TOLERANCE {
            return None;
        }
        Some(match self.metric.better() {
            Better::Neither => "other",
            _ if self.loss() > 0.0 => "worse",
            _ => "better",
        })
    }

    fn signed(&self) -> String {
        match (self.was, self.is) {
            (Some(_), Some(_)) => format!("{:+.4}", self.growth()),
            _ => NO_VALUE.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scores;
    use super::*;

    fn metrics(json: &str) -> Metrics {
        serde_json::from_str(json).unwrap()
    }

    fn evaluation(corpora: &[(&str, &str)]) -> Evaluation {
        let scores = |json: &str| Scores {
            metrics: metrics(json),
            ..Scores::default()
        };
        let corpora = corpora.iter();
        Evaluation {
            corpora: corpora
                .map(|(corpus, json)| ((*corpus).to_owned(), scores(json)))
                .collect(),
            ..Evaluation::default()
        }
    }

    /// Returns the corpora as written to JSON and read back.
    fn baseline(corpora: &[(&str, &str)]) -> Baseline {
        let text = serde_json::to_string(&evaluation(corpora)).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    const WAS: &str =
        r#"{"page@1": 0.9, "P@5_ceiling": 0.4, "refusal_recall": 0.8, "false_refusals": 0.1}"#;

    #[test]
    fn an_evaluation_does_not_regress_from_itself() {
        let thirds = [("jest", r#"{"page@1": 0.66666666666, "MRR@10": 0.1}"#)];
        let (is, was) = (evaluation(&thirds), baseline(&thirds));
        assert!(compare(&is, &was, DEFAULT_TOLERANCE).is_empty());
        assert_eq!(diff(&is, &was), "nothing changed\n");
    }

    #[test]
    fn only_for_false_refusals_more_is_worse() {
        let worse =
            r#"{"page@1": 0.8, "P@5_ceiling": 0.2, "refusal_recall": 0.9, "false_refusals": 0.3}"#;
        let regressions = compare(
            &evaluation(&[("jest", worse)]),
            &baseline(&[("jest", WAS)]),
            DEFAULT_TOLERANCE,
        );
        let regression = |metric, was, is| Regression {
            corpus: "jest".to_owned(),
            metric,
            was,
            is: Some(is),
        };
        let expected = [
            regression(Metric::PageAt1, 0.9, 0.8),
            regression(Metric::FalseRefusals, 0.1, 0.3),
        ];
        assert_eq!(regressions, expected);
    }

    #[test]
    fn a_loss_as_large_as_the_tolerance_is_tolerated() {
        let (was, is) = (r#"{"page@1": 0.93}"#, r#"{"page@1": 0.92}"#);
        let (is, was) = (evaluation(&[("ary", is)]), baseline(&[("ary", was)]));
        assert!(compare(&is, &was, 0.01).is_empty());
        assert_eq!(compare(&is, &was, 0.0099).len(), 1);
    }

    #[test]
    fn a_missing_metric_is_a_regression_and_a_new_one_is_not() {
        let is = evaluation(&[("ary", r#"{"page@1": 1.0, "MRR@10": 0.0}"#)]);
        let was = baseline(&[
            (
                "ary",
                r#"{"page@1": 1.0, "page@5": 0.5, "P@5_ceiling": 1.0}"#,
            ),
            ("jest", r#"{"page@1": 0.5}"#),
        ]);
        let regressions = compare(&is, &was, 1.0);
        let places: Vec<(&str, Metric)> = regressions
            .iter()
            .map(|regression| (regression.corpus.as_str(), regression.metric))
            .collect();
        assert_eq!(
            places,
            [("ary", Metric::PageAt5), ("jest", Metric::PageAt1)]
        );
        assert!(regressions.iter().all(|regression| regression.is.is_none()));
    }

    #[test]
    fn a_diff_shows_what_changed_with_signs() {
        let is = r#"{"page@1": 0.8, "MRR@10": 0.5, "P@5_ceiling": 0.2, "false_refusals": 0.05, "refusal_recall": 0.8}"#;
        let text = diff(&evaluation(&[("jest", is)]), &baseline(&[("jest", WAS)]));
        let expected = "                        was      is   change\n\
                        jest page@1          0.9000  0.8000  -0.1000   worse\n\
                        jest MRR@10               –  0.5000        –     new\n\
                        jest P@5_ceiling     0.4000  0.2000  -0.2000   other\n\
                        jest false_refusals  0.1000  0.0500  -0.0500  better\n";
        assert_eq!(text, expected);
    }
}
