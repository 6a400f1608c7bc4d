//! Detects English questions that cannot be understood without the conversation.
//!
//! A question depends on the conversation if it is elliptical ("And why?", "On Windows?"), or if it has a pronoun without an antecedent. An
//! antecedent is a noun of an earlier clause: a pronoun cannot refer to a noun of its own clause (principle B of Chomsky's binding theory, 1981), so
//! "What is the difference between them?" has none. Possessives and headless nouns ("its", "the second one") can also refer to a noun of their own
//! clause.

use crate::retrieve::{Language, Words};

/// Words that begin a clause.
const OPENERS: [&str; 22] = [
    "and", "or", "but", "so", "then", "if", "when", "while", "because", "since", "until", "unless",
    "although", "though", "after", "before", "where", "how", "why", "what", "which", "who",
];
/// Openers that are also prepositions: they begin a clause only if more than a pronoun follows.
const PREPOSITIONS_TOO: [&str; 4] = ["since", "until", "after", "before"];
const QUESTION_WORDS: [&str; 9] = [
    "what", "which", "who", "whom", "whose", "where", "when", "why", "how",
];
/// Auxiliaries, including the contracted ones of `what's`, `they're` and `I'll`.
const AUXILIARIES: [&str; 30] = [
    "am", "is", "are", "was", "were", "be", "s", "re", "do", "does", "did", "don", "doesn", "didn",
    "isn", "aren", "has", "have", "had", "can", "could", "will", "would", "ll", "d", "shall",
    "should", "must", "may", "might",
];
const PREPOSITIONS: [&str; 20] = [
    "about", "after", "at", "before", "between", "by", "during", "for", "from", "in", "inside",
    "into", "like", "of", "on", "to", "under", "using", "with", "without",
];
const CONNECTIVES: [&str; 7] = ["and", "but", "or", "so", "then", "also", "plus"];
/// Imperatives that ask for an answer.
const REQUESTS: [&str; 12] = [
    "compare",
    "continue",
    "define",
    "describe",
    "elaborate",
    "explain",
    "give",
    "go",
    "list",
    "show",
    "summarize",
    "tell",
];
/// Words that describe the answer and name no subject. They need a complement that names one: "an example of".
const OF_THE_ANSWER: [&str; 24] = [
    "again",
    "another",
    "anything",
    "detail",
    "details",
    "difference",
    "else",
    "example",
    "examples",
    "explanation",
    "further",
    "instead",
    "mean",
    "means",
    "more",
    "next",
    "other",
    "please",
    "really",
    "something",
    "sure",
    "understand",
    "way",
    "ways",
];
/// Words for the form of an answer, in requests without a subject: "in simpler words", "show me the code".
const OF_ITS_FORM: [&str; 46] = [
    "beginner",
    "beginners",
    "brief",
    "briefly",
    "bullet",
    "bullets",
    "clearer",
    "code",
    "depth",
    "easier",
    "eli5",
    "english",
    "five",
    "form",
    "got",
    "kid",
    "layman",
    "list",
    "longer",
    "m",
    "make",
    "one",
    "paragraph",
    "paraphrase",
    "plain",
    "points",
    "put",
    "rephrase",
    "reword",
    "sample",
    "samples",
    "see",
    "sentence",
    "sentences",
    "short",
    "shorten",
    "shorter",
    "simple",
    "simpler",
    "simplify",
    "snippet",
    "step",
    "steps",
    "summary",
    "table",
    "words",
];
/// Prepositions that begin a complement of [`OF_THE_ANSWER`].
const COMPLEMENTS: [&str; 5] = ["of", "about", "between", "to", "for"];
/// Words followed by a verb.
const BEFORE_VERBS: [&str; 9] = ["i", "you", "we", "they", "it", "to", "not", "t", "please"];
const PRONOUNS: [&str; 6] = ["it", "they", "them", "he", "she", "him"];
const POSSESSIVES: [&str; 3] = ["its", "their", "his"];
/// Words after "the" whose noun may be left out: "the second", "the same".
const HEADLESS: [&str; 11] = [
    "first", "second", "third", "last", "two", "three", "former", "latter", "same", "other",
    "others",
];
/// Nouns after "this" that refer to the page or book, not to the conversation.
const WHERE_A_READER_IS: [&str; 13] = [
    "book",
    "textbook",
    "chapter",
    "lesson",
    "module",
    "page",
    "section",
    "part",
    "course",
    "tutorial",
    "guide",
    "site",
    "documentation",
];
/// Adjectives after which "it" is a real pronoun although "to" follows: "is it able to".
const OF_A_SUBJECT: [&str; 12] = [
    "able",
    "connected",
    "due",
    "equal",
    "going",
    "limited",
    "meant",
    "related",
    "similar",
    "specific",
    "supposed",
    "used",
];
/// Verbs whose "it" is impersonal if a clause follows: "does it take to".
const IMPERSONAL: [&str; 4] = ["make", "matter", "mean", "take"];
/// Words after "that" which make it a conjunction: "check that the node runs".
const DETERMINERS: [&str; 15] = [
    "a", "an", "the", "my", "your", "our", "i", "you", "we", "it", "they", "there", "all", "each",
    "every",
];

/// True if a question cannot be understood without the conversation.
pub(super) fn leans_back(question: &str) -> bool {
    let sentence = Sentence::of(question);
    sentence.is_elliptical() || sentence.has_dangling_pronoun() || sentence.has_no_subject()
}

/// True if a question has no word to search for: it asks for the previous answer in another form, or for more of it.
pub(super) fn asks_for_form(question: &str) -> bool {
    Sentence::of(question).has_no_subject()
}

/// True if a question asks for the code of the previous answer.
pub(super) fn asks_for_code(question: &str) -> bool {
    let sentence = Sentence::of(question);
    let names_code = |word: &Word| is(&word.text, &["code", "snippet", "sample", "example"]);
    sentence.has_no_subject() && sentence.words.iter().any(names_code)
}

/// A question's words, in lower case.
struct Sentence {
    words: Vec<Word>,
}

struct Word {
    text: String,
    /// The clause's index.
    clause: usize,
    /// False for stop words and words about the answer, which name no subject.
    is_content: bool,
    /// True if punctuation follows the word.
    ends: bool,
}

/// Where the antecedent of a pronoun may be.
#[derive(PartialEq)]
enum Antecedent {
    InEarlierClause,
    Earlier,
}

impl Sentence {
    fn of(question: &str) -> Self {
        let stop_words = Words::of(Language::ENGLISH);
        let mut words: Vec<Word> = Vec::new();
        let lower = question.to_lowercase().replace('’', "'");
        for token in lower.split_whitespace() {
            let bare = token.trim_matches(|c: char| !c.is_alphanumeric());
            for text in bare.split('\'').filter(|text| !text.is_empty()) {
                let is_closed = [
                    &OPENERS[..],
                    &AUXILIARIES,
                    &PREPOSITIONS,
                    &OF_THE_ANSWER,
                    &REQUESTS,
                ]
                .iter()
                .any(|list| is(text, list));
                words.push(Word {
                    is_content: !is_closed && !stop_words.terms(text).is_empty(),
                    text: text.to_owned(),
                    clause: 0,
                    ends: false,
                });
            }
            let follows =
                token.ends_with(|c: char| !c.is_alphanumeric() && !matches!(c, '"' | '\'' | '`'));
            if let (true, Some(last)) = (follows, words.last_mut()) {
                last.ends = true;
            }
        }
        let mut sentence = Self { words };
        sentence.number_clauses();
        sentence
    }

    fn number_clauses(&mut self) {
        let mut clause = 0;
        for at in 0..self.words.len() {
            let after_punctuation = at > 0 && self.words[at - 1].ends;
            if after_punctuation || (at > 0 && self.opens_clause(at)) {
                clause += 1;
            }
            self.words[at].clause = clause;
        }
    }

    fn opens_clause(&self, at: usize) -> bool {
        let word = self.text(at);
        let has_a_verb_to_come = || !self.words[at].ends && !self.ends(at + 1);
        is(word, &OPENERS) && (!is(word, &PREPOSITIONS_TOO) || has_a_verb_to_come())
    }

    /// The word at a position; empty out of range.
    fn text(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.text)
    }

    fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.text(before))
    }

    /// True if punctuation or the end follows the word.
    fn ends(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|word| word.ends) || at + 1 == self.words.len()
    }

    fn is_content(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.is_content)
    }

    /// True if the question names no subject, or is a fragment that depends on the question before ("On Windows?").
    fn is_elliptical(&self) -> bool {
        let subjects = self.words.iter().filter(|word| word.is_content).count();
        if subjects == 0 {
            return true;
        }
        let has = |list: &[&str]| self.words.iter().any(|word| is(&word.text, list));
        let first = self.text(0);
        let has_no_verb = !has(&AUXILIARIES) && !has(&REQUESTS);
        let is_part = is(first, &CONNECTIVES) || is(first, &PREPOSITIONS);
        let is_fragment = is_part && has_no_verb && !has(&QUESTION_WORDS) && subjects <= 3;
        let is_bare_question = is(first, &QUESTION_WORDS) && has_no_verb && subjects == 1;
        let start = usize::from(is(first, &CONNECTIVES));
        let has_no_main_clause = is(self.text(start), &["what", "how", "why"])
            && is(self.text(start + 1), &["about", "if", "not"]);
        is_fragment
            || is_bare_question
            || has_no_main_clause
            || (subjects == 1 && self.asks_for_more())
    }

    /// True if every word is about the answer. "What is code?" has a subject, because a definition question names its subject.
    fn has_no_subject(&self) -> bool {
        let asks = self
            .words
            .iter()
            .any(|word| is(&word.text, &QUESTION_WORDS));
        let mut subjects = self.words.iter().filter(|word| word.is_content);
        subjects.all(|word| !asks && is(&word.text, &OF_ITS_FORM))
    }

    /// True if the question asks for an example, a difference or another way without a complement.
    fn asks_for_more(&self) -> bool {
        (0..self.words.len())
            .any(|at| is(self.text(at), &OF_THE_ANSWER) && !is(self.text(at + 1), &COMPLEMENTS))
    }

    fn has_dangling_pronoun(&self) -> bool {
        (0..self.words.len()).any(|at| match self.pronoun(at) {
            Some(antecedent) => !self.has_antecedent(at, &antecedent),
            None => false,
        })
    }

    fn has_antecedent(&self, at: usize, antecedent: &Antecedent) -> bool {
        let clause = self.words[at].clause;
        // Skips the word directly before, which is a verb or an adjective: "declare its", "the fastest one".
        (0..at.saturating_sub(1)).any(|earlier| {
            let is_near = self.words[earlier].clause == clause;
            self.is_noun(earlier) && (*antecedent == Antecedent::Earlier || !is_near)
        })
    }

    /// True if a word may be a noun: a content word outside a verb's position.
    fn is_noun(&self, at: usize) -> bool {
        self.is_content(at) && !self.is_verb(at)
    }

    fn is_verb(&self, at: usize) -> bool {
        let before = self.before(at);
        // "What happens": the question word is the subject.
        let clause = self.words[at].clause;
        let has_auxiliary = || {
            let words = self.words.iter().filter(|word| word.clause == clause);
            words.into_iter().any(|word| is(&word.text, &AUXILIARIES))
        };
        is(before, &BEFORE_VERBS) || (is(before, &["what", "who"]) && !has_auxiliary())
    }

    /// Returns where a pronoun's antecedent may be; `None` for other words.
    fn pronoun(&self, at: usize) -> Option<Antecedent> {
        let (word, next) = (self.text(at), self.text(at + 1));
        let stands_alone = self.words[at].ends || !self.is_content(at + 1);
        let needs = match word {
            "it" => !self.is_impersonal(at),
            "that" => self.is_demonstrative(at),
            "this" => stands_alone || !is(next, &WHERE_A_READER_IS),
            "these" | "those" => !is(next, &["who", "that", "which"]),
            "one" | "ones" | "both" | "neither" | "either" => {
                let is_alone = stands_alone && next != "of";
                return is_alone.then_some(Antecedent::Earlier);
            }
            _ if is(word, &POSSESSIVES) => return Some(Antecedent::Earlier),
            _ if is(word, &HEADLESS) => {
                let is_headless =
                    self.before(at) == "the" && stands_alone && next != "as" && next != "one";
                return is_headless.then_some(Antecedent::Earlier);
            }
            _ => is(word, &PRONOUNS),
        };
        needs.then_some(Antecedent::InEarlierClause)
    }

    /// True if "it" only announces a clause: "is it possible to", "how long does it take to".
    fn is_impersonal(&self, at: usize) -> bool {
        let next = self.text(at + 1);
        if is(next, &IMPERSONAL) {
            let follows = self.text(at + 2);
            return is(follows, &["to", "if", "whether", "that", "sense"])
                || is(follows, &QUESTION_WORDS);
        }
        let is_after_be = is(self.before(at), &["is", "was", "be"]);
        let from = if is_after_be {
            at + 1
        } else if is(next, &["is", "was", "s"]) {
            at + 2
        } else {
            return false;
        };
        // The clause begins after at most three words: "a good idea".
        let announced = (from..from + 4).find(|place| is(self.text(*place), &["to", "that", "if"]));
        announced.is_some_and(|place| !is(self.before(place), &OF_A_SUBJECT))
    }

    /// True if "that" is a demonstrative, not a conjunction or a relative pronoun.
    fn is_demonstrative(&self, at: usize) -> bool {
        let (before, next) = (self.before(at), self.text(at + 1));
        if self.words[at].ends || next.is_empty() || is(next, &PREPOSITIONS) {
            return true;
        }
        if !self.is_content(at.wrapping_sub(1)) {
            let is_relative = is(
                before,
                &[
                    "something",
                    "anything",
                    "everything",
                    "one",
                    "ones",
                    "those",
                    "all",
                ],
            );
            return !is_relative
                && !is(
                    before,
                    &[
                        "so", "such", "now", "sure", "mean", "means", "way", "example",
                    ],
                );
        }
        // "that" after a noun is a relative pronoun; after a verb it may be a conjunction.
        let is_object = self.is_verb(at - 1);
        let has_own_verb = (at + 2..at + 5).any(|place| is(self.text(place), &AUXILIARIES));
        is_object && !is(next, &DETERMINERS) && !has_own_verb
    }
}

fn is(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}

#[cfg(test)]
mod tests;
