//! Finds names in a sentence: identifiers, options, versions, and capitalised words.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

/// Inline code, a quoted word, or a word.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| pattern(r#"`[^`]+`|"[^"\s]+"|[^\s`]+"#));
/// A number with its unit: `8GB`, `13-week`, `2°/s`.
static QUANTITY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d[\d.,]*[-×°]?[^\W\d]+(/\w+)?$"));
/// A word with an inner capital, an underscore, a point or `@` between letters, or a digit.
static CODE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[^\W_][A-Z]*[a-z][A-Z]|_|\w\.\w|\w@\w|\d"));
/// An option, a file such as `.env`, or a package such as `@types/node`.
static MARKED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(--?\w|\.\w|@\w)"));
/// A run of digits or of letters: the pieces by which names are compared.
static PIECE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d+|[^\W\d_][^\W_]*"));

/// Punctuation around a word.
const AROUND: &str = ".,;:!?()[]{}\"'“”‘’";
/// The shortest name whose final `s` may be a plural ending.
const MIN_PLURAL_BYTES: usize = 4;

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    /// False for a word that is only capitalised.
    pub(super) is_code: bool,
}

/// Returns the names in a sentence; capitalised words count only if `capitals_mark_names`.
pub(super) fn names(sentence: &str, capitals_mark_names: bool) -> Vec<Name> {
    let mut names = Vec::new();
    let mut starts = true;
    for token in TOKEN.find_iter(sentence) {
        let token = token.as_str();
        let is_first = std::mem::replace(&mut starts, token.ends_with(['.', ':', '!', '?']));
        if let Some(quoted) = quoted(token) {
            let parts = quoted.split(separates).filter(|part| has_letter(part));
            names.extend(parts.map(|part| name(part, true)));
            continue;
        }
        let word = bare(token);
        if is_code(word, token) {
            names.push(name(word, true));
        } else if capitals_mark_names && is_word(word) {
            let parts = word.split(['-', '/']).enumerate();
            let capitals = parts.filter(|(at, part)| {
                let is_upper = !part.contains(char::is_lowercase);
                part.chars().count() > 1
                    && part.starts_with(char::is_uppercase)
                    && (is_upper || !is_first || *at > 0)
            });
            names.extend(capitals.map(|(_, part)| name(part, false)));
        }
    }
    names
}

/// True for a character between the names in code.
fn separates(c: char) -> bool {
    c.is_whitespace() || "(){}[]=,:;\"'<>|`".contains(c)
}

fn name(text: &str, is_code: bool) -> Name {
    Name {
        text: text.to_owned(),
        is_code,
    }
}

fn quoted(token: &str) -> Option<&str> {
    let mark = token.chars().next().filter(|c| matches!(c, '`' | '"'))?;
    token
        .strip_prefix(mark)?
        .strip_suffix(mark)
        .filter(|inner| !inner.is_empty())
}

/// Removes punctuation around a word, and `'s`.
fn bare(token: &str) -> &str {
    let is_file = token.starts_with('.') && token[1..].starts_with(char::is_alphanumeric);
    let word = if is_file {
        token.trim_end_matches([')', '.', ',', ';', ':', '!', '?'])
    } else {
        token.trim_matches(|c| AROUND.contains(c))
    };
    let short = word.strip_suffix('s').unwrap_or(word);
    short.strip_suffix(['\'', '’']).unwrap_or(word)
}

fn has_letter(text: &str) -> bool {
    text.contains(char::is_alphabetic)
}

fn is_word(word: &str) -> bool {
    has_letter(word)
        && !word.contains(['\'', '’'])
        && !matches!(word, "e.g" | "i.e")
        && !QUANTITY.is_match(word)
}

fn is_code(word: &str, token: &str) -> bool {
    let is_call = token.trim_end_matches(['.', ',', ';', ':']).ends_with("()");
    is_word(word) && (CODE.is_match(word) || MARKED.is_match(word) || is_call)
}

/// The letters and digits of a text, without the characters between them.
#[derive(Debug, Default)]
pub(super) struct Squeezed {
    text: String,
    /// Where words and numbers begin and end.
    edges: HashSet<usize>,
}

impl Squeezed {
    pub(super) fn new(text: &str) -> Self {
        let lower = text.to_lowercase();
        let mut squeezed = Self::default();
        squeezed.edges.insert(0);
        for piece in PIECE.find_iter(&lower) {
            squeezed.text.push_str(piece.as_str());
            squeezed.edges.insert(squeezed.text.len());
        }
        squeezed
    }

    /// True if the text has a name, however its parts are joined: `ROS 2` matches `ROS2`, but `fs` does not match `offset`.
    pub(super) fn holds(&self, name: &str) -> bool {
        let name: String = name
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric())
            .collect();
        let plural = format!("{name}s");
        let singular = name
            .strip_suffix('s')
            .filter(|_| name.len() >= MIN_PLURAL_BYTES);
        let mut forms = [Some(name.as_str()), Some(&plural), singular]
            .into_iter()
            .flatten();
        name.is_empty() || forms.any(|form| self.has(form))
    }

    fn has(&self, form: &str) -> bool {
        let mut from = 0;
        while let Some(found) = self.text[from..].find(form) {
            let start = from + found;
            if self.edges.contains(&start) && self.edges.contains(&(start + form.len())) {
                return true;
            }
            from = start + self.text[start..].chars().next().map_or(1, char::len_utf8);
        }
        false
    }
}

/// True if a text contains an option such as `--watch` verbatim.
pub(super) fn has_option(text: &str, option: &str) -> bool {
    text.match_indices(option).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + option.len()..].chars().next();
        !before.is_some_and(|c| is_part(c) || c == '-') && !after.is_some_and(is_part)
    })
}

/// True for a character of an option's name.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_words() {
        let sentence = "Run `jest --watch` in \"Node\"; the moduleNameMapper of Babel's ROS2 (8GB, e.g. Let's) needs .env, foo() and snake_case.";
        let found = names(sentence, true);
        let texts: Vec<&str> = found.iter().map(|name| name.text.as_str()).collect();
        let expected = [
            "jest",
            "--watch",
            "Node",
            "moduleNameMapper",
            "Babel",
            "ROS2",
            ".env",
            "foo",
            "snake_case",
        ];
        assert_eq!(texts, expected);
        assert!(names("Das Haus der Maus", false).is_empty());
    }

    #[test]
    fn a_name_is_found_however_its_parts_are_joined() {
        let text = Squeezed::new(
            "The pino.destination call of ROS 2 has an offset of 8 GB and Transports",
        );
        for held in [
            "pino.destination()",
            "ROS2",
            "8GB",
            "transport",
            "destinations",
        ] {
            assert!(text.holds(held), "{held}");
        }
        for missing in ["fs", "ROS1", "pinos.destination", "set"] {
            assert!(!text.holds(missing), "{missing}");
        }
        assert!(
            has_option("run --watch now", "--watch") && !has_option("run --watchAll", "--watch")
        );
    }
}
