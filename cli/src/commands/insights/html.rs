//! The insights as one HTML page without scripts, which opens from a file.

use std::fmt::Write;

use bookrag::catalog::{
    AskedQuestion, CommentInsight, DayInsight, LessonInsight, OpenQuestion, ReportInsight,
};
use bookrag::prices::dollars;

use super::chart::{chart, parts};
use super::open::{Subject, Task};
use super::{HASH_DIGITS, Report, percent};
use crate::html::escaped;
use crate::look::Look;

/// The periods in days to choose from.
const PERIODS: [u64; 3] = [7, 30, 90];

/// The number of rows of a list that are shown at once.
const SHOWN_ROWS: usize = 8;

/// The site's icon, which `serve` has.
pub(super) const ICON: &str = "<link rel=\"icon\" href=\"favicon.ico\">\n";

/// The link from the insights page of `serve` to the page that answers questions.
const BACK: &str = "<p class=\"back\"><a href=\"./\">← Ask the docs</a></p>";

/// Nothing of a page with what readers wrote may run, or be sent anywhere.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'";

/// What the page shows.
pub(super) struct Page<'a> {
    pub(super) report: &'a Report,
    pub(super) subjects: &'a [Subject],
    /// The origin of the book's pages, for links to them.
    pub(super) origin: Option<&'a str>,
    pub(super) look: &'a Look,
    /// True for the page of `serve`, which links to its other pages.
    pub(super) is_served: bool,
}

impl Page<'_> {
    pub(super) fn written(&self) -> String {
        let insights = &self.report.insights;
        let mut page = self.head();
        page.push_str(&self.figures());
        page.push_str(&self.by_day());
        page.push_str("<div class=\"lists\">\n");
        let subjects = self.subjects.iter();
        let subjects = subjects.map(|subject| self.subject(subject));
        let hint = "Questions that were refused, answered in doubt or rated as not helpful, by what they ask for, each with the section that is nearest to it.";
        section(
            &mut page,
            "To write about, by subject",
            hint,
            Width::Full,
            subjects,
        );
        let comments = insights.comments.iter().map(comment);
        section(&mut page, "What readers wrote", "", Width::Full, comments);
        let reports = insights.reports.iter().map(report);
        let hint =
            "Wrong or missing answers that coding agents reported over the Model Context Protocol.";
        section(&mut page, "Reported by agents", hint, Width::Full, reports);
        section(
            &mut page,
            "Asked most",
            "",
            Width::Column,
            self.report.asked.iter().map(asked),
        );
        let cited = insights.most_cited.iter();
        let cited = cited.map(|lesson| self.lesson(lesson));
        section(&mut page, "Pages cited most", "", Width::Column, cited);
        let not_covered = insights.not_covered.iter().map(open);
        let hint = "Refused, with the closest sections.";
        section(&mut page, "Not covered", hint, Width::Column, not_covered);
        let uncertain = insights.uncertain.iter().map(open);
        let hint = "Answered with a warning that the answer may not be there.";
        section(&mut page, "In doubt", hint, Width::Column, uncertain);
        let unhelpful = insights.unhelpful.iter().map(open);
        let hint = "Answered, but not in a way that the reader found helpful.";
        section(&mut page, "Not helpful", hint, Width::Column, unhelpful);
        let disliked = insights.most_disliked.iter();
        let disliked = disliked.map(|lesson| self.lesson(lesson));
        section(
            &mut page,
            "Pages in answers that did not help",
            "",
            Width::Column,
            disliked,
        );
        page.push_str("</div>\n</main>\n");
        page.push_str("</body>\n</html>\n");
        page
    }

    fn head(&self) -> String {
        let title = escaped(&self.report.title);
        let days = self.report.days;
        let (icon, back, periods) = if self.is_served {
            (ICON, BACK, periods(days))
        } else {
            ("", "", String::new())
        };
        format!(
            "<!doctype html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<title>Questions about {title}</title>\n{icon}<style>\n{}{}</style>\n</head>\n\
             <body>\n<header><div>{back}<h1>Questions about {title}</h1>\n<p>The last {days} days. Days are UTC.</p></div>\n{periods}</header>\n<main>\n",
            self.look.attributes(),
            self.look.style_sheet(),
            include_str!("style.css"),
        )
    }

    fn figures(&self) -> String {
        let insights = &self.report.insights;
        let days = &insights.days;
        let questions = sum(days, |day| day.questions);
        let mut figures = vec![
            figure(
                "Questions",
                &questions.to_string(),
                &format!("on {} of {} days", days.len(), self.report.days),
            ),
            share("Answered", sum(days, |day| parts(day)[0].1), questions),
            share("In doubt", sum(days, |day| day.uncertain), questions),
            share("Not covered", sum(days, |day| day.not_covered), questions),
            share(
                "Rated helpful",
                insights.helpful,
                insights.helpful + insights.not_helpful,
            ),
            share("From the cache", sum(days, |day| day.cached), questions),
        ];
        let cost = dollars(sum(days, |day| day.cost_micro_usd));
        let saved = dollars(sum(days, |day| day.saved_micro_usd));
        // Quotes cost nothing.
        if cost + saved > 0.0 {
            let saved = format!("${saved:.2} saved by the cache");
            figures.push(figure("Models", &format!("${cost:.2}"), &saved));
        }
        format!("<dl class=\"figures\">\n{}</dl>\n", figures.concat())
    }

    /// Returns the chart, and what its colours mean.
    fn by_day(&self) -> String {
        let days = &self.report.insights.days;
        if days.is_empty() {
            return "<section><h2>By day</h2><p class=\"hint\">No questions in this period.</p></section>\n".to_owned();
        }
        format!(
            "<section><h2>By day</h2>\n<ul class=\"key\"><li class=\"answered\">Answered <strong>{}</strong></li>\
             <li class=\"uncertain\">In doubt <strong>{}</strong></li><li class=\"not_covered\">Not covered <strong>{}</strong></li></ul>\n{}</section>\n",
            sum(days, |day| parts(day)[0].1),
            sum(days, |day| day.uncertain),
            sum(days, |day| day.not_covered),
            chart(days, self.report.days)
        )
    }

    fn subject(&self, subject: &Subject) -> String {
        let mut questions = subject.questions.iter();
        let mut row = counted(
            &escaped(questions.next().map_or("", String::as_str)),
            subject.count,
        );
        for question in questions {
            let _ = write!(
                row,
                "<p class=\"also\" dir=\"auto\">{}</p>",
                escaped(question)
            );
        }
        if let Some(section) = &subject.nearest {
            let link = self.link(&section.name, &section.url);
            let _ = write!(row, "<p class=\"more\">Nearest section: {link}</p>");
        }
        if subject.task == Task::Answered {
            row.push_str("<p class=\"more\">The book answers this by now.</p>");
        }
        let commands: Vec<String> = subject.commands.concat();
        if !commands.is_empty() {
            let _ = write!(
                row,
                "<details><summary>Lead it to a section</summary><pre>{}</pre></details>",
                escaped(&commands.join("\n"))
            );
        }
        row
    }

    fn lesson(&self, lesson: &LessonInsight) -> String {
        counted(&self.link(&lesson.title, &lesson.url), lesson.count)
    }

    fn link(&self, title: &str, url: &str) -> String {
        let title = escaped(title);
        let origin = self.origin.or(self.is_served.then_some(""));
        match origin {
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

fn sum(days: &[DayInsight], of: impl Fn(&DayInsight) -> u64) -> u64 {
    days.iter().map(of).sum()
}

fn figure(name: &str, value: &str, detail: &str) -> String {
    format!("<div><dt>{name}</dt><dd>{value}</dd><dd>{detail}</dd></div>\n")
}

/// Returns the share of a part in percent; a dash if there is nothing to share.
fn share(name: &str, part: u64, whole: u64) -> String {
    let value = match whole {
        0 => "–".to_owned(),
        whole => format!("{:.0} %", percent(part, whole)),
    };
    figure(name, &value, &format!("{part} of {whole}"))
}

/// Returns the links to other periods.
fn periods(days: u64) -> String {
    let links = PERIODS.map(|period| {
        let current = if period == days {
            " aria-current=\"page\""
        } else {
            ""
        };
        format!("<a href=\"insights?days={period}\"{current}>{period} days</a>")
    });
    format!("<nav aria-label=\"Period\">{}</nav>\n", links.concat())
}

/// The width of a list on the page.
enum Width {
    Full,
    Column,
}

/// Adds a list, of which the first rows are seen at once; nothing without rows.
fn section(
    page: &mut String,
    heading: &str,
    hint: &str,
    width: Width,
    rows: impl Iterator<Item = String>,
) {
    let rows: Vec<String> = rows.map(|row| format!("<li>{row}</li>\n")).collect();
    if rows.is_empty() {
        return;
    }
    let class = match width {
        Width::Full => " class=\"wide\"",
        Width::Column => "",
    };
    let _ = writeln!(page, "<section{class}><h2>{heading}</h2>");
    if !hint.is_empty() {
        let _ = writeln!(page, "<p class=\"hint\">{hint}</p>");
    }
    let (shown, rest) = rows.split_at(rows.len().min(SHOWN_ROWS));
    let _ = write!(page, "<ol>\n{}</ol>\n", shown.concat());
    if !rest.is_empty() {
        let _ = write!(
            page,
            "<details><summary>{} more</summary>\n<ol>\n{}</ol></details>\n",
            rest.len(),
            rest.concat()
        );
    }
    page.push_str("</section>\n");
}

/// Returns a row's text in HTML with its count.
fn counted(html: &str, count: u64) -> String {
    format!("<span dir=\"auto\">{html}</span><span class=\"count\">{count}</span>")
}

fn asked(asked: &AskedQuestion) -> String {
    counted(&escaped(&asked.question), asked.count)
}

/// Returns the text of a question, or the beginning of its hash if the text is not stored.
fn open(open: &OpenQuestion) -> String {
    let text = match &open.question {
        Some(text) => escaped(text),
        None => {
            let hash: String = open.question_hash.chars().take(HASH_DIGITS).collect();
            format!("<code>{hash}</code>")
        }
    };
    counted(&text, open.count)
}

fn comment(comment: &CommentInsight) -> String {
    let rating = if comment.helpful {
        "helpful"
    } else {
        "not helpful"
    };
    let question = question_text(comment.question.as_deref());
    format!(
        "<blockquote dir=\"auto\">{}</blockquote><p class=\"more\" dir=\"auto\">{question} · {rating} · {}</p>",
        escaped(&comment.comment),
        escaped(&comment.day)
    )
}

/// Returns what an agent reported. The page is shown as text, because the agent may have made it up.
fn report(report: &ReportInsight) -> String {
    let question = question_text(report.question.as_deref());
    let page = report.page.as_deref().map(escaped);
    let page = page.map(|page| format!(" · <code>{page}</code>"));
    format!(
        "<blockquote dir=\"auto\">{}</blockquote><p class=\"more\" dir=\"auto\">{question}{} · reported by an agent · {}</p>",
        escaped(&report.problem),
        page.unwrap_or_default(),
        escaped(&report.day)
    )
}

fn question_text(question: Option<&str>) -> String {
    let question = question.map(escaped);
    question.unwrap_or_else(|| "A question whose text is not stored".to_owned())
}

#[cfg(test)]
mod tests {
    use bookrag::catalog::Insights;

    use super::*;

    const ATTACK: &str = "</table><script src=\"https://evil.example/x.js\"></script>";

    fn day(day: &str, questions: u64, not_covered: u64) -> DayInsight {
        DayInsight {
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
        }
    }

    fn report() -> Report {
        let insights = Insights {
            days: vec![day("2026-11-01", 4, 2), day("2026-11-02", 8, 0)],
            not_covered: vec![OpenQuestion {
                question_hash: "0".repeat(64),
                question: Some(ATTACK.to_owned()),
                count: 2,
            }],
            most_cited: vec![LessonInsight {
                title: ATTACK.to_owned(),
                url: "/docs/\"a".to_owned(),
                count: 3,
            }],
            helpful: 3,
            not_helpful: 1,
            comments: vec![CommentInsight {
                day: "2026-11-02".to_owned(),
                question: Some(ATTACK.to_owned()),
                comment: ATTACK.to_owned(),
                helpful: false,
            }],
            reports: vec![ReportInsight {
                day: "2026-11-02".to_owned(),
                question: None,
                problem: ATTACK.to_owned(),
                page: Some(ATTACK.to_owned()),
            }],
            ..Insights::default()
        };
        let asked = vec![AskedQuestion {
            question: ATTACK.to_owned(),
            count: 2,
        }];
        Report {
            title: "Garden & more".to_owned(),
            days: 30,
            insights,
            asked,
            gaps: Vec::new(),
            helpful: Vec::new(),
        }
    }

    #[test]
    fn what_readers_wrote_is_text() {
        let (report, look) = (report(), Look::neutral());
        let page = Page {
            report: &report,
            subjects: &[],
            origin: Some("https://g.example"),
            look: &look,
            is_served: false,
        };
        let written = page.written();
        assert!(!written.contains("<script"), "{written}");
        assert!(written.contains("<h1>Questions about Garden &amp; more</h1>"));
        assert!(written.contains("href=\"https://g.example/docs/&quot;a\""));
        assert!(written.contains("<dt>Questions</dt><dd>12</dd>"));
        assert!(written.contains("<dt>Not covered</dt><dd>17 %</dd><dd>2 of 12</dd>"));
        assert!(written.contains("<dt>Rated helpful</dt><dd>75 %</dd><dd>3 of 4</dd>"));
        assert!(written.contains("<dt>Models</dt><dd>$3.00</dd><dd>$0.00 saved by the cache</dd>"));
        assert!(written.contains("reported by an agent · 2026-11-02"));
        assert!(!written.contains("<nav"), "a file has no other pages");
    }

    #[test]
    fn the_page_of_serve_offers_other_periods() {
        let (report, look) = (report(), Look::neutral());
        let page = Page {
            report: &report,
            subjects: &[],
            origin: None,
            look: &look,
            is_served: true,
        };
        let written = page.written();
        assert!(written.contains("<a href=\"insights?days=7\">7 days</a>"));
        assert!(written.contains("<a href=\"insights?days=30\" aria-current=\"page\">30 days</a>"));
        assert!(written.contains("<a href=\"/docs/&quot;a\">"));
    }
}
