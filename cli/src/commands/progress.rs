//! The progress of a run on standard error: a bar in a terminal, else a line every few seconds.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use bookrag::ingest::{Ingest, Progress, Report, SyncError, SyncOptions, sync};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;

/// Printed when Ctrl-C stops a run: each page is committed on its own.
pub(super) const STOPPED: &str =
    "stopped while indexing; the pages indexed so far are kept, and the next run continues there";

/// The time between two lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// The finished pages that an estimate needs: twice as many as are worked on at once.
const ENOUGH_PAGES: usize = 32;

/// The most pages that a line names; the others are counted.
const MAX_NAMED_PAGES: usize = 3;

/// Syncs, and shows the progress with an estimate of the time left.
pub(super) async fn with_progress(
    ingest: &Ingest,
    options: SyncOptions,
) -> Result<Report, SyncError> {
    let is_terminal = std::io::stderr().is_terminal();
    let bar = ProgressBar::with_draw_target(
        None,
        if is_terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        },
    );
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len} pages{prefix}  {wide_msg}");
    bar.set_style(style.expect("the template is a constant"));
    let start = Instant::now();
    let mut lines = Lines::from(start);
    let report = sync(ingest, options, |progress: Progress<'_>| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        let left = left(&progress, start.elapsed());
        bar.set_prefix(left.clone());
        bar.set_message(progress.source.to_owned());
        if !is_terminal && lines.is_due(Instant::now()) {
            output::status(&line(&progress, &left));
        }
    })
    .await;
    bar.finish_and_clear();
    report
}

/// The clock of progress lines.
#[derive(Debug)]
struct Lines {
    last: Instant,
}

impl Lines {
    fn from(start: Instant) -> Self {
        Self { last: start }
    }

    /// True if [`LINE_INTERVAL`] has passed since the start or since this was last true.
    fn is_due(&mut self, now: Instant) -> bool {
        let is_due = now.duration_since(self.last) >= LINE_INTERVAL;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

/// Estimates the time left from the mean duration of the finished pages; empty before there are enough, since many are worked on at
/// once. The progress bar's own estimate weighs the first seconds too much: it showed 7 minutes for a run of one.
fn left(progress: &Progress<'_>, elapsed: Duration) -> String {
    if progress.done < ENOUGH_PAGES.min(progress.total.div_ceil(2)) {
        return String::new();
    }
    let done = u32::try_from(progress.done).unwrap_or(u32::MAX);
    let pages = u32::try_from(progress.total - progress.done).unwrap_or(u32::MAX);
    let left = elapsed.saturating_mul(pages) / done.max(1);
    format!(", about {} left", HumanDuration(left))
}

fn line(progress: &Progress<'_>, left: &str) -> String {
    format!("{} of {} pages{left}", progress.done, progress.total)
}

/// Describes a run over pages that changed in a watched folder, in one line.
pub(super) fn change(pages: &[String], report: &Report) -> String {
    let named = pages.len().min(MAX_NAMED_PAGES);
    let mut names = pages[..named].join(", ");
    let others = pages.len() - named;
    if others > 0 {
        names.push_str(&format!(" and {others} more"));
    }
    format!("updated {names} ({:.1} s)", report.duration_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_seconds_apart_however_fast_pages_are_done() {
        let start = Instant::now();
        let mut lines = Lines::from(start);
        let due: Vec<u64> = (0..=23)
            .filter(|second| lines.is_due(start + Duration::from_secs(*second)))
            .collect();
        assert_eq!(due, [5, 10, 15, 20]);
    }

    #[test]
    fn a_line_says_how_far_it_is_and_how_long_it_takes() {
        for (done, expected) in [
            (1, "1 of 149 pages"),
            (40, "40 of 149 pages, about 2 minutes left"),
        ] {
            let progress = Progress {
                done,
                total: 149,
                source: "docs/a.md",
            };
            let left = left(&progress, Duration::from_secs(40));
            assert_eq!(line(&progress, &left), expected);
        }
    }

    #[test]
    fn a_change_is_one_line_that_names_the_page() {
        let report = Report {
            duration_seconds: 0.42,
            ..Report::default()
        };
        let pages: Vec<String> = (1..=5).map(|n| format!("docs/{n}.md")).collect();
        assert_eq!(change(&pages[..1], &report), "updated docs/1.md (0.4 s)");
        assert_eq!(
            change(&pages, &report),
            "updated docs/1.md, docs/2.md, docs/3.md and 2 more (0.4 s)"
        );
    }
}
