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
        let chunk = &passage.candidate.chunk;
        let name = name(&chunk.title, &chunk.heading_path);
        quotes.push(Quote::Text(format!("\n- {} ", escaped(&name))));
        quotes.push(Quote::Citation(passage.n));
    }
    if !quotes.is_empty() {
        quotes.insert(0, Quote::Text(format!("{introduction}\n")));
    }
    quotes
}

/// Returns the page's title and the section's heading, with the heading above it: `API – Loggers › level`. A page may have the
/// same heading several times.
fn name(title: &str, heading_path: &[String]) -> String {
    let below_title = match heading_path {
        [first, rest @ ..] if first == title => rest,
        path => path,
    };
    match below_title {
        [] => title.to_owned(),
        [heading] => format!("{title} – {heading}"),
        [.., above, heading] => format!("{title} – {above} › {heading}"),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_section_is_named_with_the_heading_above_it() {
        for (path, expected) in [
            (&["API"][..], "API"),
            (&["API", "Loggers"], "API – Loggers"),
            (&["API", "Loggers", "level"], "API – Loggers › level"),
            (&["Loggers", "Methods", "level"], "API – Methods › level"),
            (&[], "API"),
        ] {
            let path: Vec<String> = path.iter().map(|&heading| heading.to_owned()).collect();
            assert_eq!(name("API", &path), expected);
        }
    }
}
