//! The books of a process that has several.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use answer::Answer;

/// A book, as sent to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BookView {
    /// The id, which is part of the addresses of its routes: `/books/ID/api/v1/chat`.
    pub id: String,
    /// The title of the site.
    pub title: String,
    /// Where its pages are, such as `https://book.example`; `null` if that is not known. Paths in the text of an answer begin there.
    pub url: Option<String>,
}

/// The books that a reader may ask, if the server has several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BooksData {
    /// The books; none if the server has only one.
    pub books: Vec<BookView>,
}

/// Marks a request that was counted before it came to its book.
#[derive(Debug, Clone, Copy)]
pub struct Counted;

impl BookView {
    /// Returns the URL of a path of the book; the path itself if it is not known where the book's pages are.
    #[must_use]
    pub fn address(&self, path: &str) -> String {
        match &self.url {
            Some(url) if path.starts_with('/') => format!("{url}{path}"),
            _ => path.to_owned(),
        }
    }

    /// Adds the book to an entry of a list, and makes the address of the entry absolute.
    pub(crate) fn mark(&self, entry: &mut Value) {
        if let Some(path) = entry["url"].as_str() {
            entry["url"] = json!(self.address(path));
        }
        entry["book"] = json!(self.id);
    }

    /// Makes the addresses of an answer's citations and further sections absolute.
    pub(crate) fn complete(&self, answer: &mut Answer) {
        for citation in &mut answer.citations {
            citation.url = self.address(&citation.url);
        }
        for suggestion in &mut answer.suggestions {
            suggestion.url = self.address(&suggestion.url);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_absolute_if_the_place_of_the_pages_is_known() {
        let mut book = BookView {
            id: "frost".to_owned(),
            title: "Frost".to_owned(),
            url: Some("https://frost.example".to_owned()),
        };
        let mut entry = json!({ "url": "/docs/a#b", "score": 0.5 });
        book.mark(&mut entry);
        assert_eq!(
            entry,
            json!({ "book": "frost", "url": "https://frost.example/docs/a#b", "score": 0.5 })
        );
        assert_eq!(book.address("https://b.example/x"), "https://b.example/x");
        book.url = None;
        assert_eq!(book.address("/docs/a"), "/docs/a");
    }
}
