//! Formats an evaluation as text.

use super::formulas::{Interval, Percentiles, rounded};
use super::metrics::Metric;
use super::{Evaluation, Scores, TOTAL_STAGE};

/// Shown where there is no value.
pub(super) const NO_VALUE: &str = "–";

const COLUMN_GAP: &str = "  ";

/// Formats an evaluation: a row per metric with the corpora, their mean and its interval, then the counts with the
/// intervals of refusals, the replies to each kind of unanswerable questions, and the durations of the stages.
#[must_use]
pub fn table(evaluation: &Evaluation) -> String {
    let mut blocks = vec![metric_rows(evaluation), count_rows(evaluation)];
    if !evaluation.unanswerable_kinds.is_empty() {
        blocks.push(kind_rows(evaluation));
    }
    if !evaluation.stages.is_empty() {
        blocks.push(stage_rows(evaluation));
    }
    let blocks: Vec<String> = blocks.iter().map(|rows| aligned(rows)).collect();
    blocks.join("\n")
}

fn metric_rows(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let corpora = evaluation.corpora.keys().cloned();
    let heading = std::iter::once(String::new()).chain(corpora);
    let mut rows = vec![
        heading
            .chain(["mean", "95 %"].map(str::to_owned))
            .collect::<Vec<_>>(),
    ];
    for metric in Metric::ALL {
        let mut row = vec![metric.name().to_owned()];
        let corpora = evaluation.corpora.values().map(|scores| &scores.metrics);
        let values = corpora.chain([&evaluation.mean]);
        row.extend(values.map(|metrics| number(metrics.get(metric))));
        let lies = evaluation.mean_intervals.get(&metric);
        row.push(lies.map_or_else(|| NO_VALUE.to_owned(), |lies| interval(*lies)));
        rows.push(row);
    }
    rows
}

fn count_rows(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let heading = [
        "",
        "questions",
        "with a section",
        "citations",
        "unanswerable refused (95 %)",
        "uncertain",
        "answerable refused (95 %)",
        "uncertain",
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
        share(
            counts.unanswerable_refused,
            counts.unanswerable,
            scores.refusal_recall_interval,
        ),
        counts.unanswerable_uncertain.to_string(),
        share(
            counts.answerable_refused,
            counts.answerable,
            scores.false_refusals_interval,
        ),
        counts.answerable_uncertain.to_string(),
    ]
}

fn kind_rows(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let heading = ["unanswerable", "refused", "uncertain", "either (95 %)"];
    let mut rows = vec![Vec::from(heading.map(str::to_owned))];
    for (kind, refusals) in &evaluation.unanswerable_kinds {
        rows.push(vec![
            kind.clone(),
            refusals.refused.to_string(),
            refusals.uncertain.to_string(),
            share(
                refusals.refused + refusals.uncertain,
                refusals.questions,
                refusals.refused_or_uncertain_interval,
            ),
        ]);
    }
    rows
}

fn share(part: usize, whole: usize, lies: Option<Interval>) -> String {
    match lies {
        Some(lies) => format!("{part} of {whole} ({})", interval(lies)),
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

pub(super) fn number(value: Option<f64>) -> String {
    match value {
        Some(value) => format!("{:.4}", rounded(value)),
        None => NO_VALUE.to_owned(),
    }
}

pub(super) fn interval(interval: Interval) -> String {
    let Interval { lower, upper } = interval;
    format!("{} to {}", number(Some(lower)), number(Some(upper)))
}

/// Formats rows as columns of equal width: the first left-aligned, the others right-aligned.
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
