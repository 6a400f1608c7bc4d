//! The texts an answer is written from: whole sections, with their context and resolved links.

use std::time::Duration;

use super::Answerer;
use super::links;
use super::passages::{ModelEvidence, Surroundings, is_incomplete};
use crate::catalog::CatalogError;
use crate::degradation::Degradation;
use crate::generate::{Generator, Similarities};
use crate::retrieve::{Retrieved, ScoredChunk};

/// Time limit for reading the neighbours of the best chunks.
const DEADLINE: Duration = Duration::from_secs(2);

/// The texts an answer is written from.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    /// The neighbours of the best chunks.
    pub(super) around: Surroundings,
    /// What a model reads.
    pub(super) evidence: ModelEvidence,
    /// The passages that an extract quotes.
    pub(super) quotable: Vec<ScoredChunk>,
    /// The similarity of their lines to the question; `None` until they are compared, or without token vectors.
    pub(super) similarities: Option<Similarities>,
}

impl Answerer {
    /// Extends each of the best chunks to the whole text of its heading, and chooses what a model reads, with links that readers can follow. If the
    /// catalog does not answer in time, the chunks stay unchanged.
    pub(super) async fn read_texts(
        &self,
        retrieved: &mut Retrieved,
        top_k: usize,
        locale: Option<&str>,
    ) -> Texts {
        let candidates = &mut retrieved.candidates;
        let top_k = top_k.min(candidates.len());
        let best = &mut candidates[..top_k];
        let has_model = matches!(self.generator, Generator::Model(_));
        let read = Surroundings::read(&self.retriever, best, |found| {
            has_model || is_incomplete(found)
        });
        let read = tokio::time::timeout(DEADLINE, read).await;
        let around = match read
            .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))
        {
            Ok(around) => around,
            Err(error) => {
                tracing::warn!(stage = "context", %error, "reading chunks without the text around them");
                if !retrieved.degraded.contains(&Degradation::Catalog) {
                    retrieved.degraded.push(Degradation::Catalog);
                }
                Surroundings::default()
            }
        };
        let limits = self.rules.model;
        let mut evidence = if has_model {
            around.evidence(best, limits.passage_bytes())
        } else {
            ModelEvidence::default()
        };
        around.complete(best);
        let passages = &mut evidence.passages;
        tokio::join!(
            links::resolve(&self.retriever, best, locale),
            links::resolve(&self.retriever, passages, locale),
        );
        links::afford(passages, limits.link_bytes());
        Texts {
            around,
            evidence,
            quotable: best.to_vec(),
            similarities: None,
        }
    }
}
