//! Lists sections and pages beside an answer, or instead of one. Pure.

use super::Suggestion;
use crate::book::escaped;
use crate::cite::{Citation, visible};
use crate::generate::{Passage, Quote};
use crate::retrieve::ScoredChunk;

const MAX_SECTIONS: usize = 3;
/// The largest score difference between the first section and one under "See also".
///
/// Of 144 questions about seven books, the first section is wrong for 54; for 24 of these "See also" lists the right one.
const MAX_GAP: f32 = 0.2;

/// Returns the pages nearest to a question that the book does not cover.
pub(super) fn nearest_pages(candidates: &[ScoredChunk], locale: Option<&str>) -> Vec<Suggestion> {
    listed(candidates.iter().map(|found| {
        let (title, url) = (found.chunk.title.clone(), found.chunk.url_in(locale));
        (found, title, url.to_owned())
    }))
}

/// Returns the uncited sections that are about as close to the question as the first one.
pub(super) fn see_also(
    candidates: &[ScoredChunk],
    citations: &[Citation],
    locale: Option<&str>,
) -> Vec<Suggestion> {
    let best = candidates.first().map_or(0.0, |first| first.scores.score);
    let others = candidates.iter().skip(1).take(MAX_SECTIONS);
    let near = others.filter(|found| best - found.scores.score <= MAX_GAP);
    let sections = near.map(|found| {
        let title = name(&found.chunk.title, &found.chunk.heading_path);
        (found, title, found.url(locale))
    });
    let is_cited = |url: &String| citations.iter().any(|cited| cited.url == *url);
    listed(sections.filter(|(_, _, url)| !is_cited(url)))
}

/// Returns the first suggestions with different URLs, without unlisted pages.
fn listed<'a>(found: impl Iterator<Item = (&'a ScoredChunk, String, String)>) -> Vec<Suggestion> {
    let mut named: Vec<Suggestion> = Vec::new();
    for (found, title, url) in found {
        if !found.chunk.unlisted && named.iter().all(|known| known.url != url) {
            let title = visible(&title);
            named.push(Suggestion { title, url });
        }
    }
    named.truncate(MAX_SECTIONS);
    named
}

/// Lists the best passages by page and heading after `introduction`, each with its citation. Unlisted pages are left out. Empty if no passage
/// remains.
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

/// Returns the page's title and the section's heading with its parent: `API – Loggers › level`. A page may repeat a heading.
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
    use super::{name, see_also};
    use crate::cite::citation;
    use crate::retrieve::{ScoredChunk, section};

    fn scored(page: &str, anchor: &str, score: f32) -> ScoredChunk {
        let mut found = section(page, anchor, "Text.", 0.5, "2026-01-01T00:00:00Z");
        found.scores.score = score;
        found
    }

    #[test]
    fn a_section_to_see_is_near_listed_and_not_cited() {
        let near = |second: f32, third: f32| {
            [
                scored("a", "x", 0.9),
                scored("b", "y", second),
                scored("c", "z", third),
            ]
        };
        let seen = |found: &[ScoredChunk], cited: &[usize]| -> Vec<String> {
            let cited: Vec<_> = cited
                .iter()
                .map(|&at| citation(at + 1, &found[at], None))
                .collect();
            let suggestions = see_also(found, &cited, None).into_iter();
            suggestions.map(|suggestion| suggestion.url).collect()
        };
        assert_eq!(seen(&near(0.8, 0.75), &[0]), ["/b#y", "/c#z"]);
        assert_eq!(seen(&near(0.8, 0.6), &[0]), ["/b#y"]);
        assert_eq!(seen(&near(0.8, 0.75), &[0, 1]), ["/c#z"]);
        assert_eq!(seen(&near(0.5, 0.4), &[0]), [""; 0]);
        let mut unlisted = near(0.8, 0.75);
        std::sync::Arc::make_mut(&mut unlisted[1].chunk).unlisted = true;
        assert_eq!(seen(&unlisted, &[0]), ["/c#z"]);
        assert_eq!(seen(&[], &[]), [""; 0]);
        let many: Vec<_> = (0..9).map(|n| scored("p", &n.to_string(), 0.9)).collect();
        assert_eq!(seen(&many, &[0]), ["/p#1", "/p#2", "/p#3"]);
    }

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
