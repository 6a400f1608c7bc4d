//! The questions of each day as bars.

use std::fmt::Write;

use bookrag::catalog::DayInsight;
use jiff::civil::Date;
use jiff::{ToSpan, Zoned};

use crate::html::escaped;

/// The heights of the bars' area, and of what stands above and below it, in pixels.
const HEIGHT: f64 = 180.0;
const ABOVE: f64 = 18.0;
const BELOW: f64 = 26.0;
/// The part of the width that the numbers of the axis take, in percent.
const AXIS: f64 = 4.0;
/// The widest bar, in percent.
const MAX_WIDTH: f64 = 6.0;
/// The most days in the chart. Of a longer period, the last ones are shown.
const MAX_DAYS: u64 = 120;
/// The most days whose numbers stand above the bars.
const MAX_NUMBERS: usize = 31;
/// About how many days have a label.
const LABELS: usize = 6;

/// Returns the chart of a period's days, those without questions included, and the same as a table. The last day is today, or the last one with
/// questions.
pub(super) fn chart(insights: &[DayInsight], period: u64) -> String {
    let days = every_day(insights, period);
    let most = days.iter().map(|day| day.questions).max().unwrap_or(0);
    let scale = Scale::to(most);
    let mut svg = String::new();
    for value in scale.lines() {
        let y = scale.y(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{AXIS}%\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{:.1}%\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            AXIS - 1.0,
            y + 4.0,
        );
    }
    let bars = Bars {
        scale,
        step: (100.0 - AXIS) / real(days.len()),
        have_numbers: days.len() <= MAX_NUMBERS,
    };
    for (position, day) in days.iter().enumerate() {
        svg.push_str(&bars.bar(position, day));
    }
    svg.push_str(&labels(&days, bars.step));
    let height = ABOVE + HEIGHT + BELOW;
    format!(
        "<svg height=\"{height}\" role=\"img\" aria-label=\"Questions by day, at most {most} on one. The table below has the numbers.\">\n{svg}</svg>\n{}",
        table(insights)
    )
}

/// The values of the axis.
struct Scale {
    step: u64,
    top: u64,
}

impl Scale {
    /// Chooses round steps for values up to `most`.
    fn to(most: u64) -> Self {
        let mut step = 1;
        while step * 4 < most {
            let text = step.to_string();
            step = if text.starts_with('2') {
                step / 2 * 5
            } else {
                step * 2
            };
        }
        let top = most.div_ceil(step).max(1) * step;
        Self { step, top }
    }

    fn lines(&self) -> impl Iterator<Item = u64> {
        (0..=self.top / self.step).map(|line| line * self.step)
    }

    fn height(&self, value: u64) -> f64 {
        HEIGHT * real(value) / real(self.top)
    }

    fn y(&self, value: u64) -> f64 {
        ABOVE + HEIGHT - self.height(value)
    }
}

/// The bars of all days.
struct Bars {
    scale: Scale,
    /// The width of a day, in percent.
    step: f64,
    have_numbers: bool,
}

impl Bars {
    fn bar(&self, position: usize, day: &DayInsight) -> String {
        let Self {
            scale,
            step,
            have_numbers,
        } = self;
        let left = AXIS + step * real(position);
        let width = (step * 0.72).min(MAX_WIDTH);
        let x = left + (step - width) / 2.0;
        let mut bar = format!(
            "<g><title>{}: {} questions, {} in doubt, {} not covered</title><rect class=\"reach\" x=\"{left:.2}%\" y=\"{ABOVE}\" width=\"{step:.2}%\" height=\"{HEIGHT}\"/>",
            escaped(&day.day),
            day.questions,
            day.uncertain,
            day.not_covered
        );
        let mut below = 0;
        for (class, count) in parts(day) {
            if count > 0 {
                below += count;
                // One pixel sets it off from the part below.
                let height = (scale.height(count) - 1.0).max(1.0);
                let _ = write!(
                    bar,
                    "<rect class=\"{class}\" x=\"{x:.2}%\" y=\"{:.1}\" width=\"{width:.2}%\" height=\"{height:.1}\" rx=\"1.5\"/>",
                    scale.y(below)
                );
            }
        }
        if *have_numbers && day.questions > 0 {
            let _ = write!(
                bar,
                "<text class=\"number\" x=\"{:.2}%\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                left + step / 2.0,
                scale.y(day.questions) - 5.0,
                day.questions
            );
        }
        bar.push_str("</g>\n");
        bar
    }
}

/// Returns the parts of a bar from its foot: classes and counts.
pub(super) fn parts(day: &DayInsight) -> [(&'static str, u64); 3] {
    let open = day.not_covered + day.uncertain;
    [
        ("answered", day.questions.saturating_sub(open)),
        ("uncertain", day.uncertain),
        ("not_covered", day.not_covered),
    ]
}

/// Returns the labels of some days. On a narrow screen, those at the ends are shown alone.
fn labels(days: &[DayInsight], step: f64) -> String {
    let every = days.len().div_ceil(LABELS).max(1);
    let last = days.len().saturating_sub(1);
    let mut labels = String::new();
    for (position, day) in days.iter().enumerate().rev().step_by(every) {
        let middle = AXIS + step * (real(position) + 0.5);
        let anchor = if position == last && days.len() > LABELS {
            "end"
        } else {
            "middle"
        };
        let x = if anchor == "end" { 100.0 } else { middle };
        let class = if (last - position) / every % 2 == 1 {
            " class=\"between\""
        } else {
            ""
        };
        let _ = writeln!(
            labels,
            "<text{class} x=\"{x:.2}%\" y=\"{:.0}\" text-anchor=\"{anchor}\">{}</text>",
            ABOVE + HEIGHT + 19.0,
            label(&day.day)
        );
    }
    labels
}

/// Returns a day as in `Nov 27`.
fn label(day: &str) -> String {
    let date: Result<Date, _> = day.parse();
    date.map_or_else(|_| escaped(day), |date| date.strftime("%b %-d").to_string())
}

/// Adds the days without questions.
fn every_day(insights: &[DayInsight], period: u64) -> Vec<DayInsight> {
    let dates = insights
        .iter()
        .filter_map(|day| day.day.parse::<Date>().ok());
    let today = Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date();
    let last = dates.max().unwrap_or(today).max(today);
    let back = i64::try_from(period.min(MAX_DAYS)).unwrap_or(1) - 1;
    let Ok(first) = last.checked_sub(back.days()) else {
        return insights.to_vec();
    };
    let days = first.series(1.day()).take_while(|date| *date <= last);
    days.map(|date| {
        let name = date.to_string();
        let known = insights.iter().find(|day| day.day == name);
        known.cloned().unwrap_or_else(|| without_questions(name))
    })
    .collect()
}

fn without_questions(day: String) -> DayInsight {
    DayInsight {
        day,
        questions: 0,
        not_covered: 0,
        uncertain: 0,
        degraded: 0,
        incomplete: 0,
        tokens: 0,
        cost_micro_usd: 0,
        cached: 0,
        saved_micro_usd: 0,
    }
}

fn table(insights: &[DayInsight]) -> String {
    let mut rows = String::new();
    for day in insights.iter().rev() {
        let _ = write!(
            rows,
            "<tr><td>{}</td><td>{}</td>",
            escaped(&day.day),
            day.questions
        );
        for (_, count) in parts(day) {
            let _ = write!(rows, "<td>{count}</td>");
        }
        rows.push_str("</tr>\n");
    }
    format!(
        "<details><summary>The numbers</summary><div class=\"table\" tabindex=\"0\"><table>\n<tr><th>Day</th><th>Questions</th><th>Answered</th><th>In doubt</th><th>Not covered</th></tr>\n{rows}</table></div></details>\n"
    )
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of questions and days are small"
)]
fn real(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_round_numbers() {
        for (most, lines) in [
            (0, vec![0, 1]),
            (3, vec![0, 1, 2, 3]),
            (7, vec![0, 2, 4, 6, 8]),
            (18, vec![0, 5, 10, 15, 20]),
            (40, vec![0, 10, 20, 30, 40]),
            (70, vec![0, 20, 40, 60, 80]),
        ] {
            assert_eq!(Scale::to(most).lines().collect::<Vec<_>>(), lines, "{most}");
        }
    }

    #[test]
    fn days_without_questions_have_a_place() {
        let today = Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date();
        let asked = DayInsight {
            questions: 4,
            not_covered: 2,
            ..without_questions(today.yesterday().unwrap().to_string())
        };
        let chart = chart(&[asked], 7);
        assert_eq!(chart.matches("<g>").count(), 7);
        // Half of the day's questions.
        assert_eq!(chart.matches("height=\"89.0\"").count(), 2, "{chart}");
        assert!(chart.contains(&format!(">{}</text>", today.strftime("%b %-d"))));
    }
}
