//! Chooses the questions that readers are offered: on an empty panel, and after an answer. The choice is pure.

use std::cmp::Reverse;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Suggestion;
use crate::cite::Citation;
use crate::retrieve::open_page::path_of;
use crate::retrieve::{Retriever, ScoredChunk};
use crate::understand::normal_form::normalised;
use crate::understand::selection::default_filters;
use store::catalog::{CatalogError, JoinedChunk};
use store::index::{FilterValues, Filters};
use text::invisible::visible;

/// The most characters of a question that fits on two lines of a panel; longer ones come last.
const SHORT_CHARACTERS: usize = 90;
/// The number of the book's first pages that are read, and of sections of each: enough for the most proposals, each of another page.
const FIRST_PAGES: u32 = 12;
const SECTIONS_OF_A_FIRST_PAGE: u32 = 4;
/// The number of sections of the open page that are read.
const SECTIONS_OF_THE_OPEN_PAGE: u32 = 20;
/// The most questions that are offered after an answer.
const MAX_FOLLOW_UPS: usize = 2;

/// A question that the book answers, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Proposal {
    /// The question, as plain text.
    pub question: String,
    /// The title of the page that answers it.
    pub title: String,
    /// The heading of the section that answers it.
    pub section: String,
    /// The URL of the page, with the section's anchor.
    pub url: String,
}

/// Returns at most `limit` questions: first those of the open page, then those of the book's first pages in the reader's language and version. Within
/// each group, short questions come before long ones; among the first pages, each page's first question comes before any page's second.
///
/// # Errors
/// If the catalog cannot be read.
pub async fn proposals(
    retriever: &Retriever,
    filters: &Filters,
    page_url: Option<&str>,
    limit: usize,
) -> Result<Vec<Proposal>, CatalogError> {
    let filters = default_filters(&retriever.index.site, filters, page_url);
    let locale = filters.locale.as_deref();
    let open = open_page(retriever, &filters, page_url).await?;
    let mut proposals = distinct(on_page(&open, locale), limit);
    if proposals.len() < limit {
        let first = first_pages(retriever, &filters).await?;
        let of_book = across_pages(&first, locale);
        proposals = distinct(proposals.into_iter().chain(of_book), limit);
    }
    Ok(proposals)
}

/// Reads those sections of the open page that have questions, if the filters admit the page.
async fn open_page(
    retriever: &Retriever,
    filters: &Filters,
    page_url: Option<&str>,
) -> Result<Vec<JoinedChunk>, CatalogError> {
    let Some(page_url) = page_url else {
        return Ok(Vec::new());
    };
    let (catalog, index) = (retriever.catalog(), &retriever.index);
    let page = catalog.page_at(index.index_id, &index.site, path_of(page_url));
    let Some(page) = page.await? else {
        return Ok(Vec::new());
    };
    let pages = [page.document_id];
    let limit = SECTIONS_OF_THE_OPEN_PAGE;
    let sections = catalog.sections_with_questions(index.index_id, &pages, limit);
    let sections = sections.await?.into_iter().flatten();
    Ok(sections
        .filter(|it| filters.admits(&FilterValues::from(&it.payload)))
        .collect())
}

/// Reads the first pages that have questions, in the reader's language and version. Returns the sections of each page.
async fn first_pages(
    retriever: &Retriever,
    filters: &Filters,
) -> Result<Vec<Vec<JoinedChunk>>, CatalogError> {
    let (catalog, index_id) = (retriever.catalog(), retriever.index.index_id);
    let locale = filters.locale.as_deref().unwrap_or_default();
    let mut pages: Vec<Uuid> = Vec::new();
    for version in filters.versions().unwrap_or_default() {
        let read = u32::try_from(pages.len()).unwrap_or(FIRST_PAGES);
        if read >= FIRST_PAGES {
            break;
        }
        let more = catalog.pages_with_questions(index_id, locale, &version, FIRST_PAGES - read);
        pages.extend(more.await?);
    }
    let sections = catalog.sections_with_questions(index_id, &pages, SECTIONS_OF_A_FIRST_PAGE);
    let mut sections = sections.await?;
    for page in &mut sections {
        page.retain(|section| !section.payload.unlisted);
    }
    Ok(sections)
}

/// Returns a page's questions: short ones before long ones, then the first question of each section before any second one.
fn on_page(sections: &[JoinedChunk], locale: Option<&str>) -> Vec<Proposal> {
    let questions = sections.iter().flat_map(|section| {
        let questions = section.payload.questions.iter().enumerate();
        questions.map(move |(rank, question)| (rank, question, section))
    });
    let mut questions: Vec<_> = questions.collect();
    questions.sort_by_key(|(rank, question, _)| (is_long(question), *rank));
    questions
        .into_iter()
        .map(|(_, question, section)| proposal(question, section, locale))
        .collect()
}

/// Returns the questions of several pages: short ones before long ones, then the first question of each page before any second one.
fn across_pages(pages: &[Vec<JoinedChunk>], locale: Option<&str>) -> Vec<Proposal> {
    let questions = pages
        .iter()
        .flat_map(|page| on_page(page, locale).into_iter().enumerate());
    let mut questions: Vec<(usize, Proposal)> = questions.collect();
    questions.sort_by_key(|(rank, proposal)| (is_long(&proposal.question), *rank));
    questions
        .into_iter()
        .map(|(_, proposal)| proposal)
        .collect()
}

fn proposal(question: &str, section: &JoinedChunk, locale: Option<&str>) -> Proposal {
    let chunk = &section.payload;
    let heading = chunk.heading_path.last().unwrap_or(&chunk.title);
    let page = chunk.url_in(locale);
    Proposal {
        question: question.to_owned(),
        title: visible(&chunk.title),
        section: visible(heading),
        url: match &chunk.section_id {
            Some(anchor) => format!("{page}#{anchor}"),
            None => page.to_owned(),
        },
    }
}

fn is_long(question: &str) -> bool {
    question.chars().nth(SHORT_CHARACTERS).is_some()
}

/// Keeps the first of equal questions, `limit` questions at most.
fn distinct(proposals: impl IntoIterator<Item = Proposal>, limit: usize) -> Vec<Proposal> {
    let mut seen = HashSet::new();
    let proposals = proposals.into_iter();
    proposals
        .filter(|proposal| seen.insert(normalised(&proposal.question)))
        .take(limit)
        .collect()
}

/// What a reader has seen when follow-up questions are chosen.
pub(crate) struct Seen<'a> {
    /// The reader's questions, as asked and as rewritten.
    pub(crate) asked: Vec<&'a str>,
    pub(crate) citations: &'a [Citation],
    pub(crate) suggestions: &'a [Suggestion],
    pub(crate) locale: Option<&'a str>,
}

/// Returns up to two questions, each of a different section: first of sections on the page of the best citation, the nearest first, then of the
/// suggested ones. Leaves out questions that were asked, and those that a cited section answers.
pub(crate) fn follow_ups(seen: &Seen<'_>, sections: &[&ScoredChunk]) -> Vec<String> {
    let cited: HashSet<&str> = seen.citations.iter().map(|it| it.url.as_str()).collect();
    let (cited, others): (Vec<&ScoredChunk>, Vec<&ScoredChunk>) = sections
        .iter()
        .copied()
        .partition(|section| cited.contains(section.url(seen.locale).as_str()));
    let known = cited.iter().flat_map(|section| &section.chunk.questions);
    let known = known.map(String::as_str).chain(seen.asked.iter().copied());
    let mut known: HashSet<String> = known.map(normalised).collect();
    let mut urls = HashSet::new();
    let mut questions = Vec::new();
    let next = neighbours(seen, &cited, &others);
    for section in next.into_iter().chain(suggested(seen, &others)) {
        if section.chunk.unlisted || !urls.insert(section.url(seen.locale)) {
            continue;
        }
        let mut unknown: Vec<&String> = section.chunk.questions.iter().collect();
        unknown.retain(|question| !known.contains(&normalised(question)));
        unknown.sort_by_key(|question| is_long(question));
        if let Some(question) = unknown.first() {
            known.insert(normalised(question));
            questions.push((*question).clone());
        }
    }
    questions.truncate(MAX_FOLLOW_UPS);
    questions
}

/// Returns the sections of the best citation's page, the nearer ones first, and the next before the previous.
fn neighbours<'a>(
    seen: &Seen<'_>,
    cited: &[&'a ScoredChunk],
    others: &[&'a ScoredChunk],
) -> Vec<&'a ScoredChunk> {
    let by_confidence = seen.citations.iter().rev();
    let best = by_confidence.max_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let best = best.and_then(|best| {
        let mut cited = cited.iter();
        cited.find(|section| section.url(seen.locale) == best.url)
    });
    let Some((best, at)) = best.and_then(|best| Some((best, best.position?))) else {
        return Vec::new();
    };
    let on_page = others
        .iter()
        .copied()
        .filter(|other| other.chunk.document_id == best.chunk.document_id);
    let mut on_page: Vec<(i32, &ScoredChunk)> = on_page
        .filter_map(|other| Some((other.position? - at, other)))
        .collect();
    on_page.sort_by_key(|(distance, _)| (distance.abs(), Reverse(*distance)));
    on_page.into_iter().map(|(_, section)| section).collect()
}

/// Returns the suggested sections, in the order of the suggestions.
fn suggested<'a>(
    seen: &'a Seen<'_>,
    others: &'a [&'a ScoredChunk],
) -> impl Iterator<Item = &'a ScoredChunk> {
    seen.suggestions.iter().filter_map(|suggestion| {
        let mut others = others.iter().copied();
        others.find(|other| other.url(seen.locale) == suggestion.url)
    })
}

#[cfg(test)]
mod tests;
