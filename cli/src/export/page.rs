//! The text of a page.

use bookrag::book::{Document, OmissionReason, page_markdown};

use super::edition::{Edition, Page};
use super::{Book, INDEX, link};

/// The longest piece of code that is shown of what is not in the text, in characters.
const MAX_CODE_CHARS: usize = 80;
/// The most such pieces that a page's text names.
const MAX_NAMED: usize = 20;

/// A piece of a page whose text is known when the site is built.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Computed<'a> {
    /// From 1.
    pub(crate) line: u32,
    /// The piece, as it is written.
    pub(crate) code: &'a str,
}

/// The pieces of a page that only building the site makes text of: expressions and components without content.
pub(crate) fn computed(document: &Document) -> Vec<Computed<'_>> {
    let omissions = document.omissions.iter().filter(|omission| {
        let is_computed = matches!(
            omission.reason,
            OmissionReason::Expression | OmissionReason::Component
        );
        is_computed && omission.text.contains(char::is_alphanumeric)
    });
    let computed = omissions.map(|omission| Computed {
        line: omission.start_line,
        code: omission.text.trim(),
    });
    computed.collect()
}

impl Book<'_> {
    /// The first line of a page's file: where all pages are listed, and the page that it is the text of.
    pub(super) fn page_head(&self, page: &Page<'_>, edition: &Edition<'_>) -> String {
        let index = self.places.of(edition.locale, &edition.file(INDEX));
        let index = link(INDEX, &self.absolute(&index.url));
        let page = link("the page", &self.absolute(page.url));
        let title = bookrag::book::escaped(self.title);
        format!("> {index} lists all pages of {title}. This is the text of {page}.")
    }

    /// The page's own text.
    pub(super) fn page_text(&self, page: &Page<'_>) -> String {
        let mut blocks = page.document.blocks.clone();
        for block in &mut blocks {
            self.resolve(&mut block.marks, page.locale, page.url);
        }
        let mut text = page_markdown(&blocks);
        text.push_str(&note(page.document));
        text
    }
}

/// Names what the page shows and its text does not hold; nothing if there is nothing.
fn note(document: &Document) -> String {
    let mut named: Vec<String> = Vec::new();
    for piece in computed(document) {
        let words: Vec<&str> = piece.code.split_whitespace().collect();
        let code = words.join(" ").replace('`', "'");
        let code = match code.char_indices().nth(MAX_CODE_CHARS) {
            Some((at, _)) => format!("`{}…`", &code[..at]),
            None => format!("`{code}`"),
        };
        if !named.contains(&code) {
            named.push(code);
        }
    }
    let more = named.len().saturating_sub(MAX_NAMED);
    named.truncate(MAX_NAMED);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    if named.is_empty() {
        return String::new();
    }
    format!(
        "\n> The built page shows more here, which only building it computes: {}\n",
        named.join(", ")
    )
}
