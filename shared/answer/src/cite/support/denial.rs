//! Detects English sentences that only say what the passages do not contain. Such sentences claim nothing that a passage could support.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

/// `The passages do not mention …`, `There is no information about …`, `… is not covered in the book`.
static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    let source = r"(?:(?:the|these|those|this|any\ of\ the|none\ of\ the|your)\s)?
        (?:(?:provided|given|available|supplied|retrieved|above|cited)\s)?
        (?:passages?|books?|textbook|documentation|docs|excerpts?|contexts?|sources?|sections?|texts?|material|information)
        (?:\s(?:provided|given|supplied|above|here|in\ the\ (?:book|passages?)))?";
    let how = r"(?:\w+ly\s|further\s|any\ further\s)?";
    let covers = r"(?:mention|say|specify|specifie|describe|explain|state|discus|discusse|addres|addresse|answer|cover|clarify|clarifie|elaborate|
        (?:contain|include|provide|give|offer|have|ha)s?\s(?:any\s|an?\s|enough\s|sufficient\s|specific\s|explicit\s|more\s|further\s|direct\s|detailed\s)*
        (?:information|details?|answers?|mention|explanations?|examples?|guidance|instructions?|definitions?|descriptions?))s?\b";
    let covered = r"(?:mentioned|specified|described|explained|stated|discussed|addressed|answered|covered|provided|given|detailed|documented)";
    let no = r"(?:do(?:es)?\s?n[o'’]t|do(?:es)?\ not|did\ not|didn['’]t|cannot|never)";
    let things = r"(?:mention|information|details?|explanation|description|definition|reference\ to|guidance|instructions?)";
    RegexBuilder::new(&format!(
        r"^(?:\w+,\s|but\s|and\s)?(?:
            {source}\s{no}\s{how}{covers}
            |none\ of\ (?:the|these)\s{source}\s{how}{covers}
            |there(?:\ is|['’]s|\ are)\ no\s(?:\w+\s)?{things}\b
            |no\s(?:\w+\s)?{things}\s.*(?:is|are)\s{how}{covered}
            |.*\b(?:is|are|was|were)\s?(?:not|n['’]t|never)\s{how}{covered}\s(?:in|by)\s{source}
        )"
    ))
    .case_insensitive(true)
    .ignore_whitespace(true)
    .build()
    .expect("the pattern is a constant")
});
/// Words after which a sentence continues with a claim.
static CONTRAST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)[,;–—]\s(?:but|however|though|although|while|whereas|yet|so|instead|only)\b|;")
        .expect("the pattern is a constant")
});

/// True if a sentence only says that the passages or the book lack something.
pub(super) fn is_denial(sentence: &str) -> bool {
    DENIAL.is_match(sentence) && !CONTRAST.is_match(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_passages_leave_open_is_no_claim() {
        for sentence in [
            "The passages do not mention Windows.",
            "The book doesn't say how long it takes.",
            "However, the provided passages do not specify the default timeout.",
            "The passages provided do not explicitly state which version is needed.",
            "The given context does not contain any specific information about Python.",
            "None of the passages explains how to publish it.",
            "There is no mention of `jsdom` in the passages.",
            "There are no further details on its price.",
            "No information about the license is given.",
            "The price of the robot is not mentioned in the passages.",
            "How to remove it is not explicitly covered in the book.",
        ] {
            assert!(is_denial(sentence), "{sentence}");
        }
    }

    #[test]
    fn what_says_something_is_a_claim() {
        for sentence in [
            "The passages do not mention Windows, but Linux needs 8 GB.",
            "The book says how long it takes.",
            "The server does not mention its version.",
            "The text does not contain spaces.",
            "A section does not include its children.",
            "There is no default timeout.",
            "No plugins are given.",
            "The option is not set in the config.",
            "It is not documented by the compiler.",
        ] {
            assert!(!is_denial(sentence), "{sentence}");
        }
    }
}
