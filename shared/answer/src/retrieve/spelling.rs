//! Corrects misspelt words of the question.

use std::collections::BTreeSet;

use text::{TermNumbers, is_unspaced, split};

/// The fewest letters of a word to correct by any one letter; too many shorter words differ by one.
const SHORTEST: usize = 6;
/// The fewest letters of a word to correct by a swap of neighbours or by doubling a letter.
const SHORTEST_TO_SWAP: usize = 5;

/// Replaces each word that no chunk has by a word of the chunks that differs by one letter or by swapping two neighbours. Short words may differ by a
/// swap, or by a letter that one of the two has twice: `bufer`.
///
/// Only plain words are corrected: a word with capitals, digits or underscores is a name, and another name is another question; only the first word
/// of a question may begin with a capital. Other forms of a known word stay unchanged. `terms` must have read the chunks.
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
        let is_first = corrected.chars().all(|c| !c.is_alphanumeric());
        let nearest = if terms.knows(word) || !is_plain(word, is_first) {
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
    if length < SHORTEST_TO_SWAP {
        return None;
    }
    let first = word.chars().next()?;
    known
        .iter()
        .filter(|other| other.starts_with(first) && other.chars().count().abs_diff(length) <= 1)
        .find(|other| {
            strsim::osa_distance(word, other) == 1
                && (length >= SHORTEST || is_swapped(word, other) || is_doubled(word, other))
        })
        .map(String::as_str)
}

/// True if two words have the same letters.
fn is_swapped(word: &str, other: &str) -> bool {
    let [one, other] = [word, other].map(|word| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    });
    one == other
}

/// True if two words differ in how often they repeat a letter.
fn is_doubled(word: &str, other: &str) -> bool {
    let [one, other] = [word, other].map(|word| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.dedup();
        letters
    });
    one == other
}

/// True if a word has only letters, of a script with spaces, without capitals except that the first word of a question may begin with one.
fn is_plain(word: &str, is_first: bool) -> bool {
    let mut rest = word.chars().skip(usize::from(is_first));
    word.chars().all(|c| c.is_alphabetic() && !is_unspaced(c)) && !rest.any(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::{Language, Words};

    #[test]
    fn a_misspelt_word_becomes_the_nearest_one_that_there_is() {
        let texts = [
            "The difference of toEqual and toBe",
            "Subscribers are calibrated, parsing ros2, in a batch, a buffer, a point",
        ];
        let words = Words::new(Language::ENGLISH);
        let mut terms = TermNumbers::new(&words);
        for text in texts {
            terms.read(text);
        }
        let corrected = |question: &str| corrected(question, &terms);
        assert_eq!(
            corrected("wat is the diffrence of toEqal & a subcsribers?"),
            "wat is the difference of toEqal & a subscribers?"
        );
        assert_eq!(corrected("bacth of bufer"), "batch of buffer");
        assert_eq!(
            corrected("Subcsribers in a Bacth"),
            "subscribers in a Bacth"
        );
        // Other forms of a known word, words that are too short, another letter in a short word, and words with another beginning.
        for kept in ["calibrating it", "ros3", "patch paint", "zubscriber", ""] {
            assert_eq!(corrected(kept), kept);
        }
    }
}
