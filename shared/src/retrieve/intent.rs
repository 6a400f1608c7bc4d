//! Detects the kind of section that a question asks for, and the modules, chapters and lessons that it names by number.

use std::collections::HashSet;

use crate::index::{ChunkPayload, Filters, TitleOrNumber};

/// Kinds of sections that repeat a lesson's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Objectives,
    Prerequisites,
    Quiz,
    Takeaways,
    NextSteps,
}

/// For each kind, the words of questions and of headings, in lower case.
const KINDS: [(Kind, &[&str], &[&str]); 5] = [
    (
        Kind::Objectives,
        &[
            "learning objective",
            "learning outcome",
            "objectives of",
            "goals of",
            "what will i learn",
            "what do i learn",
            "what you will learn",
            "what does this chapter teach",
            "what does this lesson teach",
        ],
        &[
            "objective",
            "learning outcome",
            "what you will learn",
            "what you'll learn",
            "learning goals",
        ],
    ),
    (
        Kind::Prerequisites,
        &[
            "prerequisite",
            "what do i need before",
            "need to know before",
            "should i know before",
            "required before",
        ],
        &[
            "prerequisite",
            "before you begin",
            "before you start",
            "requirements",
        ],
    ),
    (
        Kind::Quiz,
        &[
            "quiz",
            "exercise",
            "homework",
            "discussion question",
            "test my understanding",
            "test my knowledge",
            "review questions",
            "self-assessment",
        ],
        &[
            "quiz",
            "exercise",
            "homework",
            "discussion questions",
            "check your understanding",
            "knowledge check",
            "review questions",
            "self-assessment",
        ],
    ),
    (
        Kind::Takeaways,
        &[
            "takeaway",
            "summary of",
            "summarize",
            "summarise",
            "recap of",
            "main points of",
        ],
        &[
            "takeaway",
            "summary",
            "recap",
            "what you've learned",
            "what you learned",
            "conclusion",
        ],
    ),
    (
        Kind::NextSteps,
        &[
            "what comes after",
            "next steps",
            "what should i read next",
            "what's next after",
            "what to do after",
        ],
        &["next steps", "what's next", "where to go next"],
    ),
];

/// The most places searched for one question. Other named places only get the bonus.
const MAX_PLACES: usize = 4;

/// What a question asks for besides its subject.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Intent {
    kind: Option<Kind>,
    modules: Vec<i64>,
    chapters: Vec<i64>,
    /// Module, chapter and lesson as `1.2.3`.
    lessons: Vec<String>,
    /// `lesson 1.2`, as in titles.
    lesson_titles: Vec<String>,
}

impl Intent {
    pub(super) fn of(question: &str) -> Self {
        let question = question.to_lowercase().replace('’', "'");
        let kind = KINDS
            .iter()
            .find(|(_, said, _)| said.iter().any(|words| has_words(&question, words)))
            .map(|(kind, _, _)| *kind);
        // `3.2` is a section of chapter 3.
        let whole = |number: &String| number.split('.').next()?.parse().ok();
        let numbers = |names: &[&str]| numbers_after(&question, names);
        let (lessons, titled): (Vec<String>, Vec<String>) = numbers(&["lesson", "lessons"])
            .into_iter()
            .partition(|number| number.matches('.').count() == 2);
        Self {
            kind,
            modules: numbers(&["module", "modules"])
                .iter()
                .filter_map(whole)
                .collect(),
            chapters: numbers(&["chapter", "chapters", "ch", "chap"])
                .iter()
                .filter_map(whole)
                .collect(),
            lessons,
            lesson_titles: titled
                .iter()
                .map(|number| format!("lesson {number}"))
                .collect(),
        }
    }

    /// Returns how many things the question asks for (a kind of section, a place, a lesson number in a title), and how many of them a chunk has.
    pub(super) fn fits(&self, chunk: &ChunkPayload) -> (f32, f32) {
        let asked = [
            self.kind.is_some(),
            self.names_a_place(),
            !self.lesson_titles.is_empty(),
        ];
        let fits = [
            self.asks_for(chunk),
            self.is_placed(chunk),
            self.names(chunk),
        ];
        let count = |of: [bool; 3]| of.into_iter().map(|is| f32::from(u8::from(is))).sum();
        (count(asked), count(fits))
    }

    /// True if a chunk's section is of the kind asked for.
    fn asks_for(&self, chunk: &ChunkPayload) -> bool {
        let Some((_, _, headed)) = KINDS.iter().find(|(kind, _, _)| Some(*kind) == self.kind)
        else {
            return false;
        };
        chunk
            .heading_path
            .iter()
            .map(|heading| heading.to_lowercase().replace('’', "'"))
            .any(|heading| headed.iter().any(|words| has_words(&heading, words)))
    }

    /// True if the question asks for a kind of section.
    pub(super) fn has_kind(&self) -> bool {
        self.kind.is_some()
    }

    /// True if a page is a lesson whose title has a number named in the question.
    fn names(&self, chunk: &ChunkPayload) -> bool {
        [&chunk.title, &chunk.lesson].into_iter().any(|title| {
            let title = title.to_lowercase();
            let rests = self
                .lesson_titles
                .iter()
                .map(|wanted| title.strip_prefix(wanted));
            rests
                .flatten()
                .any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
        })
    }

    fn names_a_place(&self) -> bool {
        !(self.modules.is_empty() && self.chapters.is_empty() && self.lessons.is_empty())
    }

    /// True if a chunk is in a module, chapter or lesson named in the question.
    fn is_placed(&self, chunk: &ChunkPayload) -> bool {
        let is_in = |named: &[i64], number: Option<i64>| {
            named.is_empty() || number.is_some_and(|number| named.contains(&number))
        };
        let lesson = chunk.lesson_id.as_ref();
        let in_lesson =
            self.lessons.is_empty() || lesson.is_some_and(|id| self.lessons.contains(id));
        self.names_a_place()
            && is_in(&self.modules, chunk.module_number)
            && is_in(&self.chapters, chunk.chapter_number)
            && in_lesson
    }

    /// Returns filters for each place that the question names, at most [`MAX_PLACES`]; empty if it names none or the caller filters by place.
    ///
    /// The searches with these filters add candidates to those of the whole book, so a named place hides no others.
    pub(super) fn places(&self, filters: &Filters) -> Vec<Filters> {
        let is_set =
            filters.module.is_some() || filters.chapter.is_some() || filters.lesson.is_some();
        if is_set || !self.names_a_place() {
            return Vec::new();
        }
        let places = vec![filters.clone()];
        let places = narrowed(places, &self.modules, |filters, number| {
            filters.module = Some(TitleOrNumber::Number(*number));
        });
        let places = narrowed(places, &self.chapters, |filters, number| {
            filters.chapter = Some(TitleOrNumber::Number(*number));
        });
        narrowed(places, &self.lessons, |filters, lesson| {
            filters.lesson = Some(lesson.clone());
        })
    }
}

/// True if a text has the words, the last one perhaps in the plural.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let rest = &text[at + words.len()..];
        let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
        let is_whole = ends(rest)
            || rest
                .strip_prefix("zes")
                .or(rest.strip_prefix('s'))
                .is_some_and(ends);
        is_whole && !text[..at].ends_with(char::is_alphanumeric)
    })
}

/// Combines each filter with each value; returns the filters unchanged if there are no values.
fn narrowed<T>(
    filters: Vec<Filters>,
    values: &[T],
    set: impl Fn(&mut Filters, &T),
) -> Vec<Filters> {
    if values.is_empty() {
        return filters;
    }
    let mut narrowed = Vec::new();
    // Bounded here, because the number of combinations is the product of the lists' lengths.
    for filters in filters.iter().take(MAX_PLACES) {
        for value in values.iter().take(MAX_PLACES) {
            let mut filters = filters.clone();
            set(&mut filters, value);
            narrowed.push(filters);
        }
    }
    narrowed.truncate(MAX_PLACES);
    narrowed
}

/// Returns the distinct numbers after one of the names: `chapter 3`, `lesson 1.2.3`, `modules 1, 2 and 4`, and all three of `chapters 2 to 4`.
fn numbers_after(question: &str, names: &[&str]) -> Vec<String> {
    let dashes = question.replace(['-', '–', '—'], " to ");
    let words: Vec<&str> = dashes
        .split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let mut numbers: Vec<String> = Vec::new();
    for (at, _) in words
        .iter()
        .enumerate()
        .filter(|(_, word)| names.contains(word))
    {
        let mut following = words[at + 1..].iter().copied().peekable();
        following.next_if(|word| ["no", "number"].contains(word));
        let mut is_range = false;
        while let Some(word) = following.next() {
            if is_number(&word) {
                let last = numbers.last().filter(|_| is_range).cloned();
                numbers.extend(last.map_or_else(Vec::new, |last| between(&last, word)));
                numbers.push(word.to_owned());
                is_range = false;
            } else if JOINS.contains(&word) && following.peek().is_some_and(is_number) {
                is_range = ["to", "through"].contains(&word);
            } else {
                break;
            }
        }
    }
    let mut seen = HashSet::new();
    numbers.retain(|number| seen.insert(number.clone()));
    numbers
}

/// Words between the numbers of a list or a range.
const JOINS: [&str; 6] = ["and", "or", "to", "through", "vs", "versus"];

/// Returns the integers between two others, at most [`MAX_PLACES`].
fn between(from: &str, to: &str) -> Vec<String> {
    match (from.parse::<i64>(), to.parse::<i64>()) {
        (Ok(from), Ok(to)) => (from.saturating_add(1)..to)
            .take(MAX_PLACES)
            .map(|number| number.to_string())
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
