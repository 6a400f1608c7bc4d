//! The texts an answer is written from, with resolved links: whole sections for an extract, the best chunks and their neighbours for a model.

use std::time::Duration;

use crate::context::links;
use crate::context::model_input::ModelInput;
use crate::context::passages::{Surroundings, is_incomplete};
use crate::degradation::Degradation;
use crate::quote::Similarities;
use crate::retrieve::{Retrieved, ScoredChunk};
use crate::{Answerer, Question};
use store::catalog::CatalogError;

/// Time limit for reading the neighbours of the best chunks.
const DEADLINE: Duration = Duration::from_secs(2);

/// The number of sections that are read for an extract, which quotes one or two and names three others.
pub(crate) const QUOTABLE: usize = 10;

/// The number of sections that an extract may quote. Their subsections are read, too.
const QUOTED: usize = 2;

/// The texts an answer is written from.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerContext {
    /// The neighbours of the best chunks.
    pub(crate) around: Surroundings,
    /// What a model reads.
    pub(crate) model_input: ModelInput,
    /// The passages that an extract quotes.
    pub(crate) quotable: Vec<ScoredChunk>,
    /// The similarity of the lines of `quotable` to the question; `None` until they are compared, or without token vectors.
    pub(crate) similarities: Option<Similarities>,
}

impl Answerer {
    /// Extends each of the best chunks to the whole text of its heading, and chooses what a model reads, with links that readers can follow. If the
    /// catalog does not answer in time, the chunks stay unchanged.
    pub(crate) async fn read_texts(
        &self,
        retrieved: &mut Retrieved,
        question: &Question,
        locale: Option<&str>,
    ) -> AnswerContext {
        let candidates = &mut retrieved.candidates;
        let has_model = self.generator.is_model();
        let most = if has_model { usize::MAX } else { QUOTABLE };
        let count = question.top_k.min(most).min(candidates.len());
        let best = &mut candidates[..count];
        let first: Vec<_> = best
            .iter()
            .take(QUOTED)
            .map(|found| found.point_id)
            .collect();
        let read = Surroundings::read(&self.retriever, best, |found| {
            has_model || is_incomplete(found) || first.contains(&found.point_id)
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
        let mut model_input = if has_model {
            around.model_input(best, &question.filters, limits.passage_bytes())
        } else {
            ModelInput::default()
        };
        let quotable = &mut best[..count.min(QUOTABLE)];
        around.complete(quotable);
        let passages = &mut model_input.passages;
        tokio::join!(
            links::resolve(&self.retriever, quotable, locale),
            links::resolve(&self.retriever, passages, locale),
        );
        links::afford(passages, limits.link_bytes());
        AnswerContext {
            around,
            model_input,
            quotable: quotable.to_vec(),
            similarities: None,
        }
    }
}
