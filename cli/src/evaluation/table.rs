//! An evaluation as people read it.

use super::formulas::{Interval, Percentiles, rounded};
use super::metrics::{Metric, Metrics};
use super::{Evaluation, Scores, TOTAL_STAGE};

/// What stands where there is no value.
pub(super) const NO_VALUE: &str = "–";

const COLUMN_GAP: &str = "  ";

/// Lays out an evaluation: a row of metrics for each corpus and one for their mean; below it what was counted, with the
/// intervals of refusals, and how long the stages took.
#[must_use]
pub fn table(evaluation: &Evaluation) -> String {
    let (metrics, counts) = (metric_rows(evaluation), count_rows(evaluation));
    let mut blocks = vec![aligned(&metrics), aligned(&counts)];
    if !evaluation.stages.is_empty() {
        blocks.push(aligned(&stage_rows(evaluation)));
    }
    blocks.join("\n")
}

fn metric_rows(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let mut rows = metric_heading();
    for (corpus, scores) in &evaluation.corpora {
        rows.push(metric_row(corpus, &scores.metrics));
    }
    rows.push(metric_row("mean", &evaluation.mean));
    rows
}

/// The metrics' names, a word a row, so that columns are not wider than they must.
fn metric_heading() -> Vec<Vec<String>> {
    let names = Metric::ALL.map(|metric| metric.name().split('_').collect::<Vec<_>>());
    let height = names.iter().map(Vec::len).max().unwrap_or_default();
    (0..height)
        .map(|row| {
            let words = names.iter().map(|name| {
                let above = height - name.len();
                row.checked_sub(above).map_or("", |word| name[word])
            });
            std::iter::once("")
                .chain(words)
                .map(str::to_owned)
                .collect()
        })
        .collect()
}

fn metric_row(corpus: &str, metrics: &Metrics) -> Vec<String> {
    let values = Metric::ALL.map(|metric| number(metrics.get(metric)));
    std::iter::once(corpus.to_owned()).chain(values).collect()
}

fn count_rows(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let heading = [
        "",
        "questions",
        "with a section",
        "citations",
        "no outcome",
        "unanswerable refused (95 %)",
        "answerable refused (95 %)",
    ];
    let mut rows = vec![Vec::from(heading.map(str::to_owned))];
    for (corpus, scores) in &evaluation.corpora {
        rows.push(count_row(corpus, scores));
    }
    rows.push(count_row("all", &evaluation.all));
    rows
}

fn count_row(corpus: &str, scores: &Scores) -> Vec<String> {
    let counts = &scores.counts;
    vec![
        corpus.to_owned(),
        counts.questions.to_string(),
        counts.with_section.to_string(),
        counts.citations.to_string(),
        counts.without_outcome.to_string(),
        share(
            counts.unanswerable_refused,
            counts.unanswerable,
            scores.refusal_recall_interval,
        ),
        share(
            counts.answerable_refused,
            counts.answerable,
            scores.false_refusals_interval,
        ),
    ]
}

fn share(part: usize, whole: usize, interval: Option<Interval>) -> String {
    match interval {
        Some(Interval { lower, upper }) => {
            let (lower, upper) = (number(Some(lower)), number(Some(upper)));
            format!("{part} of {whole} ({lower}–{upper})")
        }
        None => NO_VALUE.to_owned(),
    }
}

fn stage_rows(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let heading = ["stage, in ms", "runs", "p50", "p95", "p99"];
    let mut rows = vec![Vec::from(heading.map(str::to_owned))];
    let mut stages: Vec<(&String, &Percentiles)> = evaluation.stages.iter().collect();
    stages.sort_by_key(|(stage, _)| *stage == TOTAL_STAGE);
    for (stage, percentiles) in stages {
        let durations = [percentiles.p50, percentiles.p95, percentiles.p99];
        let mut row = vec![stage.clone(), percentiles.count.to_string()];
        row.extend(durations.map(|duration_ms| format!("{duration_ms:.1}")));
        rows.push(row);
    }
    rows
}

/// A metric with 4 digits.
pub(super) fn number(value: Option<f64>) -> String {
    match value {
        Some(value) => format!("{:.4}", rounded(value)),
        None => NO_VALUE.to_owned(),
    }
}

/// Rows as lines of equally wide columns: the first to the left, the others to the right.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widths = cells.map(|cell| cell.chars().count());
            widths.max().unwrap_or_default()
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells: Vec<String> = cells
            .map(|(column, (cell, &width))| {
                if column == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        text.push_str(cells.join(COLUMN_GAP).trim_end());
        text.push('\n');
    }
    text
}
