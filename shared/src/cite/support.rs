//! Whether a passage says what a sentence says, as far as words and numbers tell. Pure.

use std::collections::HashSet;

use crate::retrieve::Words;

/// The least share of a sentence's words that its passages have. A sentence of other words may still be borne out: this finds
/// those that came from nowhere, not those that were twisted.
const MIN_SHARE: f32 = 0.5;

/// What of a sentence its passages have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// The share of its words, stop words aside, 0 to 1.
    pub share: f32,
    /// Whether all of its numbers are there.
    pub numbers: bool,
}

impl Support {
    /// Whether that is enough.
    #[must_use]
    pub fn is_supported(self) -> bool {
        self.share >= MIN_SHARE && self.numbers
    }
}

/// Compares a sentence with the text of the passages it cites, their headings included.
///
/// Words are compared as a ranker compares them; numbers by value, however they are written: `1,000`, `1.000` and `1000`,
/// `2.50` and `2.5`, `۳` and `3`, and of the passages `three` as well. A sentence without words of its own claims nothing: its share is 1.
#[must_use]
pub fn supports(passages: &str, sentence: &str, words: &Words) -> Support {
    let is_word = |term: &String| term.contains(char::is_alphabetic);
    let held: HashSet<String> = words.terms(passages).into_iter().collect();
    let said: HashSet<String> = words.terms(sentence).into_iter().filter(is_word).collect();
    let found = said.intersection(&held).count();
    #[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
    let share = match said.len() {
        0 => 1.0,
        all => found as f32 / all as f32,
    };
    let known: HashSet<String> = numbers(passages)
        .flatten()
        .chain(spelt_numbers(passages))
        .collect();
    let is_known = |readings: Vec<String>| readings.iter().any(|number| known.contains(number));
    Support {
        share,
        numbers: numbers(sentence).all(is_known),
    }
}

/// The numbers of a text, each in all its readings: `1,000` is a thousand to one reader and one to another.
fn numbers(text: &str) -> impl Iterator<Item = Vec<String>> {
    let text: String = text.chars().map(with_ascii_digits).collect();
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let runs: Vec<String> = text
        .split(|c: char| !is_part(c))
        .map(|run| run.trim_matches(['.', ',']).to_owned())
        .filter(|run| !run.is_empty())
        .collect();
    runs.into_iter().map(|run| readings(&run))
}

fn readings(run: &str) -> Vec<String> {
    let mut parts = run.split(['.', ',']);
    let first = parts.next().unwrap_or_default();
    let groups = parts.clone().all(|part| part.len() == 3) && (1..=3).contains(&first.len());
    let mut readings = Vec::new();
    if groups || !run.contains(['.', ',']) {
        readings.push(normal(&run.replace(['.', ','], ""), ""));
    }
    if let Some((whole, part)) = run.rsplit_once(['.', ',']) {
        // More than one point: a version, unless the others part thousands.
        let separators: HashSet<char> = whole.chars().filter(|c| !c.is_ascii_digit()).collect();
        let is_decimal =
            separators.is_empty() || !separators.contains(&char::from(run.as_bytes()[whole.len()]));
        readings.push(if is_decimal {
            normal(&whole.replace(['.', ','], ""), part)
        } else {
            run.to_owned()
        });
    }
    readings
}

/// A number without the zeros that do not count.
fn normal(whole: &str, part: &str) -> String {
    let whole = whole.trim_start_matches('0');
    match part.trim_end_matches('0') {
        "" => whole.to_owned(),
        part => format!("{whole}.{part}"),
    }
}

/// Numbers that a passage spells out and a model writes in digits.
fn spelt_numbers(text: &str) -> impl Iterator<Item = String> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let words = text.split(|c: char| !c.is_alphabetic());
    let value = |word: &str| {
        WORDS
            .iter()
            .position(|known| known.eq_ignore_ascii_case(word))
    };
    words
        .filter_map(value)
        .map(|value| normal(&value.to_string(), ""))
}

/// Digits of the scripts that books are translated to, and the separators of Arabic ones, as ASCII has them.
fn with_ascii_digits(c: char) -> char {
    const ZEROS: [char; 4] = ['٠', '۰', '०', '０'];
    match c {
        '٫' => '.',
        '٬' | '\'' | '’' | '\u{a0}' | '\u{202f}' => ',',
        _ => {
            let digit = |zero: &char| {
                u32::from(c)
                    .checked_sub(u32::from(*zero))
                    .filter(|digit| *digit < 10)
            };
            let digit = ZEROS.iter().find_map(digit);
            digit
                .and_then(|digit| char::from_digit(digit, 10))
                .unwrap_or(c)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::Language;

    fn supported(passage: &str, sentence: &str) -> bool {
        supports(passage, sentence, &Words::of(Language::ENGLISH)).is_supported()
    }

    #[test]
    fn a_sentence_is_borne_out_by_its_words_and_numbers() {
        let passage = "The robot weighs 1,250 g and drives 2.50 m in ten seconds.";
        assert!(supported(passage, "It weighs 1250 g."));
        assert!(supported(passage, "The robot drives 2.5 m in ten seconds."));
        assert!(!supported(passage, "The robot weighs 1300 g."));
        assert!(!supported(passage, "Karpov won the chess match."));
        assert!(supported(passage, "It is so."));
        assert!(supported(passage, "It drives in 10 seconds."));
    }

    #[test]
    fn numbers_are_compared_by_value_however_they_are_written() {
        let cases = [
            ("it has 1,000 steps", "1000 steps", true),
            ("it has 1\u{202f}000 steps", "1,000 steps", true),
            ("it has 1.000 steps", "1000 steps", true),
            ("it has 1,234.50 steps", "1234.5 steps", true),
            ("it has 3,5 steps", "3.50 steps", true),
            ("version 2.0.1 steps", "steps 2.0.1", true),
            ("version 2.0.1 steps", "steps 2.0", false),
            ("it has ۳ steps", "3 steps", true),
            ("three steps", "3 steps", true),
            ("ROS2 steps", "steps of ROS 2", true),
            ("it has 10 steps", "100 steps", false),
            ("it has 007 steps", "7 steps", true),
            ("the steps", "steps 5", false),
        ];
        let words = Words::of(Language::ENGLISH);
        for (passage, sentence, expected) in cases {
            assert_eq!(
                supports(passage, sentence, &words).numbers,
                expected,
                "{passage} | {sentence}"
            );
        }
    }

    #[test]
    fn digits_do_not_count_as_words() {
        let words = Words::of(Language::ENGLISH);
        let support = supports("The arm weighs 1,250 grams.", "weighs 1250 grams", &words);
        assert!((support.share - 1.0).abs() < f32::EPSILON);
    }
}
