//! The sections that come closest to a question that the book may not answer. Pure.

use crate::book::escaped;
use crate::generate::{Passage, Quote};

/// Sections that are named.
const MAX_SECTIONS: usize = 3;

/// Lists the best passages by page and heading, each with its citation, after `introduction`. Pages that the site does not list
/// are left out; empty if no passage remains.
pub(super) fn closest(introduction: &str, passages: &[Passage<'_>]) -> Vec<Quote> {
    let listed = passages
        .iter()
        .filter(|passage| !passage.candidate.chunk.unlisted);
    let mut quotes = Vec::new();
    for passage in listed.take(MAX_SECTIONS) {
        let title = &passage.candidate.chunk.title;
        let section = passage.candidate.section();
        let name = if section == title {
            escaped(title)
        } else {
            format!("{} – {}", escaped(title), escaped(section))
        };
        quotes.push(Quote::Text(format!("\n- {name} ")));
        quotes.push(Quote::Citation(passage.n));
    }
    if !quotes.is_empty() {
        quotes.insert(0, Quote::Text(format!("{introduction}\n")));
    }
    quotes
}
