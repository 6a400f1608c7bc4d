//! Turns markers in a text into verified citations. Pure.

mod markers;
mod address;
mod allowed;
mod markdown;
mod sentence;
mod support;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::retrieve::ScoredChunk;
use book::ContentKind;
use book::chunk::citation_label;
use text::invisible::visible;

pub use allowed::AllowedLinks;
pub use markdown::MarkdownWriter;
pub use markers::{Cited, MarkerReader};
pub use sentence::{SentenceTracker, plain_sentence};
pub use support::{Best, Claim, CodeSource, Evidence, Support};

/// The most characters of a quote.
const MAX_QUOTE_CHARACTERS: usize = 240;

/// The source of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Citation {
    /// The number used by the text's markers.
    pub n: usize,
    /// The chunk's id.
    pub chunk_id: Uuid,
    /// The module's title.
    pub module: String,
    /// The chapter's title.
    pub chapter: String,
    /// The page's title.
    pub title: String,
    /// The heading.
    pub section: String,
    /// The heading's anchor.
    pub section_id: Option<String>,
    /// The page's URL, with the anchor.
    pub url: String,
    /// The path of the source file.
    pub source: String,
    /// The first line cited, from 1.
    pub start_line: u32,
    /// The last line cited.
    pub end_line: u32,
    /// The printed page within the document.
    pub page: usize,
    /// How well the chunk matches the question, 0 to 1.
    pub confidence: f32,
    /// The beginning of the cited text, as plain text; `<` and `[` are literal.
    pub quote: String,
    /// The kind of page: docs, blog post or standalone page.
    #[serde(default)]
    pub kind: ContentKind,
    /// The id of the page's Docusaurus plugin: `default` unless the site has several of the kind.
    #[serde(default)]
    pub instance: String,
    /// The date of a blog post, such as `2024-05-03`.
    #[serde(default)]
    pub date: Option<String>,
    /// `[Module 1, Chapter 2, Lesson 3]`, or `(Source: chapter, section)`, as plain text.
    pub label: String,
    /// True if the passage supports the sentence; `null` until checked.
    pub supported: Option<bool>,
    /// For each of its markers, in the order of the text: the passage's sentence that supports what a model wrote before the marker; `null` if no
    /// single sentence does, and for quotes of the book. Complete in the last event of a stream.
    #[serde(default)]
    pub support: Vec<Option<String>>,
}

/// Creates the citation of a chunk with this number.
#[must_use]
pub fn citation(n: usize, candidate: &ScoredChunk, locale: Option<&str>) -> Citation {
    let chunk = &candidate.chunk;
    let prose = chunk.text.lines().filter(|line| !line.starts_with("```"));
    let quote: String = prose
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ");
    Citation {
        n,
        chunk_id: chunk.chunk_id,
        module: visible(&chunk.module),
        chapter: visible(&chunk.chapter),
        title: visible(&chunk.title),
        section: visible(candidate.section()),
        section_id: chunk.section_id.clone(),
        url: candidate.url(locale),
        source: chunk.source.clone(),
        start_line: chunk.start_line,
        end_line: chunk.end_line,
        page: chunk.page,
        confidence: candidate.confidence(),
        quote: shortened(&quote),
        kind: chunk.kind(),
        instance: chunk.instance().to_owned(),
        date: chunk.date.clone(),
        label: visible(&citation_label(
            &chunk.placement(),
            &candidate.page_name(),
            Some(candidate.section()),
        )),
        supported: None,
        support: Vec::new(),
    }
}

/// Returns at most [`MAX_QUOTE_CHARACTERS`] of a quote, as readers see it.
#[must_use]
pub fn shortened(quote: &str) -> String {
    match quote.char_indices().nth(MAX_QUOTE_CHARACTERS) {
        Some((end, _)) => format!("{}…", visible(quote[..end].trim_end())),
        None => visible(quote),
    }
}
