//! Loads the conversation before a question, and resolves the question in it.

use std::time::Duration;

use uuid::Uuid;

use super::anaphora::{asks_for_form, leans_back};
use super::follow_up::{joined, rewritten};
use super::language::AnswerLocale;
use super::spending::Spent;
use super::{Answerer, Asker, Outcome, Question, REMEMBERED_EXCHANGES, outcome_of};
use crate::catalog::{CatalogError, StoredExchange};
use crate::degradation::Degradation;
use crate::generate::{Exchange, Generator};
use crate::retrieve::{RetrieveError, Retrieved};

/// Time limit for loading a conversation.
const MEMORY_DEADLINE: Duration = Duration::from_secs(2);

/// The search results of a question.
pub(super) struct Found {
    /// The question that was searched for, understandable on its own.
    pub(super) standalone: String,
    /// The locale it is answered in.
    pub(super) answered_in: AnswerLocale,
    pub(super) retrieved: Retrieved,
}

impl Answerer {
    /// Returns the conversation so far: the stored one, else the client's. If the stored one is deleted or belongs to another session, a new
    /// conversation begins.
    pub(super) async fn remembered(
        &self,
        question: &Question,
        asker: Option<&Asker>,
        degraded: &mut Vec<Degradation>,
    ) -> (Option<Uuid>, Vec<Exchange>) {
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
                let plain = |exchange: StoredExchange| Exchange {
                    question: exchange.question,
                    answer: exchange.answer,
                };
                (Some(id), exchanges.into_iter().map(plain).collect())
            }
            Ok(None) => (Some(Uuid::new_v4()), told),
            Err(error) => {
                tracing::warn!(stage = "memory", %error, "cannot read the conversation");
                degraded.push(Degradation::Memory);
                // Continue under the same id; writing to it later checks the session.
                (Some(id), told)
            }
        }
    }

    /// Retrieves for a question of a conversation, rewritten to stand alone if it depends on earlier questions.
    ///
    /// The dependence is detected in English only. With a model that can rewrite, a question in any language that finds nothing is rewritten too.
    pub(super) async fn find(
        &self,
        question: &Question,
        history: &[Exchange],
        fence: &str,
        spent: &mut Spent,
    ) -> Result<Found, RetrieveError> {
        let asked = &question.query;
        if history.is_empty() {
            return self.retrieve(question, asked.clone()).await;
        }
        if !leans_back(asked) {
            let found = self.retrieve(question, asked.clone()).await?;
            let is_found = outcome_of(&question.mode, &found.retrieved) != Outcome::NotCovered;
            if is_found || matches!(self.generator, Generator::Extractive) {
                return Ok(found);
            }
        }
        let standalone = self.standalone(asked, history, fence, spent).await;
        self.retrieve(question, standalone).await
    }

    /// Returns the question in a form that can be understood without the conversation.
    async fn standalone(
        &self,
        question: &str,
        history: &[Exchange],
        fence: &str,
        spent: &mut Spent,
    ) -> String {
        if !asks_for_form(question)
            && let Generator::Model(model) = &self.generator
            && self.rules.daily_budget_micro_usd.is_none()
        {
            let latest = latest(history, self.rules.model.history_bytes());
            match rewritten(model, question, latest, fence).await {
                Ok((text, ending)) => {
                    spent.add(model, ending.usage.unwrap_or_default());
                    return text;
                }
                Err(error) => {
                    tracing::warn!(stage = "rewrite", error = %format_args!("the chat model {error}"), "searching for the previous question, too");
                }
            }
        }
        joined(question, history)
    }
}

/// Returns the latest exchanges of a conversation, oldest first, up to `max_bytes` together. The last one is always included.
pub(super) fn latest(history: &[Exchange], max_bytes: usize) -> &[Exchange] {
    let mut left = max_bytes;
    let newest_first = history.iter().rev();
    let fit = newest_first.take_while(|exchange| {
        let bytes = exchange.question.len() + exchange.answer.as_ref().map_or(0, String::len);
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    });
    let kept = fit.count().max(1);
    &history[history.len().saturating_sub(kept)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_conversation_the_oldest_exchanges_are_left_out() {
        let lengths = [10, 200, 30, 40];
        let history = lengths.map(|length| Exchange {
            question: "?".to_owned(),
            answer: Some("a".repeat(length - 1)),
        });
        for (max_bytes, kept) in [
            (1_000, 4),
            (280, 4),
            (279, 3),
            // The oldest exchange would fit again, but the one after it does not.
            (80, 2),
            (70, 2),
            (69, 1),
            (0, 1),
        ] {
            let latest = latest(&history, max_bytes);
            assert_eq!(latest, &history[history.len() - kept..], "{max_bytes}");
        }
        assert!(latest(&[], 1_000).is_empty());
    }
}
