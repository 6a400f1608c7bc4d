//! Words of the question that are spelt wrong.

use std::collections::BTreeSet;

use crate::words::{TermNumbers, split};

/// Letters that a word must have to be looked at: of shorter ones too many are a letter apart.
const SHORTEST: usize = 6;

/// The question, each word that no chunk found has replaced by one that some chunk has and that is one letter away, or two
/// neighbours swapped.
///
/// Only plain words are looked at: capitals, digits and underscores make names, and another name is another question.
/// A word whose stem is known stays: it is another form, not another spelling. `terms` has read the chunks.
pub(super) fn corrected(question: &str, terms: &TermNumbers<'_>) -> String {
    if split(question).all(|word| terms.knows(word)) {
        return question.to_owned();
    }
    let known: BTreeSet<String> = terms.words_read().map(str::to_lowercase).collect();
    let mut corrected = String::new();
    let mut rest = question;
    for word in split(question) {
        let at = rest.find(word).unwrap_or(0);
        corrected.push_str(&rest[..at]);
        rest = &rest[at + word.len()..];
        let nearest = if terms.knows(word) || !is_plain(word) {
            None
        } else {
            nearest(&word.to_lowercase(), &known)
        };
        corrected.push_str(nearest.unwrap_or(word));
    }
    corrected.push_str(rest);
    corrected
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
    use super::*;
    use crate::words::{Language, Words};

    #[test]
    fn a_misspelt_word_becomes_the_nearest_one_that_there_is() {
        let texts = [
            "The difference of toEqual and toBe",
            "Subscribers are calibrated, parsing ros2",
        ];
        let words = Words::of(Language::ENGLISH);
        let mut terms = TermNumbers::of(&words);
        for text in texts {
            terms.read(text);
        }
        let corrected = |question: &str| corrected(question, &terms);
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
