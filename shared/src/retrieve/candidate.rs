//! A section that may answer.

use std::sync::Arc;

use uuid::Uuid;

use crate::book::Mark;
use crate::embed::Embedder;
use crate::index::{ChunkPayload, Hit, LeafPayload};

/// A leaf section of a chunk, with its score at each stage.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The point.
    pub point_id: Uuid,
    /// The chunk that the section stands in.
    pub payload: Arc<ChunkPayload>,
    /// Which section of it, by its place in the payload.
    pub leaf: usize,
    /// Which of the section's windows is nearest to the question.
    pub window: usize,
    /// The scores.
    pub scores: Scores,
}

/// A candidate's scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scores {
    /// The cosine of its nearest window with the question, −1 to 1; absent when the embedder does not read the question.
    pub dense: Option<f32>,
    /// Its BM25 score among the candidates, 0 and up.
    pub lexical: f32,
    /// Both together, 0 to 1.
    pub fused: f32,
    /// The reranker's score, 0 to 1; absent if it did not look.
    pub rerank: Option<f32>,
    /// What it is ranked by, 0 to 1.
    pub score: f32,
}

impl Candidate {
    /// The section.
    #[must_use]
    pub fn section_of_chunk(&self) -> Option<&LeafPayload> {
        self.payload.leaves.get(self.leaf)
    }

    /// The section's URL in a locale, with its anchor.
    #[must_use]
    pub fn url(&self, locale: Option<&str>) -> String {
        let page = self.payload.url_in(locale);
        match self.anchor() {
            Some(anchor) => format!("{page}#{anchor}"),
            None => page.to_owned(),
        }
    }

    /// The section's heading, else the page's title.
    #[must_use]
    pub fn section(&self) -> &str {
        self.heading_path().last().unwrap_or(&self.payload.title)
    }

    /// The section's text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.section_of_chunk()
            .map_or(&self.payload.text, |leaf| &leaf.text)
    }

    /// What stretches of the section's text are; empty if it was stored without.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        self.section_of_chunk().map_or(&[], |leaf| &leaf.marks)
    }

    /// How well it matches, 0 to 1: the reranker's word, else the cosine, which unlike a rank mean the same for every
    /// question; else what it is ranked by.
    #[must_use]
    pub fn confidence(&self) -> f32 {
        self.scores
            .rerank
            .or(self.scores.dense)
            .unwrap_or(self.scores.score)
            .clamp(0.0, 1.0)
    }

    /// The section's anchor, else that of its chunk.
    pub(super) fn anchor(&self) -> Option<&String> {
        match self.section_of_chunk() {
            Some(leaf) => leaf.section_id.as_ref(),
            None => self.payload.section_id.as_ref(),
        }
    }

    fn heading_path(&self) -> &[String] {
        self.section_of_chunk()
            .map_or(&self.payload.heading_path, |leaf| &leaf.heading_path)
    }

    /// Whether it is a heading with nothing below it.
    pub(crate) fn is_bare_heading(&self) -> bool {
        self.text().trim() == self.section().trim()
    }

    /// What was embedded before the section's text: the page's title and the headings above; of a short section module and
    /// chapter too.
    #[must_use]
    pub fn breadcrumb(&self) -> &str {
        self.section_of_chunk()
            .map_or(&self.payload.title, |leaf| &leaf.breadcrumb)
    }

    /// The part of the section that is nearest to the question, with its breadcrumb, cut as it was embedded.
    pub(super) fn best_window(&self, embedder: &Embedder) -> String {
        let mut windows = embedder.windows(self.breadcrumb(), self.text());
        let place = self.window.min(windows.len().saturating_sub(1));
        if windows.is_empty() {
            String::new()
        } else {
            windows.swap_remove(place)
        }
    }
}

/// All sections of the chunks that were found, each with the cosine of its nearest window.
pub(super) fn leaves_of(hits: Vec<Hit>, query_vector: &[f32]) -> Vec<Candidate> {
    let mut leaves = Vec::new();
    for hit in hits {
        let payload = Arc::new(hit.payload);
        let mut rows = hit.vectors.iter();
        for (leaf, section) in payload.leaves.iter().enumerate() {
            let mut nearest = (0, f32::NEG_INFINITY);
            for (window, row) in rows.by_ref().take(section.windows).enumerate() {
                let cosine = dot(row, query_vector);
                if cosine > nearest.1 {
                    nearest = (window, cosine);
                }
            }
            let (window, cosine) = nearest;
            leaves.push(Candidate {
                point_id: hit.point_id,
                payload: Arc::clone(&payload),
                leaf,
                window,
                scores: Scores {
                    // A section without rows is as far as can be.
                    dense: Some(cosine.max(-1.0)),
                    ..Scores::default()
                },
            });
        }
    }
    leaves
}

/// The dot product; of unit vectors, their cosine.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
