//! Finds code and product names in a question: `testEnvironment`, `--watch`, `happy-dom`, `24.04`.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::ScoredChunk;
use crate::words::{TermNumbers, split};

/// Words joined without spaces.
static JOINED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\w+(?:[.\-/:@#]+\w+)+").expect("the pattern is a constant"));

/// A question with at most this many words may be only a name.
const SHORT: usize = 2;

/// Returns the names in a question, in lower case: words with an inner capital, `_`, `$`, or `.`, `/`, `-` inside, words that begin with `--` or `@`,
/// and all words of a question of one or two words.
pub(super) fn names(question: &str) -> HashSet<String> {
    let around = |c: char| ".,?!`\"'()".contains(c);
    let words: Vec<&str> = question
        .split_whitespace()
        .map(|word| word.trim_matches(around))
        .filter(|word| !word.is_empty())
        .collect();
    let is_short = words.len() <= SHORT;
    let is_name = |word: &&str| {
        is_short
            || word.starts_with("--")
            || word.starts_with('@')
            || word.contains(['_', '$'])
            || has_inner_capital(word)
            || JOINED.is_match(word)
    };
    let names = words.into_iter().filter(is_name);
    names.map(str::to_lowercase).collect()
}

/// True if a heading is one of the names, or if its first word is (`testEnvironment [node]`), or the part after its last dot
/// (`expect.extend(matchers)`).
pub(super) fn is_headed(heading: &str, names: &HashSet<String>) -> bool {
    if names.is_empty() {
        return false;
    }
    let whole = heading.trim_matches('`').to_lowercase();
    let ends = |c: char| c.is_whitespace() || "([=<:".contains(c);
    let first = whole.trim_start_matches('.').split(ends).next();
    let first = first.unwrap_or_default();
    let last = first.rsplit('.').next().unwrap_or_default();
    [&whole, first, last]
        .into_iter()
        .any(|name| names.contains(name))
}

/// Returns the names in a question that no chunk has: joined words that are adjacent in none, and words with a digit, `_` or an inner capital that
/// occur in none. `terms` has read the chunks.
pub(super) fn unknown(
    question: &str,
    chunks: &[ScoredChunk],
    terms: &TermNumbers<'_>,
) -> Vec<String> {
    let joined = JOINED.find_iter(question).map(|found| found.as_str());
    let joined = joined.filter(|name| !stands_in(name, chunks));
    let words = split(question).filter(|word| is_identifier(word) && !terms.knows(word));
    joined.chain(words).map(str::to_lowercase).collect()
}

/// True if the words of a name are adjacent in some chunk.
fn stands_in(name: &str, chunks: &[ScoredChunk]) -> bool {
    let spaced = |text: &str| {
        let words: Vec<&str> = split(text).collect();
        format!(" {} ", words.join(" ").to_lowercase())
    };
    let name = spaced(name);
    let mut texts = chunks.iter().map(|found| found.chunk.searched_text());
    texts.any(|text| spaced(&text).contains(&name))
}

fn is_identifier(word: &str) -> bool {
    word.contains('_') || word.contains(|c: char| c.is_ascii_digit()) || has_inner_capital(word)
}

/// True for `testEnvironment`, not for `DNS` or `Jest`.
fn has_inner_capital(word: &str) -> bool {
    let next = word.chars().skip(1);
    word.chars()
        .zip(next)
        .any(|(c, next)| c.is_lowercase() && next.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::super::fusion::tests::section;
    use super::*;
    use crate::words::{Language, Words};

    #[test]
    fn an_exact_heading_is_told_from_one_that_begins_alike() {
        let names = names("set `testEnvironment` to jsdom");
        assert!(is_headed("testEnvironment [node | jsdom]", &names));
        assert!(!is_headed("testEnvironmentOptions [Object]", &names));
        assert!(!is_headed("to", &names) && !is_headed("jsdom", &names));
        assert!(is_headed(
            "expect.extend(matchers)",
            &super::names("what is expect.extend?")
        ));
        assert!(is_headed(".toBe(value)", &super::names("toBe")));
        assert!(is_headed("--watch", &super::names("what does --watch do")));
        assert!(!is_headed("The", &super::names("what is the node")));
    }

    #[test]
    fn names_that_no_chunk_has_are_unknown() {
        let text = "Use happy and dom, testEnvironment, expect.soft and step-by-step in 24.04.";
        let chunks = [section("page", "x", text, 0.5, "2026")];
        let words = Words::of(Language::ENGLISH);
        let mut terms = TermNumbers::of(&words);
        terms.read(text);
        let unknown = |question: &str| unknown(question, &chunks, &terms);
        for known in [
            "how to testEnvironment",
            "expect.soft",
            "step-by-step in 24.04?",
            "plain words",
        ] {
            assert_eq!(unknown(known), [""; 0], "{known}");
        }
        for (question, name) in [
            ("use happy-dom", "happy-dom"),
            ("in 26.04", "26.04"),
            ("setup ros3 now", "ros3"),
            ("what is testTimeout", "testtimeout"),
        ] {
            assert_eq!(unknown(question)[0], name);
        }
    }
}
