//! Classifies text in brackets: a citation, something that looks like one, or text.

use text::invisible::is_invisible;

/// Words that models write before a passage number.
const PASSAGE_WORDS: [&str; 8] = [
    "passage",
    "passages",
    "source",
    "sources",
    "citation",
    "citations",
    "ref",
    "reference",
];
/// Words of citations that name no passage: pages, and labels written by bookrag.
const OTHER_WORDS: [&str; 6] = ["p", "pp", "page", "module", "chapter", "lesson"];
const MAX_DIGITS: usize = 4;

/// The content of brackets.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Text that is not a citation.
    Text,
    /// A citation of given passages, in order and without duplicates; empty if it names no given passage.
    Markers(Vec<usize>),
}

pub(super) fn is_opening(c: char) -> bool {
    matches!(c, '[' | '［' | '【' | '〔')
}

pub(super) fn is_closing(c: char) -> bool {
    matches!(c, ']' | '］' | '】' | '〕')
}

/// True if the text after an opening bracket can still become a citation with this character.
pub(super) fn may_hold(held: &str, c: char) -> bool {
    let names_source = held.contains('†') && c != '\n';
    let joins = is_dash(c) || matches!(c, '+' | '†' | ':');
    let dresses =
        matches!(c, '*' | '_' | '`' | '^' | '\\' | '&') || (c == '#' && held.ends_with('&'));
    if names_source || separates(c) || joins || dresses || c.is_numeric() || is_invisible(c) {
        return true;
    }
    if !c.is_ascii_alphabetic() {
        return false;
    }
    let before = held.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let word = format!("{}{c}", &held[before.len()..]).to_ascii_lowercase();
    if before.ends_with(|c: char| c.is_ascii_digit()) {
        // Numbers such as `0x63`, `0b11` and `1e2`.
        return word
            .chars()
            .all(|c| c.is_ascii_hexdigit() || c == 'x' || c == 'o');
    }
    let mut words = PASSAGE_WORDS.iter().chain(&OTHER_WORDS);
    words.any(|known| known.starts_with(&word))
}

/// Classifies an opening bracket and the text up to the closing one.
pub(super) fn read_form(held: &str, passages: usize) -> Form {
    let content = held.strip_prefix(is_opening).unwrap_or(held);
    let nested = content.contains(is_opening);
    let content: String = content
        .chars()
        .filter(|c| !is_invisible(*c) && !matches!(c, '*' | '_' | '`' | '\\' | '^'))
        .collect();
    let content = content.trim();
    if !content.contains(char::is_numeric) || (!nested && is_mathematics(content)) {
        return Form::Text;
    }
    // A character reference can hide what the reader sees.
    if content.contains('&') {
        return Form::Markers(Vec::new());
    }
    if let Some((number, _)) = content.split_once('†') {
        // In `4:0†source` the first number is the passage.
        let number = number.split(':').next().unwrap_or(number);
        return Form::Markers(numbers(number.trim(), passages).unwrap_or_default());
    }
    read_list(content, passages)
}

/// True for a letter that is not a numeral; `Ⅸ` is both.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_numeric()
}

/// Reads separated numbers and ranges, with optional words before them.
fn read_list(content: &str, passages: usize) -> Form {
    let words: Vec<String> = content
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.chars().all(is_letter))
        .map(str::to_ascii_lowercase)
        .collect();
    let is_label = ["module", "chapter", "lesson"]
        .iter()
        .all(|word| words.iter().any(|known| known == word));
    let is_page = words
        .iter()
        .any(|word| matches!(&**word, "p" | "pp" | "page"));
    if is_label || is_page {
        return Form::Markers(Vec::new());
    }
    if words
        .iter()
        .any(|word| !PASSAGE_WORDS.contains(&word.as_str()))
    {
        return Form::Text;
    }
    let mut found = Vec::new();
    let parts = content.split(|c| separates(c) || is_opening(c) || is_closing(c));
    for part in parts {
        let part = part.trim_matches(|c: char| c == ':' || c == '.');
        let is_word = part.chars().all(is_letter);
        if is_word {
            continue;
        }
        let Some(numbers) = numbers(part, passages) else {
            return Form::Text;
        };
        found.extend(numbers);
    }
    let mut seen = Vec::new();
    found.retain(|number| {
        let new = !seen.contains(number);
        seen.push(*number);
        new
    });
    Form::Markers(found)
}

/// True for a character between the numbers of a list.
fn separates(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '、' | '，' | '；' | '،' | '؛')
}

/// True for a character between the ends of a range.
fn is_dash(c: char) -> bool {
    matches!(c, '-' | '‐' | '‑' | '–' | '—' | '−' | '.' | '…')
}

/// Parses `3` or `2–4` as passage numbers. Empty if out of range or not in ASCII digits; `None` if not a number.
fn numbers(part: &str, passages: usize) -> Option<Vec<usize>> {
    if let Some(number) = number(part) {
        return Some(
            (1..=passages)
                .contains(&number)
                .then_some(number)
                .into_iter()
                .collect(),
        );
    }
    let first = part.split(is_dash).next().and_then(number);
    let last = part.rsplit(is_dash).next().and_then(number);
    if let (Some(first), Some(last)) = (first, last) {
        let range = (1..=last).contains(&first) && last <= passages;
        return Some(if range {
            (first..=last).collect()
        } else {
            Vec::new()
        });
    }
    let lower = part.to_ascii_lowercase();
    let has_base = ["0x", "0o", "0b"].iter().any(|prefix| {
        let digits = lower.strip_prefix(prefix).unwrap_or_default();
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit())
    });
    let is_power = lower
        .split_once('e')
        .is_some_and(|(a, b)| a.chars().chain(b.chars()).all(|c| c.is_ascii_digit()));
    let has_letters = part.chars().any(is_letter);
    (has_base || is_power || !has_letters).then(Vec::new)
}

fn number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    if !is_number {
        return None;
    }
    // A longer number cannot be a passage.
    Some(if digits.len() > MAX_DIGITS {
        0
    } else {
        digits.parse().unwrap_or(0)
    })
}

/// True for a decimal, or a list with a number that cannot be a passage: `0, 1` and `-0.5, 2` are intervals, `1.5` is a number.
fn is_mathematics(content: &str) -> bool {
    let parts: Vec<&str> = content.split(',').map(str::trim).collect();
    match parts.as_slice() {
        [one] => is_decimal(one) && one.contains('.') && number(&one[..1]).is_some(),
        many => many.iter().all(|part| is_decimal(part)) && many.iter().any(|part| !may_cite(part)),
    }
}

/// True for a number with or without a sign and decimals.
fn is_decimal(part: &str) -> bool {
    part.trim_start_matches(['-', '+', '−'])
        .splitn(2, '.')
        .all(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
}

/// True for a number that may be a passage's, in or out of range.
fn may_cite(part: &str) -> bool {
    number(part).is_some_and(|number| number != 0 || part.len() > MAX_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_told_from_text() {
        let markers = |numbers: &[usize]| Form::Markers(numbers.to_vec());
        let cases = [
            ("[1", markers(&[1])),
            ("[ 1 ", markers(&[1])),
            ("[01", markers(&[1])),
            ("[1, 2", markers(&[1, 2])),
            ("[1,2; 3", markers(&[1, 2, 3])),
            ("[2, 1, 2", markers(&[2, 1])),
            ("[2-4", markers(&[2, 3, 4])),
            ("[2–4, 1", markers(&[2, 3, 4, 1])),
            ("[1-99", markers(&[])),
            ("[4-2", markers(&[])),
            ("[1, 99", markers(&[1])),
            ("[^1", markers(&[1])),
            ("[**1**", markers(&[1])),
            ("[Source 2", markers(&[2])),
            ("[passages: 1, 3", markers(&[1, 3])),
            ("［1", markers(&[1])),
            ("［１", markers(&[])),
            ("[٣", markers(&[])),
            ("[②", markers(&[])),
            ("【1†source", markers(&[1])),
            ("【2:0†a, b 7", markers(&[2])),
            ("【１†source", markers(&[])),
            ("[0", markers(&[])),
            ("[-1", markers(&[])),
            ("[0x1", markers(&[])),
            ("[1e1", markers(&[])),
            ("[99999999999999999999999", markers(&[])),
            ("[&#49;", markers(&[])),
            ("[Module 1, Chapter 2, Lesson 3", markers(&[])),
            ("[p. 1", markers(&[])),
            ("[Chapter 1", Form::Text),
            ("[0, 1", Form::Text),
            ("[-0.5, 2", Form::Text),
            ("[1.5", Form::Text),
            ("[2D", Form::Text),
            ("[ ", Form::Text),
            ("[", Form::Text),
            ("[,", Form::Text),
            ("【", Form::Text),
        ];
        for (held, expected) in cases {
            assert_eq!(read_form(held, 5), expected, "{held:?}");
        }
    }
}
