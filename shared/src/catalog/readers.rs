//! What readers do with the catalog: they take turns, spend, talk and, while the vector store is away, search.

use std::time::Duration;

use uuid::Uuid;

use super::{
    AskedQuestion, Catalog, CatalogError, Insights, JoinedChunk, LONGEST, Turn, TurnLimit, on_store,
};
use crate::index::Filters;

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The message's id.
    pub message_id: Uuid,
    /// The question as asked.
    pub question: String,
    /// The answer; `None` until it is complete.
    pub answer: Option<String>,
}

/// An exchange to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewExchange {
    /// The conversation it belongs to.
    pub conversation_id: Uuid,
    /// HMAC of the session that the conversation is of.
    pub session_hash: String,
    /// The exchange.
    pub exchange: Exchange,
    /// How long the conversation stays from now on.
    pub keep: Duration,
}

impl Catalog {
    /// Asks for a turn by the database's clock. A key goes with one limit: under another one its turns are counted wrongly until
    /// they are all back.
    ///
    /// On Postgres, a call that loses its connection is repeated and may take two.
    pub async fn take_turn(&self, key: &str, limit: TurnLimit) -> Result<Turn, CatalogError> {
        if limit.turns == 0 {
            let (_, refused) = limit.take(None, 0);
            return Ok(refused);
        }
        on_store!(self, store => store.take_turn(key, limit))
    }

    /// Adds to what is spent today, in UTC by the database's clock, if it stays within the budget. `false` when it would not.
    ///
    /// On Postgres, a call that loses its connection is repeated and may reserve twice.
    pub async fn reserve_spend(
        &self,
        micro_usd: u64,
        budget_micro_usd: u64,
    ) -> Result<bool, CatalogError> {
        on_store!(self, store => store.reserve_spend(micro_usd, budget_micro_usd))
    }

    /// Puts what was spent in the place of what was reserved: today's sum changes by the difference, but not below zero.
    pub async fn settle_spend(
        &self,
        reserved_micro_usd: u64,
        spent_micro_usd: u64,
    ) -> Result<(), CatalogError> {
        on_store!(self, store => store.settle_spend(reserved_micro_usd, spent_micro_usd))
    }

    /// Writes an exchange of a conversation, all or nothing. `false` when nothing was written:
    ///
    /// - The conversation is another session's, even if it expired.
    /// - The exchange has an answer and is not there to take it: its conversation was deleted, or expired, meanwhile.
    ///
    /// An exchange without an answer begins the conversation if there is none, or anew if it expired. It does not take an
    /// answer away.
    pub async fn save_exchange(&self, new: &NewExchange) -> Result<bool, CatalogError> {
        on_store!(self, store => store.save_exchange(new))
    }

    /// The last exchanges of a conversation, oldest first. `None` when the session has no such conversation, or it expired.
    pub async fn exchanges(
        &self,
        conversation_id: Uuid,
        session_hash: &str,
        last: u32,
    ) -> Result<Option<Vec<Exchange>>, CatalogError> {
        on_store!(self, store => store.exchanges(conversation_id, session_hash, last))
    }

    /// Deletes a conversation. `false` when the session has no such conversation, or it expired.
    pub async fn delete_conversation(
        &self,
        conversation_id: Uuid,
        session_hash: &str,
    ) -> Result<bool, CatalogError> {
        on_store!(self, store => store.delete_conversation(conversation_id, session_hash))
    }

    /// Deletes what readers left behind and is not kept any longer: the conversations that expired, the limits whose turns have
    /// all been back for `limits_age`, and with a `retention` the questions, judgements and messages that are older.
    pub async fn forget_expired(
        &self,
        limits_age: Duration,
        retention: Option<Duration>,
    ) -> Result<(), CatalogError> {
        // Longer ago than anything was written.
        let retention = retention.unwrap_or(LONGEST);
        on_store!(self, store => store.forget_expired(limits_age, retention))
    }

    /// Returns the chunks that the filters admit and that have any of the text's words, in any of their forms, best first: more
    /// and rarer words count more. Words of breadcrumbs count as those of texts.
    ///
    /// Chunks that were committed before payloads were kept are not found, and on SQLite those that were committed before there
    /// was an index of words.
    pub async fn search_text(
        &self,
        index_id: i64,
        text: &str,
        filters: &Filters,
        limit: u32,
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        on_store!(self, store => store.search_text(index_id, text, filters, limit))
    }

    /// Returns the distinct values of a payload field: the entries of lists, numbers as text. Reads every chunk of the
    /// index.
    pub async fn values(
        &self,
        index_id: i64,
        payload_field: &'static str,
    ) -> Result<Vec<String>, CatalogError> {
        on_store!(self, store => store.values(index_id, payload_field))
    }

    /// What was asked since so long ago, and how it went.
    pub async fn insights(&self, since: Duration) -> Result<Insights, CatalogError> {
        on_store!(self, store => store.insights(since))
    }

    /// Returns the questions answered or refused since so long ago whose text is stored, most often asked first, at most `limit`.
    pub async fn asked_questions(
        &self,
        since: Duration,
        limit: u32,
    ) -> Result<Vec<AskedQuestion>, CatalogError> {
        on_store!(self, store => store.asked_questions(since, limit))
    }
}
