//! Compares two results of the same questions, question by question.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::bootstrap;
use super::formulas::{Interval, mean, rounded};
use super::measured::{Measured, mean_of};
use super::metrics::{Better, Metric};
use super::table::{aligned, interval, number};

/// The most missing questions that an error names.
const NAMED: usize = 3;

/// The questions of a saved result, read from its JSON.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Saved {
    /// Each question with its metrics.
    pub questions: Vec<Measured>,
}

/// Two results of the same questions, `a` and `b`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The metrics that both results have and that have a better direction.
    pub metrics: Vec<ComparedMetric>,
    /// The questions whose metrics differ, by corpus and id.
    pub changed: Vec<ChangedQuestion>,
}

/// Means of a metric over corpora, in both results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedMetric {
    /// The metric.
    pub metric: Metric,
    /// The mean in the first result.
    pub a: f64,
    /// The mean in the second result.
    pub b: f64,
    /// The increase from the first to the second result.
    pub difference: f64,
    /// The 95 % interval of the difference, by bootstrap over pairs of the same question.
    pub interval: Interval,
    /// Questions with a better value in the second result.
    pub wins: usize,
    /// Questions with a worse value in the second result.
    pub losses: usize,
}

/// A question whose metrics differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedQuestion {
    /// The corpus.
    pub corpus: String,
    /// The question's id.
    pub id: String,
    /// The text of the question.
    pub query: String,
    /// The metrics that differ, with both values; `None` where a metric does not apply.
    pub metrics: BTreeMap<Metric, (Option<f64>, Option<f64>)>,
}

type Pair<'s> = (&'s Measured, &'s Measured);

impl Comparison {
    /// Compares two results of the same questions.
    ///
    /// # Errors
    ///
    /// If only one of the results has a question. The message uses the given names of the results.
    pub fn of((a_name, a): (&str, &Saved), (b_name, b): (&str, &Saved)) -> Result<Self, String> {
        let (a, b) = (by_key(a), by_key(b));
        lacks_none(b_name, &b, a_name, &a)?;
        lacks_none(a_name, &a, b_name, &b)?;
        let pairs: Vec<Pair<'_>> = a.into_values().zip(b.into_values()).collect();
        Ok(Self {
            metrics: Metric::ALL
                .into_iter()
                .filter(|metric| metric.better() != Better::Neither)
                .filter_map(|metric| ComparedMetric::of(&pairs, metric))
                .collect(),
            changed: pairs
                .iter()
                .copied()
                .filter_map(ChangedQuestion::of)
                .collect(),
        })
    }

    /// Formats a table of the metrics and a list of the questions that changed.
    #[must_use]
    pub fn text(&self) -> String {
        let heading = ["", "A", "B", "difference", "95 %", "better", "worse"];
        let mut rows = vec![Vec::from(heading.map(str::to_owned))];
        rows.extend(self.metrics.iter().map(|compared| {
            vec![
                compared.metric.name().to_owned(),
                number(Some(compared.a)),
                number(Some(compared.b)),
                format!("{:+.4}", compared.difference),
                interval(compared.interval),
                compared.wins.to_string(),
                compared.losses.to_string(),
            ]
        }));
        let table = aligned(&rows);
        let changed = self.changed.iter().map(ChangedQuestion::text);
        format!(
            "{table}\nquestions that changed: {}\n{}",
            self.changed.len(),
            changed.collect::<String>(),
        )
    }
}

impl ComparedMetric {
    fn of(pairs: &[Pair<'_>], metric: Metric) -> Option<Self> {
        let mut corpora: BTreeMap<&str, Vec<Pair<'_>>> = BTreeMap::new();
        let counts = |question: &Measured| question.metrics.get(metric).is_some();
        for pair in pairs.iter().filter(|(a, b)| counts(a) || counts(b)) {
            corpora.entry(&pair.0.corpus).or_default().push(*pair);
        }
        let corpora: Vec<Vec<Pair<'_>>> = corpora.into_values().collect();
        let both = |pairs: &[&Pair<'_>]| {
            let a = mean_of(pairs.iter().map(|pair| pair.0), metric)?;
            let b = mean_of(pairs.iter().map(|pair| pair.1), metric)?;
            Some((a, b))
        };
        let means: Vec<(f64, f64)> = corpora
            .iter()
            .filter_map(|pairs| both(&pairs.iter().collect::<Vec<_>>()))
            .collect();
        let a = mean(&means.iter().map(|(a, _)| *a).collect::<Vec<_>>())?;
        let b = mean(&means.iter().map(|(_, b)| *b).collect::<Vec<_>>())?;
        let gains = pairs.iter().filter_map(|(a, b)| {
            let growth = b.metrics.get(metric)? - a.metrics.get(metric)?;
            Some(if metric.better() == Better::Lower {
                -growth
            } else {
                growth
            })
        });
        let gains: Vec<f64> = gains.collect();
        Some(Self {
            metric,
            a: rounded(a),
            b: rounded(b),
            difference: rounded(b - a),
            interval: bootstrap::interval(&corpora, |pairs| {
                let (a, b) = both(pairs)?;
                Some(b - a)
            })?,
            wins: gains.iter().filter(|gain| **gain > 0.0).count(),
            losses: gains.iter().filter(|gain| **gain < 0.0).count(),
        })
    }
}

impl ChangedQuestion {
    /// Returns the question if its metrics differ.
    fn of((a, b): Pair<'_>) -> Option<Self> {
        let values =
            Metric::ALL.map(|metric| (metric, (a.metrics.get(metric), b.metrics.get(metric))));
        let metrics: BTreeMap<Metric, (Option<f64>, Option<f64>)> =
            values.into_iter().filter(|(_, (a, b))| a != b).collect();
        (!metrics.is_empty()).then(|| Self {
            corpus: a.corpus.clone(),
            id: a.id.clone(),
            query: a.query.clone(),
            metrics,
        })
    }

    fn text(&self) -> String {
        let changes = self
            .metrics
            .iter()
            .map(|(metric, (a, b))| format!("{} {} → {}", metric.name(), number(*a), number(*b)));
        let changes: Vec<String> = changes.collect();
        let Self {
            corpus, id, query, ..
        } = self;
        format!("{corpus} {id}: {query}\n    {}\n", changes.join(", "))
    }
}

fn by_key(saved: &Saved) -> BTreeMap<(&str, &str), &Measured> {
    let questions = saved.questions.iter();
    questions
        .map(|question| ((question.corpus.as_str(), question.id.as_str()), question))
        .collect()
}

/// Refuses a result that lacks questions of the other one.
fn lacks_none<K: Ord, V>(
    name: &str,
    result: &BTreeMap<(K, &str), V>,
    other_name: &str,
    other: &BTreeMap<(K, &str), V>,
) -> Result<(), String> {
    let missing: BTreeSet<&str> = other
        .keys()
        .filter(|key| !result.contains_key(key))
        .map(|(_, id)| *id)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = missing
        .iter()
        .take(NAMED)
        .map(|id| format!("`{id}`"))
        .collect();
    let more = if missing.len() > NAMED { ", …" } else { "" };
    Err(format!(
        "{name} lacks {} of the questions in {other_name} ({}{more}); compare results of the same questions",
        missing.len(),
        named.join(", "),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A result of four questions of two books: whether the first page was right, and the share and number of right citations.
    fn saved(pages: [f64; 4], cited: [(f64, usize); 2]) -> Saved {
        let question = |(at, page): (usize, f64)| {
            let (citation, citations) = cited.get(at).copied().unwrap_or_default();
            let mut metrics = json!({"page@1": page, "false_refusals": 1.0 - page});
            if citations > 0 {
                metrics["citation_accuracy"] = json!(citation);
            }
            let corpus = if at < 3 { "ary" } else { "jest" };
            serde_json::from_value(json!({
                "corpus": corpus, "id": format!("q{at}"), "query": format!("question {at}?"),
                "metrics": metrics, "citations": citations,
            }))
            .unwrap()
        };
        Saved {
            questions: pages.into_iter().enumerate().map(question).collect(),
        }
    }

    fn compared(a: &Saved, b: &Saved) -> Comparison {
        Comparison::of(("a.json", a), ("b.json", b)).unwrap()
    }

    #[test]
    fn a_table_shows_differences_and_the_questions_behind_them() {
        let a = saved([0.0, 1.0, 0.0, 1.0], [(0.5, 2), (1.0, 1)]);
        let b = saved([1.0, 1.0, 0.0, 1.0], [(1.0, 2), (0.0, 0)]);
        let expected = "
                        A       B  difference               95 %  better  worse
page@1             0.6667  0.8333     +0.1667   0.0000 to 0.5000       1      0
false_refusals     0.3333  0.1667     -0.1667  -0.5000 to 0.0000       1      0
citation_accuracy  0.6667  1.0000     +0.3333   0.3333 to 0.5000       1      0

questions that changed: 2
ary q0: question 0?
    page@1 0.0000 → 1.0000, false_refusals 1.0000 → 0.0000, citation_accuracy 0.5000 → 1.0000
ary q1: question 1?
    citation_accuracy 1.0000 → –
";
        assert_eq!(format!("\n{}", compared(&a, &b).text()), expected);
    }

    #[test]
    fn a_result_does_not_differ_from_itself() {
        let result = saved([0.0, 1.0, 0.0, 1.0], [(0.5, 2), (1.0, 1)]);
        let comparison = compared(&result, &result);
        assert_eq!(comparison.changed, []);
        assert_eq!(comparison.metrics.len(), 3);
        let nothing = Interval {
            lower: 0.0,
            upper: 0.0,
        };
        for metric in comparison.metrics {
            assert_eq!((metric.wins, metric.losses), (0, 0));
            assert_eq!(metric.interval, nothing);
        }
    }

    #[test]
    fn fewer_false_refusals_are_better() {
        let a = saved([0.0, 1.0, 1.0, 1.0], [(1.0, 1), (1.0, 1)]);
        let b = saved([1.0, 1.0, 1.0, 1.0], [(1.0, 1), (1.0, 1)]);
        let comparison = compared(&a, &b);
        let refusals = comparison.metrics.iter();
        let refusals = refusals.filter(|compared| compared.metric == Metric::FalseRefusals);
        let counts: Vec<_> = refusals
            .map(|compared| (compared.difference, compared.wins, compared.losses))
            .collect();
        assert_eq!(counts, [(-0.1667, 1, 0)]);
    }

    #[test]
    fn an_equal_gain_has_a_certain_difference() {
        // Every question gains the same, so the difference is certain even though the questions differ.
        let a = saved([0.0, 0.5, 0.0, 0.5], [(0.0, 0); 2]);
        let b = saved([0.5, 1.0, 0.5, 1.0], [(0.0, 0); 2]);
        let half = Interval {
            lower: 0.5,
            upper: 0.5,
        };
        assert_eq!(compared(&a, &b).metrics[0].interval, half);
    }

    #[test]
    fn other_questions_are_refused_by_the_name_of_the_file_that_lacks_them() {
        let all = saved([0.0; 4], [(0.0, 0); 2]);
        let mut fewer = all.clone();
        fewer.questions.truncate(3);
        for (a, b) in [
            (("all.json", &all), ("fewer.json", &fewer)),
            (("fewer.json", &fewer), ("all.json", &all)),
        ] {
            let told = Comparison::of(a, b).unwrap_err();
            let expected = "fewer.json lacks 1 of the questions in all.json (`q3`); compare results of the same questions";
            assert_eq!(told, expected);
        }
    }
}
