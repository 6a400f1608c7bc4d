//! Writes the text of a page.

use bookrag::api::encoded_path;
use bookrag::book::{Document, OmissionReason, page_markdown};

use super::edition::{Edition, Page};
use super::{Book, INDEX};

/// The longest code shown of a piece that is missing in the text, in characters.
const MAX_CODE_CHARS: usize = 80;
/// The most such pieces listed per page.
const MAX_NAMED: usize = 20;

/// A piece of a page whose text only exists once the site is built.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Computed<'a> {
    /// The line in the source file, from 1.
    pub(crate) line: u32,
    /// The source code of the piece.
    pub(crate) code: &'a str,
}

/// Returns the pieces of a page that only building the site turns into text: expressions, and components without content.
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
    /// Returns the first lines of a page's file: links to the list of pages and to the page and, if there is an API, how to ask about the page; then
    /// when it was made.
    pub(super) fn page_head(&self, page: &Page<'_>, edition: &Edition<'_>) -> String {
        let index = self.places.of(edition.locale, &edition.file(INDEX));
        let index = self.link_to(INDEX, &index.url);
        let url = page.url;
        let page = self.link_to("the page", url);
        let title = bookrag::book::escaped(self.title);
        let mut head = format!("> {index} lists all pages of {title}. This is the text of {page}.");
        if let Some(api) = self.api {
            let ask = format!(
                " Ask about it: `GET {api}/api/v1/ask?q=QUESTION&page_url={}`.",
                encoded_path(url)
            );
            head.push_str(&ask);
        }
        head.push_str(&self.stamp);
        head
    }

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

/// Lists what the page shows but its text lacks; empty if nothing is missing.
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
