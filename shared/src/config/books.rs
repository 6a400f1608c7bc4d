//! The books of a deployment, and the configuration of each.

use super::settings::Settings;
use super::{BookId, Config};
use crate::api::AuthOptions;

const BOOKS: &str = "BOOKRAG_BOOKS";
const BOOK: &str = "BOOKRAG_BOOK";
/// The word after the id of a book for which readers must sign in.
const PRIVATE: &str = "private";

/// A book of a deployment that has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookSettings {
    /// Its id, which is the name of its folder in the bucket and the end of the names of its database and its collections.
    pub id: BookId,
    /// The origins of its pages.
    pub origins: Vec<String>,
    /// True if readers must sign in.
    pub is_private: bool,
}

/// Reads the books of `BOOKRAG_BOOKS`: separated by commas, each an id, the origins of its pages, and `private` if readers must sign in.
pub(super) fn books(settings: &mut Settings<'_>) -> Vec<BookSettings> {
    let listed = settings.text(BOOKS).unwrap_or_default();
    let mut books: Vec<BookSettings> = Vec::new();
    for entry in listed
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
    {
        match book(entry) {
            Ok(book) if books.iter().any(|other| other.id == book.id) => {
                settings.report(format!("{BOOKS} has two books called `{}`", book.id));
            }
            Ok(book) => books.push(book),
            Err(problem) => settings.report(format!("{BOOKS}: {problem}")),
        }
    }
    books
}

fn book(entry: &str) -> Result<BookSettings, String> {
    let mut words = entry.split_whitespace();
    let id = words.next().unwrap_or_default().parse();
    let mut book = BookSettings {
        id: id.map_err(|invalid: super::InvalidBookId| invalid.to_string())?,
        origins: Vec::new(),
        is_private: false,
    };
    for word in words {
        if word == PRIVATE {
            book.is_private = true;
        } else if word.starts_with("https://") || word.starts_with("http://") {
            book.origins.push(word.trim_end_matches('/').to_owned());
        } else {
            return Err(format!(
                "after the id `{}`, expected origins such as https://book.example, or `{PRIVATE}`, got `{word}`",
                book.id
            ));
        }
    }
    Ok(book)
}

/// Reads the book of `BOOKRAG_BOOK`, which must be one of `books`.
pub(super) fn chosen_book(
    books: &[BookSettings],
    settings: &mut Settings<'_>,
) -> Option<BookSettings> {
    let name = settings.text(BOOK)?;
    let chosen = books.iter().find(|book| book.id.as_str() == name);
    if chosen.is_none() {
        settings.report(format!("{BOOK} is `{name}`, which is not one of {BOOKS}"));
    }
    chosen.cloned()
}

impl Config {
    /// Returns the configuration of a book: it has a folder in the bucket, a database, and collections of its own. Public books need no sign-in.
    #[must_use]
    pub fn of_book(&self, book: &BookSettings) -> Self {
        let id = &book.id;
        let below = |folder: &String| format!("{}/{id}", folder.trim_end_matches('/'));
        Self {
            source: self.source.as_ref().map(below),
            book: Some(id.clone()),
            collection: format!("{}_{id}", self.collection),
            origins: book.origins.clone(),
            auth: if book.is_private {
                self.auth.clone()
            } else {
                AuthOptions::default()
            },
            books: Vec::new(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<BookSettings>, Vec<String>> {
        let variables = [(BOOKS.to_owned(), text.to_owned())].into();
        let mut settings = Settings::new(&variables);
        let books = books(&mut settings);
        match settings.into_problems() {
            problems if problems.is_empty() => Ok(books),
            problems => Err(problems),
        }
    }

    #[test]
    fn books_have_origins_and_may_be_private() {
        let text = " kysely https://kysely.dev/ http://localhost:3000,\n handbook private,";
        let read = read(text).unwrap();
        assert_eq!(
            read,
            [
                BookSettings {
                    id: "kysely".parse().unwrap(),
                    origins: vec![
                        "https://kysely.dev".to_owned(),
                        "http://localhost:3000".to_owned()
                    ],
                    is_private: false,
                },
                BookSettings {
                    id: "handbook".parse().unwrap(),
                    origins: Vec::new(),
                    is_private: true,
                },
            ]
        );
    }

    #[test]
    fn what_is_wrong_with_a_book_is_named() {
        for (text, named) in [
            ("Kysely", "`Kysely`"),
            ("a, a", "two books called `a`"),
            ("a kysely.dev", "got `kysely.dev`"),
        ] {
            let problems = read(text).unwrap_err();
            assert!(problems[0].contains(named), "{problems:?}");
        }
    }
}
