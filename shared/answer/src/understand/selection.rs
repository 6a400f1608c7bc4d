//! Selects the part of the book a question is about: the reader's locale and version, or a selection.

use std::collections::HashSet;
use std::sync::Arc;

use crate::retrieve::open_page::{path_of, shows};
use crate::retrieve::{Language, Query, RetrieveError, Retrieved, Retriever, ScoredChunk, Words};
use crate::{CONSIDERED, Question};
use models::rerank::Reranker;
use store::catalog::SiteInfo;
use store::index::{ChunkPayload, Filters};

/// Returns the path segments below the site's base URL.
fn segments<'a>(site: &SiteInfo, page_url: &'a str) -> impl Iterator<Item = &'a str> {
    let path = path_of(page_url);
    let below = path.strip_prefix(site.base_url.as_str()).unwrap_or(path);
    below.split('/').filter(|part| !part.is_empty())
}

/// Returns the locale of the page a reader is on; `None` without a page.
#[must_use]
pub fn locale_of(site: &SiteInfo, page_url: Option<&str>) -> Option<String> {
    let first = segments(site, page_url?).next();
    let prefixed = first.filter(|part| site.locales.iter().any(|locale| locale == part));
    let locale = prefixed.map_or_else(|| site.default_locale.clone(), str::to_owned);
    // The site is unknown while the catalog is unavailable.
    (!locale.is_empty()).then_some(locale)
}

/// Returns the version of the page a reader is on; without a page, that of the first docs instance.
fn version_of<'a>(site: &'a SiteInfo, page_url: Option<&str>) -> &'a str {
    let Some(page_url) = page_url else {
        return &site.docs.default_version;
    };
    let parts = segments(site, page_url);
    let parts = parts.skip_while(|part| site.locales.iter().any(|locale| locale == part));
    site.version_at(&parts.collect::<Vec<_>>())
}

/// Adds the locale and version of the reader's page to the filters, unless they are set. Docs instances not covered by the version are searched in
/// their default version.
#[must_use]
pub fn default_filters(site: &SiteInfo, filters: &Filters, page_url: Option<&str>) -> Filters {
    let locale = locale_of(site, page_url).unwrap_or_else(|| site.default_locale.clone());
    let version = version_of(site, page_url).to_owned();
    // Without the catalog the site is unknown, so nothing is filtered.
    let known = |default: String| (!default.is_empty()).then_some(default);
    let version = filters.version.clone().or_else(|| known(version));
    let beside = version.iter().flat_map(|it| site.versions_beside(it));
    // A kind of page is stored only as the versions of its plugin instances.
    let versions = version.as_deref().into_iter().chain(beside);
    let mut versions = versions.filter(|version| filters.admits_kind_of(version));
    let first = versions.next().map(str::to_owned);
    Filters {
        locale: filters.locale.clone().or_else(|| known(locale)),
        versions_beside: versions.map(str::to_owned).collect(),
        // If the site has no pages of the kind, this version matches nothing.
        version: first.or(version.clone()),
        ..filters.clone().with_declared_facets(&site.facets)
    }
}

/// The number of sections that are searched for a selection.
const LOOKED_AT: usize = 20;
/// The least share of a selection's words on its page if no chunk contains it verbatim: rendered formulas, admonitions and components differ from
/// their source.
const SHARED_WORDS: f32 = 0.6;
/// Lines between a section and its neighbours.
const NEIGHBOUR_LINES: u32 = 3;
/// Score bonus for sections of the page with the selection.
const PAGE_BONUS: f32 = 0.1;
/// Score bonus for sections of the open page, enough to decide near ties. Readers also ask about other pages: with one of the three best wrong pages
/// open, .02 of 84 questions lose their first page, with any other page none; .05 gain it with the right one open.
const OPEN_PAGE_BONUS: f32 = 0.03;

/// Retrieves from the section with the selection and the adjacent ones; nothing if the book does not contain the selection.
pub(crate) async fn retrieve_in_selection(
    retriever: &Retriever,
    query: Query<'_>,
    selection: &Selection<'_>,
    filters: &Filters,
    top_k: usize,
) -> Result<Retrieved, RetrieveError> {
    let mut located = locate(retriever, selection, filters).await?;
    let Some(holder) = selection.holder(&located.candidates) else {
        located.candidates.clear();
        return Ok(located);
    };
    let holder = Arc::clone(&holder.chunk);
    let page = Filters {
        source: Some(holder.source.clone()),
        ..filters.clone()
    };
    let mut retrieved = retriever.retrieve(query, &page, CONSIDERED).await?;
    retrieved.keep(|candidate| is_near(&candidate.chunk, &holder));
    retrieved.candidates.truncate(top_k);
    Ok(retrieved)
}

/// True if a chunk of the holder's page is next to the holder, or under the same heading of the first two levels.
fn is_near(chunk: &ChunkPayload, holder: &ChunkPayload) -> bool {
    let touches = chunk.start_line <= holder.end_line + NEIGHBOUR_LINES
        && chunk.end_line + NEIGHBOUR_LINES >= holder.start_line;
    let headings = chunk.heading_path.iter().take(2);
    touches || headings.eq(holder.heading_path.iter().take(2))
}

/// Retrieves from the whole book, with a bonus for the page of the selection.
pub(crate) async fn retrieve_around_selection(
    retriever: &Retriever,
    query: Query<'_>,
    selection: &Selection<'_>,
    filters: &Filters,
) -> Result<Retrieved, RetrieveError> {
    let located = locate(retriever, selection, filters);
    let retrieved = retriever.retrieve(query, filters, CONSIDERED);
    let (located, mut retrieved) = tokio::try_join!(located, retrieved)?;
    if let Some(holder) = selection.holder(&located.candidates) {
        let page = holder.chunk.document_id;
        retrieved.raise(PAGE_BONUS, |candidate| candidate.chunk.document_id == page);
    }
    Ok(retrieved)
}

/// Retrieves from the whole book, with a small bonus for the open page.
pub(crate) async fn retrieve_on_page(
    retriever: &Retriever,
    query: Query<'_>,
    filters: &Filters,
) -> Result<Retrieved, RetrieveError> {
    let mut retrieved = retriever.retrieve(query, filters, CONSIDERED).await?;
    if let Some(page) = query.open_page() {
        retrieved.raise(OPEN_PAGE_BONUS, |found| shows(page, &found.chunk));
    }
    Ok(retrieved)
}

/// Returns the sections that may contain the selection. Their order does not matter, so they are not reranked.
async fn locate(
    retriever: &Retriever,
    selection: &Selection<'_>,
    filters: &Filters,
) -> Result<Retrieved, RetrieveError> {
    let mut retriever = retriever.clone();
    retriever.backends.reranker = Reranker::None;
    let query = Query::new(selection.text).on_page(selection.page_url);
    retriever.retrieve(query, filters, LOOKED_AT).await
}

/// The selected text and its page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub(crate) text: &'a str,
    pub(crate) page_url: Option<&'a str>,
    pub(crate) locale: Option<&'a str>,
}

impl<'a> Selection<'a> {
    /// Returns the selection that a question is about.
    pub(crate) fn new(question: &'a Question, locale: Option<&'a str>) -> Option<Self> {
        let text = question.selected_text.as_deref()?;
        let page_url = question.page_url.as_deref();
        Some(Self {
            text,
            page_url,
            locale,
        })
    }

    /// Finds the selection's section. Prefers one on the page with exactly this text, then one elsewhere in the book, then the section of the page
    /// that shares most words, if the page has enough of them.
    pub(crate) fn holder<'c>(&self, candidates: &'c [ScoredChunk]) -> Option<&'c ScoredChunk> {
        let selected = normalised(self.text);
        let here = candidates.iter().filter(|candidate| {
            let page = self.page_url;
            page.is_none_or(|page| shows(page, &candidate.chunk))
        });
        let exact = here
            .clone()
            .chain(candidates)
            .find(|candidate| normalised(&with_heading(candidate)).contains(&selected));
        exact.or_else(|| {
            let (_, best) = here
                .clone()
                .map(|candidate| (self.shared_words(&with_heading(candidate)), candidate))
                .max_by(|(one, _), (other, _)| one.total_cmp(other))?;
            // A selection may span several chunks of its page.
            let text: String = here
                .filter(|other| other.chunk.document_id == best.chunk.document_id)
                .map(|other| format!("{}\n", with_heading(other)))
                .collect();
            self.stands_in(&text).then_some(best)
        })
    }

    /// True if a text has most of the selection's words.
    pub(crate) fn stands_in(&self, text: &str) -> bool {
        self.shared_words(text) >= SHARED_WORDS
    }

    /// True if the selection has most of a text's words.
    pub(crate) fn contains(&self, text: &str) -> bool {
        let inner = Selection { text, ..*self };
        inner.stands_in(self.text)
    }

    /// Returns the share of the selection's words that `text` has, ignoring stop words.
    fn shared_words(&self, text: &str) -> f32 {
        let language = self.locale.map_or(Language::ENGLISH, Language::of_locale);
        let words = Words::new(language);
        let [wanted, held]: [HashSet<String>; 2] =
            [self.text, text].map(|text| words.terms(text).into_iter().collect());
        let found = wanted.intersection(&held).count();
        #[expect(clippy::cast_precision_loss, reason = "a selection has few words")]
        let share = found as f32 / wanted.len().max(1) as f32;
        share
    }
}

/// Returns the chunk's text after its heading, as on the page.
fn with_heading(candidate: &ScoredChunk) -> String {
    format!("{}\n{}", candidate.section(), candidate.chunk.text)
}

fn normalised(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use book::ContentKind;
    use store::catalog::InstanceInfo;

    #[test]
    fn the_page_says_locale_and_version() {
        let site = SiteInfo {
            base_url: "/book/".to_owned(),
            default_locale: "en".to_owned(),
            locales: vec!["ur".to_owned()],
            docs: InstanceInfo {
                default_version: "2.0".to_owned(),
                route_base_path: "docs".to_owned(),
                version_paths: [
                    ("next".to_owned(), "current".to_owned()),
                    ("1.5".to_owned(), "1.5".to_owned()),
                ]
                .into(),
            },
            other_instances: vec![InstanceInfo {
                default_version: "api@3.0".to_owned(),
                route_base_path: "api".to_owned(),
                version_paths: [("1.5".to_owned(), "api@1.5".to_owned())].into(),
            }],
            ..SiteInfo::default()
        };
        for (url, locale, version, beside) in [
            (None, "en", "2.0", "api@3.0"),
            (
                Some("https://x.org/book/docs/a?q#b"),
                "en",
                "2.0",
                "api@3.0",
            ),
            (Some("/book/ur/docs/1.5/a"), "ur", "1.5", "api@3.0"),
            (Some("/book/docs/next/a"), "en", "current", "api@3.0"),
            (Some("/book/ur/api/1.5/a"), "ur", "api@1.5", "2.0"),
            (Some("/book/blog/1.5/a"), "en", "2.0", "api@3.0"),
        ] {
            let filters = default_filters(&site, &Filters::default(), url);
            assert_eq!(filters.locale.as_deref(), Some(locale), "{url:?}");
            assert_eq!(filters.version.as_deref(), Some(version), "{url:?}");
            assert_eq!(filters.versions_beside, [beside], "{url:?}");
        }
    }

    #[test]
    fn a_kind_is_searched_in_the_versions_of_its_instances() {
        use ContentKind::{Blog, Docs, Pages};

        let info = |version: &str| InstanceInfo {
            default_version: version.to_owned(),
            ..InstanceInfo::default()
        };
        let others = ["api@3.0", "blog/default@current", "blog/news@current"];
        let site = SiteInfo {
            docs: info("2.0"),
            other_instances: others.map(info).to_vec(),
            ..SiteInfo::default()
        };
        let searched = |version: Option<&str>, kind: &[ContentKind]| {
            let filters = Filters {
                version: version.map(str::to_owned),
                kind: kind.to_vec(),
                ..Filters::default()
            };
            let filters = default_filters(&site, &filters, None);
            filters.versions().expect("the site is known")
        };
        assert_eq!(searched(None, &[Docs]), ["2.0", "api@3.0"]);
        assert_eq!(searched(Some("1.0"), &[Docs]), ["1.0", "api@3.0"]);
        assert_eq!(searched(None, &[Blog]), others[1..]);
        assert_eq!(searched(Some("1.0"), &[Blog]), others[1..]);
        assert_eq!(searched(None, &[Docs, Blog])[1..], others);
        // Standalone pages belong to no version, so they are left out.
        assert_eq!(searched(None, &[Pages]), ["2.0"]);
    }
}
