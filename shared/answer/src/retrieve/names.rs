//! Finds code and product names in a question: `testEnvironment`, `--watch`, `happy-dom`, `24.04`.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

/// Words joined without spaces.
static JOINED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\w+(?:[.\-/:@#]+\w+)+").expect("the pattern is a constant"));

/// The names in a question, in lower case: words with an inner capital, `_`, `$`, or `.`, `/`, `-` inside, and words that begin with `--` or `@`.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: HashSet<String>,
}

impl Names {
    pub(super) fn new(question: &str) -> Self {
        let names = question
            .split_whitespace()
            .map(|word| word.trim_matches(['.', ',', '?', '!', '`', '"', '\'', '(', ')']))
            .filter(|word| is_name(word))
            .map(str::to_lowercase);
        Self {
            names: names.collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// True if a heading is one of the names, or if its first word is (`testEnvironment [node]`), or the part after its last dot
    /// (`expect.extend(matchers)`).
    pub(super) fn are_in(&self, heading: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let whole = heading.trim_matches('`').to_lowercase();
        let first = whole
            .trim_start_matches('.')
            .split(|c: char| c.is_whitespace() || "([=<:".contains(c))
            .next()
            .unwrap_or_default();
        let last = first.rsplit('.').next().unwrap_or_default();
        let mut parts = [&whole, first, last].into_iter();
        parts.any(|name| self.names.contains(name))
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with("--")
        || word.starts_with('@')
        || word.contains(['_', '$'])
        || has_inner_capital(word)
        || JOINED.is_match(word)
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
    use super::*;

    #[test]
    fn an_exact_heading_is_told_from_one_that_begins_alike() {
        let is_headed = |heading: &str, question: &str| Names::new(question).are_in(heading);
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
}
