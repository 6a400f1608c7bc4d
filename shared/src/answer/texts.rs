//! The texts an answer is written from: whole sections, with their context and resolved links.

use std::time::Duration;

use super::Answerer;
use super::links;
use super::passages::{Surroundings, given};
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
    /// The passages that a model reads.
    pub(super) readable: Vec<ScoredChunk>,
    /// The passages that an extract quotes.
    pub(super) quotable: Vec<ScoredChunk>,
    /// The similarity of their lines to the question; `None` until they are compared, or without token vectors.
    pub(super) similarities: Option<Similarities>,
}

impl Answerer {
    /// Extends each of the best chunks to the whole text of its heading, with links that readers can follow. If the catalog does not answer in time,
    /// the chunks stay unchanged.
    pub(super) async fn read_texts(
        &self,
        retrieved: &mut Retrieved,
        top_k: usize,
        locale: Option<&str>,
    ) -> Texts {
        let candidates = &mut retrieved.candidates;
        let top_k = top_k.min(candidates.len());
        let best = &mut candidates[..top_k];
        let read = Surroundings::read(&self.retriever, best);
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
        around.complete(best);
        links::resolve(&self.retriever, best, locale).await;
        let readable = match &self.generator {
            Generator::Model(_) => {
                let limits = self.rules.model;
                let mut given = given(best, limits.passage_bytes());
                links::afford(&mut given, limits.link_bytes());
                given
            }
            Generator::Extractive => Vec::new(),
        };
        Texts {
            around,
            readable,
            quotable: best.to_vec(),
            similarities: None,
        }
    }
}
