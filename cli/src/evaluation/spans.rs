//! Measures how much of the labelled lines an answer quotes.
//!
//! The same numbers as `score_answers.py`, the script that accompanies the labelled lines: lowercase words without markup, matched
//! in order within a span and in any order between spans.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;

use super::formulas::real;

/// The least share of the labelled words in an answer that counts as whole; [`WHOLE_PRECISION`] of its own words must also be labelled.
const WHOLE_RECALL: f64 = 0.9;
const WHOLE_PRECISION: f64 = 0.5;
/// A match of at most this many words counts only if a word has a digit or more than [`SHORT_LETTERS`] letters.
const SHORT_MATCH: usize = 2;
const SHORT_LETTERS: usize = 3;

/// Lines of a file, from 1, both included.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Span {
    /// The file.
    pub source: String,
    /// The first line.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
}

/// An answer's scores against the labels, each a share.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quoted {
    /// The harmonic mean of the share of labelled words in the answer and the share of the answer's words that are labelled;
    /// the best of all alternatives.
    pub f1: f64,
    /// The share of facts that the answer states.
    pub needs: f64,
    /// 1 if the answer has nearly all labelled words and these are at least half of it, else 0.
    pub whole: f64,
}

/// Scores an answer. Each of the `alternatives` lists texts that together answer the question. A need is a text, or
/// several separated by `||`, any of which is enough.
#[must_use]
pub fn quoted(answer: &str, alternatives: &[Vec<String>], needs: &[String]) -> Quoted {
    let said = words(answer);
    let mut quoted = Quoted::default();
    for texts in alternatives {
        let gold: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
        let (recall, precision) = matched(&gold, &said);
        if recall + precision > 0.0 {
            quoted.f1 = f64::max(quoted.f1, 2.0 * recall * precision / (recall + precision));
        }
        if recall >= WHOLE_RECALL && precision >= WHOLE_PRECISION {
            quoted.whole = 1.0;
        }
    }
    let said = flat(answer);
    let has = |need: &&String| need.split("||").any(|need| said.contains(&flat(need)));
    if !needs.is_empty() {
        quoted.needs = real(needs.iter().filter(has).count()) / real(needs.len());
    }
    quoted
}

/// Returns the share of labelled words found in an answer, and the share of the answer's words found in the labels.
fn matched(gold: &[Vec<String>], said: &[String]) -> (f64, f64) {
    let (mut total, mut found) = (0, 0);
    let mut hit = vec![false; said.len()];
    for span in gold {
        total += span.len();
        for (from, to, length) in matching_blocks(span, said) {
            let run = &span[from..from + length];
            let says = |word: &String| {
                word.chars().count() > SHORT_LETTERS || word.starts_with(|c: char| c.is_numeric())
            };
            if length > SHORT_MATCH || run.iter().any(says) {
                found += length;
                hit[to..to + length].fill(true);
            }
        }
    }
    let hit = hit.into_iter().filter(|hit| *hit).count();
    (
        real(found) / real(total.max(1)),
        real(hit) / real(said.len().max(1)),
    )
}

/// Returns the longest common runs of two lists: the longest first, then those on both sides of it. Each is its position in both lists and
/// its length. Source: Ratcliff and Metzener, Pattern Matching: The Gestalt Approach, Dr. Dobb's Journal, 1988.
fn matching_blocks(a: &[String], b: &[String]) -> Vec<(usize, usize, usize)> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, word) in b.iter().enumerate() {
        places.entry(word).or_default().push(at);
    }
    let mut blocks = Vec::new();
    let mut open = vec![(0..a.len(), 0..b.len())];
    while let Some((in_a, in_b)) = open.pop() {
        let mut best = (in_a.start, in_b.start, 0);
        // The length of the run that ends at each position of `b`.
        let mut lengths: HashMap<usize, usize> = HashMap::new();
        for at in in_a.clone() {
            let mut next = HashMap::new();
            for &to in places.get(&*a[at]).into_iter().flatten() {
                if !in_b.contains(&to) {
                    continue;
                }
                let before = to.checked_sub(1).and_then(|to| lengths.get(&to));
                let length = before.map_or(1, |length| length + 1);
                next.insert(to, length);
                if length > best.2 {
                    best = (at + 1 - length, to + 1 - length, length);
                }
            }
            lengths = next;
        }
        let (from, to, length) = best;
        if length > 0 {
            blocks.push(best);
            open.push((in_a.start..from, in_b.start..to));
            open.push((from + length..in_a.end, to + length..in_b.end));
        }
    }
    blocks
}

fn words(markdown: &str) -> Vec<String> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\w+"));
    let text = plain(markdown).to_lowercase();
    let words = WORD
        .find_iter(&text)
        .map(|word| word.as_str().trim_matches('_'));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Lowercases a text, removes backticks and asterisks, and collapses its spaces.
fn flat(text: &str) -> String {
    let text = unescaped(text).replace(['`', '*'], "").to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text of Markdown: code unchanged, prose without markup, addresses, citation markers and list numbers.
fn plain(markdown: &str) -> String {
    static REMOVED: LazyLock<[Regex; 4]> = LazyLock::new(|| {
        [
            r"(?s)<!--.*?-->",
            r"\[\d+(?:\s*,\s*\d+)*\]",
            r"</?[A-Za-z][^<>]*>",
            r"(?m)^\s*(?:>\s*)*\d+[.)]\s|^\s*:{3,}\s*\w*|\{#[^}]*\}",
        ]
        .map(pattern)
    });
    static LINK: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"!?\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)"#));
    let parts = parts(markdown).into_iter().map(|part| match part {
        Part::Code(code) => unescaped(code),
        Part::Prose(prose) => {
            let mut text = LINK.replace_all(&prose, "$1").into_owned();
            for removed in &*REMOVED {
                text = removed.replace_all(&text, " ").into_owned();
            }
            unescaped(&text)
        }
    });
    parts.collect::<Vec<_>>().join(" ").replace('*', "")
}

enum Part<'a> {
    Prose(String),
    Code(&'a str),
}

/// Splits Markdown into code, fenced or inline, and the prose between.
fn parts(markdown: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut fence: Option<&str> = None;
    for line in markdown.split('\n') {
        match (fence_of(line), fence) {
            (Some(ticks), None) => fence = Some(&ticks[..3]),
            (Some(ticks), Some(open)) if ticks.starts_with(open) => fence = None,
            (_, Some(_)) => parts.push(Part::Code(line)),
            (None, None) => {
                for (at, part) in line.split('`').enumerate() {
                    match parts.last_mut() {
                        _ if at % 2 == 1 && !part.is_empty() => parts.push(Part::Code(part)),
                        Some(Part::Prose(prose)) => {
                            let joint = if at == 0 { "\n" } else { "" };
                            prose.push_str(joint);
                            prose.push_str(part);
                        }
                        _ => parts.push(Part::Prose(part.to_owned())),
                    }
                }
            }
        }
    }
    parts
}

/// Returns the backticks or tildes of a fence at the start of a line, also in a quote.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
    let first = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let ticks = &line[..line.len() - line.trim_start_matches(first).len()];
    (ticks.len() >= 3).then_some(ticks)
}

/// Replaces the character references that books use.
fn unescaped(text: &str) -> String {
    static REFERENCE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"&(?:#(\d{1,7})|(amp|lt|gt|quot|apos|nbsp));"));
    let replaced = REFERENCE.replace_all(text, |found: &Captures<'_>| {
        let number = found.get(1).and_then(|digits| digits.as_str().parse().ok());
        match found.get(2).map(|name| name.as_str()) {
            Some("lt") => '<',
            Some("gt") => '>',
            Some("quot") => '"',
            Some("apos") => '\'',
            Some("nbsp") => '\u{a0}',
            Some(_) => '&',
            None => number
                .and_then(char::from_u32)
                .unwrap_or(char::REPLACEMENT_CHARACTER),
        }
        .to_string()
    });
    replaced.into_owned()
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected numbers come from `score_answers.py`.
    #[test]
    fn an_answer_has_the_share_of_the_labelled_words_that_it_quotes() {
        for (answer, alternatives, needs, expected) in [
            (
                "Wash the **blade** with `soap` and water. [1]",
                vec![vec!["Wash the blade with `soap` and water."]],
                vec!["soap||oil", "gloves"],
                [1.0, 0.5, 1.0],
            ),
            (
                "#### Blade\n\n1. Wash the [blade](/a#b).\n2. Dry it. [1]",
                vec![vec!["1. Wash the [blade](./b.md).\n2. Dry it.\n3. Oil it."]],
                vec!["dry it"],
                [0.769_23, 1.0, 0.0],
            ),
            (
                "```sh title=\"x\"\nrun --fast * 2\n```\n\nThen wait. [1]",
                vec![vec!["```sh\nrun --fast * 2\n```"], vec!["Wait for it."]],
                vec!["--fast"],
                [0.75, 1.0, 1.0],
            ),
            (
                "a b c d e f g",
                vec![vec!["b c x y", "e f g"]],
                vec!["x"],
                [0.428_57, 0.0, 0.0],
            ),
            (
                "Nothing of the kind.",
                vec![vec!["Wash the blade."]],
                vec!["x"],
                [0.0; 3],
            ),
        ] {
            let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
            let alternatives: Vec<Vec<String>> = alternatives.into_iter().map(owned).collect();
            let scored = quoted(answer, &alternatives, &owned(needs));
            let scored = [scored.f1, scored.needs, scored.whole];
            for (is, expected) in scored.into_iter().zip(expected) {
                assert!((is - expected).abs() < 1e-5, "{answer}: {scored:?}");
            }
        }
    }
}
