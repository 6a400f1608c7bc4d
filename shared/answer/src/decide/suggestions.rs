//! Chooses the sections that are suggested with an answer. Pure.

use serde::{Deserialize, Serialize};

use crate::quote::{Passage, Similarities, brief};
use text::invisible::visible;

const MAX_SECTIONS: usize = 3;
/// The longest text of a suggestion, in characters; a longer one is cut between words.
const MAX_CHARACTERS: usize = 240;

/// A section that is close to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Suggestion {
    /// The page's title and the section's heading: `API › Loggers › level`.
    pub title: String,
    /// The page's URL with the section's anchor.
    pub url: String,
    /// The words of the section that fit the question best, as plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A section to suggest, ranked after the cited ones.
pub(crate) struct NextSection<'a> {
    pub(crate) passage: Passage<'a>,
    /// The brief quote as plain text.
    text: String,
}

/// Returns up to three sections after the cited ones, best first, each with a brief quote. Unlisted pages are left out.
pub(crate) fn next_sections<'a>(
    question: &str,
    passages: &[Passage<'a>],
    is_cited: impl Fn(&Passage<'a>) -> bool,
    similarities: Option<&Similarities>,
) -> Vec<NextSection<'a>> {
    let (mut seen, others): (Vec<_>, Vec<_>) = passages.iter().copied().partition(is_cited);
    let mut sections = Vec::new();
    for passage in others {
        let found = passage.candidate;
        let is_seen = seen.iter().any(|seen| {
            found.is_within(seen.candidate)
                || seen.candidate.is_within(found)
                || found.url(None) == seen.candidate.url(None)
        });
        if is_seen || found.chunk.unlisted {
            continue;
        }
        let text = brief(question, &passage, similarities);
        if !text.is_empty() {
            seen.push(passage);
            sections.push(NextSection { passage, text });
        }
    }
    sections.truncate(MAX_SECTIONS);
    sections
}

impl NextSection<'_> {
    /// Returns the suggestion: the section's name and URL, and the beginning of its brief quote.
    pub(crate) fn suggestion(&self, locale: Option<&str>) -> Suggestion {
        let found = self.passage.candidate;
        Suggestion {
            title: visible(&found.name()),
            url: found.url(locale),
            text: Some(visible(&beginning(&self.text))),
        }
    }
}

/// Returns the beginning of a text, on one line.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(MAX_CHARACTERS) else {
        return line;
    };
    // Some scripts have no spaces.
    let end = line[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end);
    format!("{} …", &line[..end])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::retrieve::{ScoredChunk, section};

    #[test]
    fn the_next_sections_are_listed_not_cited_and_different() {
        let mut found: Vec<_> = ["a", "b", "c", "d", "e"]
            .map(|page| section(page, "x", &format!("Text of {page}."), 0.5, "2026-01-01"))
            .into();
        let next = |found: &[ScoredChunk], cited: &[usize]| -> Vec<Suggestion> {
            let passages: Vec<_> = found.iter().zip(1..).collect();
            let passages = passages
                .into_iter()
                .map(|(candidate, n)| Passage { n, candidate });
            let passages: Vec<_> = passages.collect();
            let is_cited = |passage: &Passage<'_>| cited.contains(&passage.n);
            let sections = next_sections("text", &passages, is_cited, None).into_iter();
            sections.map(|section| section.suggestion(None)).collect()
        };
        let urls = |found: &[ScoredChunk], cited: &[usize]| -> Vec<String> {
            let sections = next(found, cited).into_iter();
            sections.map(|section| section.url).collect()
        };
        assert_eq!(urls(&found, &[1]), ["/b#x", "/c#x", "/d#x"]);
        assert_eq!(urls(&found, &[2, 3]), ["/a#x", "/d#x", "/e#x"]);
        assert_eq!(next(&found, &[1])[0].text.as_deref(), Some("Text of b."));
        let text = found[0].chunk.text.clone();
        Arc::make_mut(&mut found[2].chunk).text = text;
        Arc::make_mut(&mut found[3].chunk).unlisted = true;
        assert_eq!(urls(&found, &[1]), ["/b#x", "/e#x"]);
        assert_eq!(urls(&[], &[]), [""; 0]);
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        assert_eq!(beginning("a\n b"), "a b");
        let cut = beginning(&"word ".repeat(100));
        assert!(cut.ends_with("word …") && cut.chars().count() <= MAX_CHARACTERS + 2);
        let cut = beginning(&"节".repeat(300));
        assert_eq!(cut.chars().count(), MAX_CHARACTERS + 2);
    }
}
