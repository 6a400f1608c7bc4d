//! Edits the fixture book and compares its answers, with the real model.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use bookrag::answer::Outcome;
use bookrag::book::BlockKind;
use bookrag::config::Environment;
use bookrag::source::FolderSource;
use tempfile::TempDir;

use super::answer::{ComparedAnswer, Difference, letters, plain};
use super::*;
use crate::pages::ReadPages;

/// Sections edited at once. Few, so that the rest of the book can still answer in their place.
const BATCH: usize = 8;

/// Questions about sections that the fixture's questions leave out.
const MORE_QUESTIONS: [&str; 7] = [
    "What does the serial number on the plate hold?",
    "How long does the battery take to charge before first use?",
    "How do I report a missing bag?",
    "How large a loop do I leave when I route the probe cable?",
    "What are the start values of the speed controller?",
    "How many counts does the encoder give for one turn of the motor?",
    "How fast does Sprig drive in the garden?",
];

/// A copy of the fixture book with its own index.
struct Laboratory {
    folder: TempDir,
    states: States,
    questions: Vec<ComparedQuestion>,
}

impl Laboratory {
    async fn new() -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book");
        copy(&fixtures.join("book"), &path);
        let site = Site::read(&path).unwrap();
        let config = Config {
            data: Some(folder.path().join("data")),
            ..Config::read(Environment::Local, &std::env::vars().collect()).unwrap()
        };
        let mut questions =
            ComparedQuestion::read(&fixtures.join("questions.jsonl"), "book").unwrap();
        questions.extend(MORE_QUESTIONS.map(|query| ComparedQuestion {
            query: query.to_owned(),
            locale: None,
        }));
        Self {
            states: States::open(&config, &site, |_| {}).await.unwrap(),
            questions,
            folder,
        }
    }

    fn site(&self) -> PathBuf {
        self.folder.path().join("book")
    }

    fn source(&self) -> Source {
        Source::Folder(FolderSource::open(&self.site()).unwrap())
    }

    async fn state(&self, questions: &[ComparedQuestion]) -> State {
        self.states.take(self.source(), questions).await.unwrap()
    }

    async fn pages(&self) -> BTreeMap<String, String> {
        let source = self.source();
        let settings = source.settings().await.unwrap();
        let read = ReadPages::read(&source, &settings).await.unwrap();
        let pages = read.pages.into_iter();
        pages.map(|page| (page.file.source, page.text)).collect()
    }

    fn write(&self, pages: &BTreeMap<String, String>) {
        for (source, text) in pages {
            fs::write(self.site().join(source), text).unwrap();
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_name() == ".bookrag" {
            // Running the command from the README creates stores there.
        } else if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// An author's edit of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Delete,
    Move,
    Rename,
    Contradict,
    Split,
}

/// The section that answers a question. Lines count from 0 on its page.
#[derive(Debug, Clone)]
struct Quoted {
    question: usize,
    url: String,
    source: String,
    heading: usize,
    end: usize,
    /// The first line that the answer quotes in full.
    line: usize,
}

/// Returns the sections that answers quote, each once. Sections without a heading are left out.
async fn places(laboratory: &Laboratory, answers: &[ComparedAnswer]) -> Vec<Quoted> {
    let source = laboratory.source();
    let settings = source.settings().await.unwrap();
    let read = ReadPages::read(&source, &settings).await.unwrap();
    let (mut places, mut known) = (Vec::new(), BTreeSet::new());
    for (question, answer) in answers.iter().enumerate() {
        let Some(cited) = answer.sections.first() else {
            continue;
        };
        let (url, id) = cited.url.split_once('#').unwrap_or((&cited.url, ""));
        let mut pages = read.pages.iter();
        let found = pages.find_map(|page| {
            let document = page.document.as_ref().ok()?;
            (document.url == url).then_some((document, &page.text))
        });
        let (document, text) = found.unwrap();
        let mut headings = document
            .blocks
            .iter()
            .filter_map(|block| match &block.kind {
                BlockKind::Heading { anchor, .. } => Some((anchor.as_deref(), block.start_line)),
                _ => None,
            });
        let lines: Vec<&str> = text.lines().collect();
        let start = headings.find(|(anchor, _)| *anchor == Some(id));
        let Some(heading) = start.map(|(_, line)| line as usize - 1) else {
            continue;
        };
        let end = headings
            .next()
            .map_or(lines.len(), |(_, line)| line as usize - 1);
        let is_quoted = |line: &&usize| {
            let words = letters(&plain(lines[**line]));
            words.len() > 20 && letters(&answer.text).contains(&words)
        };
        let own: Vec<usize> = (heading + 1..end).collect();
        let quoted = own.iter().find(is_quoted).copied();
        if answer.outcome == Outcome::Answered
            && known.insert(cited.url.clone())
            && let Some(quoted) = quoted
        {
            places.push(Quoted {
                question,
                url: cited.url.clone(),
                source: document.file.source.clone(),
                heading,
                end,
                line: quoted,
            });
        }
    }
    places
}

impl Edit {
    /// Edits a section. Returns the lines to be inserted elsewhere.
    fn apply(self, lines: &mut Vec<String>, place: &Quoted) -> Vec<String> {
        match self {
            Self::Delete => drop(lines.drain(place.heading..place.end)),
            Self::Move => return lines.drain(place.heading..place.end).collect(),
            Self::Rename => lines[place.heading].push_str(" Once More"),
            Self::Contradict => lines[place.line] = contradicted(&lines[place.line]),
            Self::Split => {
                let line = &lines[place.line];
                let middle = line.len() / 2;
                let at = line[..]
                    .char_indices()
                    .find(|(at, c)| *at >= middle && *c == ' ');
                let (first, second) = line.split_at(at.map_or(line.len(), |(at, _)| at));
                let split = [first, "", "### What Remains", "", second.trim_start()];
                let split = split.map(str::to_owned);
                lines.splice(place.line..=place.line, split);
            }
        }
        Vec::new()
    }
}

/// Changes the meaning of a line: another number, or a negation.
fn contradicted(line: &str) -> String {
    let digit = |(at, c): &(usize, char)| *at > 4 && c.is_ascii_digit();
    if let Some((at, digit)) = line.char_indices().find(digit) {
        let other = if digit == '7' { '4' } else { '7' };
        return format!("{}{other}{}", &line[..at], &line[at + 1..]);
    }
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    format!("{first} never {rest}")
}

#[tokio::test]
async fn each_edit_of_what_answers_quote_is_reported() {
    let laboratory = Laboratory::new().await;
    let original = laboratory.pages().await;
    let before = laboratory.state(&laboratory.questions).await;
    let places = places(&laboratory, &before.answers).await;
    // Each run indexes pages, so a third of the sections has to do.
    let places: Vec<Quoted> = places.into_iter().step_by(3).collect();
    let mut edits = 0;
    for edit in [
        Edit::Delete,
        Edit::Move,
        Edit::Rename,
        Edit::Contradict,
        Edit::Split,
    ] {
        for batch in places.chunks(BATCH) {
            let mut pages = original.clone();
            let mut batch = batch.to_vec();
            // From the bottom up, so that line numbers stay valid.
            batch.sort_by_key(|place| std::cmp::Reverse(place.heading));
            let mut moved = Vec::new();
            for place in &batch {
                let text = pages.get_mut(&place.source).unwrap();
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                moved.extend(edit.apply(&mut lines, place));
                *text = lines.join("\n") + "\n";
            }
            let elsewhere = pages.get_mut("docs/letter-to-the-reader.md").unwrap();
            *elsewhere = format!("{elsewhere}\n{}\n", moved.join("\n"));
            laboratory.write(&pages);
            let asked = batch
                .iter()
                .map(|place| laboratory.questions[place.question].clone());
            let asked: Vec<ComparedQuestion> = asked.collect();
            let after = laboratory.state(&asked).await;
            let answers: Vec<ComparedAnswer> = batch
                .iter()
                .map(|place| before.answers[place.question].clone())
                .collect();
            let gone = vanished(&asked, &answers, &before.anchors, &after.anchors);
            for ((place, before), after) in batch.iter().zip(&answers).zip(&after.answers) {
                let change = Difference::between(before, after);
                let what = format!("{edit:?} of {}\n{before:?}\n{after:?}", place.url);
                assert_ne!(change, Difference::Unchanged, "{what}");
                let is_gone = gone.iter().any(|gone| gone.url == place.url);
                let moves = matches!(edit, Edit::Delete | Edit::Move | Edit::Rename);
                assert!(
                    is_gone || !moves || is_renamed_only(edit, before, after),
                    "{what}"
                );
                edits += 1;
            }
        }
    }
    assert!(edits >= 35, "{edits} edits");
}

/// True if only the heading was renamed. A heading with an explicit id keeps its address.
fn is_renamed_only(edit: Edit, before: &ComparedAnswer, after: &ComparedAnswer) -> bool {
    edit == Edit::Rename && before.sections[0].url == after.sections[0].url
}

/// True if a line is a paragraph or begins one, outside of code, tables, lists and front matter.
fn is_prose(line: &str) -> bool {
    line.starts_with(char::is_alphabetic) && !line.contains(['<', '{', '|']) && line.contains(". ")
}

/// Changes the lines outside of front matter and fenced code.
fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    let (mut dashes, mut is_code) = (0, false);
    let mut changed = String::new();
    for line in text.lines() {
        dashes += usize::from(line == "---");
        is_code ^= line.trim_start().starts_with("```") || line.trim() == "$$";
        let is_body = dashes != 1 && line != "---" && !is_code;
        let line = if is_body {
            change(line)
        } else {
            line.to_owned()
        };
        changed += &(line + "\n");
    }
    changed
}

/// Wraps a line before words that begin with a letter.
fn wrapped(line: &str, width: usize) -> String {
    let (mut wrapped, mut column) = (String::new(), 0);
    for word in line.split(' ') {
        if column > width && word.starts_with(char::is_alphabetic) {
            wrapped.push('\n');
            column = 0;
        } else if !wrapped.is_empty() {
            wrapped.push(' ');
        }
        wrapped.push_str(word);
        column += word.len() + 1;
    }
    wrapped
}

#[tokio::test]
async fn reflowed_lines_and_other_spaces_are_never_reported() {
    let laboratory = Laboratory::new().await;
    let original = laboratory.pages().await;
    let before = laboratory.state(&laboratory.questions).await;
    let prose = |line: &str, change: &dyn Fn(&str) -> String| {
        if is_prose(line) {
            change(line)
        } else {
            line.to_owned()
        }
    };
    let edits: [&dyn Fn(&str) -> String; 6] = [
        &|text| each_line(text, |line| prose(line, &|line| wrapped(line, 40))),
        &|text| each_line(text, |line| prose(line, &|line| wrapped(line, 90))),
        &|text| {
            each_line(text, |line| {
                prose(line, &|line| line.replace(". ", ".  ") + " ")
            })
        },
        &|text| {
            each_line(text, |line| {
                if line.is_empty() { "\n\n" } else { line }.to_owned()
            })
        },
        &|text| {
            each_line(text, |line| {
                if line.starts_with('|') {
                    line.replace(" | ", "   |   ")
                } else {
                    line.to_owned()
                }
            })
        },
        &|text| text.replace('\n', "\r\n"),
    ];
    let mut count = 0;
    for (number, edit) in edits.iter().enumerate() {
        let edited = original
            .iter()
            .map(|(source, text)| (source.clone(), edit(text)));
        let edited: BTreeMap<String, String> = edited.collect();
        let differing = edited
            .iter()
            .filter(|(source, text)| original[*source] != **text);
        count += differing.count();
        laboratory.write(&edited);
        let after = laboratory.state(&laboratory.questions).await;
        let answers = before.answers.iter().zip(&after.answers);
        for ((before, after), question) in answers.zip(&laboratory.questions) {
            let change = Difference::between(before, after);
            let what = format!("edit {number}: {}\n{before:#?}\n{after:#?}", question.query);
            assert_eq!(change, Difference::Unchanged, "{what}");
        }
        let gone = vanished(
            &laboratory.questions,
            &before.answers,
            &before.anchors,
            &after.anchors,
        );
        assert_eq!(gone, [], "edit {number}");
    }
    assert!(count >= 50, "{count} edits");
}
