//! The conversation before a question, and what the question means in it.

use std::time::Duration;

use uuid::Uuid;

use super::anaphora::{asks_for_form, leans_back};
use super::follow_up::{joined, rewritten};
use super::spending::Spent;
use super::{Answerer, Asker, Outcome, Question, REMEMBERED_EXCHANGES, outcome_of};
use crate::catalog::{CatalogError, Exchange};
use crate::degradation::Degradation;
use crate::generate::{Generator, Turn};
use crate::retrieve::{RetrieveError, Retrieved};

/// How long a conversation's beginning is waited for.
const MEMORY_DEADLINE: Duration = Duration::from_secs(2);

impl Answerer {
    /// The conversation so far: as it is stored, else as the client tells it. A stored one that is gone, or another session's,
    /// goes on as a new one.
    pub(super) async fn remembered(
        &self,
        question: &Question,
        asker: Option<&Asker>,
        degraded: &mut Vec<Degradation>,
    ) -> (Option<Uuid>, Vec<Turn>) {
        let told = question.history.clone();
        let (Some(_), Some(asker)) = (self.rules.keep_conversations, asker) else {
            return (None, told);
        };
        let Some(id) = question.conversation_id else {
            return (Some(Uuid::new_v4()), told);
        };
        let catalog = self.retriever.catalog();
        let stored = catalog.exchanges(id, &asker.session_hash, REMEMBERED_EXCHANGES);
        let stored = tokio::time::timeout(MEMORY_DEADLINE, stored).await;
        match stored
            .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))
        {
            Ok(Some(exchanges)) => {
                let turn = |exchange: Exchange| Turn {
                    question: exchange.question,
                    answer: exchange.answer,
                };
                (Some(id), exchanges.into_iter().map(turn).collect())
            }
            Ok(None) => (Some(Uuid::new_v4()), told),
            Err(error) => {
                tracing::warn!(stage = "memory", %error, "the conversation is not remembered");
                degraded.push(Degradation::Memory);
                // It goes on when the catalog is back; whose it is, is looked at when it is written to.
                (Some(id), told)
            }
        }
    }

    /// Retrieves for a question of a conversation. Returns the text that was searched for, too: the question, or if it leans on those
    /// before it, what can be understood without them.
    ///
    /// That it leans on them is recognised in English. With a model that can rewrite it, so is a question in any language that finds
    /// nothing by itself.
    pub(super) async fn find(
        &self,
        question: &Question,
        history: &[Turn],
        fence: &str,
        spent: &mut Spent,
    ) -> Result<(String, Retrieved), RetrieveError> {
        let asked = &question.query;
        if history.is_empty() {
            let retrieved = self.retrieve(question, asked).await?;
            return Ok((asked.clone(), retrieved));
        }
        if !leans_back(asked) {
            let retrieved = self.retrieve(question, asked).await?;
            let is_found = outcome_of(&question.mode, &retrieved) != Outcome::NotCovered;
            if is_found || matches!(self.generator, Generator::Extractive) {
                return Ok((asked.clone(), retrieved));
            }
        }
        let standalone = self.standalone(asked, history, fence, spent).await;
        let retrieved = self.retrieve(question, &standalone).await?;
        Ok((standalone, retrieved))
    }

    /// The question as it can be understood without the conversation.
    async fn standalone(
        &self,
        question: &str,
        history: &[Turn],
        fence: &str,
        spent: &mut Spent,
    ) -> String {
        if !asks_for_form(question)
            && let Generator::Model(model) = &self.generator
            && self.rules.daily_budget_micro_usd.is_none()
        {
            match rewritten(model, question, history, fence).await {
                Ok((text, ending)) => {
                    spent.add(model, ending.usage.unwrap_or_default());
                    return text;
                }
                Err(error) => {
                    tracing::warn!(stage = "rewrite", error = %format_args!("the chat model {error}"), "the question before is searched for too");
                }
            }
        }
        joined(question, history)
    }
}
