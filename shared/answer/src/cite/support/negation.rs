//! Detects English sentences that say the opposite: a word is replaced by its opposite, or a negation was added or removed.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use text::{Words, sentences};

const NEGATIONS: [&str; 24] = [
    "not", "no", "never", "none", "nothing", "neither", "nor", "without", "cannot", "unable",
    "dont", "doesnt", "isnt", "arent", "wasnt", "werent", "wont", "wouldnt", "shouldnt", "didnt",
    "hasnt", "havent", "couldnt", "cant",
];
/// A negation after one of these words does not deny the text that follows: `not only`, `no more than`.
const NOT_AFTER: [&str; 10] = [
    "only",
    "just",
    "necessarily",
    "all",
    "every",
    "more",
    "less",
    "fewer",
    "later",
    "than",
];
/// Words that negate a statement without a `not` or `no`.
const IMPLICIT: &str = "instead rather unless except stop stops stopped avoid avoids avoiding prevent prevents preventing eliminate \
    eliminates eliminating lack lacks lacking missing absent fail fails failed failing ignore ignores ignored ignoring skip skips \
    skipped disable disables disabled remove removes removed omit omits omitted exclude excludes excluded rarely non free";
const PAIRS: &str = "enabled/disabled enable/disable enables/disables enabling/disabling true/false always/never required/optional \
    mandatory/optional before/after first/last minimum/maximum min/max most/least higher/lower highest/lowest larger/smaller \
    largest/smallest increase/decrease increases/decreases faster/slower above/below inside/outside include/exclude \
    includes/excludes included/excluded allowed/forbidden add/remove adds/removes added/removed synchronous/asynchronous \
    synchronously/asynchronously all/none same/different public/private static/dynamic internal/external readable/writable \
    local/remote left/right top/bottom upper/lower automatic/manual automatically/manually deprecated/recommended \
    explicit/implicit explicitly/implicitly";
/// The number of stems after a negation that it certainly denies.
const SCOPE: usize = 3;
/// Sentences of a passage that are compared with a claim.
const NEAREST: usize = 2;

static OPPOSITES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    PAIRS
        .split_whitespace()
        .filter_map(|pair| pair.split_once('/'))
        .collect()
});
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[^\W_]+(?:['’][a-z]+)?"));
static CUT: LazyLock<Regex> = LazyLock::new(|| pattern(r"[,;:!?()]|\.\s"));

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

/// A word, its stem if it is not a stop word, and whether it negates.
#[derive(Debug)]
struct Token {
    word: String,
    stem: Option<String>,
    negates: bool,
}

/// The stems that a negation denies: the certain ones, and all up to the end of its clause.
#[derive(Debug)]
struct Scope {
    narrow: HashSet<String>,
    wide: HashSet<String>,
}

/// A sentence, split into clauses.
#[derive(Debug)]
pub(super) struct Sentence {
    clauses: Vec<Vec<Token>>,
    scopes: Vec<Scope>,
    words: HashSet<String>,
    stems: HashSet<String>,
}

#[derive(Debug)]
pub(super) struct Sentences {
    all: Vec<Sentence>,
    words: HashSet<String>,
}

impl Sentences {
    pub(super) fn new(text: &str, words: &Words) -> Self {
        let sentences = text.lines().flat_map(sentences);
        let sentences = sentences.flat_map(|sentence| sentence.split("; "));
        let all: Vec<Sentence> = sentences
            .map(|sentence| Sentence::new(sentence, words))
            .collect();
        let words = all
            .iter()
            .flat_map(|sentence| sentence.words.iter().cloned())
            .collect();
        Self { all, words }
    }

    /// True if a sentence says the opposite of the text. A negation whose only denied word is in `common` is ignored.
    pub(super) fn contradict(&self, said: &Sentence, common: &HashSet<String>) -> bool {
        self.has_opposite(said) || self.is_flipped(said, common)
    }

    fn has_opposite(&self, said: &Sentence) -> bool {
        OPPOSITES
            .iter()
            .flat_map(|&(x, y)| [(x, y), (y, x)])
            .any(|(x, y)| {
                said.words.contains(x)
                    && !said.words.contains(y)
                    && self.words.contains(y)
                    && !self.words.contains(x)
            })
    }

    /// True if either the sentence or the nearest sentences of the text have a negation that the other lacks.
    fn is_flipped(&self, said: &Sentence, common: &HashSet<String>) -> bool {
        self.nearest(said).any(|near| {
            let added = said.scopes.iter().any(|scope| {
                scope.tells(common)
                    && scope.is_in(&near.stems)
                    && !self.all.iter().any(|other| other.denies(scope))
                    && !near.is_doubtful(scope, said)
            });
            let dropped = near.scopes.iter().any(|scope| {
                scope.tells(common)
                    && scope.is_in(&said.stems)
                    && !said.denies(scope)
                    && (scope.narrow.len() > 1 || near.scopes.len() == 1)
                    && !said.is_doubtful(scope, near)
            });
            added || dropped
        })
    }

    /// Returns the sentences with most of a claim's stems, each with at least half of them.
    fn nearest(&self, said: &Sentence) -> impl Iterator<Item = &Sentence> {
        let claimed = said.claimed();
        let least = claimed.len().max(1);
        let mut sentences: Vec<(usize, &Sentence)> = self
            .all
            .iter()
            .map(|sentence| (sentence.count(&claimed), sentence))
            .collect();
        sentences.sort_by_key(|(held, _)| std::cmp::Reverse(*held));
        sentences
            .into_iter()
            .take(NEAREST)
            .filter(move |(held, _)| held * 2 >= least)
            .map(|(_, sentence)| sentence)
    }
}

impl Scope {
    /// True if the negation is certain to deny something. A single word of `common` does not count.
    fn tells(&self, common: &HashSet<String>) -> bool {
        match self.narrow.len() {
            0 => false,
            1 => self.narrow.is_disjoint(common),
            _ => true,
        }
    }

    /// True if a text has two thirds of the certainly denied stems.
    fn is_in(&self, stems: &HashSet<String>) -> bool {
        3 * self.narrow.intersection(stems).count() >= 2 * self.narrow.len()
    }
}

impl Sentence {
    pub(super) fn new(text: &str, words: &Words) -> Self {
        let mut clauses: Vec<Vec<Token>> = vec![Vec::new()];
        let mut end = None;
        for found in WORD.find_iter(text) {
            let between = end.map_or("", |end| &text[end..found.start()]);
            if CUT.is_match(between) {
                clauses.push(Vec::new());
            }
            end = Some(found.end());
            let is_prefix = text[found.end()..].starts_with('-');
            if let Some(clause) = clauses.last_mut() {
                clause.push(Token::new(found.as_str(), is_prefix, words));
            }
        }
        let tokens = clauses.iter().flatten();
        Self {
            scopes: clauses.iter().flat_map(|clause| scopes(clause)).collect(),
            words: tokens.clone().map(|token| token.word.clone()).collect(),
            stems: tokens.filter_map(|token| token.stem.clone()).collect(),
            clauses,
        }
    }

    /// True if all words of the sentence, stop words aside, are in the question. A negation is not a stop word here.
    pub(super) fn repeats(&self, question: &Self) -> bool {
        let mut tokens = self.clauses.iter().flatten();
        !self.stems.is_empty()
            && tokens.all(|token| match &token.stem {
                Some(stem) => question.stems.contains(stem),
                None => !token.negates || question.words.contains(&token.word),
            })
    }

    /// Counts the stems that the sentence has.
    fn count(&self, stems: &HashSet<&str>) -> usize {
        stems
            .iter()
            .filter(|stem| self.stems.contains(**stem))
            .count()
    }

    /// True if the sentence may deny what the scope certainly denies.
    fn denies(&self, scope: &Scope) -> bool {
        self.scopes
            .iter()
            .any(|own| !scope.narrow.is_disjoint(&own.wide))
    }

    /// Returns the sentence's stems without negations.
    fn claimed(&self) -> HashSet<&str> {
        let tokens = self.clauses.iter().flatten().filter(|token| !token.negates);
        tokens.filter_map(|token| token.stem.as_deref()).collect()
    }

    /// True if the scope's clause negates in another way, with a word that the other sentence lacks.
    fn is_doubtful(&self, scope: &Scope, other: &Self) -> bool {
        self.clauses.iter().any(|clause| {
            let mut stems = clause.iter().filter_map(|token| token.stem.as_ref());
            let mut words = clause.iter().map(|token| &token.word);
            stems.any(|stem| scope.narrow.contains(stem))
                && words.any(|word| {
                    !other.words.contains(word)
                        && IMPLICIT.split_whitespace().any(|negation| negation == word)
                })
        })
    }
}

impl Token {
    fn new(text: &str, is_prefix: bool, words: &Words) -> Self {
        let word = text.to_lowercase().replace('’', "'");
        let plain = word.replace('\'', "");
        let negates = (word.ends_with("n't") || NEGATIONS.contains(&plain.as_str())) && !is_prefix;
        let stem = text
            .split(['\'', '’'])
            .next()
            .and_then(|word| words.term(word));
        Self {
            word,
            stem,
            negates,
        }
    }
}

/// Returns the scopes of a clause's negations.
fn scopes(clause: &[Token]) -> Vec<Scope> {
    let mut scopes = Vec::new();
    for (at, token) in clause.iter().enumerate() {
        let next = clause.get(at + 1).map_or("", |next| &next.word);
        let before = at.checked_sub(1).map_or("", |before| &clause[before].word);
        if !token.negates || NOT_AFTER.contains(&next) || before == "or" {
            continue;
        }
        let rest = &clause[at + 1..];
        // “No wind and a low moon” denies only the wind.
        let end = rest.windows(2).position(|pair| {
            matches!(&*pair[0].word, "and" | "but") && matches!(&*pair[1].word, "a" | "an" | "the")
        });
        let end = end.unwrap_or(rest.len());
        let denied = rest[..end].iter().take_while(|token| !token.negates);
        let stems: Vec<String> = denied.filter_map(|token| token.stem.clone()).collect();
        // “The server, not the client” alone claims nothing.
        let sure = if at == 0 && token.word == "not" {
            0
        } else {
            SCOPE
        };
        if !stems.is_empty() {
            scopes.push(Scope {
                narrow: stems.iter().take(sure).cloned().collect(),
                wide: stems.into_iter().collect(),
            });
        }
    }
    scopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::Language;

    #[test]
    fn what_is_turned_round_is_found() {
        let words = Words::new(Language::ENGLISH);
        let passage = "Watch mode is enabled by default. The cache is not cleared between runs, unless you ask for it.\nA clear sky, no wind and a low moon are signs of frost. Mocks are hoisted to the top.";
        let text = Sentences::new(passage, &words);
        let contradicts =
            |sentence| text.contradict(&Sentence::new(sentence, &words), &HashSet::new());
        for sentence in [
            "Watch mode is disabled by default.",
            "The cache is cleared between runs.",
            "Mocks are not hoisted to the top.",
            "Mocks aren't hoisted to the top.",
        ] {
            assert!(contradicts(sentence), "{sentence}");
        }
        for sentence in [
            "Watch mode is enabled by default.",
            "The cache isn't cleared between runs.",
            "Mocks are not only hoisted to the top.",
            "A clear sky and a low moon are signs of frost.",
            "Hoisting moves mocks to the top.",
        ] {
            assert!(!contradicts(sentence), "{sentence}");
        }
    }
}
