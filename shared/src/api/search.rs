//! The search request and its results.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::chat::{MAX_QUERY_CHARACTERS, check_filters, optional_text, required_text};
use super::extract::object;
use super::number::whole_number;
use answer::error::Error;
use answer::retrieve::{Query, Retrieved, Retriever, ScoredChunk, Scores};
use answer::{default_filters, locale_of};
use book::ContentKind;
use store::index::Filters;

/// The default and the maximum number of results.
const DEFAULT_TOP_K: usize = 5;
const MAX_TOP_K: usize = 20;
/// The message if nothing is found.
const NOTHING_FOUND: &str =
    "I couldn't find relevant content for your question. Try the table of contents.";
/// The most characters of a preview.
const PREVIEW_CHARACTERS: usize = 240;

/// A search as sent by a client.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct SearchRequest {
    /// The text to search for, 1 to 2,000 characters.
    #[cfg_attr(feature = "openapi", schema(required, value_type = String, min_length = 1, max_length = 2000))]
    pub query: Option<String>,
    /// The URL or path of the page the reader is on. It selects the locale and version.
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub page_url: Option<String>,
    /// Limits on the search.
    #[serde(deserialize_with = "object")]
    pub filters: Filters,
    /// The number of results, 1 to 20.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 20))]
    #[serde(deserialize_with = "whole_number")]
    pub top_k: Option<usize>,
    /// Of a server with several books: the ids of those to search. By default the book of the page that sends the request, else all public ones.
    pub books: Vec<String>,
}

impl SearchRequest {
    /// Validates the query, the number of results, the page and the filters.
    ///
    /// # Errors
    /// `Invalid` with the field and its limit.
    pub fn check(self) -> Result<Search, Error> {
        let query = required_text("query", self.query, MAX_QUERY_CHARACTERS)?;
        let top_k = self.top_k.unwrap_or(DEFAULT_TOP_K);
        if !(1..=MAX_TOP_K).contains(&top_k) {
            return Err(Error::field(
                "top_k",
                format!("top_k must be 1 to {MAX_TOP_K}, got {top_k}"),
            ));
        }
        check_filters(&self.filters)?;
        Ok(Search {
            query,
            top_k,
            filters: self.filters,
            page_url: optional_text("page_url", self.page_url)?,
        })
    }
}

/// A validated search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    query: String,
    top_k: usize,
    filters: Filters,
    page_url: Option<String>,
}

impl Search {
    /// Finds the matching sections of listed pages.
    ///
    /// # Errors
    /// As [`Retriever::retrieve`] and [`Retriever::check_limits`].
    pub async fn run(&self, retriever: &Retriever) -> Result<Retrieved, Error> {
        let site = &retriever.index.site;
        let searched = default_filters(site, &self.filters, self.page_url.as_deref());
        let query = Query::new(&self.query);
        let found = retriever.retrieve(query, &searched, self.top_k).await?;
        retriever.check_limits(&self.filters, &found).await?;
        Ok(found)
    }

    /// Returns the locale for the URLs of results.
    #[must_use]
    pub fn locale(&self, retriever: &Retriever) -> Option<String> {
        let site = &retriever.index.site;
        let of_page = locale_of(site, self.page_url.as_deref());
        of_page.or_else(|| self.filters.locale.clone())
    }
}

/// Returns the message of a search without results; `None` if there are some.
#[must_use]
pub fn nothing_found(found: &Retrieved) -> Option<String> {
    let is_empty = found.candidates.is_empty();
    is_empty.then(|| match found.indexing {
        Some(progress) => format!(
            "This documentation is still being indexed ({progress}). Please search again in a moment."
        ),
        None => NOTHING_FOUND.to_owned(),
    })
}

/// The results of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchData {
    /// The results, best first.
    pub results: Vec<SearchResult>,
    /// The message if there are no results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A matching section.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchResult {
    /// The chunk's id.
    pub chunk_id: Uuid,
    /// The score it is ranked by, 0 to 1.
    pub score: f32,
    /// The score of every stage.
    pub scores: Scores,
    /// The page's title.
    pub title: String,
    /// The lesson's title.
    pub lesson: String,
    /// The chapter's title.
    pub chapter: String,
    /// The module's title.
    pub module: String,
    /// The heading of the best match.
    pub section: String,
    /// The purpose of the section.
    pub section_type: book::chunk::SectionType,
    /// The page's URL with the heading's anchor.
    pub url: String,
    /// The path of the source file.
    pub source: String,
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// The kind of page: docs, blog post or standalone page.
    pub kind: ContentKind,
    /// The id of the page's Docusaurus plugin: `default` unless the site has several of the kind.
    pub instance: String,
    /// The date of a blog post, such as `2024-05-03`.
    pub date: Option<String>,
    /// The hardware tier that a reader needs at least, 1 to 4.
    pub hardware_tier: i64,
    /// The chunk's index in its section, from 0.
    pub chunk_index: usize,
    /// The number of chunks in the section.
    pub chunk_count: usize,
    /// The beginning of the text, as plain text.
    pub preview: String,
    /// The questions that the section answers, as plain text; absent if it has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The id of the book, if several were searched; then the address is absolute if it is known where the book's pages are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book: Option<String>,
}

impl SearchResult {
    /// Creates the result for a chunk, with URLs of a locale.
    #[must_use]
    pub fn new(candidate: &ScoredChunk, locale: Option<&str>) -> Self {
        let chunk = &candidate.chunk;
        let preview: String = chunk.text.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            chunk_id: chunk.chunk_id,
            score: candidate.scores.score,
            scores: candidate.scores,
            title: chunk.title.clone(),
            lesson: chunk.lesson.clone(),
            chapter: chunk.chapter.clone(),
            module: chunk.module.clone(),
            section: candidate.section().to_owned(),
            section_type: chunk.section_type,
            url: candidate.url(locale),
            source: chunk.source.clone(),
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            kind: chunk.kind(),
            instance: chunk.instance().to_owned(),
            date: chunk.date.clone(),
            hardware_tier: chunk.hardware_tier,
            chunk_index: chunk.chunk_index,
            chunk_count: chunk.chunk_count,
            preview: preview.chars().take(PREVIEW_CHARACTERS).collect(),
            questions: chunk.questions.clone(),
            book: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_url_has_the_same_limit_as_that_of_a_question() {
        let checked = |characters: usize| {
            let request = SearchRequest {
                query: Some("frost".to_owned()),
                page_url: Some("/".repeat(characters)),
                ..SearchRequest::default()
            };
            request.check()
        };
        assert!(checked(2_000).is_ok());
        assert_eq!(checked(2_001).unwrap_err().field, Some("page_url"));
    }
}
