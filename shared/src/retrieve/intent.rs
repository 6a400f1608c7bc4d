//! What a question asks for beside its subject: a kind of section (S2 FR-018), a place in the book.

use crate::index::{ChunkPayload, Filters, TitleOrNumber};

/// Kinds of sections that a lesson repeats its words in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Objectives,
    Prerequisites,
    Quiz,
    Takeaways,
    NextSteps,
}

/// For each kind what a question says, and how the sections are headed; in lower case.
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
            "test my understanding",
            "test my knowledge",
            "review questions",
            "self-assessment",
        ],
        &[
            "quiz",
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

/// What a question asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Intent {
    kind: Option<Kind>,
    module: Option<i64>,
    chapter: Option<i64>,
    /// `1.2.3` of module, chapter and lesson.
    lesson: Option<String>,
    /// `lesson 1.2`, as titles have it.
    lesson_title: Option<String>,
}

impl Intent {
    pub(super) fn of(question: &str) -> Self {
        let question = question.to_lowercase().replace('’', "'");
        let kind = KINDS
            .iter()
            .find(|(_, said, _)| said.iter().any(|words| question.contains(words)))
            .map(|(kind, _, _)| *kind);
        let lesson = only(numbers_after(&question, "lesson"));
        let (lesson, title) = match lesson {
            Some(number) if number.matches('.').count() == 2 => (Some(number), None),
            other => (None, other),
        };
        let whole = |name| only(numbers_after(&question, name))?.parse().ok();
        Self {
            kind,
            module: whole("module"),
            chapter: whole("chapter"),
            lesson,
            lesson_title: title.map(|number| format!("lesson {number}")),
        }
    }

    /// How many things it asks for beside its subject, a kind of section and a lesson by its title's number; and how many of
    /// them a section of a chunk is.
    pub(super) fn fits(&self, payload: &ChunkPayload, leaf: usize) -> (f32, f32) {
        let asked = [self.kind.is_some(), self.lesson_title.is_some()];
        let fits = [self.asks_for(payload, leaf), self.names(payload)];
        let count = |of: [bool; 2]| of.into_iter().map(|is| f32::from(u8::from(is))).sum();
        (count(asked), count(fits))
    }

    /// Whether a section of a chunk is of the kind it asks for.
    fn asks_for(&self, payload: &ChunkPayload, leaf: usize) -> bool {
        let Some((_, _, headed)) = KINDS.iter().find(|(kind, _, _)| Some(*kind) == self.kind)
        else {
            return false;
        };
        let path = payload.leaves.get(leaf).map(|leaf| &leaf.heading_path);
        let headings = path.unwrap_or(&payload.heading_path).iter();
        headings
            .map(|heading| heading.to_lowercase().replace('’', "'"))
            .any(|heading| headed.iter().any(|words| heading.contains(words)))
    }

    /// Whether a page is the lesson it names by the number in its title.
    fn names(&self, payload: &ChunkPayload) -> bool {
        let Some(wanted) = &self.lesson_title else {
            return false;
        };
        [&payload.title, &payload.lesson].into_iter().any(|title| {
            let title = title.to_lowercase();
            let rest = title.strip_prefix(wanted.as_str());
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
        })
    }

    /// The filters narrowed to the place that the question names; `None` when it names none, or the caller has set one.
    pub(super) fn narrowed(&self, filters: &Filters) -> Option<Filters> {
        let set = filters.module.is_some() || filters.chapter.is_some() || filters.lesson.is_some();
        let named = self.module.is_some() || self.chapter.is_some() || self.lesson.is_some();
        (named && !set).then(|| Filters {
            module: self.module.map(TitleOrNumber::Number),
            chapter: self.chapter.map(TitleOrNumber::Number),
            lesson: self.lesson.clone(),
            ..filters.clone()
        })
    }
}

/// The numbers that stand after a word: `chapter 3`, `lesson 1.2.3`.
fn numbers_after(question: &str, name: &str) -> Vec<String> {
    let words: Vec<&str> = question
        .split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = words.windows(2).filter(|pair| pair[0] == name);
    pairs
        .map(|pair| pair[1])
        .filter(|number| number.chars().all(|c| c.is_ascii_digit() || c == '.'))
        .map(str::to_owned)
        .collect()
}

/// The number, if there is but one: a question that compares two chapters is about both.
fn only(mut numbers: Vec<String>) -> Option<String> {
    numbers.dedup();
    numbers.pop().filter(|_| numbers.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_narrows_unless_there_are_two_or_one_is_set() {
        let narrowed = |question: &str, filters: &Filters| Intent::of(question).narrowed(filters);
        let none = Filters::default();
        let chapter = narrowed("What are the prerequisites of Chapter 4?", &none).unwrap();
        assert_eq!(chapter.chapter, Some(TitleOrNumber::Number(4)));
        let lesson = narrowed("summarize lesson 1.2.3.", &none).unwrap();
        assert_eq!(lesson.lesson.as_deref(), Some("1.2.3"));
        assert_eq!(narrowed("compare chapter 1 and chapter 2", &none), None);
        assert_eq!(narrowed("how many chapters are there", &none), None);
        assert_eq!(narrowed("in chapter 3", &chapter), None);
    }

    #[test]
    fn a_lesson_is_named_by_the_number_in_its_title() {
        assert_eq!(
            Intent::of("what is in lesson 3.2?").lesson_title.as_deref(),
            Some("lesson 3.2")
        );
        assert_eq!(Intent::of("lesson 1.2.3").lesson_title, None);
    }

    #[test]
    fn kinds_are_told_from_their_words() {
        let kind = |question: &str| Intent::of(question).kind;
        assert_eq!(
            kind("What will I learn in module 2?"),
            Some(Kind::Objectives)
        );
        assert_eq!(kind("give me a quiz on ROS topics"), Some(Kind::Quiz));
        assert_eq!(kind("what comes after URDF?"), Some(Kind::NextSteps));
        assert_eq!(kind("how does reinforcement learning work"), None);
    }
}
