//! Texts of books and readers in Markdown reports.

use bookrag::book::escaped;
use bookrag::invisible::visible;

/// Escapes plain text as Markdown on one line. Words with an `@` become code, so that GitHub notifies nobody.
pub(super) fn inline(text: &str) -> String {
    let text = visible(text);
    let words = text.split_whitespace().map(|word| {
        if word.contains('@') {
            code(word)
        } else {
            escaped(word)
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Formats plain text as inline code.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", visible(text).replace('`', "'"))
}
