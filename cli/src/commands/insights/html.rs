//! The insights as one HTML page without scripts, which opens from a file.

use std::fmt::Write;

use bookrag::catalog::{AskedQuestion, DayInsight, Insights, LessonInsight, OpenQuestion};
use bookrag::prices::dollars;

use super::open::Subject;
use super::{HASH_DIGITS, percent};
use crate::html::escaped;

/// The height of the chart and the width of a day in it, in pixels.
const HEIGHT: u64 = 120;
const DAY_WIDTH: usize = 22;

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c1e21; background: #fff }
h2 { margin-top: 2.5rem }
dl { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem }
dt { color: #525860 }
dd { margin: 0; font-size: 1.6rem }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #dadde1; vertical-align: top; overflow-wrap: anywhere }
td:first-child, th:first-child { text-align: right; width: 4rem; font-variant-numeric: tabular-nums }
.answered { fill: #4c8bf5 } .uncertain { fill: #f2b134 } .not_covered { fill: #d64545 }
.chart { overflow-x: auto }
@media (prefers-color-scheme: dark) { body { color: #e3e3e3; background: #1b1b1d } dt { color: #a0a4aa } td, th { border-color: #444 } }
</style>
"#;

/// What the page shows.
pub(super) struct Page<'a> {
    /// The title of the book.
    pub(super) title: &'a str,
    pub(super) days: u64,
    pub(super) insights: &'a Insights,
    /// The questions whose text is stored, most frequent first.
    pub(super) asked: &'a [AskedQuestion],
    pub(super) subjects: &'a [Subject],
    /// The origin of the book's pages, for links to them.
    pub(super) origin: Option<&'a str>,
}

impl Page<'_> {
    pub(super) fn written(&self) -> String {
        let title = escaped(self.title);
        let mut page = HEAD.to_owned();
        let _ = write!(
            page,
            "<title>Questions about {title}</title>\n</head>\n<body>\n<h1>Questions about {title}</h1>\n\
             <p>The last {} days. Days are UTC.</p>\n",
            self.days
        );
        page.push_str(&self.totals());
        page.push_str(&self.chart());
        let asked = self.asked.iter();
        let asked = asked.map(|asked| (asked.count, escaped(&asked.question)));
        section(&mut page, "Asked most", asked);
        let subjects = self.subjects.iter();
        let subjects = subjects.map(|subject| (subject.count, self.subject(subject)));
        section(&mut page, "To write about, by subject", subjects);
        let open = |open: &OpenQuestion| (open.count, question(open));
        let not_covered = self.insights.not_covered.iter().map(open);
        section(&mut page, "Not covered by the book", not_covered);
        let uncertain = self.insights.uncertain.iter().map(open);
        section(&mut page, "Perhaps not answered by the book", uncertain);
        let lesson = |lesson: &LessonInsight| (lesson.count, self.link(&lesson.title, &lesson.url));
        let disliked = self.insights.most_disliked.iter().map(lesson);
        section(&mut page, "Pages in answers that did not help", disliked);
        let cited = self.insights.most_cited.iter().map(lesson);
        section(&mut page, "Pages cited most", cited);
        page.push_str("</body>\n</html>\n");
        page
    }

    fn totals(&self) -> String {
        let sum = |of: fn(&DayInsight) -> u64| self.insights.days.iter().map(of).sum::<u64>();
        let questions = sum(|day| day.questions);
        let share = |part: u64| format!("{:.0} %", percent(part, questions));
        let totals = [
            ("Questions", questions.to_string()),
            ("Not covered", share(sum(|day| day.not_covered))),
            ("In doubt", share(sum(|day| day.uncertain))),
            ("From the cache", share(sum(|day| day.cached))),
            (
                "Models, US dollars",
                format!("{:.2}", dollars(sum(|day| day.cost_micro_usd))),
            ),
        ];
        let totals =
            totals.map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
        format!("<dl>\n{}</dl>\n", totals.concat())
    }

    /// A bar for each day with questions: answered, in doubt, not covered.
    fn chart(&self) -> String {
        let days = &self.insights.days;
        let Some(most) = days.iter().map(|day| day.questions).max() else {
            return "<p>No questions.</p>\n".to_owned();
        };
        let mut bars = String::new();
        for (place, day) in days.iter().enumerate() {
            let x = place * DAY_WIDTH;
            let rest = day
                .questions
                .saturating_sub(day.not_covered + day.uncertain);
            let _ = write!(
                bars,
                "<g><title>{}: {} questions, {} in doubt, {} not covered</title>",
                escaped(&day.day),
                day.questions,
                day.uncertain,
                day.not_covered
            );
            let mut top = HEIGHT;
            for (class, count) in [
                ("answered", rest),
                ("uncertain", day.uncertain),
                ("not_covered", day.not_covered),
            ] {
                let height = count * HEIGHT / most.max(1);
                top = top.saturating_sub(height);
                let width = DAY_WIDTH - 4;
                let _ = write!(
                    bars,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>"
                );
            }
            bars.push_str("</g>\n");
        }
        let width = days.len() * DAY_WIDTH;
        let (first, last) = (&days[0].day, &days[days.len() - 1].day);
        format!(
            "<h2>By day</h2>\n<p>{} to {}, {most} questions at most. Blue: answered, yellow: in doubt, red: not covered.</p>\n\
             <div class=\"chart\"><svg width=\"{width}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"Questions by day\">\n{bars}</svg></div>\n",
            escaped(first),
            escaped(last)
        )
    }

    fn subject(&self, subject: &Subject) -> String {
        let questions: Vec<String> = subject.questions.iter().map(|text| escaped(text)).collect();
        let nearest = subject.nearest.iter();
        let nearest =
            nearest.map(|page| format!("<br>Nearest: {}", self.link(&page.title, &page.url)));
        format!("{}{}", questions.join("<br>"), nearest.collect::<String>())
    }

    fn link(&self, title: &str, url: &str) -> String {
        let title = escaped(title);
        match self.origin {
            Some(origin) if url.starts_with('/') => {
                format!(
                    "<a href=\"{}{}\">{title}</a>",
                    escaped(origin),
                    escaped(url)
                )
            }
            _ => format!("{title} <code>{}</code>", escaped(url)),
        }
    }
}

/// Adds a table of counts; nothing without rows.
fn section(page: &mut String, heading: &str, rows: impl Iterator<Item = (u64, String)>) {
    let rows: String = rows
        .map(|(count, text)| format!("<tr><td>{count}</td><td>{text}</td></tr>\n"))
        .collect();
    if !rows.is_empty() {
        let _ = write!(page, "<h2>{heading}</h2>\n<table>\n{rows}</table>\n");
    }
}

/// The text of a question, or the beginning of its hash if the text is not stored.
fn question(open: &OpenQuestion) -> String {
    match &open.question {
        Some(text) => escaped(text),
        None => {
            let hash: String = open.question_hash.chars().take(HASH_DIGITS).collect();
            format!("<code>{hash}</code>")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_readers_wrote_is_text() {
        let attack = "</table><script src=\"https://evil.example/x.js\"></script>";
        let day = |day: &str, questions, not_covered| DayInsight {
            day: day.to_owned(),
            questions,
            not_covered,
            uncertain: 1,
            degraded: 0,
            incomplete: 0,
            tokens: 0,
            cost_micro_usd: 1_500_000,
            cached: 1,
            saved_micro_usd: 0,
        };
        let insights = Insights {
            days: vec![day("2026-11-01", 4, 2), day("2026-11-02", 8, 0)],
            not_covered: vec![OpenQuestion {
                question_hash: "0".repeat(64),
                question: Some(attack.to_owned()),
                count: 2,
            }],
            most_cited: vec![LessonInsight {
                title: attack.to_owned(),
                url: "/docs/\"a".to_owned(),
                count: 3,
            }],
            ..Insights::default()
        };
        let asked = [AskedQuestion {
            question: attack.to_owned(),
            count: 2,
        }];
        let page = Page {
            title: "Garden & more",
            days: 30,
            insights: &insights,
            asked: &asked,
            subjects: &[],
            origin: Some("https://g.example"),
        };
        let written = page.written();
        assert!(!written.contains("<script"), "{written}");
        assert!(written.contains("<h1>Questions about Garden &amp; more</h1>"));
        assert!(written.contains("href=\"https://g.example/docs/&quot;a\""));
        assert!(written.contains("<dt>Questions</dt><dd>12</dd>"));
        assert!(written.contains("<dt>Not covered</dt><dd>17 %</dd>"));
        assert!(written.contains("<dd>3.00</dd>"));
        // Half of the busiest day.
        assert!(
            written.contains("class=\"not_covered\" x=\"0\" y=\"60\" width=\"18\" height=\"30\""),
            "{written}"
        );
    }
}
