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
/// Words before a rounded number.
const ABOUT: [&str; 7] = [
    "about",
    "almost",
    "approximately",
    "around",
    "circa",
    "nearly",
    "roughly",
];
/// A rounded number may differ by this share at most, however many zeros it ends with.
const MAX_ROUNDED: f64 = 0.1;
/// The least number word that is checked, since smaller ones say little: `one of them`, `the two`.
const MIN_SPELT: usize = 3;

/// Returns all readings of a text's numbers, including number words.
pub(super) fn known(text: &str) -> HashSet<String> {
    let spelt = spelt(text).map(|value| normal(&value.to_string(), ""));
    let numbers = numbers(text).flat_map(|(_, readings)| readings);
    numbers.chain(spelt).collect()
}

/// Counts the unknown numbers of a sentence. Number words count only if `in_words`. `about 24` is known from `23.9`.
pub(super) fn unknown(sentence: &str, known: &HashSet<String>, in_words: bool) -> usize {
    let unknown = numbers(sentence).filter(|(is_rounded, readings)| {
        !readings
            .iter()
            .any(|number| known.contains(number) || (*is_rounded && rounds_one(number, known)))
    });
    let spelt = spelt(sentence)
        .filter(|value| in_words && *value >= MIN_SPELT)
        .filter(|value| !known.contains(&normal(&value.to_string(), "")));
    unknown.count() + spelt.count()
}

/// Returns the numbers of a text, each with all its readings: `1,000` may mean a thousand or one. The flag is true if the text says that the number
/// is rounded.
fn numbers(text: &str) -> impl Iterator<Item = (bool, Vec<String>)> {
    let text: String = text.chars().map(with_ascii_digits).collect();
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','));
        let (run, after) = from.split_at(end.unwrap_or(from.len()));
        found.push((rounds(before), readings(run.trim_end_matches(['.', ',']))));
        rest = after;
    }
    found.into_iter()
}

/// True if a text ends with `about` or the like.
fn rounds(before: &str) -> bool {
    let before = before.trim_end();
    let last = before.split_whitespace().next_back().unwrap_or_default();
    before.ends_with(['~', '≈']) || ABOUT.iter().any(|about| about.eq_ignore_ascii_case(last))
}

/// True if one of the known numbers is this number, to the digits that it is written with.
fn rounds_one(number: &str, known: &HashSet<String>) -> bool {
    let digits = number.trim_end_matches('0');
    let unit = match number.split_once('.') {
        Some((_, part)) => value(&format!("0.{}1", "0".repeat(part.len().saturating_sub(1)))),
        None => value(&format!("1{}", &number[digits.len()..])),
    };
    let Some((rounded, unit)) = value(number).zip(unit) else {
        return false;
    };
    let most = (unit / 2.0).min(rounded * MAX_ROUNDED);
    let mut known = known.iter().filter_map(|known| value(known));
    known.any(|known| (known - rounded).abs() <= most)
}

fn value(number: &str) -> Option<f64> {
    number.parse().ok()
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
        let small = SMALL
            .iter()
            .position(|known| known.eq_ignore_ascii_case(word));
        small.or_else(|| {
            LARGE
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(word))
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
        _ => ZEROS
            .iter()
            .filter_map(|zero| u32::from(c).checked_sub(u32::from(*zero)))
            .find_map(|digit| char::from_digit(digit, 10))
            .unwrap_or(c),
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
            ("23.916776 ms", "about 24 ms", 0),
            ("23.916776 ms", "24 ms", 1),
            ("23.4 ms", "~24 ms", 1),
            ("1,383 rules", "nearly 1400 of ~ 1385 rules", 1),
            ("60 rules", "roughly 100 rules", 1),
            ("version 2.0.1", "around 2.0.2 or 1,2..0", 2),
            ("0.28 s", "about 0.3 s", 0),
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
