//! A chunk with the scores of one search.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use book::UNKNOWN;
use uuid::Uuid;

use store::catalog::JoinedChunk;
use store::index::{ChunkPayload, ScoredPoint};

/// A chunk with the scores of one search.
#[derive(Debug, Clone)]
pub struct ScoredChunk {
    /// The id of the chunk's point.
    pub point_id: Uuid,
    /// The index of the chunk in its page; `None` if the catalog is unavailable.
    pub position: Option<i32>,
    /// The stored chunk.
    pub chunk: Arc<ChunkPayload>,
    /// The scores.
    pub scores: Scores,
    /// The category of its page, if another page that was found has the same title.
    pub category: Option<String>,
}

/// The scores of a chunk at each stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scores {
    /// The cosine with the question, −1 to 1; `null` if the embedder does not support the question.
    pub dense: Option<f32>,
    /// The similarity of its tokens and the question's, about −1 to 1; `null` if the index has no token vectors.
    pub tokens: Option<f32>,
    /// The cosine of the question and the nearest question that the chunk's section answers, −1 to 1; `null` if it has none.
    pub question: Option<f32>,
    /// The BM25 score among the chunks found, at least 0.
    pub lexical: f32,
    /// The share of the question's words in the chunk, weighted by rarity, 0 to 1.
    #[serde(skip)]
    pub coverage: f32,
    /// The combined score of all rankers, 0 to 1.
    pub fused: f32,
    /// The reranker's score, 0 to 1; `null` if the chunk was not reranked.
    pub rerank: Option<f32>,
    /// The final score for ranking, 0 to 1.
    pub score: f32,
}

impl Scores {
    pub(super) fn from_point(found: Option<ScoredPoint>) -> Self {
        Self {
            dense: found.map(|point| point.score),
            tokens: found.and_then(|point| point.token_score),
            question: found.and_then(|point| point.question_score),
            ..Self::default()
        }
    }
}

impl ScoredChunk {
    /// Creates a scored chunk from the point that was found; without one, full-text search found the chunk.
    pub(super) fn new(joined: JoinedChunk, found: Option<ScoredPoint>) -> Self {
        Self {
            point_id: joined.point_id,
            position: Some(joined.position),
            chunk: Arc::new(joined.payload),
            scores: Scores::from_point(found),
            category: None,
        }
    }

    /// Returns the chunk's URL in a locale, with the anchor.
    #[must_use]
    pub fn url(&self, locale: Option<&str>) -> String {
        let page = self.chunk.url_in(locale);
        match &self.chunk.section_id {
            Some(anchor) => format!("{page}#{anchor}"),
            None => page.to_owned(),
        }
    }

    /// Returns the heading, or the page's title if there is none.
    #[must_use]
    pub fn section(&self) -> &str {
        self.chunk.heading_path.last().unwrap_or(&self.chunk.title)
    }

    /// Returns the page's title and the section's heading with its parent: `API › Loggers › level`. A page may repeat a heading. If another page that
    /// was found has the same title, its category comes first.
    #[must_use]
    pub fn name(&self) -> String {
        self.in_category(name(&self.chunk.title, &self.chunk.heading_path))
    }

    /// Returns the page's title, after its category if another page that was found has the same title.
    pub(crate) fn page_name(&self) -> String {
        self.in_category(self.chunk.title.clone())
    }

    fn in_category(&self, name: String) -> String {
        match &self.category {
            Some(category) => format!("{category}{PATH_SEPARATOR}{name}"),
            None => name,
        }
    }

    /// Returns how well the chunk matches, 0 to 1: the reranker's score, else the cosine, because both are comparable between questions; else the
    /// final score.
    #[must_use]
    pub fn confidence(&self) -> f32 {
        self.scores
            .rerank
            .or(self.scores.dense)
            .unwrap_or(self.scores.score)
            .clamp(0.0, 1.0)
    }

    /// True if the chunk's lines are among those of another chunk, or its text is the same.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let (chunk, other) = (&self.chunk, &other.chunk);
        let lines = other.start_line..=other.end_line;
        let is_part = (chunk.document_id, &chunk.source) == (other.document_id, &other.source)
            && lines.contains(&chunk.start_line)
            && lines.contains(&chunk.end_line);
        is_part || chunk.text == other.text
    }

    /// True for a heading without text below it.
    pub(crate) fn is_bare_heading(&self) -> bool {
        self.chunk.text.trim() == self.section().trim()
    }
}

/// Gives each chunk the category of its page if another of the pages has the same title.
pub(super) fn tell_pages_apart(found: &mut [ScoredChunk]) {
    let mut pages: HashMap<String, HashSet<Uuid>> = HashMap::new();
    for chunk in found.iter().map(|found| &found.chunk) {
        let titled = pages.entry(chunk.title.clone()).or_default();
        titled.insert(chunk.document_id);
    }
    for found in found {
        let is_shared = pages[&found.chunk.title].len() > 1;
        found.category = is_shared.then(|| category(&found.chunk)).flatten();
    }
}

/// Returns the title of a page's chapter, else of its module, else the folder of its URL.
fn category(page: &ChunkPayload) -> Option<String> {
    let mut titles = [&page.chapter, &page.module].into_iter();
    let known = titles.find(|title| **title != UNKNOWN && **title != page.title);
    let folder = page.url.trim_end_matches('/').rsplit('/').nth(1);
    let category = known.map(String::as_str).or(folder)?;
    (!category.is_empty()).then(|| category.to_owned())
}

/// Separates a page's title and its headings in a name.
pub const PATH_SEPARATOR: &str = " › ";

fn name(title: &str, heading_path: &[String]) -> String {
    let below_title = match heading_path {
        [first, rest @ ..] if first == title => rest,
        path => path,
    };
    let last = below_title.len().saturating_sub(2);
    let path: Vec<&str> = std::iter::once(title)
        .chain(below_title[last..].iter().map(String::as_str))
        .collect();
    path.join(PATH_SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::section;

    #[test]
    fn pages_with_one_title_are_named_with_their_categories() {
        let page = |id: u128, title: &str, chapter: &str, url: &str| {
            let mut found = section("page", "Setup", "Text.", 0.5, "2026-01-01");
            let chunk = Arc::make_mut(&mut found.chunk);
            chunk.document_id = Uuid::from_u128(id);
            (chunk.title, chunk.chapter) = (title.to_owned(), chapter.to_owned());
            chunk.url = url.to_owned();
            found
        };
        let mut found = [
            page(1, "API", "Vue", "/docs/vue/api"),
            page(2, "API", UNKNOWN, "/docs/react/api/"),
            page(3, "API", UNKNOWN, "/api"),
            page(4, "Guide", "Vue", "/docs/vue/guide"),
            page(4, "Guide", "Vue", "/docs/vue/guide"),
        ];
        tell_pages_apart(&mut found);
        let names = found.each_ref().map(ScoredChunk::name);
        let expected = [
            "Vue › API › Setup",
            "react › API › Setup",
            "API › Setup",
            "Guide › Setup",
            "Guide › Setup",
        ];
        assert_eq!(names, expected);
        assert_eq!(found[0].page_name(), "Vue › API");
    }

    #[test]
    fn a_section_is_named_with_the_heading_above_it() {
        for (path, expected) in [
            (&["API"][..], "API"),
            (&["API", "Loggers"], "API › Loggers"),
            (&["API", "Loggers", "level"], "API › Loggers › level"),
            (&["Loggers", "Methods", "level"], "API › Methods › level"),
            (&[], "API"),
        ] {
            let path: Vec<String> = path.iter().map(|&heading| heading.to_owned()).collect();
            assert_eq!(name("API", &path), expected);
        }
    }
}
