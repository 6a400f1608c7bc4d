//! Finds code and product names in a question: `testEnvironment`, `--watch`, `happy-dom`, `24.04`.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::ScoredChunk;
use crate::words::{Language, TermNumbers, split};

/// Words joined without spaces.
static JOINED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\w+(?:[.\-/:@#]+\w+)+").expect("the pattern is a constant"));

/// A question with at most this many words may be only a name.
const SHORT: usize = 2;

/// Words of a heading that compares things.
const COMPARING: [&str; 5] = ["vs", "versus", "comparison", "difference", "differences"];

/// The names in a question, in lower case: words with an inner capital, `_`, `$`, or `.`, `/`, `-` inside, words that begin with `--` or `@`, and all
/// words of a question of one or two words.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: HashSet<String>,
    /// All words of the question.
    words: HashSet<String>,
}

impl Names {
    pub(super) fn of(question: &str) -> Self {
        let around = |c: char| ".,?!`\"'()".contains(c);
        let words: Vec<&str> = question
            .split_whitespace()
            .map(|word| word.trim_matches(around))
            .filter(|word| !word.is_empty())
            .collect();
        let is_short = words.len() <= SHORT;
        let is_name = |word: &&&str| {
            is_short
                || word.starts_with("--")
                || word.starts_with('@')
                || word.contains(['_', '$'])
                || has_inner_capital(word)
                || JOINED.is_match(word)
        };
        let names = words.iter().filter(is_name);
        Self {
            names: names.map(|word| word.to_lowercase()).collect(),
            words: split(question).map(str::to_lowercase).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// True if a heading is one of the names, or if its first word is (`testEnvironment [node]`), or the part after its last dot
    /// (`expect.extend(matchers)`), or if it compares only things that the question has (`jsdom vs happy-dom`).
    pub(super) fn are_in(&self, heading: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let whole = heading.trim_matches('`').to_lowercase();
        let ends = |c: char| c.is_whitespace() || "([=<:".contains(c);
        let first = whole.trim_start_matches('.').split(ends).next();
        let first = first.unwrap_or_default();
        let last = first.rsplit('.').next().unwrap_or_default();
        let mut parts = [&whole, first, last].into_iter();
        parts.any(|name| self.names.contains(name)) || self.are_compared_in(&whole)
    }

    fn are_compared_in(&self, heading: &str) -> bool {
        let (comparing, things): (Vec<&str>, Vec<&str>) =
            split(heading).partition(|word| COMPARING.contains(word));
        let mut named = things.iter().filter(|thing| self.names.contains(**thing));
        !comparing.is_empty()
            && named.next().is_some()
            && things.iter().all(|thing| self.words.contains(*thing))
    }
}

/// Returns the names in a question that no chunk has: joined words that are adjacent in none, and words with a digit, `_` or an inner capital that
/// occur in none; in English also [capitalised words](capitalised). `terms` has read the chunks.
pub(super) fn unknown(
    question: &str,
    language: Language,
    chunks: &[ScoredChunk],
    terms: &TermNumbers<'_>,
) -> Vec<String> {
    let joined = JOINED.find_iter(question).map(|found| found.as_str());
    let joined = joined.filter(|name| !stands_in(name, chunks));
    let capitalised = match language {
        Language::ENGLISH => capitalised(question),
        _ => Vec::new(),
    };
    let is_name = |word: &str| is_identifier(word) || capitalised.contains(&word);
    let absent = split(question).filter(|word| !terms.knows(word));
    let absent: Vec<&str> = absent.collect();
    // If the chunks lack most of its words, the question may be in another language, which capitalises other words.
    let is_foreign = 2 * absent.len() > split(question).count();
    let words = absent
        .into_iter()
        .filter(|word| is_name(word) && (!is_foreign || is_identifier(word)));
    joined.chain(words).map(str::to_lowercase).collect()
}

/// Returns the words of an English question that begin with a capital letter inside a sentence: names such as Kafka. None if most words do, as in a
/// title.
fn capitalised(question: &str) -> Vec<&str> {
    let mut others = 0;
    let mut capitalised = Vec::new();
    let mut end = 0;
    for word in split(question) {
        let start = end + question[end..].find(word).unwrap_or(0);
        let before = question[..start].trim_end();
        end = start + word.len();
        let begins = before.is_empty() || before.ends_with(['.', '?', '!', ':', '"', '“', '(']);
        if !word.starts_with(char::is_uppercase) {
            others += 1;
        } else if !begins && word.len() > 1 {
            capitalised.push(word);
        }
    }
    if capitalised.len() > others {
        capitalised.clear();
    }
    capitalised
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
        let is_headed = |heading: &str, question: &str| Names::of(question).are_in(heading);
        let question = "set `testEnvironment` to jsdom";
        assert!(is_headed("testEnvironment [node | jsdom]", question));
        assert!(!is_headed("testEnvironmentOptions [Object]", question));
        assert!(!is_headed("to", question) && !is_headed("jsdom", question));
        assert!(is_headed(
            "expect.extend(matchers)",
            "what is expect.extend?"
        ));
        assert!(is_headed(".toBe(value)", "toBe"));
        assert!(is_headed("--watch", "what does --watch do"));
        assert!(!is_headed("The", "what is the node"));
    }

    #[test]
    fn a_heading_that_compares_what_is_asked_about_has_its_names() {
        let question = Names::of("difference between toEqual and equality");
        assert!(question.are_in("toEqual vs. Equality"));
        assert!(!question.are_in("Equality vs. toEqual and toBe"));
        assert!(!question.are_in("Setting toEqual"));
        assert!(!Names::of("node versus browser").are_in("Node vs browser"));
    }

    #[test]
    fn names_that_no_chunk_has_are_unknown() {
        let text = "Use happy and dom, testEnvironment, expect.soft and step-by-step in 24.04.";
        let chunks = [section("page", "x", text, 0.5, "2026")];
        let words = Words::of(Language::ENGLISH);
        let mut terms = TermNumbers::of(&words);
        terms.read(text);
        let unknown = |question: &str| unknown(question, Language::ENGLISH, &chunks, &terms);
        for known in [
            "how to testEnvironment",
            "expect.soft",
            "step-by-step in 24.04?",
            "Kafka in use?",
            "use it? Kafka",
            "How To Use It With Kafka In Steps",
            "Wie benutzt man Kafka mit step",
        ] {
            assert_eq!(unknown(known), [""; 0], "{known}");
        }
        for (question, name) in [
            ("use happy-dom", "happy-dom"),
            ("in 26.04", "26.04"),
            ("setup ros3 now", "ros3"),
            ("what is testTimeout", "testtimeout"),
            ("how do I use happy in Kafka?", "kafka"),
        ] {
            assert_eq!(unknown(question)[0], name);
        }
    }
}
