//! Prints a comparison as text, as Markdown for a pull request, or as JSON.

use bookrag::answer::Outcome;
use serde::Serialize;

use super::super::markdown::{code, inline};
use super::anchors::Vanished;
use super::answer::{ComparedAnswer, Difference, Section, excerpts};
use super::questions::ComparedQuestion;

/// The first line of the Markdown. It identifies the comment that a later run replaces.
const MARKER: &str = "<!-- bookrag diff -->";
/// The longest Markdown, in characters. GitHub allows 65,536 per comment.
const MAX_CHARACTERS: usize = 60_000;
const CUT: &str = "\n\nThe rest is left out here; `bookrag diff` prints it.";
/// Digits shown of a commit's hash.
const HASH_DIGITS: usize = 10;
/// The most pages or questions named for each way in which a vanished address is used.
const MAX_USES: usize = 3;

/// What changed between two revisions of a book.
#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    base: Revision,
    head: Revision,
    questions: usize,
    counts: Counts,
    /// Questions whose answers changed, lost answers first.
    changes: Vec<Changed>,
    /// Addresses that no longer exist but are still used.
    vanished: Vec<Vanished>,
    /// Pages that became unreadable. Readers keep their former text.
    unread: Vec<Warning>,
    /// Pages that cannot be read in the base but can in the head, so what changed in them is unknown.
    unread_before: Vec<Warning>,
}

/// Pages that can be read in one of the two states only.
#[derive(Debug)]
pub(super) struct UnreadPages {
    pub(super) before: Vec<Warning>,
    pub(super) after: Vec<Warning>,
}

#[derive(Debug, Serialize)]
pub(super) struct Revision {
    /// The name as typed.
    pub(super) name: String,
    /// The commit's hash; `None` for the working tree.
    pub(super) commit: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Warning {
    pub(super) source: String,
    pub(super) reason: String,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    no_longer_answered: usize,
    other_section: usize,
    other_sentences: usize,
    newly_answered: usize,
    unchanged: usize,
}

#[derive(Debug, Serialize)]
struct Changed {
    question: String,
    change: Difference,
    before: ComparedAnswer,
    after: ComparedAnswer,
}

impl Comparison {
    pub(super) fn new<'a>(
        base: Revision,
        head: Revision,
        answers: impl Iterator<
            Item = (
                &'a ComparedQuestion,
                (&'a ComparedAnswer, &'a ComparedAnswer),
            ),
        >,
        vanished: Vec<Vanished>,
        unread: UnreadPages,
    ) -> Self {
        let mut counts = Counts::default();
        let mut changes = Vec::new();
        let mut questions = 0;
        for (asked, (before, after)) in answers {
            questions += 1;
            let change = Difference::between(before, after);
            *counts.of(change) += 1;
            if change != Difference::Unchanged {
                changes.push(Changed {
                    question: asked.query.clone(),
                    change,
                    before: before.clone(),
                    after: after.clone(),
                });
            }
        }
        changes.sort_by_key(|changed| changed.change);
        Self {
            base,
            head,
            questions,
            counts,
            changes,
            vanished,
            unread: unread.after,
            unread_before: unread.before,
        }
    }

    fn unread_pages(&self) -> [(&'static str, &[Warning]); 2] {
        [
            (
                "Pages that cannot be read any more; readers keep their former text",
                &self.unread,
            ),
            (
                "Pages of the base that cannot be read; what changed in them is not known",
                &self.unread_before,
            ),
        ]
    }

    /// Returns how many answers are lost.
    pub(super) fn lost(&self) -> usize {
        self.counts.no_longer_answered
    }

    fn of(&self, change: Difference) -> Vec<&Changed> {
        let changes = self.changes.iter();
        changes.filter(|changed| changed.change == change).collect()
    }

    /// Formats the report for a terminal.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![format!("{}: {}", self.states(), self.summary())];
        for (change, heading) in HEADINGS {
            let changes = self.of(change);
            if !changes.is_empty() {
                lines.push(format!("\n{heading}:"));
            }
            for changed in changes {
                lines.push(format!("  {}", changed.question));
                lines.extend(
                    changed
                        .details()
                        .into_iter()
                        .map(|line| format!("    {line}")),
                );
            }
        }
        if !self.vanished.is_empty() {
            lines.push("\nAddresses that are gone:".to_owned());
        }
        for gone in &self.vanished {
            lines.push(format!("  {}", gone.url));
            lines.extend(gone.uses().into_iter().map(|line| format!("    {line}")));
        }
        for (heading, pages) in self.unread_pages() {
            if !pages.is_empty() {
                lines.push(format!("\n{heading}:"));
            }
            for Warning { source, reason } in pages {
                lines.push(format!("  {source}: {reason}"));
            }
        }
        lines.join("\n") + "\n"
    }

    /// Formats the report for a comment on a pull request. Text of the book and of questions is escaped.
    pub(super) fn markdown(&self) -> String {
        let states = code(&self.states());
        let mut lines = vec![
            MARKER.to_owned(),
            "### What readers would be told otherwise".to_owned(),
            format!("\n{} ({states})", self.summary()),
        ];
        for (change, heading) in HEADINGS {
            let changes = self.of(change);
            let listed = changes.iter().map(|changed| {
                let details = changed.details();
                let details = details.iter().map(|line| format!("  - {}", inline(line)));
                let details = details.collect::<Vec<_>>().join("\n");
                format!("- **{}**\n{details}", inline(&changed.question))
            });
            lines.extend(list(heading, listed, changes.len()));
        }
        let gone = self.vanished.iter().map(|gone| {
            let uses = gone.uses();
            let uses = uses.iter().map(|line| inline(line)).collect::<Vec<_>>();
            format!("- {}: {}", code(&gone.url), uses.join("; "))
        });
        lines.extend(list("Addresses that are gone", gone, self.vanished.len()));
        for (heading, pages) in self.unread_pages() {
            let listed = pages.iter().map(|Warning { source, reason }| {
                format!("- {}: {}", code(source), inline(reason))
            });
            lines.extend(list(heading, listed, pages.len()));
        }
        shortened(&lines.join("\n")) + "\n"
    }

    fn states(&self) -> String {
        format!("{} → {}", self.base.shown(), self.head.shown())
    }

    fn summary(&self) -> String {
        let Counts {
            no_longer_answered,
            other_section,
            other_sentences,
            newly_answered,
            unchanged,
        } = &self.counts;
        let questions = match self.questions {
            1 => "1 question".to_owned(),
            count => format!("{count} questions"),
        };
        format!(
            "of {questions}, {unchanged} unchanged, {no_longer_answered} no longer answered, {other_section} from another section, \
             {other_sentences} in other words, {newly_answered} newly answered"
        )
    }
}

/// Kinds of changes in the order of the report, with their headings.
const HEADINGS: [(Difference, &str); 4] = [
    (Difference::NoLongerAnswered, "No longer answered"),
    (Difference::OtherSection, "Another section"),
    (Difference::OtherSentences, "Other words"),
    (Difference::NewlyAnswered, "Newly answered"),
];

impl Counts {
    fn of(&mut self, change: Difference) -> &mut usize {
        match change {
            Difference::NoLongerAnswered => &mut self.no_longer_answered,
            Difference::OtherSection => &mut self.other_section,
            Difference::OtherSentences => &mut self.other_sentences,
            Difference::NewlyAnswered => &mut self.newly_answered,
            Difference::Unchanged => &mut self.unchanged,
        }
    }
}

impl Revision {
    fn shown(&self) -> String {
        match &self.commit {
            Some(commit) => {
                let digits = &commit[..HASH_DIGITS.min(commit.len())];
                if commit.starts_with(&self.name) {
                    digits.to_owned()
                } else {
                    format!("{} ({digits})", self.name)
                }
            }
            None => self.name.clone(),
        }
    }
}

impl Changed {
    /// Returns the text before and after, one line each.
    fn details(&self) -> Vec<String> {
        if self.change == Difference::OtherSentences {
            let [before, after] = excerpts(&self.before.text, &self.after.text);
            let mut lines: Vec<String> = self.after.sections.iter().map(place).collect();
            lines.push(format!("before: {before}"));
            lines.push(format!("after: {after}"));
            return lines;
        }
        let [before, after] = [&self.before, &self.after].map(summary);
        vec![format!("before: {before}"), format!("after: {after}")]
    }
}

impl Vanished {
    /// Returns one line for linking pages and one for citing answers.
    fn uses(&self) -> Vec<String> {
        let uses = [
            ("cited in the answer to ", &self.cited_by),
            ("linked from ", &self.linked_from),
        ];
        let uses = uses.into_iter().filter(|(_, users)| !users.is_empty());
        uses.map(|(how, users)| {
            let named = users.iter().take(MAX_USES).cloned();
            let named = named.collect::<Vec<_>>().join(", ");
            let more = users.len().saturating_sub(MAX_USES);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!("{how}{named}{more}")
        })
        .collect()
    }
}

fn place(section: &Section) -> String {
    format!("{} ({})", section.name(), section.url)
}

/// Names the sections that an answer cites, or the reason why there is no answer.
fn summary(answer: &ComparedAnswer) -> String {
    let places: Vec<String> = answer.sections.iter().map(place).collect();
    let places = places.join(", ");
    match answer.outcome {
        Outcome::Answered => places,
        Outcome::Uncertain => format!("uncertain, closest: {places}"),
        Outcome::NotCovered => "not covered".to_owned(),
        Outcome::SmallTalk => "small talk".to_owned(),
    }
}

/// Returns a heading and its items; empty if there are no items.
fn list(heading: &str, items: impl Iterator<Item = String>, count: usize) -> Vec<String> {
    if count == 0 {
        return Vec::new();
    }
    let mut lines = vec![format!("\n#### {heading} ({count})\n")];
    lines.extend(items);
    lines
}

/// Drops the last lines of a text that is too long.
fn shortened(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_CHARACTERS) else {
        return text.to_owned();
    };
    let end = text[..end].rfind('\n').unwrap_or(end);
    format!("{}{CUT}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(outcome: Outcome, url: &str, text: &str) -> ComparedAnswer {
        ComparedAnswer {
            outcome,
            suggested: Vec::new(),
            sections: vec![Section {
                url: url.to_owned(),
                title: "Wheels <b>".to_owned(),
                heading: "Torque".to_owned(),
            }],
            text: text.to_owned(),
        }
    }

    fn comparison() -> Comparison {
        let asked =
            ["How *tight*?", "Which bag, @octocat?", "How fast?"].map(|query| ComparedQuestion {
                query: query.to_owned(),
                locale: None,
            });
        let answered = answer(Outcome::Answered, "/a#torque", "Tighten to 2.2 N·m.");
        let contradicted = answer(Outcome::Answered, "/a#torque", "Tighten to 3.2 N·m.");
        let refused = ComparedAnswer::nothing();
        let answers = [
            (&answered, &contradicted),
            (&answered, &refused),
            (&answered, &answered),
        ];
        Comparison::new(
            Revision {
                name: "main".to_owned(),
                commit: Some("0123456789abcdef".to_owned()),
            },
            Revision {
                name: "the working tree".to_owned(),
                commit: None,
            },
            asked.iter().zip(answers),
            vec![Vanished {
                url: "/a#torque".to_owned(),
                linked_from: ["a", "b", "c", "d"]
                    .map(|page| format!("docs/{page}.md"))
                    .into(),
                cited_by: vec!["How tight?".to_owned()],
            }],
            UnreadPages {
                before: Vec::new(),
                after: vec![Warning {
                    source: "docs/x.md".to_owned(),
                    reason: "line 3: no colon".to_owned(),
                }],
            },
        )
    }

    #[test]
    fn people_read_the_lost_answers_first() {
        let expected = "\
main (0123456789) → the working tree: of 3 questions, 1 unchanged, 1 no longer answered, 0 from another section, 1 in other words, 0 newly answered

No longer answered:
  Which bag, @octocat?
    before: Wheels <b> – Torque (/a#torque)
    after: not covered

Other words:
  How *tight*?
    Wheels <b> – Torque (/a#torque)
    before: Tighten to 2.2 N·m.
    after: Tighten to 3.2 N·m.

Addresses that are gone:
  /a#torque
    cited in the answer to How tight?
    linked from docs/a.md, docs/b.md, docs/c.md and 1 more

Pages that cannot be read any more; readers keep their former text:
  docs/x.md: line 3: no colon
";
        assert_eq!(comparison().text(), expected);
        assert_eq!(comparison().lost(), 1);
    }

    #[test]
    fn a_comment_is_never_longer_than_github_takes() {
        let text = "- a line of the book\n".repeat(9_000);
        let short = shortened(&text);
        assert!(
            short.chars().count() < 65_536 && short.ends_with(CUT),
            "{short}"
        );
        assert_eq!(shortened("- a line"), "- a line");
    }

    #[test]
    fn in_a_comment_nothing_of_the_book_is_markup_and_nobody_is_notified() {
        let markdown = comparison().markdown();
        assert!(markdown.starts_with(MARKER), "{markdown}");
        let html = markdown.lines().skip(1).collect::<Vec<_>>().join("\n");
        let mut rendered = String::new();
        pulldown_cmark::html::push_html(&mut rendered, pulldown_cmark::Parser::new(&html));
        assert!(rendered.contains("How *tight*?"), "{rendered}");
        assert!(rendered.contains("Wheels &lt;b&gt; – Torque"), "{rendered}");
        assert!(rendered.contains("<code>@octocat?</code>"), "{rendered}");
        assert!(
            rendered.contains("<h4>No longer answered (1)</h4>"),
            "{rendered}"
        );
        assert!(rendered.contains("<code>/a#torque</code>"), "{rendered}");
    }
}
