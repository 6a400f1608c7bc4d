//! The id of a book.

use std::fmt;
use std::str::FromStr;

/// The most characters of an id, which is part of the names of databases and collections.
const MAX_CHARACTERS: usize = 32;

/// The id of a book: 1 to 32 lower-case letters, digits and hyphens, the first one a letter. It is part of addresses and of the names of stores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BookId(String);

/// The reason why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no id of a book: it must be 1 to {MAX_CHARACTERS} lower-case letters, digits and hyphens, the first one a letter"
)]
pub struct InvalidBookId(String);

impl BookId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id that a title or the name of a folder suggests; `None` if it has no ASCII letter.
    #[must_use]
    pub fn suggested_by(name: &str) -> Option<Self> {
        let words = name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty());
        let id = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
        let id = id.trim_start_matches(|c: char| !c.is_ascii_lowercase());
        let id: String = id.chars().take(MAX_CHARACTERS).collect();
        id.trim_end_matches('-').parse().ok()
    }
}

impl FromStr for BookId {
    type Err = InvalidBookId;

    fn from_str(text: &str) -> Result<Self, InvalidBookId> {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_id = text.len() <= MAX_CHARACTERS
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(is_allowed);
        if is_id {
            Ok(Self(text.to_owned()))
        } else {
            let shown = text.chars().take(2 * MAX_CHARACTERS).collect();
            Err(InvalidBookId(shown))
        }
    }
}

impl fmt::Display for BookId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_safe_in_addresses_and_in_names_of_stores() {
        for id in ["a", "kysely", "react-redux", "v2-docs", &"a".repeat(32)] {
            assert_eq!(id.parse::<BookId>().unwrap().to_string(), id);
        }
        let long = "a".repeat(33);
        for text in [
            "", "-a", "2a", "A", "a_b", "a/b", "a.b", "ä", "a b", "..", &long,
        ] {
            let refused = text.parse::<BookId>().unwrap_err().to_string();
            assert!(refused.contains(&format!("`{text}`")), "{refused}");
        }
    }

    #[test]
    fn a_name_suggests_an_id() {
        for (name, id) in [
            ("Kysely", Some("kysely")),
            ("React Redux", Some("react-redux")),
            ("2.x docs!", Some("x-docs")),
            ("@my/package", Some("my-package")),
            ("再 代入", None),
            ("", None),
        ] {
            let suggested = BookId::suggested_by(name);
            assert_eq!(suggested.as_ref().map(BookId::as_str), id, "{name}");
        }
        let long = BookId::suggested_by(&"word ".repeat(20)).unwrap();
        assert_eq!(long.as_str(), "word-word-word-word-word-word-wo");
    }
}
