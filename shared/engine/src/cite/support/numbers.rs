//! Compares the numbers of a text by value, independent of notation.

use std::collections::HashSet;

/// English number words: from zero in order, then tens and larger units.
const SMALL: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
const LARGE: [(&str, usize); 9] = [
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
    ("thousand", 1_000),
];
/// Smaller number words say little: `one of them`, `the two`.
const MIN_SPELT: usize = 3;

/// Returns all readings of a text's numbers, including number words.
pub(super) fn known(text: &str) -> HashSet<String> {
    let spelt = spelt(text).map(|value| normal(&value.to_string(), ""));
    numbers(text).flatten().chain(spelt).collect()
}

/// Counts the unknown numbers of a sentence. Number words count only if `in_words`.
pub(super) fn unknown(sentence: &str, known: &HashSet<String>, in_words: bool) -> usize {
    let is_unknown = |readings: &Vec<String>| !readings.iter().any(|number| known.contains(number));
    let spelt = spelt(sentence)
        .filter(|value| in_words && *value >= MIN_SPELT)
        .filter(|value| !known.contains(&normal(&value.to_string(), "")));
    numbers(sentence).filter(is_unknown).count() + spelt.count()
}

/// Returns the numbers of a text, each with all its readings: `1,000` may mean a thousand or one.
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
        // With several points it is a version, unless the other separators group thousands.
        let separators: HashSet<char> = whole.chars().filter(|c| !c.is_ascii_digit()).collect();
        let is_decimal =
            separators.is_empty() || !separators.contains(&char::from(run.as_bytes()[whole.len()]));
        readings.push(if is_decimal {
            normal(&whole.replace(['.', ','], ""), part)
        } else {
            // 7.13.0 equals 7.13.
            run.trim_end_matches(".0").to_owned()
        });
    }
    readings
}

/// Removes leading and trailing zeros.
fn normal(whole: &str, part: &str) -> String {
    let whole = whole.trim_start_matches('0');
    match part.trim_end_matches('0') {
        "" => whole.to_owned(),
        part => format!("{whole}.{part}"),
    }
}

/// Returns the values of English number words.
fn spelt(text: &str) -> impl Iterator<Item = usize> {
    let words = text.split(|c: char| !c.is_alphabetic());
    words.filter_map(|word| {
        let is_word = |known: &str| known.eq_ignore_ascii_case(word);
        let small = SMALL.iter().position(|known| is_word(known));
        small.or_else(|| {
            LARGE
                .iter()
                .find(|(known, _)| is_word(known))
                .map(|(_, value)| *value)
        })
    })
}

/// Converts digits of other scripts, and Arabic separators, to ASCII.
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

    #[test]
    fn numbers_are_compared_by_value_however_they_are_written() {
        for (passage, sentence, expected) in [
            ("it has 1,000 steps", "1000 steps", 0),
            ("it has 1\u{202f}000 steps", "1,000 steps", 0),
            ("it has 1.000 steps", "1000 steps", 0),
            ("it has 1,234.50 steps", "1234.5 steps", 0),
            ("it has 3,5 steps", "3.50 steps", 0),
            ("version 2.0.1 steps", "steps 2.0.1", 0),
            ("version 2.0.1 steps", "steps 2.0", 1),
            ("version 7.13.0", "since 7.13", 0),
            ("it has ۳ steps", "3 steps", 0),
            ("three steps", "3 steps", 0),
            ("7 steps", "seven of two steps", 0),
            ("the steps", "seven steps", 1),
            ("ROS2 steps", "steps of ROS 2", 0),
            ("it has 10 steps", "100 steps", 1),
            ("it has 007 steps", "7 steps", 0),
            ("the steps", "steps 5", 1),
        ] {
            assert_eq!(
                unknown(sentence, &known(passage), true),
                expected,
                "{passage} | {sentence}"
            );
        }
        assert_eq!(unknown("seven", &known(""), false), 0);
    }
}
