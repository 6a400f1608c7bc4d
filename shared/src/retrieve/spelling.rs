//! Words of the question that are spelt wrong.

use std::collections::{BTreeSet, HashSet};

use super::{ScoredChunk, Words};

/// Letters that a word must have to be looked at: of shorter ones too many are a letter apart.
const SHORTEST: usize = 6;

/// The question, each word that no chunk found has replaced by one that some chunk has and that is one letter away, or two
/// neighbours swapped.
///
/// Only plain words are looked at: capitals, digits and underscores make names, and another name is another question.
/// A word whose stem is known stays: it is another form, not another spelling. `terms` are the words of each chunk.
pub(super) fn corrected(
    words: &Words,
    question: &str,
    chunks: &[ScoredChunk],
    terms: &[Vec<String>],
) -> String {
    let stems: HashSet<&str> = terms.iter().flatten().map(String::as_str).collect();
    let is_known = |word: &str| {
        words
            .terms(word)
            .iter()
            .all(|term| stems.contains(term.as_str()))
    };
    if split(question).all(is_known) {
        return question.to_owned();
    }
    let texts = chunks
        .iter()
        .flat_map(|scored| [&scored.chunk.breadcrumb, &scored.chunk.text]);
    let known: BTreeSet<String> = texts.flat_map(|text| split(text)).map(str::to_lowercase).collect();
    let mut corrected = String::new();
    let mut rest = question;
    for word in split(question) {
        let at = rest.find(word).unwrap_or(0);
        corrected.push_str(&rest[..at]);
        rest = &rest[at + word.len()..];
        let nearest = if is_known(word) || !is_plain(word) {
            None
        } else {
            nearest(&word.to_lowercase(), &known)
        };
        corrected.push_str(nearest.unwrap_or(word));
    }
    corrected.push_str(rest);
    corrected
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

/// The nearest word that begins alike, if it is near enough.
fn nearest<'k>(word: &str, known: &'k BTreeSet<String>) -> Option<&'k str> {
    let length = word.chars().count();
    if length < SHORTEST {
        return None;
    }
    let first = word.chars().next()?;
    let mut alike = known
        .iter()
        .filter(|other| other.starts_with(first) && other.chars().count().abs_diff(length) <= 1);
    let found = alike.find(|other| strsim::osa_distance(word, other) == 1);
    found.map(String::as_str)
}

/// Whether a word is letters alone, capitals at most its first.
fn is_plain(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && !word.chars().skip(1).any(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::super::Language;
    use super::super::fusion::tests::section;
    use super::*;

    #[test]
    fn a_misspelt_word_becomes_the_nearest_one_that_there_is() {
        let texts = [
            "The difference of toEqual and toBe",
            "Subscribers are calibrated, parsing ros2",
        ];
        let sections: Vec<ScoredChunk> = texts
            .map(|text| section("page", "x", text, 0.5, "2026"))
            .into();
        let words = Words::of(Language::ENGLISH);
        let terms = texts.map(|text| words.terms(text));
        let corrected = |question: &str| corrected(&words, question, &sections, &terms);
        assert_eq!(
            corrected("wat is the diffrence of toEqal & a Subcsribers?"),
            "wat is the difference of toEqal & a subscribers?"
        );
        // Other forms of a known word, too short, another beginning.
        for kept in ["calibrating it", "ros3", "zubscriber", ""] {
            assert_eq!(corrected(kept), kept);
        }
    }
}
