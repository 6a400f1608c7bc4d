//! Reads texts and tables of contents from the catalog.

use std::ops::Range;

use crate::api::PageData;
use answer::default_filters;
use answer::error::{Error, ErrorKind};
use answer::retrieve::Retriever;
use book::chunk::count_tokens;
use store::catalog::{CatalogError, JoinedChunk, PageRow, PageSelection};
use store::index::Filters;
use text::invisible::visible;

use super::id::{Id, Place};
use super::text::{level, markdown, of_section, section_title};
use super::tools::Entry;

/// All positions of a page's chunks.
const ALL: std::ops::RangeInclusive<i32> = 0..=i32::MAX;

/// A complete text of the book.
pub(super) struct Text {
    /// The page's title, and the section's heading.
    pub(super) title: String,
    pub(super) markdown: String,
    /// The path, with the anchor of a section.
    pub(super) path: String,
    pub(super) source: String,
    /// The first and the last line, from 1.
    pub(super) lines: (u32, u32),
    pub(super) tokens: usize,
}

/// Reads the text of an id, as it is written or percent-decoded.
///
/// # Errors
/// `NotFound` if the book has no such text, `Unavailable` if the catalog is.
pub(super) async fn text(retriever: &Retriever, id: &Id) -> Result<Text, Error> {
    match text_at(retriever, id).await {
        Err(error) => text_at(retriever, &decoded(id, error)?).await,
        text => text,
    }
}

/// Returns the id to look for after the one that failed. Links are percent-encoded, and the book's own addresses are not; but those may hold `%25`
/// as well, so the id as it is written comes first.
///
/// # Errors
/// The id's own error, unless decoding may help.
fn decoded(id: &Id, error: Error) -> Result<Id, Error> {
    let decoded = id.decoded().filter(|_| error.kind == ErrorKind::NotFound);
    decoded.ok_or(error)
}

async fn text_at(retriever: &Retriever, id: &Id) -> Result<Text, Error> {
    let chunks = chunks_at(retriever, id).await?;
    let chunks = match &id.place {
        Place::Section(_, anchor) => of_section(&chunks, anchor),
        Place::Page(_) | Place::Chunk(_) => &chunks,
    };
    let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else {
        return Err(nothing_at(id));
    };
    let is_page = matches!(id.place, Place::Page(_));
    let (first, last) = (&first.payload, &last.payload);
    let text = markdown(chunks);
    Ok(Text {
        title: match section_title(first).filter(|_| !is_page) {
            Some(section) => title(&first.title, section),
            None => visible(&first.title),
        },
        tokens: count_tokens(&text),
        markdown: text,
        path: match &first.section_id {
            Some(anchor) if !is_page => format!("{}#{anchor}", first.url),
            _ => first.url.clone(),
        },
        source: first.source.clone(),
        lines: (first.start_line, last.end_line),
    })
}

/// Reads the page or section at an address, with nothing in it that a reader of the site cannot see.
///
/// # Errors
/// As [`text`].
pub async fn page_at_address(retriever: &Retriever, address: &str) -> Result<PageData, Error> {
    let place = Place::at(address);
    let text = text(retriever, &Id { place, from: 0 }).await?;
    let (start_line, end_line) = text.lines;
    Ok(PageData {
        title: text.title,
        url: text.path,
        source: text.source,
        start_line,
        end_line,
        tokens: text.tokens,
        text: text.markdown,
    })
}

/// Returns the title of a section: the page's title, and the heading if there is one.
pub(super) fn title(page: &str, section: &str) -> String {
    let title = if page == section {
        page.to_owned()
    } else {
        format!("{page} – {section}")
    };
    visible(&title)
}

/// Lists a range of the headings of the page or section of an id, then of the pages below its path; without an id, of all pages. The id is looked for
/// as it is written, then percent-decoded.
///
/// # Errors
/// `NotFound` if the book has no such page, `Invalid` for an unknown version or locale, `Unavailable` if the catalog is.
pub(super) async fn outline(
    retriever: &Retriever,
    under: Option<&Id>,
    limits: &Filters,
    range: Range<usize>,
) -> Result<Vec<Entry>, Error> {
    match (outline_at(retriever, under, limits, &range).await, under) {
        (Err(error), Some(id)) => {
            let id = decoded(id, error)?;
            outline_at(retriever, Some(&id), limits, &range).await
        }
        (entries, _) => entries,
    }
}

async fn outline_at(
    retriever: &Retriever,
    under: Option<&Id>,
    limits: &Filters,
    range: &Range<usize>,
) -> Result<Vec<Entry>, Error> {
    let index = &retriever.index;
    let path = under.map(|id| match &id.place {
        Place::Page(path) | Place::Section(path, _) => path.as_str(),
        Place::Chunk(_) => "",
    });
    let filters = default_filters(&index.site, limits, path);
    check_limits(retriever, limits).await?;
    let Some(under) = under else {
        let pages = listed(retriever, &filters, "", range.start, range.len()).await?;
        return Ok(pages.iter().map(page_entry).collect());
    };
    let headings = match chunks_at(retriever, under).await {
        Ok(chunks) => match &under.place {
            Place::Section(_, anchor) => headings(of_section(&chunks, anchor)),
            Place::Page(_) | Place::Chunk(_) => headings(&chunks),
        },
        Err(error) if error.kind == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let count = headings.len();
    let mut entries: Vec<Entry> = headings.into_iter().skip(range.start).collect();
    if let Place::Page(path) = &under.place {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let (from, left) = (
            range.start.saturating_sub(count),
            range.len().saturating_sub(entries.len()),
        );
        let below = listed(retriever, &filters, &folder, from, left).await?;
        entries.extend(below.iter().map(page_entry));
    }
    if entries.is_empty() && count == 0 && range.start == 0 {
        return Err(nothing_at(under));
    }
    Ok(entries)
}

/// Returns a range of the pages shown to a reader by default.
///
/// # Errors
/// `Unavailable` if the catalog is.
pub(super) async fn pages(
    retriever: &Retriever,
    range: Range<usize>,
) -> Result<Vec<PageRow>, Error> {
    let filters = default_filters(&retriever.index.site, &Filters::default(), None);
    listed(retriever, &filters, "", range.start, range.len()).await
}

/// Returns the listed pages in a folder that the filters admit, posts last.
async fn listed(
    retriever: &Retriever,
    filters: &Filters,
    below: &str,
    from: usize,
    limit: usize,
) -> Result<Vec<PageRow>, Error> {
    let versions = filters.version.iter().chain(&filters.versions_beside);
    let versions: Vec<String> = versions.cloned().collect();
    let selection = PageSelection {
        locale: filters.locale.as_deref(),
        versions: filters.version.as_ref().map(|_| &versions[..]),
        below,
    };
    let pages = retriever
        .catalog()
        .listed_pages(retriever.index.index_id, selection, from, limit);
    pages.await.map_err(unavailable)
}

fn page_entry(page: &PageRow) -> Entry {
    Entry {
        id: page.url.clone(),
        title: visible(&page.title),
        level: 1,
        tokens: page.tokens,
    }
}

/// Returns the sections of consecutive chunks, each with the tokens of its whole subtree.
fn headings(chunks: &[JoinedChunk]) -> Vec<Entry> {
    let mut headings = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let chunk = &chunk.payload;
        if at > 0 && chunk.chunk_index > 0 {
            continue;
        }
        let path = &chunk.heading_path;
        let tokens: usize = chunks[at..]
            .iter()
            .map(|other| &other.payload)
            .take_while(|other| other.heading_path.starts_with(path))
            .map(|other| other.token_count)
            .sum();
        headings.push(Entry {
            id: match &chunk.section_id {
                Some(anchor) => format!("{}#{anchor}", chunk.url),
                None => chunk.url.clone(),
            },
            title: visible(section_title(chunk).unwrap_or(&chunk.title)),
            level: level(chunk),
            tokens: tokens as u64,
        });
    }
    headings
}

/// Rejects a version or locale that no page has, and lists the existing ones.
async fn check_limits(retriever: &Retriever, limits: &Filters) -> Result<(), Error> {
    for (field, value) in [("version", &limits.version), ("locale", &limits.locale)] {
        let Some(value) = value else {
            continue;
        };
        let known = retriever.catalog().values(retriever.index.index_id, field);
        let mut known = known.await.map_err(unavailable)?;
        if !known.contains(value) {
            known.sort_unstable();
            let message = format!(
                "no page has this {field}; known values are {}",
                known.join(", ")
            );
            return Err(Error::field(field, message));
        }
    }
    Ok(())
}

/// Reads the chunks of an id's page, or the single chunk that the id names.
async fn chunks_at(retriever: &Retriever, id: &Id) -> Result<Vec<JoinedChunk>, Error> {
    let (catalog, index_id) = (retriever.catalog(), retriever.index.index_id);
    let place = match &id.place {
        Place::Chunk(chunk) => {
            let place = catalog.place_of_chunk(index_id, *chunk).await;
            let place = place.map_err(unavailable)?;
            place.map(|(document, position)| (document, position..=position))
        }
        Place::Page(path) | Place::Section(path, _) => {
            let page = catalog.page_at(index_id, &retriever.index.site, path).await;
            let page = page.map_err(unavailable)?;
            page.map(|page| (page.document_id, ALL))
        }
    };
    let place = place.ok_or_else(|| nothing_at(id))?;
    let chunks = catalog.around(index_id, &[place]).await;
    Ok(chunks
        .map_err(unavailable)?
        .into_iter()
        .next()
        .unwrap_or_default())
}

fn nothing_at(id: &Id) -> Error {
    let message = format!(
        "there is nothing at `{}`; use an id from search, ask or outline, or the path of a page",
        id.shown()
    );
    Error::new(ErrorKind::NotFound, message)
}

fn unavailable(error: CatalogError) -> Error {
    Error::unavailable(error)
}
