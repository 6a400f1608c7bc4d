//! Readers' use of the catalog: rate limits, spending, conversations, the log of questions, and full-text search while the vector store is down.

use std::time::Duration;

use uuid::Uuid;

use super::insights::PLACES;
use super::statement::Parameter::{
    Ago, Flag, Id, Ids, Now, Number, OptionalNumber, OptionalText, Text,
};
use super::{
    Account, AgentReport, AskedQuestion, Catalog, CatalogError, Feedback, GapQuestion,
    HelpfulAnswer, Insights, JoinedChunk, LONGEST, QueryLog, RateLimit, RatePermit, microseconds,
    on_store, signed, sql,
};
use crate::index::Filters;

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredExchange {
    /// The message's id.
    pub message_id: Uuid,
    /// The question as asked. With the answer, the selected text that it is about follows on the next line.
    pub question: String,
    /// The answer; `None` until it is complete.
    pub answer: Option<String>,
}

/// An exchange to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewExchange {
    /// The conversation it belongs to.
    pub conversation_id: Uuid,
    /// HMAC of the conversation's session.
    pub session_hash: String,
    /// The question, and its answer if it is complete.
    pub exchange: StoredExchange,
    /// How long the conversation is kept from now on.
    pub keep: Duration,
}

impl Catalog {
    /// Acquires a permit under a rate limit, by the database's clock. A key must always be used with the same limit: after a change
    /// its permits are miscounted until all have been returned.
    ///
    /// On Postgres, a call that loses its connection is repeated and may take two permits.
    pub async fn acquire(&self, key: &str, limit: RateLimit) -> Result<RatePermit, CatalogError> {
        if limit.permits == 0 {
            let (_, refused) = limit.acquire(None, 0);
            return Ok(refused);
        }
        on_store!(self, store => store.acquire(key, limit))
    }

    /// Adds to an account's spending of the current day (UTC, by the database's clock) if it stays within the budget; otherwise returns `false`.
    ///
    /// On Postgres, a call that loses its connection is repeated and may reserve twice.
    pub async fn reserve_spend(
        &self,
        account: Account,
        micro_usd: u64,
        budget_micro_usd: u64,
    ) -> Result<bool, CatalogError> {
        on_store!(self, store => store.reserve_spend(account, micro_usd, budget_micro_usd))
    }

    /// Replaces a reserved amount by the actual one. The day's sum changes by the difference but does not fall below zero.
    pub async fn settle_spend(
        &self,
        account: Account,
        reserved_micro_usd: u64,
        spent_micro_usd: u64,
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.settle_spend(account, reserved_micro_usd, spent_micro_usd))
    }

    /// Writes an exchange of a conversation atomically. Returns `false` if nothing was written:
    ///
    /// - The conversation belongs to another session, even if it has expired.
    /// - `new` has an answer, but its exchange no longer exists because the conversation expired or was deleted.
    ///
    /// An exchange without an answer starts the conversation if it does not exist or has expired. An answer that is already stored is never removed.
    pub async fn save_exchange(&self, new: &NewExchange) -> Result<bool, CatalogError> {
        on_store!(self, store => store.save_exchange(new))
    }

    /// Returns the last exchanges of a conversation, oldest first. `None` if the session has no such conversation, or it expired.
    pub async fn exchanges(
        &self,
        conversation_id: Uuid,
        session_hash: &str,
        last: u32,
    ) -> Result<Option<Vec<StoredExchange>>, CatalogError> {
        on_store!(self, store => store.exchanges(conversation_id, session_hash, last))
    }

    /// Deletes a conversation. `false` if the session has no such conversation, or it expired.
    pub async fn delete_conversation(
        &self,
        conversation_id: Uuid,
        session_hash: &str,
    ) -> Result<bool, CatalogError> {
        on_store!(self, store => store.delete_conversation(conversation_id, session_hash))
    }

    /// Deletes expired conversations, rate limits fully refilled for `limits_age`, and, with a `retention`, older questions, ratings
    /// and messages.
    pub async fn forget_expired(
        &self,
        limits_age: Duration,
        retention: Option<Duration>,
    ) -> Result<(), CatalogError> {
        // Nothing was written that long ago.
        let retention = retention.unwrap_or(LONGEST);
        on_store!(self, store => store.forget_expired(limits_age, retention))
    }

    /// Records that a question is being answered, or its outcome, in one row per id. A recorded outcome never becomes incomplete
    /// again. Stores hashes only, unless the operator keeps questions.
    pub async fn log_query(&self, log: &QueryLog) -> Result<(), CatalogError> {
        let parameters = [
            Id(log.query_id),
            Text(&log.user_ip_hash),
            Text(&log.question_hash),
            Ids(&log.retrieved_chunk_ids),
            Ids(&log.cited_chunk_ids),
            Number(signed(log.response_time_ms)),
            Text(log.status.name()),
            Flag(log.answered),
            Flag(log.uncertain),
            Number(signed(log.tokens)),
            Number(signed(log.cost_micro_usd)),
            Flag(log.degraded),
            OptionalText(log.question.as_deref()),
            OptionalNumber(log.saved_micro_usd.map(signed)),
            Now,
        ];
        self.change(sql::LOG_QUERY, &parameters).await
    }

    /// Stores a reader's rating. `false` if the message does not exist.
    pub async fn add_feedback(&self, feedback: &Feedback) -> Result<bool, CatalogError> {
        on_store!(self, store => store.add_feedback(feedback))
    }

    /// Stores what a coding agent reports. `false` if it names an answer that does not exist.
    pub async fn add_report(&self, report: &AgentReport) -> Result<bool, CatalogError> {
        let message_id = report.message_id.map(|id| id.to_string());
        let parameters = [
            Id(Uuid::new_v4()),
            OptionalText(message_id.as_deref()),
            OptionalText(report.question.as_deref()),
            Text(&report.problem),
            OptionalText(report.page.as_deref()),
            Now,
        ];
        let written: Vec<Uuid> = self.rows(sql::ADD_REPORT, &parameters).await?;
        Ok(!written.is_empty())
    }

    /// Returns the chunks that the filters admit and that have any of the terms (see [`text::terms_in`]), best first: more and rarer terms rank higher.
    /// Terms of breadcrumbs count like those of texts.
    pub async fn search_text(
        &self,
        index_id: i64,
        terms: &[String],
        filters: &Filters,
        limit: u32,
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        on_store!(self, store => store.search_text(index_id, terms, filters, limit))
    }

    /// Returns the distinct values of a payload field: the entries of lists, and numbers as text.
    pub async fn values(
        &self,
        index_id: i64,
        payload_field: &str,
    ) -> Result<Vec<String>, CatalogError> {
        self.rows(sql::VALUES, &[Number(index_id), Text(payload_field)])
            .await
    }

    /// Returns statistics of the questions of the period `since` ago until now, and what coding agents reported.
    pub async fn insights(&self, since: Duration) -> Result<Insights, CatalogError> {
        let parameters = [Ago(microseconds(since)), Number(i64::from(PLACES))];
        let insights: Insights = on_store!(self, store => store.insights(since))?;
        Ok(Insights {
            reports: self.rows(sql::REPORTS, &parameters).await?,
            ..insights
        })
    }

    /// Returns questions of the period `since` ago until now that were answered or refused and whose text is stored, most frequent
    /// first, at most `limit`.
    pub async fn asked_questions(
        &self,
        since: Duration,
        limit: u32,
    ) -> Result<Vec<AskedQuestion>, CatalogError> {
        let parameters = [Ago(microseconds(since)), Number(i64::from(limit))];
        self.rows(sql::ASKED_QUESTIONS, &parameters).await
    }

    /// Returns questions of the period `since` ago until now that were refused, in doubt or not helpful and whose text is stored, most frequent first,
    /// at most `limit`.
    pub async fn gap_questions(
        &self,
        since: Duration,
        limit: u32,
    ) -> Result<Vec<GapQuestion>, CatalogError> {
        let parameters = [Ago(microseconds(since)), Number(i64::from(limit))];
        self.rows(sql::GAP_QUESTIONS, &parameters).await
    }

    /// Returns questions of the period `since` ago until now whose text is stored and whose answer a reader found helpful, with the section of the live
    /// index that the answer cites first; the last ones first, at most `limit`.
    pub async fn helpful_answers(
        &self,
        since: Duration,
        limit: u32,
    ) -> Result<Vec<HelpfulAnswer>, CatalogError> {
        let parameters = [Ago(microseconds(since)), Number(i64::from(limit))];
        self.rows(sql::HELPFUL_ANSWERS, &parameters).await
    }
}
