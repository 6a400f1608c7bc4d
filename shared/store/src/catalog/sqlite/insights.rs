//! Statistics of readers' questions.

use std::time::Duration;

use rusqlite::{Row, Transaction};

use super::SqliteCatalog;
use super::values::{ago, count};
use crate::catalog::insights::PLACES;
use crate::catalog::{
    AskedQuestion, CatalogError, CommentInsight, DayInsight, Insights, LessonInsight, OpenQuestion,
};

const ALL: &str = "true";
/// Questions without any related section in the book.
const NOT_COVERED: &str = "status = 'success' AND NOT answered AND NOT uncertain";
/// Questions that the book may not answer.
const UNCERTAIN: &str = "status = 'success' AND uncertain";
/// Answers that a reader did not find helpful.
const DISLIKED: &str =
    "EXISTS (SELECT 1 FROM feedback WHERE message_id = query_id AND rating = 'down')";

/// Questions that were answered, but not in a way that a reader found helpful.
fn unhelpful() -> String {
    format!("status = 'success' AND answered AND NOT uncertain AND {DISLIKED}")
}

impl SqliteCatalog {
    pub(in crate::catalog) async fn insights(
        &self,
        since: Duration,
    ) -> Result<Insights, CatalogError> {
        self.run(move |connection| {
            let since = ago(since);
            let transaction = connection.transaction()?;
            let (helpful, not_helpful) = ratings(&transaction, since)?;
            Ok(Insights {
                helpful,
                not_helpful,
                comments: comments(&transaction, since)?,
                days: days(&transaction, since)?,
                not_covered: questions(&transaction, since, NOT_COVERED)?,
                uncertain: questions(&transaction, since, UNCERTAIN)?,
                unhelpful: questions(&transaction, since, &unhelpful())?,
                most_cited: lessons(&transaction, since, ALL)?,
                most_disliked: lessons(&transaction, since, DISLIKED)?,
            })
        })
        .await
    }

    pub(in crate::catalog) async fn asked_questions(
        &self,
        since: Duration,
        limit: u32,
    ) -> Result<Vec<AskedQuestion>, CatalogError> {
        self.run(move |connection| {
            let statement = "SELECT max(question) AS question, count(*) AS count FROM chat_queries
                 WHERE created_at >= ?1 AND status = 'success' AND question IS NOT NULL
                 GROUP BY question_hash ORDER BY count DESC, question_hash LIMIT ?2";
            let mut statement = connection.prepare(statement)?;
            let rows = statement.query_map((ago(since), limit), |row| {
                Ok(AskedQuestion {
                    question: row.get("question")?,
                    count: count(row, "count")?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

fn days(transaction: &Transaction, since: i64) -> rusqlite::Result<Vec<DayInsight>> {
    let statement = format!(
        "SELECT date(created_at / 1000000, 'unixepoch') AS day, count(*) AS questions,
                count(*) FILTER (WHERE {NOT_COVERED}) AS not_covered,
                count(*) FILTER (WHERE {UNCERTAIN}) AS uncertain,
                count(*) FILTER (WHERE degraded) AS degraded,
                count(*) FILTER (WHERE status = 'incomplete') AS incomplete,
                count(saved_micro_usd) AS cached,
                sum(tokens) AS tokens, sum(cost_micro_usd) AS cost_micro_usd,
                coalesce(sum(saved_micro_usd), 0) AS saved_micro_usd
             FROM chat_queries WHERE created_at >= ?1 GROUP BY day ORDER BY day"
    );
    transaction
        .prepare(&statement)?
        .query_map([since], day)?
        .collect()
}

/// The most frequent questions that match the condition.
fn questions(
    transaction: &Transaction,
    since: i64,
    of: &str,
) -> rusqlite::Result<Vec<OpenQuestion>> {
    let statement = format!(
        "SELECT question_hash, max(question) AS question, count(*) AS count FROM chat_queries
         WHERE created_at >= ?1 AND {of}
         GROUP BY question_hash ORDER BY count DESC, question_hash LIMIT ?2"
    );
    transaction
        .prepare(&statement)?
        .query_map((since, PLACES), question)?
        .collect()
}

/// The lessons cited most by answers that match the condition.
fn lessons(
    transaction: &Transaction,
    since: i64,
    of: &str,
) -> rusqlite::Result<Vec<LessonInsight>> {
    let statement = format!(
        "SELECT title, url, count(DISTINCT query_id) AS count
         FROM chat_queries JOIN json_each(cited_chunk_ids) AS cited
            JOIN document_chunks ON chunk_id = cited.value JOIN documents USING (index_id, document_id)
         WHERE chat_queries.created_at >= ?1 AND {of}
            AND index_id = (SELECT index_id FROM indexes WHERE state = 'live')
         GROUP BY document_id, title, url ORDER BY count DESC, title, url LIMIT ?2"
    );
    transaction
        .prepare(&statement)?
        .query_map((since, PLACES), lesson)?
        .collect()
}

/// The numbers of answers that readers found helpful, and did not.
fn ratings(transaction: &Transaction, since: i64) -> rusqlite::Result<(u64, u64)> {
    let statement = "SELECT count(*) FILTER (WHERE rating = 'up') AS helpful,
            count(*) FILTER (WHERE rating = 'down') AS not_helpful
         FROM feedback JOIN chat_queries ON message_id = query_id WHERE chat_queries.created_at >= ?1";
    transaction.query_row(statement, [since], |row| {
        Ok((count(row, "helpful")?, count(row, "not_helpful")?))
    })
}

/// The newest comments.
fn comments(transaction: &Transaction, since: i64) -> rusqlite::Result<Vec<CommentInsight>> {
    let statement = "SELECT date(feedback.created_at / 1000000, 'unixepoch') AS day, question, comment, rating = 'up' AS helpful
         FROM feedback JOIN chat_queries ON message_id = query_id
         WHERE chat_queries.created_at >= ?1 AND comment IS NOT NULL AND rating IN ('up', 'down')
         ORDER BY feedback.created_at DESC, feedback_id LIMIT ?2";
    transaction
        .prepare(statement)?
        .query_map((since, PLACES), comment)?
        .collect()
}

fn comment(row: &Row) -> rusqlite::Result<CommentInsight> {
    Ok(CommentInsight {
        day: row.get("day")?,
        question: row.get("question")?,
        comment: row.get("comment")?,
        helpful: row.get("helpful")?,
    })
}

fn day(row: &Row) -> rusqlite::Result<DayInsight> {
    Ok(DayInsight {
        day: row.get("day")?,
        questions: count(row, "questions")?,
        not_covered: count(row, "not_covered")?,
        uncertain: count(row, "uncertain")?,
        degraded: count(row, "degraded")?,
        incomplete: count(row, "incomplete")?,
        tokens: count(row, "tokens")?,
        cost_micro_usd: count(row, "cost_micro_usd")?,
        cached: count(row, "cached")?,
        saved_micro_usd: count(row, "saved_micro_usd")?,
    })
}

fn question(row: &Row) -> rusqlite::Result<OpenQuestion> {
    Ok(OpenQuestion {
        question_hash: row.get("question_hash")?,
        question: row.get("question")?,
        count: count(row, "count")?,
    })
}

fn lesson(row: &Row) -> rusqlite::Result<LessonInsight> {
    Ok(LessonInsight {
        title: row.get("title")?,
        url: row.get("url")?,
        count: count(row, "count")?,
    })
}
