//! Splits texts into the terms that a ranker compares: lower case, without stop words, stemmed, with the parts of compounds.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use qdrant_rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// The version of the terms of a text, part of an index's identity. Raise it when equal texts get other terms.
pub const TERMS_VERSION: u32 = 2;

/// The most characters of a stop word that text without spaces is split at.
const LONGEST_STOP_WORD: usize = 4;

/// A language with its stemmer and its stop words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    stemmer: Option<Algorithm>,
    /// The key of [`stop_words_of`].
    code: &'static str,
}

impl Language {
    /// English.
    pub const ENGLISH: Self = Self {
        stemmer: Some(Algorithm::English),
        code: "en",
    };

    /// Returns the language of a locale such as `de` or `pt-BR`. Its words are not stemmed without a Snowball stemmer, and all of them count without
    /// a list of stop words.
    #[must_use]
    pub fn of_locale(locale: &str) -> Self {
        let language = match &*language_code(locale) {
            "nb" | "nn" => "no".to_owned(),
            other => other.to_owned(),
        };
        let stemmer = match &*language {
            "ar" => Some(Algorithm::Arabic),
            "da" => Some(Algorithm::Danish),
            "de" => Some(Algorithm::German),
            "el" => Some(Algorithm::Greek),
            "en" => Some(Algorithm::English),
            "es" => Some(Algorithm::Spanish),
            "fi" => Some(Algorithm::Finnish),
            "fr" => Some(Algorithm::French),
            "hu" => Some(Algorithm::Hungarian),
            "it" => Some(Algorithm::Italian),
            "no" => Some(Algorithm::Norwegian),
            "nl" => Some(Algorithm::Dutch),
            "pt" => Some(Algorithm::Portuguese),
            "ro" => Some(Algorithm::Romanian),
            "ru" => Some(Algorithm::Russian),
            "sv" => Some(Algorithm::Swedish),
            "ta" => Some(Algorithm::Tamil),
            "tr" => Some(Algorithm::Turkish),
            _ => None,
        };
        let listed = stop_words::available_languages().iter();
        let code = listed.copied().find(|code| *code == language);
        Self {
            stemmer,
            code: code.unwrap_or_default(),
        }
    }

    /// Counts the stop words in a text; `None` without a list of them.
    #[must_use]
    pub fn stop_words_in(self, text: &str) -> Option<usize> {
        let listed = stop_words_of(self.code);
        let text = text.to_lowercase();
        (!listed.is_empty()).then(|| split(&text).filter(|word| listed.contains(word)).count())
    }
}

/// Returns the code of a locale's language in lower case: `pt` of `pt-BR`.
#[must_use]
pub fn language_code(locale: &str) -> String {
    let code = locale.split(['-', '_']).next().unwrap_or_default();
    code.to_ascii_lowercase()
}

/// Returns the words of a language that say nothing about a text's subject; none for a language without a list.
fn stop_words_of(code: &str) -> &'static HashSet<&'static str> {
    static NONE: LazyLock<HashSet<&str>> = LazyLock::new(HashSet::new);
    static LISTS: LazyLock<HashMap<&str, HashSet<&str>>> = LazyLock::new(|| {
        stop_words::available_languages()
            .iter()
            .map(|code| match *code {
                "en" => ("en", STOP_WORDS.into()),
                code => (code, stop_words::get(code).iter().copied().collect()),
            })
            .collect()
    });
    LISTS.get(code).unwrap_or(&NONE)
}

/// The stop words of English. The lists of other languages have prepositions and adverbs, too.
const STOP_WORDS: [&str; 105] = [
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "don", "each", "few", "for", "from", "get", "had", "has",
    "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "ll",
    "many", "may", "me", "more", "most", "much", "must", "my", "need", "no", "not", "of", "on",
    "only", "or", "other", "our", "own", "please", "s", "same", "shall", "she", "should", "so",
    "some", "such", "t", "tell", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "too", "up", "us", "use", "used", "very", "was", "we", "were",
    "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "would",
    "you", "your", "yours",
];

/// Words of requests that say nothing about the subject. They are removed from questions, not from texts.
const ASKING_WORDS: &str = "explain thanks thank hello hi hey dear sorry help show give tell understand know want wanted like try way \
    possible able question wonder ask mean say someone somebody anyone anybody something anything everything \
    whats hows wheres whens whos thats theres dont doesnt didnt cant wont isnt arent im ive";

/// Splits texts of one language into words.
pub struct Words {
    stemmer: Option<Stemmer>,
    ignored: &'static HashSet<&'static str>,
    language: Language,
}

impl Words {
    /// Creates a splitter for a language.
    #[must_use]
    pub fn new(language: Language) -> Self {
        Self {
            stemmer: language.stemmer.map(Stemmer::create),
            ignored: stop_words_of(language.code),
            language,
        }
    }

    /// Returns the language.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the terms of a text in order. `testEnvironment` and `create_node` yield the whole word and its parts.
    #[must_use]
    pub fn terms(&self, text: &str) -> Vec<String> {
        let words = self.that_matter(text).into_iter();
        words.map(|word| self.stem(&word)).collect()
    }

    /// Returns the term of a whole word without its parts; `None` for a stop word.
    #[must_use]
    pub fn term(&self, word: &str) -> Option<String> {
        self.terms(word).into_iter().next()
    }

    /// Returns the relevant words of a question in lower case, each with its term, without words of requests such as `explain`.
    pub fn of_question(&self, question: &str) -> impl Iterator<Item = (String, String)> {
        let asking = match self.language {
            Language::ENGLISH => self.terms(ASKING_WORDS),
            _ => Vec::new(),
        };
        let words = self.that_matter(question).into_iter();
        let with_terms = words.map(|word| {
            let term = self.stem(&word);
            (word, term)
        });
        with_terms.filter(move |(_, term)| !asking.contains(term))
    }

    /// Returns the words of a text in order, in lower case, without stop words: compounds whole and in parts, and the pairs of text without spaces.
    fn that_matter(&self, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for word in split(text) {
            if !word.is_ascii() && word.contains(is_unspaced) {
                self.push_mixed(word, &mut found);
            } else {
                push_compound(word, &mut found);
            }
        }
        found.retain(|word| !self.ignored.contains(&**word));
        found
    }

    /// Appends the words of a run of letters that may change between scripts, as in `Docker安装`.
    fn push_mixed(&self, word: &str, found: &mut Vec<String>) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let unspaced = is_unspaced(first);
            let end = rest.find(|c| is_unspaced(c) != unspaced && !is_combining_mark(c));
            let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
            if unspaced {
                self.push_pairs(run, found);
            } else {
                push_compound(run, found);
            }
            rest = after;
        }
    }

    /// Appbounds the overlapping pairs of characters between the stop words of text without spaces: `如何安装数据库` gives `安装`, `装数`, `数据`, `据库`.
    fn push_pairs(&self, run: &str, found: &mut Vec<String>) {
        let run = run.to_lowercase();
        let mut bounds: Vec<usize> = run.grapheme_indices(true).map(|(at, _)| at).collect();
        bounds.push(run.len());
        let count = bounds.len() - 1;
        let (mut from, mut at) = (0, 0);
        while at < count {
            let longest = (at + 2..=count.min(at + LONGEST_STOP_WORD))
                .rev()
                .find(|end| self.ignored.contains(&run[bounds[at]..bounds[*end]]));
            match longest {
                Some(end) => {
                    push_neighbours(&run, &bounds[from..=at], found);
                    (from, at) = (end, end);
                }
                None => at += 1,
            }
        }
        push_neighbours(&run, &bounds[from..], found);
    }

    fn stem(&self, word: &str) -> String {
        match &self.stemmer {
            Some(stemmer) => stemmer.stem(word).into_owned(),
            None => word.to_owned(),
        }
    }
}

/// Numbers the terms of texts; equal terms have equal numbers. Each distinct word is stemmed only once, so use one instance for many texts.
#[derive(Debug)]
pub struct TermNumbers<'w> {
    words: &'w Words,
    /// The terms of each word read so far.
    by_word: HashMap<String, Vec<u32>>,
    numbers: HashMap<String, u32>,
}

impl<'w> TermNumbers<'w> {
    /// Creates the numbers of no terms.
    #[must_use]
    pub fn new(words: &'w Words) -> Self {
        Self {
            words,
            by_word: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// Returns the term numbers of a text, in order.
    pub fn read(&mut self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        for word in split(text) {
            if let Some(numbers) = self.by_word.get(word) {
                found.extend(numbers);
                continue;
            }
            let terms = self.words.terms(word);
            let numbers: Vec<u32> = terms.into_iter().map(|term| self.number(term)).collect();
            found.extend(&numbers);
            self.by_word.insert(word.to_owned(), numbers);
        }
        found
    }

    /// Returns the number of a term.
    pub fn number(&mut self, term: String) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(term).or_insert(next)
    }

    /// Returns the term numbers of a text in order, if all terms are known.
    #[must_use]
    pub fn known(&self, text: &str) -> Option<Vec<u32>> {
        let terms = self.words.terms(text).into_iter();
        terms.map(|term| self.numbers.get(&term).copied()).collect()
    }

    /// True if all terms of a word are known.
    #[must_use]
    pub fn knows(&self, word: &str) -> bool {
        let terms = self.words.terms(word);
        terms.iter().all(|term| self.numbers.contains_key(term))
    }

    /// Returns the words read so far, in no order.
    pub fn words_read(&self) -> impl Iterator<Item = &str> {
        self.by_word.keys().map(String::as_str)
    }
}

/// Splits a text into words, unchanged. Text without spaces, such as a Chinese clause, is one word.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_of_a_word(c))
        .filter(|word| word.contains(|c: char| c.is_alphanumeric() || c == '_'))
}

fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || (!c.is_ascii() && is_mark(c))
}

/// True for a mark that spells a word, such as a vowel; those that choose the look of a symbol do not.
fn is_mark(c: char) -> bool {
    is_combining_mark(c) && !matches!(c, '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}')
}

/// True for letters of the scripts that put no spaces between words (Thai, Lao, Burmese, Khmer, kana, Han), and of Hangul, which puts them only after
/// endings. Words of such scripts are compared by pairs of characters.
#[must_use]
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{3130}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'
        | '\u{20000}'..='\u{323af}')
}

/// Appends the pairs of neighbours among the characters between `bounds`, or the only character.
fn push_neighbours(text: &str, bounds: &[usize], found: &mut Vec<String>) {
    match bounds {
        [] | [_] => {}
        [from, end] => found.push(text[*from..*end].to_owned()),
        _ => found.extend(
            bounds
                .windows(3)
                .map(|place| text[place[0]..place[2]].to_owned()),
        ),
    }
}

/// Appends a word in lower case, then its parts if it is a compound.
fn push_compound(word: &str, found: &mut Vec<String>) {
    found.push(word.to_lowercase());
    let parts = parts(word);
    if parts.len() > 1 {
        let parts = parts.into_iter().filter(|part| part.chars().count() > 1);
        found.extend(parts.map(str::to_lowercase));
    }
}

/// Returns the distinct terms of a text in any of some languages, sorted: what a search over texts of these languages looks for.
#[must_use]
pub fn terms_in(text: &str, languages: &[Language]) -> Vec<String> {
    let terms: BTreeSet<String> = languages
        .iter()
        .flat_map(|language| Words::new(*language).terms(text))
        .collect();
    terms.into_iter().collect()
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Words")
    }
}

/// Splits a word at underscores, before capitals and between letters and digits: `XMLHttp2_a` gives `XML`, `Http`, `2`, `a`.
fn parts(word: &str) -> Vec<&str> {
    let characters: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut from = 0;
    for (place, &(at, c)) in characters.iter().enumerate().skip(1) {
        let (_, before) = characters[place - 1];
        let after = characters.get(place + 1).map(|&(_, c)| c);
        let hump = c.is_uppercase()
            && (before.is_lowercase()
                || (before.is_uppercase() && after.is_some_and(char::is_lowercase)));
        let cut = hump || c == '_' || before == '_' || c.is_numeric() != before.is_numeric();
        if cut {
            parts.push(&word[from..at]);
            from = at;
        }
    }
    parts.push(&word[from..]);
    parts.retain(|part| *part != "_");
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compounds_are_found_whole_and_by_their_parts() {
        assert_eq!(parts("XMLHttp2_a"), ["XML", "Http", "2", "a"]);
        assert_eq!(parts("plain"), ["plain"]);
        let words = Words::new(Language::ENGLISH);
        assert_eq!(
            words.terms("use rclpy.create_node or testEnvironment"),
            [
                "rclpi",
                "create_nod",
                "creat",
                "node",
                "testenviron",
                "test",
                "environ"
            ]
        );
        assert_eq!(words.terms("--flag, it's ROS2"), ["flag", "ros2", "ros"]);
    }

    #[test]
    fn stop_words_are_those_of_the_language() {
        let of = |locale: &str, text: &str| Words::new(Language::of_locale(locale)).terms(text);
        assert_eq!(of("en", "How do I start the node?"), ["start", "node"]);
        assert_eq!(
            of("de", "Wie kann ich den Knoten starten?"),
            ["knot", "start"]
        );
        assert_eq!(of("pt-BR", "Como é que eu inicio o nó?"), ["inici", "nó"]);
        assert_eq!(of("nb", "Hvordan kan jeg starte noden?"), ["start", "nod"]);
        assert_eq!(of("he", "הרובוט של מה"), ["הרובוט"]);
        assert_eq!(of("cs", "kde je uzel"), ["kde", "je", "uzel"]);
    }

    #[test]
    fn words_of_asking_are_left_out_of_questions_alone() {
        let of = |language: &str, question: &str| -> Vec<String> {
            let words = Words::new(Language::of_locale(language));
            words.of_question(question).map(|(word, _)| word).collect()
        };
        let question = "Hi! Whats a node? Please help, trying to understand it, thanks";
        assert_eq!(of("en", question), ["node"]);
        assert_eq!(of("ur", "help node"), ["help", "node"]);
        let words = Words::new(Language::ENGLISH);
        assert_eq!(words.terms("help the node"), ["help", "node"]);
    }

    #[test]
    fn text_without_spaces_is_compared_by_pairs_of_characters() {
        let terms = |locale: &str, text: &str| Words::new(Language::of_locale(locale)).terms(text);
        assert_eq!(
            terms("zh", "如何安装数据库？"),
            ["安装", "装数", "数据", "据库"]
        );
        assert_eq!(terms("zh-CN", "Docker安装"), ["docker", "安装"]);
        assert_eq!(terms("zh", "水"), ["水"]);
        assert_eq!(terms("ja", "ポンプ"), ["ポン", "ンプ"]);
        assert_eq!(terms("ko", "펌프의"), ["펌프", "프의"]);
        // A Thai vowel or tone mark belongs to its consonant.
        assert_eq!(terms("", "น้ำมัน"), ["น้ำมั", "มัน"]);
        // The same in a page whose language is not known to be Chinese.
        assert_eq!(terms("en", "安装"), ["安装"]);
    }

    #[test]
    fn marks_are_parts_of_their_words() {
        for word in ["हिन्दी", "שָׁלוֹם", "cafe\u{301}"] {
            assert_eq!(split(word).collect::<Vec<_>>(), [word]);
        }
        assert_eq!(split("⚠️ 1️⃣").collect::<Vec<_>>(), ["1"]);
    }

    #[test]
    fn endings_are_cut_by_the_language_of_the_locale() {
        let of = |locale: &str, text: &str| Words::new(Language::of_locale(locale)).terms(text);
        assert_eq!(of("en", "calibrating"), of("en", "calibrated"));
        assert_eq!(of("de-AT", "Häuser"), of("de", "Häusern"));
        assert_eq!(of("ur", "روبوٹ کیا"), ["روبوٹ", "کیا"]);
    }
}
