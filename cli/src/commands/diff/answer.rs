//! What is compared of an answer, and how two of them differ. Pure.

use bookrag::answer::{Answer, Outcome};
use serde::Serialize;

use crate::evaluation::visible;

/// Words shown on both sides of a difference.
const CONTEXT_WORDS: usize = 5;
/// The most words shown of a difference.
const MAX_WORDS: usize = 40;

/// The compared parts of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ComparedAnswer {
    pub(super) outcome: Outcome,
    /// Sections that the answer quotes, or names if the book may not answer; each once.
    pub(super) sections: Vec<Section>,
    /// The URLs of the sections that are suggested with it.
    #[serde(skip)]
    pub(super) suggested: Vec<String>,
    /// The answer's words, without markup.
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub(super) struct Section {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) heading: String,
}

impl Section {
    pub(super) fn name(&self) -> String {
        if self.heading == self.title || self.heading.is_empty() {
            self.title.clone()
        } else {
            format!("{} – {}", self.title, self.heading)
        }
    }

    /// Identifies the section for readers: its address and the words of its heading.
    fn identity(&self) -> (&str, String) {
        (&self.url, letters(&self.heading))
    }
}

impl ComparedAnswer {
    pub(super) fn from_answer(answer: &Answer) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        for citation in &answer.citations {
            let section = Section {
                url: citation.url.clone(),
                title: citation.title.clone(),
                heading: citation.section.clone(),
            };
            if !sections.contains(&section) {
                sections.push(section);
            }
        }
        Self {
            outcome: answer.outcome,
            sections,
            suggested: answer.suggestions.iter().map(|it| it.url.clone()).collect(),
            text: plain(&answer.text),
        }
    }

    /// Returns the outcome of a question that cannot be asked in this state, for example because the state lacks its locale.
    pub(super) fn nothing() -> Self {
        Self {
            outcome: Outcome::NotCovered,
            sections: Vec::new(),
            suggested: Vec::new(),
            text: String::new(),
        }
    }

    fn is_answer(&self) -> bool {
        self.outcome == Outcome::Answered
    }

    fn places(&self) -> Vec<(&str, String)> {
        let mut places: Vec<_> = self.sections.iter().map(Section::identity).collect();
        places.sort();
        places
    }

    /// True if both answers quote the same sections. In doubt, sections that are about equally near may change places: one is quoted, the others are
    /// suggested.
    fn has_places_of(&self, other: &Self) -> bool {
        let is_doubted = self.outcome == Outcome::Uncertain;
        self.places() == other.places()
            || is_doubted && self.suggests_first_of(other) && other.suggests_first_of(self)
    }

    fn suggests_first_of(&self, other: &Self) -> bool {
        let first = other.sections.first();
        first.is_some_and(|first| self.suggested.contains(&first.url))
    }

    /// True if both answers have the same words. Two quotes in doubt that are about equally near may change places; then another one is quoted at length,
    /// and the words cannot be compared.
    fn has_words_of(&self, other: &Self) -> bool {
        let first = |answer: &Self| answer.sections.first().map(|first| first.url.clone());
        let is_doubted = self.outcome == Outcome::Uncertain;
        letters(&self.text) == letters(&other.text) || is_doubted && first(self) != first(other)
    }
}

/// How two answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Difference {
    /// The book answered before, and now does not or might not.
    NoLongerAnswered,
    /// The answer comes from another section, or the section has a new address or heading.
    OtherSection,
    /// The answer comes from the same section in other words.
    OtherSentences,
    /// The book did not or might not answer before, and now does.
    NewlyAnswered,
    Unchanged,
}

impl Difference {
    /// Returns how an answer changed. Only words count: spaces, line breaks, markup and link targets are ignored.
    pub(super) fn between(before: &ComparedAnswer, after: &ComparedAnswer) -> Self {
        match (before.is_answer(), after.is_answer()) {
            (true, false) => Self::NoLongerAnswered,
            (false, true) => Self::NewlyAnswered,
            _ if before.outcome != after.outcome || !before.has_places_of(after) => {
                Self::OtherSection
            }
            _ if !before.has_words_of(after) => Self::OtherSentences,
            _ => Self::Unchanged,
        }
    }
}

/// Returns the text of Markdown with single spaces.
pub(super) fn plain(markdown: &str) -> String {
    words(&visible(markdown)).join(" ")
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Removes all spaces, since the indentation and alignment of code may differ.
pub(super) fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns the words that differ between two texts, with some context.
pub(super) fn excerpts(before: &str, after: &str) -> [String; 2] {
    let (before, after) = (words(before), words(after));
    let pairs = before.iter().zip(&after);
    let start = pairs.take_while(|(one, other)| one == other).count();
    let pairs = before[start..]
        .iter()
        .rev()
        .zip(after[start..].iter().rev());
    let end = pairs.take_while(|(one, other)| one == other).count();
    [before, after].map(|words| {
        let from = start.saturating_sub(CONTEXT_WORDS);
        let whole = (words.len() - end + CONTEXT_WORDS).min(words.len());
        let to = whole.min(from + MAX_WORDS);
        let before = if from > 0 { "…" } else { "" };
        let after = if to < words.len() { "…" } else { "" };
        format!("{before}{}{after}", words[from..to].join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(outcome: Outcome, urls: &[&str], text: &str) -> ComparedAnswer {
        let section = |url: &&str| Section {
            url: (*url).to_owned(),
            title: "Wheels".to_owned(),
            heading: "Torque".to_owned(),
        };
        ComparedAnswer {
            outcome,
            suggested: Vec::new(),
            sections: urls.iter().map(section).collect(),
            text: plain(text),
        }
    }

    #[test]
    fn each_kind_of_change_is_recognized() {
        use Outcome::{Answered, NotCovered, Uncertain};
        let before = answer(Answered, &["/a#torque"], "Tighten to **2.2 N·m** [1].");
        for (after, change) in [
            (answer(NotCovered, &[], "No."), Difference::NoLongerAnswered),
            (
                answer(Uncertain, &["/a#torque"], "?"),
                Difference::NoLongerAnswered,
            ),
            (
                answer(Answered, &["/b#torque"], "2.2"),
                Difference::OtherSection,
            ),
            (
                answer(Answered, &["/a#torque"], "Tighten to 3.2 N·m [1]."),
                Difference::OtherSentences,
            ),
            (
                answer(Answered, &["/a#torque"], "Tighten to −2.2 N·m [1]."),
                Difference::OtherSentences,
            ),
            (
                answer(Answered, &["/a#torque"], "Tighten\nto   2.2\n\nN·m [1]."),
                Difference::Unchanged,
            ),
        ] {
            assert_eq!(Difference::between(&before, &after), change, "{after:?}");
        }
        let doubted = answer(
            Uncertain,
            &["/a", "/b"],
            "Frost bites at night. [1] Dew falls. [2]",
        );
        for (urls, text, change) in [
            (
                ["/b", "/a"],
                "Dew falls in the morning. [1] Frost bites. [2]",
                Difference::Unchanged,
            ),
            (
                ["/a", "/b"],
                "Frost heaves at night. [1] Dew falls. [2]",
                Difference::OtherSentences,
            ),
        ] {
            let after = answer(Uncertain, &urls, text);
            assert_eq!(Difference::between(&doubted, &after), change);
        }
        let unanswered = answer(NotCovered, &[], "No.");
        assert_eq!(
            Difference::between(&unanswered, &before),
            Difference::NewlyAnswered
        );
        assert_eq!(
            Difference::between(&unanswered, &unanswered),
            Difference::Unchanged
        );
        let closest = answer(Uncertain, &["/a"], "?");
        assert_eq!(
            Difference::between(&closest, &unanswered),
            Difference::OtherSection
        );
        let mut renamed = before.clone();
        renamed.sections[0].heading = "How tight".to_owned();
        assert_eq!(
            Difference::between(&before, &renamed),
            Difference::OtherSection
        );
    }

    #[test]
    fn the_order_of_sections_is_no_change_and_neither_is_where_links_lead() {
        let one = answer(Outcome::Answered, &["/a", "/b"], "See [it](/x) `a  =  1`.");
        let other = answer(Outcome::Answered, &["/b", "/a"], "See [it](/y) `a = 1`.");
        assert_eq!(Difference::between(&one, &other), Difference::Unchanged);
    }

    #[test]
    fn excerpts_hold_what_differs_and_some_words_around_it() {
        let before = "one two three four five six seven 2.2 N·m and eight nine ten eleven twelve";
        let after = before.replace("2.2", "about 3.2");
        assert_eq!(
            excerpts(before, &after),
            [
                "…three four five six seven 2.2 N·m and eight nine ten…",
                "…three four five six seven about 3.2 N·m and eight nine ten…"
            ]
        );
        assert_eq!(excerpts("a b", "a b c"), ["a b", "a b c"]);
        assert_eq!(excerpts("", "a"), ["", "a"]);
        let [before, _] = excerpts(&"long ".repeat(90), "short");
        assert_eq!(before, format!("{}…", ["long"; 40].join(" ")));
    }
}
