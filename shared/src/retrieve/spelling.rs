//! Corrects misspelt words of the question.

use std::collections::BTreeSet;

use crate::words::{TermNumbers, split};

/// The fewest letters of a word to correct; too many shorter words differ by one letter.
const SHORTEST: usize = 6;

/// Replaces each word that no chunk has by a word of the chunks that differs by one letter or by swapping two neighbours.
///
/// Only plain words are corrected: a word with inner capitals, digits or underscores is a name, and another name is another question. Other forms of
/// a known word stay unchanged. `terms` has read the chunks.
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

/// Returns the closest word with the same beginning, if it is close enough.
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

/// True if a word has only letters, with at most the first one capitalised.
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
        // Other forms of a known word, words that are too short, and words with another beginning.
        for kept in ["calibrating it", "ros3", "zubscriber", ""] {
            assert_eq!(corrected(kept), kept);
        }
    }
}
