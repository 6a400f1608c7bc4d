//! Questions that the book does not cover, grouped by what they ask for, with advice on each.

use bookrag::answer::{Answerer, Outcome, Question};
use bookrag::catalog::{GapQuestion, HelpfulAnswer, Insights};
use bookrag::context::Context;
use bookrag::error::Error;
use bookrag::generate::Generator;
use bookrag::invisible::visible;
use bookrag::retrieve::{Meaning, SAME_NEED, ScoredChunk, groups_of};
use serde::Serialize;
use serde_json::json;

use super::super::questions::place;

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

/// Questions that ask for the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Subject {
    /// How often its questions were refused, in doubt or not helpful in total.
    pub(super) count: u64,
    /// How often they were refused.
    pub(super) not_covered: u64,
    /// How often their answer was in doubt.
    pub(super) uncertain: u64,
    /// How often a reader did not find the answer helpful.
    pub(super) unhelpful: u64,
    /// The first day on which one of them was asked, in UTC.
    pub(super) first_day: String,
    /// The last of these days.
    pub(super) last_day: String,
    /// The questions: the one that is most similar to the others, then the most frequent ones.
    pub(super) questions: Vec<String>,
    /// The section closest to the first question, if any.
    pub(super) nearest: Option<Section>,
    /// The section that readers found helpful for a question that asks for the same, as `questions add` takes it.
    pub(super) helpful: Option<String>,
    /// What is left to do.
    pub(super) task: Task,
    /// For each question, commands that add it to one of the sections nearest to it.
    pub(super) commands: Vec<Vec<String>>,
    /// A line for the questions file of `bookrag eval`.
    pub(super) line: String,
}

/// What is left to do for questions that readers were not helped with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Task {
    /// A section is close enough to answer them: add the questions to it if it does.
    AddQuestions,
    /// The book does not say it.
    Write,
    /// The book answers them by now.
    Answered,
}

/// A section of the book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Section {
    /// The page's title.
    pub(super) title: String,
    /// The headings with the page's title.
    pub(super) name: String,
    /// The page's URL.
    pub(super) url: String,
    pub(super) source: String,
    /// The page and the anchor as `questions add` takes it.
    pub(super) place: String,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
}

/// A question as the book answers it now.
struct Asked {
    outcome: Outcome,
    nearest: Vec<ScoredChunk>,
}

/// Groups questions by what they ask for, the most frequent group first, and finds the section nearest to each. A helpful answer to a question of the
/// group says where its text is.
pub(super) async fn subjects(
    gaps: &[GapQuestion],
    helpful: &[HelpfulAnswer],
    context: &Context,
    site: &str,
) -> Result<Vec<Subject>, Error> {
    let index = context.live_index().await?;
    let answerer = Answerer {
        generator: Generator::Extractive,
        ..context.answerer(&index)?
    };
    let texts = gaps.iter().map(|gap| &gap.question);
    let texts = texts.chain(helpful.iter().map(|answer| &answer.question));
    let (mut asked, mut meanings) = (Vec::new(), Vec::new());
    for text in texts {
        let (question, meaning) = ask(&answerer, text).await?;
        asked.push(question);
        meanings.push(meaning);
    }
    let calibration = index.calibration.as_ref();
    let unrelated = calibration.map_or(0.0, |measured| measured.scales.off_topic.median);
    let mut subjects: Vec<Subject> = groups_of(&meanings, unrelated, SAME_NEED)
        .into_iter()
        .filter_map(|group| {
            let (open, answered): (Vec<usize>, Vec<usize>) =
                group.into_iter().partition(|place| *place < gaps.len());
            let open: Vec<(&GapQuestion, &Asked)> = open
                .into_iter()
                .map(|place| (&gaps[place], &asked[place]))
                .collect();
            let helpful = answered.first().map(|at| &helpful[at - gaps.len()]);
            subject(open, helpful, site)
        })
        .collect();
    subjects.sort_by_key(|subject| std::cmp::Reverse(subject.count));
    Ok(subjects)
}

/// Searches for a question as if a reader asked it now.
async fn ask(answerer: &Answerer, question: &str) -> Result<(Asked, Meaning), Error> {
    let prepared = answerer.prepare(Question::new(question), None).await;
    let prepared = prepared.map_err(Error::from)?;
    let meaning = Meaning::new(&prepared.retrieved);
    let mut nearest = prepared.retrieved.candidates;
    nearest.truncate(NEAREST);
    let outcome = prepared.outcome;
    Ok((Asked { outcome, nearest }, meaning))
}

/// Returns the subject of questions, the most central one first. `None` without questions.
fn subject(
    mut questions: Vec<(&GapQuestion, &Asked)>,
    helpful: Option<&HelpfulAnswer>,
    site: &str,
) -> Option<Subject> {
    let (_, others) = questions.split_first_mut()?;
    others.sort_by_key(|(gap, _)| std::cmp::Reverse(gap.count));
    let (central, found) = *questions.first()?;
    let nearest = found.nearest.first().map(Section::from);
    let unhelpful = sum(&questions, |gap| gap.unhelpful);
    let is_answered = questions
        .iter()
        .all(|(_, asked)| matches!(asked.outcome, Outcome::Answered | Outcome::SmallTalk));
    let task = if is_answered && unhelpful == 0 {
        Task::Answered
    } else if helpful.is_some() || (nearest.is_some() && found.outcome != Outcome::NotCovered) {
        Task::AddQuestions
    } else {
        Task::Write
    };
    let first_day = questions.iter().map(|(gap, _)| &gap.first_day).min()?;
    let last_day = questions.iter().map(|(gap, _)| &gap.last_day).max()?;
    Some(Subject {
        count: sum(&questions, |gap| gap.count),
        not_covered: sum(&questions, |gap| gap.not_covered),
        uncertain: sum(&questions, |gap| gap.uncertain),
        unhelpful,
        first_day: first_day.clone(),
        last_day: last_day.clone(),
        line: line(central, nearest.as_ref()),
        nearest,
        helpful: helpful.map(|it| place(&it.source, it.section_id.as_deref().unwrap_or_default())),
        task,
        commands: questions
            .iter()
            .map(|(gap, asked)| {
                asked
                    .nearest
                    .iter()
                    .map(|found| command(site, &Section::from(found).place, &gap.question))
                    .collect()
            })
            .collect(),
        questions: questions
            .iter()
            .map(|(gap, _)| gap.question.clone())
            .collect(),
    })
}

fn sum(questions: &[(&GapQuestion, &Asked)], of: fn(&GapQuestion) -> u64) -> u64 {
    questions.iter().map(|(gap, _)| of(gap)).sum()
}

pub(super) fn lacks_texts(insights: &Insights) -> bool {
    [
        &insights.not_covered,
        &insights.uncertain,
        &insights.unhelpful,
    ]
    .into_iter()
    .flatten()
    .any(|open| open.question.is_none())
}

impl From<&ScoredChunk> for Section {
    fn from(found: &ScoredChunk) -> Self {
        let chunk = &found.chunk;
        Self {
            title: chunk.title.clone(),
            name: found.name(),
            url: chunk.url_in(None).to_owned(),
            source: chunk.source.clone(),
            place: place(
                &chunk.source,
                chunk.section_id.as_deref().unwrap_or_default(),
            ),
            start_line: chunk.start_line,
            end_line: chunk.end_line,
        }
    }
}

/// Returns the command that adds a question to a section.
pub(super) fn command(site: &str, section: &str, question: &str) -> String {
    format!(
        "bookrag questions add {} {} {}",
        quoted(site),
        quoted(section),
        quoted(&one_line(question))
    )
}

/// Returns a reader's text in one line, without invisible characters.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    visible(&words.join(" "))
}

/// Quotes an argument for a shell. A reader wrote the question, and an owner pastes the command: nothing in it may be run.
fn quoted(argument: &str) -> String {
    format!("'{}'", visible(argument).replace('\'', "'\\''"))
}

fn line(gap: &GapQuestion, page: Option<&Section>) -> String {
    let hash: String = gap.question_hash.chars().take(ID_DIGITS).collect();
    let mut line =
        json!({"id": format!("asked-{hash}"), "query": gap.question, "answerable": page.is_some()});
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
        if let Some(section) = &subject.nearest {
            lines.push(format!(
                "        nearest section: {}  {}:{}-{}",
                section.name, section.source, section.start_line, section.end_line
            ));
        }
        if subject.task == Task::Answered {
            lines.push("        answered by now".to_owned());
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
    use bookrag::catalog::OpenQuestion;

    use super::*;

    fn gap(question: &str, count: u64) -> GapQuestion {
        GapQuestion {
            question_hash: format!("{count:064x}"),
            question: question.to_owned(),
            count,
            not_covered: count,
            uncertain: 0,
            unhelpful: 0,
            first_day: format!("2026-11-0{count}"),
            last_day: format!("2026-11-1{count}"),
        }
    }

    fn asked(outcome: Outcome) -> Asked {
        Asked {
            outcome,
            nearest: Vec::new(),
        }
    }

    #[test]
    fn a_subject_is_named_by_its_central_question_and_counts_all() {
        let gaps = [gap("central", 1), gap("rare", 2), gap("frequent", 3)];
        let refused = asked(Outcome::NotCovered);
        let questions = gaps.iter().map(|gap| (gap, &refused)).collect();
        let subject = subject(questions, None, "book").unwrap();
        assert_eq!(subject.questions, ["central", "frequent", "rare"]);
        assert_eq!((subject.count, subject.not_covered), (6, 6));
        assert_eq!(
            (&*subject.first_day, &*subject.last_day),
            ("2026-11-01", "2026-11-13")
        );
    }

    #[test]
    fn the_task_depends_on_what_the_book_says_now() {
        let helpful = HelpfulAnswer {
            question: "q".to_owned(),
            source: "docs/a.md".to_owned(),
            section_id: Some("b".to_owned()),
        };
        for (outcome, unhelpful, helpful, task) in [
            (Outcome::NotCovered, 0, None, Task::Write),
            (Outcome::NotCovered, 0, Some(&helpful), Task::AddQuestions),
            (Outcome::Answered, 0, Some(&helpful), Task::Answered),
            (Outcome::Answered, 1, None, Task::Write),
        ] {
            let gap = GapQuestion {
                unhelpful,
                ..gap("q", 1)
            };
            let subject = subject(vec![(&gap, &asked(outcome))], helpful, "book").unwrap();
            assert_eq!(subject.task, task, "{outcome:?} {unhelpful}");
            let place = helpful.map(|_| "docs/a.md#b");
            assert_eq!(subject.helpful.as_deref(), place);
        }
    }

    #[test]
    fn a_line_is_a_question_of_an_evaluation() {
        use crate::evaluation::Question;

        let section = Section {
            title: "Mower".to_owned(),
            name: "Mower › Price".to_owned(),
            url: "/docs/mower".to_owned(),
            source: "docs/mower.md".to_owned(),
            place: "docs/mower.md#price".to_owned(),
            start_line: 3,
            end_line: 5,
        };
        let gap = gap("What does the \"mower\" cost?", 1);
        for (section, answerable) in [(Some(&section), true), (None, false)] {
            let parsed = Question::parse_all(&line(&gap, section)).unwrap();
            assert_eq!(
                (&*parsed[0].query, parsed[0].answerable),
                (&*gap.question, answerable)
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
            not_covered: vec![OpenQuestion {
                question_hash: "0".repeat(64),
                question: None,
                count: 1,
            }],
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
