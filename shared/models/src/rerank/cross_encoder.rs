//! `ms-marco-MiniLM-L-12-v2` in this process.
//!
//! Pairs are scored one at a time. In a batch, the quantisation of one pair depends on the others, and so would its score (by up to 0.4).

use std::num::NonZeroUsize;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use tokio::task::spawn_blocking;

use crate::local::{LocalModel, ModelFiles, Transformer};
use crate::provider::ProviderError;

/// The most tokens of a question and of a passage. The answering text is near the heading; twice as many tokens take twice the time and do not
/// improve the order.
const QUESTION_TOKENS: usize = 64;
const PASSAGE_TOKENS: usize = 80;
/// `[CLS]` before the question, `[SEP]` after it and after the passage.
const SPECIAL_TOKENS: usize = 3;

/// The loaded model, about 90 MB.
#[derive(Debug)]
pub struct CrossEncoder {
    transformer: Transformer,
}

impl CrossEncoder {
    /// Loads the model to run on `threads` threads, or one for each core.
    ///
    /// # Errors
    /// `Unavailable`, naming the file, if a file is unreadable or invalid; `Rejected` if the model is not a reranker.
    pub async fn load(
        files: &ModelFiles,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, ProviderError> {
        if files.model != LocalModel::MsMarco {
            let name = files.model.name();
            return Err(ProviderError::Rejected(format!("{name} is not a reranker")));
        }
        let files = files.clone();
        let transformer = spawn_blocking(move || Transformer::load(&files, threads))
            .await
            .map_err(|error| ProviderError::Unavailable(format!("loading the model: {error}")))??;
        Ok(Self { transformer })
    }

    /// True if the model understands a question.
    pub(super) fn reads(&self, question: &str) -> bool {
        self.transformer.tokenizer.reads(question)
    }

    /// Returns one score per passage: the model's logit through a sigmoid. Each pair runs in a separate blocking task, so that after cancellation at
    /// most one pair is finished.
    pub(super) async fn scores(
        self: Arc<Self>,
        question: &str,
        passages: &[String],
    ) -> Result<Vec<f32>, ProviderError> {
        let runs = passages.iter().cloned().map(|passage| {
            let (model, question) = (Arc::clone(&self), question.to_owned());
            async move {
                let run = spawn_blocking(move || model.logit(&question, &passage));
                let logit = run
                    .await
                    .map_err(|error| ProviderError::Unavailable(format!("running: {error}")))??;
                Ok(sigmoid(logit))
            }
        });
        futures::stream::iter(runs)
            .buffered(self.transformer.width())
            .try_collect()
            .await
    }

    fn logit(&self, question: &str, passage: &str) -> Result<f32, ProviderError> {
        let tokenizer = &self.transformer.tokenizer;
        let question_tokens = tokenizer.count(question).min(QUESTION_TOKENS);
        let most = question_tokens + PASSAGE_TOKENS + SPECIAL_TOKENS;
        let (ids, types) = tokenizer.encode_pair(question, passage, QUESTION_TOKENS, most);
        let logits: NdTensor<f32, 2> = self.transformer.run(ids, types)?;
        let logit = logits.iter().next().copied().unwrap_or(f32::NAN);
        if logit.is_finite() {
            Ok(logit)
        } else {
            Err(ProviderError::Malformed(format!("{logit}")))
        }
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::locate;

    /// The model card's example, which gives 8.6 and −4.3 with f32 weights.
    #[tokio::test]
    async fn the_model_cards_example_is_scored_as_published() {
        let cache = std::env::var_os("XDG_CACHE_HOME")
            .map(std::path::PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
            .unwrap()
            .join("bookrag/models");
        let files = locate(LocalModel::MsMarco, None, &cache, |line| {
            eprintln!("{line}");
        })
        .await
        .unwrap();
        let model = CrossEncoder::load(&files, None).await.unwrap();
        let question = "How many people live in Berlin?";
        let logit = |passage: &str| model.logit(question, passage).unwrap();
        let answers = logit(
            "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
        );
        let other = logit("Berlin is well known for its museums.");
        eprintln!("{answers} {other}");
        assert!(
            (answers - 9.1).abs() < 0.5 && (other + 4.3).abs() < 0.5,
            "{answers} {other}"
        );
        // Cut, not refused.
        assert!(logit(&"Berlin ".repeat(5_000)).is_finite());
    }
}
