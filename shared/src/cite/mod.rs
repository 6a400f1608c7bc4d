//! From markers in a text to citations that were checked. Pure.

mod markers;
mod guard;
mod sentence;
mod support;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use crate::book::visible;
use crate::chunk::citation_label;
use crate::retrieve::Candidate;

pub use guard::{AllowedLinks, LinkGuard};
pub use markers::{Cited, MarkerReader};
pub use sentence::SentenceTracker;
pub use support::{Support, supports};

/// Characters of a quote.
const MAX_QUOTE_CHARACTERS: usize = 240;

/// Where a claim comes from. S0's, S1's and S4's fields are all here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Citation {
    /// The number that the text's markers name.
    pub n: usize,
    /// The chunk.
    pub chunk_id: Uuid,
    /// The module's title.
    pub module: String,
    /// The chapter's title.
    pub chapter: String,
    /// The page's title.
    pub title: String,
    /// The heading.
    pub section: String,
    /// Its anchor.
    pub section_id: Option<String>,
    /// The page's URL with the anchor.
    pub url: String,
    /// The source path.
    pub source: String,
    /// The first line cited, from 1.
    pub start_line: u32,
    /// The last line cited.
    pub end_line: u32,
    /// The printed page within the document.
    pub page: usize,
    /// How well it matches, 0 to 1.
    pub confidence: f32,
    /// The beginning of the cited text, as plain text: it is not Markdown, and `<` or `[` in it are themselves.
    pub quote: String,
    /// `[Module 1, Chapter 2, Lesson 3]`, or `(Source: chapter, section)`; plain text.
    pub label: String,
    /// Whether the passage says what the sentence says; absent until it was checked.
    pub supported: Option<bool>,
}

/// The citation of a section under a number.
#[must_use]
pub fn citation(n: usize, candidate: &Candidate, locale: Option<&str>) -> Citation {
    let payload = &candidate.payload;
    let leaf = candidate.section_of_chunk();
    let prose = candidate
        .text()
        .lines()
        .filter(|line| !line.starts_with("```"));
    let quote: String = prose
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ");
    let quote = if quote.chars().count() > MAX_QUOTE_CHARACTERS {
        let cut: String = quote.chars().take(MAX_QUOTE_CHARACTERS).collect();
        format!("{}…", cut.trim_end())
    } else {
        quote
    };
    Citation {
        n,
        chunk_id: payload.chunk_id,
        module: visible(&payload.module),
        chapter: visible(&payload.chapter),
        title: visible(&payload.title),
        section: visible(candidate.section()),
        section_id: leaf.map_or(payload.section_id.clone(), |leaf| leaf.section_id.clone()),
        url: candidate.url(locale),
        source: payload.source.clone(),
        start_line: leaf.map_or(payload.start_line, |leaf| leaf.start_line),
        end_line: leaf.map_or(payload.end_line, |leaf| leaf.end_line),
        page: payload.page,
        confidence: candidate.confidence(),
        quote: visible(&quote),
        label: visible(&citation_label(
            &payload.lesson(),
            &payload.title,
            Some(candidate.section()),
        )),
        supported: None,
    }
}
