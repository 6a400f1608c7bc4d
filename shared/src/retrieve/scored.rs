//! A chunk with the scores of one search.

use std::sync::Arc;

use uuid::Uuid;

use crate::catalog::JoinedChunk;
use crate::index::{ChunkPayload, ScoredPoint};

/// A chunk with the scores of one search.
#[derive(Debug, Clone)]
pub struct ScoredChunk {
    /// The point.
    pub point_id: Uuid,
    /// Its place in the page, from 0; `None` if the catalog is unavailable.
    pub position: Option<i32>,
    /// The chunk.
    pub chunk: Arc<ChunkPayload>,
    /// The scores.
    pub scores: Scores,
}

/// The scores of a chunk at each stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scores {
    /// The cosine with the question, −1 to 1; absent when the embedder does not read the question.
    pub dense: Option<f32>,
    /// How well its tokens resemble the question's, about −1 to 1; absent if the index has no token vectors.
    pub tokens: Option<f32>,
    /// The BM25 score among the chunks found, 0 and up.
    pub lexical: f32,
    /// The share of the question's words that it has, rare words counting more, 0 to 1.
    #[serde(skip)]
    pub coverage: f32,
    /// All together, 0 to 1.
    pub fused: f32,
    /// The reranker's score, 0 to 1; absent if it did not look.
    pub rerank: Option<f32>,
    /// What it is ranked by, 0 to 1.
    pub score: f32,
}

impl Scores {
    /// The scores of a point.
    pub(super) fn of(found: Option<ScoredPoint>) -> Self {
        Self {
            dense: found.map(|point| point.score),
            tokens: found.and_then(|point| point.token_score),
            ..Self::default()
        }
    }
}

impl ScoredChunk {
    /// A chunk of the book with the scores of the point that was found; without one, words found it.
    pub(super) fn new(joined: JoinedChunk, found: Option<ScoredPoint>) -> Self {
        Self {
            point_id: joined.point_id,
            position: Some(joined.position),
            chunk: Arc::new(joined.payload),
            scores: Scores::of(found),
        }
    }

    /// The URL in a locale, with the anchor.
    #[must_use]
    pub fn url(&self, locale: Option<&str>) -> String {
        let page = self.chunk.url_in(locale);
        match &self.chunk.section_id {
            Some(anchor) => format!("{page}#{anchor}"),
            None => page.to_owned(),
        }
    }

    /// The heading, else the page's title.
    #[must_use]
    pub fn section(&self) -> &str {
        self.chunk.heading_path.last().unwrap_or(&self.chunk.title)
    }

    /// How well it matches, 0 to 1: the reranker's score, else the cosine, which unlike a rank mean the same for every
    /// question; else what it is ranked by.
    #[must_use]
    pub fn confidence(&self) -> f32 {
        self.scores
            .rerank
            .or(self.scores.dense)
            .unwrap_or(self.scores.score)
            .clamp(0.0, 1.0)
    }

    /// True if it is a heading with nothing below it.
    pub(crate) fn is_bare_heading(&self) -> bool {
        self.chunk.text.trim() == self.section().trim()
    }
}
