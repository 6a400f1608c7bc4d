//! Records an answer in the query log, the conversation and the day's spending. An answer that never ends stays marked incomplete.

use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::{Answer, Asker, Mode, Outcome, Question, Rules};
use store::budget::Spent;
use store::catalog::{Catalog, CatalogError, NewExchange, QueryLog, QueryStatus, StoredExchange};

/// How long an answer waits for a write.
const DEADLINE: Duration = Duration::from_secs(2);

/// The records of one answer. Nothing is recorded without an asker.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    catalog: Catalog,
    asker: Option<Asker>,
    message_id: Uuid,
    /// The stored conversation: its id and the retention time.
    conversation: Option<(Uuid, Duration)>,
    question: Question,
    /// True if the query log has the question's text.
    keeps_question: bool,
    started: Instant,
}

impl Journal {
    pub(crate) fn new(
        catalog: Catalog,
        rules: &Rules,
        asker: Option<Asker>,
        message_id: Uuid,
        conversation_id: Option<Uuid>,
        question: &Question,
        started: Instant,
    ) -> Self {
        Self {
            catalog,
            asker,
            message_id,
            conversation: conversation_id.zip(rules.keep_conversations),
            question: question.clone(),
            keeps_question: rules.keep_questions,
            started,
        }
    }

    /// Records that an answer begins. Returns `false` if the catalog is unavailable.
    pub(crate) async fn begin(&self) -> bool {
        let log = self.log(QueryStatus::Incomplete, None);
        self.written(log, self.keep(None)).await
    }

    /// Records that the reader has the whole answer. The beginning is recorded as well unless it has `begun`.
    pub(crate) async fn end(&self, answer: &Answer, begun: bool) -> bool {
        let log = self.log(QueryStatus::Success, Some(answer));
        let kept = async {
            if !begun {
                self.keep(None).await?;
            }
            self.keep(Some(answer)).await
        };
        self.written(log, kept).await
    }

    /// Records that an answer failed, and its cost. The conversation is not written: it may have been deleted meanwhile.
    pub(crate) async fn fail(&self, status: QueryStatus, spent: Spent) {
        let log = self.log(status, None).map(|log| QueryLog {
            tokens: spent.tokens,
            cost_micro_usd: spent.micro_usd,
            ..log
        });
        self.written(log, async { Ok(()) }).await;
    }

    fn log(&self, status: QueryStatus, answer: Option<&Answer>) -> Option<QueryLog> {
        let asker = self.asker.as_ref()?;
        Some(QueryLog {
            query_id: self.message_id,
            user_ip_hash: asker.address_hash.clone(),
            question_hash: asker.question_hash.clone(),
            retrieved_chunk_ids: answer
                .map_or_else(Vec::new, |answer| answer.retrieved_chunk_ids.clone()),
            cited_chunk_ids: answer
                .into_iter()
                .flat_map(|answer| &answer.citations)
                .map(|citation| citation.chunk_id)
                .collect(),
            response_time_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            status,
            answered: answer.is_some_and(Answer::answered),
            uncertain: answer.is_some_and(|answer| answer.outcome == Outcome::Uncertain),
            tokens: answer.map_or(0, |answer| answer.tokens),
            cost_micro_usd: answer.map_or(0, |answer| answer.cost_micro_usd),
            degraded: answer.is_some_and(|answer| !answer.degraded.is_empty()),
            saved_micro_usd: answer.and_then(|answer| answer.saved_micro_usd),
            question: self.keeps_question.then(|| self.question.query.clone()),
        })
    }

    /// Waits for a write to the query log. A failure is only logged, because the reader gets the answer anyway.
    async fn written(
        &self,
        log: Option<QueryLog>,
        kept: impl Future<Output = Result<(), CatalogError>>,
    ) -> bool {
        let Some(log) = log else {
            return true;
        };
        let writing = async {
            let logged = self.catalog.log_query(&log);
            tokio::try_join!(logged, kept).map(|_| ())
        };
        let outcome = tokio::time::timeout(DEADLINE, writing)
            .await
            .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())));
        match outcome {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(stage = "log", error = %error, "cannot log the answer");
                false
            }
        }
    }

    async fn keep(&self, answer: Option<&Answer>) -> Result<(), CatalogError> {
        let (Some((conversation_id, keep)), Some(asker)) = (self.conversation, &self.asker) else {
            return Ok(());
        };
        let exchange = NewExchange {
            conversation_id,
            session_hash: asker.session_hash.clone(),
            exchange: StoredExchange {
                message_id: self.message_id,
                question: self.asked(answer),
                answer: answer.map(|answer| answer.text.clone()),
            },
            keep,
        };
        if !self.catalog.save_exchange(&exchange).await? {
            tracing::info!(
                stage = "memory",
                "the conversation was deleted or belongs to another session"
            );
        }
        Ok(())
    }

    /// Returns the question; with its answer, followed by the selected text, as clients send it in a history. A selection that did not answer is left
    /// out: the reader may ask the whole book instead.
    fn asked(&self, answer: Option<&Answer>) -> String {
        let query = &self.question.query;
        let selected = self.question.selected_text.as_ref();
        match answer.zip(selected) {
            Some((answer, selected)) if !is_refused(answer) => format!("{query}\n{selected}"),
            _ => query.clone(),
        }
    }
}

/// True if the selected text did not answer.
fn is_refused(answer: &Answer) -> bool {
    answer.mode_used == Mode::SelectedText && answer.outcome == Outcome::NotCovered
}
