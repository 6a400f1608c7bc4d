//! Questions that the book does not cover, grouped by subject, with advice on each.

use std::collections::BTreeSet;

use bookrag::answer::{Answerer, Question};
use bookrag::catalog::{Insights, OpenQuestion};
use bookrag::context::Context;
use bookrag::error::Error;
use bookrag::generate::Generator;
use bookrag::invisible::visible;
use bookrag::retrieve::ScoredChunk;
use bookrag::words::{Language, Words};
use serde::Serialize;
use serde_json::json;

/// Two questions have the same subject if they share at least this fraction of their words.
const SAME_SUBJECT: f64 = 0.5;
/// Digits of a question's hash in the ids of the lines for `bookrag eval`.
const ID_DIGITS: usize = 8;

/// The number of sections that are offered for a question.
const NEAREST: usize = 3;

const TEACH: &str = "If a section answers a question in other words, run one of its commands: the question becomes a line in a file of the site, and leads there from then on.";
const ADVICE: &str = "Paste a question's line into the questions of `bookrag eval` when its page is to answer it. If the book is not to \
    answer it, write \"answerable\": false and leave out the page.";
const HOW_TO_KEEP: &str = "The text of questions is not stored, so some are listed as hashes. To read them here, set \
    BOOKRAG_STORE_QUESTIONS=true where readers ask, for example `BOOKRAG_STORE_QUESTIONS=true bookrag serve`. Tell your readers: the \
    text is kept for BOOKRAG_RETENTION_DAYS (90 unless set)";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Subject {
    /// How often its questions were asked in total.
    pub(super) count: u64,
    /// The questions, most frequent first.
    pub(super) questions: Vec<String>,
    /// The page closest to the first question, if any.
    pub(super) nearest: Option<Page>,
    /// For each question, commands that add it to one of the sections nearest to it.
    pub(super) commands: Vec<Vec<String>>,
    /// A line for the questions file of `bookrag eval`.
    line: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) url: String,
    source: String,
}

/// Groups the open questions whose text is stored, and finds the page nearest to each subject.
pub(super) async fn subjects(
    insights: &Insights,
    context: &Context,
    site: &str,
) -> Result<Vec<Subject>, Error> {
    let index = context.live_index().await?;
    let words = Words::new(Language::of_locale(&index.site.default_locale));
    let answerer = Answerer {
        generator: Generator::Extractive,
        ..context.answerer(&index)?
    };
    let mut subjects = Vec::new();
    for questions in grouped(open(insights), &words) {
        let Some((first, text)) = questions.first() else {
            continue;
        };
        let mut nearest = None;
        let mut commands = Vec::new();
        for (position, (_, question)) in questions.iter().enumerate() {
            let found = found(&answerer, question).await?;
            commands.push(
                found
                    .iter()
                    .map(|found| command(site, found, question))
                    .collect(),
            );
            if position == 0 {
                nearest = found.first().map(Page::from);
            }
        }
        let hash = first.question_hash.chars().take(ID_DIGITS);
        let id = format!("asked-{}", hash.collect::<String>());
        subjects.push(Subject {
            count: questions.iter().map(|(open, _)| open.count).sum(),
            line: line(&id, text, nearest.as_ref()),
            nearest,
            commands,
            questions: questions
                .iter()
                .map(|(_, text)| (*text).to_owned())
                .collect(),
        });
    }
    Ok(subjects)
}

/// Returns the questions that were refused, answered in doubt, or not answered in a helpful way.
fn all(insights: &Insights) -> impl Iterator<Item = &OpenQuestion> {
    let open = insights.not_covered.iter().chain(&insights.uncertain);
    open.chain(&insights.unhelpful)
}

fn open(insights: &Insights) -> impl Iterator<Item = (&OpenQuestion, &str)> {
    all(insights).filter_map(|open| Some((open, open.question.as_deref()?)))
}

pub(super) fn has_texts(insights: &Insights) -> bool {
    open(insights).next().is_some()
}

pub(super) fn lacks_texts(insights: &Insights) -> bool {
    all(insights).any(|open| open.question.is_none())
}

/// Groups questions that share enough words with the most frequent question of a group.
fn grouped<'q>(
    questions: impl Iterator<Item = (&'q OpenQuestion, &'q str)>,
    words: &Words,
) -> Vec<Vec<(&'q OpenQuestion, &'q str)>> {
    let mut questions: Vec<_> = questions.collect();
    questions.sort_by_key(|(open, _)| std::cmp::Reverse(open.count));
    let mut groups: Vec<(BTreeSet<String>, Vec<_>)> = Vec::new();
    for question in questions {
        let terms: BTreeSet<String> = words
            .of_question(question.1)
            .map(|(_, term)| term)
            .collect();
        let mut known = groups.iter_mut();
        match known.find(|(subject, _)| is_same_subject(subject, &terms)) {
            Some((_, group)) => group.push(question),
            None => groups.push((terms, vec![question])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn is_same_subject(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let shared = one.intersection(other).count();
    let all = one.union(other).count();
    #[expect(clippy::cast_precision_loss, reason = "a question has few words")]
    let share = shared as f64 / all.max(1) as f64;
    share >= SAME_SUBJECT
}

/// Returns the sections nearest to a question, best first.
async fn found(answerer: &Answerer, question: &str) -> Result<Vec<ScoredChunk>, Error> {
    let prepared = answerer.prepare(Question::new(question), None).await;
    let mut candidates = prepared.map_err(Error::from)?.retrieved.candidates;
    candidates.truncate(NEAREST);
    Ok(candidates)
}

impl From<&ScoredChunk> for Page {
    fn from(found: &ScoredChunk) -> Self {
        Self {
            title: found.chunk.title.clone(),
            url: found.chunk.url_in(None).to_owned(),
            source: found.chunk.source.clone(),
        }
    }
}

/// Returns the command that adds a question to a section.
fn command(site: &str, section: &ScoredChunk, question: &str) -> String {
    let anchor = section.chunk.section_id.as_deref().unwrap_or_default();
    let question: Vec<&str> = question.split_whitespace().collect();
    format!(
        "bookrag questions add {} {} {}",
        quoted(site),
        quoted(&format!("{}#{anchor}", section.chunk.source)),
        quoted(&question.join(" "))
    )
}

/// Quotes an argument for a shell. A reader wrote the question, and an owner pastes the command: nothing in it may be run.
fn quoted(argument: &str) -> String {
    format!("'{}'", visible(argument).replace('\'', "'\\''"))
}

fn line(id: &str, question: &str, page: Option<&Page>) -> String {
    let mut line = json!({"id": id, "query": question, "answerable": page.is_some()});
    if let Some(page) = page {
        line["source"] = page.source.clone().into();
        line["url"] = page.url.clone().into();
    }
    line.to_string()
}

/// Formats the subjects, and the questions whose text is not stored.
pub(super) fn lines(subjects: &[Subject], insights: &Insights) -> Vec<String> {
    let mut lines = Vec::new();
    if !subjects.is_empty() {
        lines.push("\nto write about, by subject:".to_owned());
    }
    for subject in subjects {
        let (first, others) = subject
            .questions
            .split_first()
            .unwrap_or((&subject.line, &[]));
        lines.push(format!("{:>6}  {first}", subject.count));
        lines.extend(others.iter().map(|other| format!("        {other}")));
        if let Some(page) = &subject.nearest {
            lines.push(format!(
                "        nearest page: {}  {}",
                page.title, page.url
            ));
        }
        let commands = subject.commands.iter().flatten();
        lines.extend(commands.map(|command| format!("        {command}")));
        lines.push(format!("        {}", subject.line));
    }
    if !subjects.is_empty() {
        lines.push(format!("\n{TEACH}"));
        lines.push(ADVICE.to_owned());
    }
    if lacks_texts(insights) {
        lines.push(format!("\n{HOW_TO_KEEP}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(question: Option<&str>, count: u64) -> OpenQuestion {
        OpenQuestion {
            question_hash: format!("{count:064x}"),
            question: question.map(str::to_owned),
            count,
        }
    }

    #[test]
    fn questions_of_one_subject_stand_together_the_most_asked_first() {
        let insights = Insights {
            not_covered: vec![
                asked(Some("Which lawn blades can I order?"), 1),
                asked(Some("what does the mower cost"), 4),
                asked(None, 9),
            ],
            uncertain: vec![
                asked(Some("How much does the mower cost?"), 2),
                asked(Some("Tell me which blades I can order for the lawn"), 3),
            ],
            ..Insights::default()
        };
        let words = Words::new(Language::ENGLISH);
        let groups = grouped(open(&insights), &words);
        let texts: Vec<Vec<&str>> = groups
            .iter()
            .map(|group| group.iter().map(|(_, text)| *text).collect())
            .collect();
        assert_eq!(
            texts,
            [
                ["what does the mower cost", "How much does the mower cost?"],
                [
                    "Tell me which blades I can order for the lawn",
                    "Which lawn blades can I order?"
                ],
            ]
        );
        assert!(has_texts(&insights) && lacks_texts(&insights));
    }

    #[test]
    fn a_line_is_a_question_of_an_evaluation() {
        use crate::evaluation::Question;

        let page = Page {
            title: "Mower".to_owned(),
            url: "/docs/mower".to_owned(),
            source: "docs/mower.md".to_owned(),
        };
        let text = "What does the \"mower\" cost?";
        for (page, answerable) in [(Some(&page), true), (None, false)] {
            let parsed = Question::parse_all(&line("asked-1", text, page)).unwrap();
            assert_eq!(
                (&*parsed[0].query, parsed[0].answerable),
                (text, answerable)
            );
        }
    }

    #[test]
    fn a_readers_question_cannot_leave_its_quotes() {
        assert_eq!(
            quoted("it's $(rm -rf ~) `x`\u{1b}"),
            "'it'\\''s $(rm -rf ~) `x`'"
        );
    }

    #[test]
    fn it_says_how_to_keep_the_text_of_questions_if_some_is_missing() {
        let hashes = Insights {
            not_covered: vec![asked(None, 1)],
            ..Insights::default()
        };
        let said = lines(&[], &hashes).join("\n");
        assert!(
            said.contains("BOOKRAG_STORE_QUESTIONS=true bookrag serve"),
            "{said}"
        );
        assert!(lines(&[], &Insights::default()).is_empty());
    }
}
